"""The words by which people ask for a relation, and what kind of thing the answer is.

A predicate is as it was stated ("married to"); a question says the same in other words ("the spouse of"). Each line has
the words by which a predicate is known, how questions ask for it, and what its object is. A predicate that is in no
line is asked for in its own words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from longmind.text.analysis import STOP_WORDS, stem, words


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation: the predicates that state it, the ways of asking for it, and what it leads to."""

    stated: re.Pattern[str]
    asked: re.Pattern[str]
    leads_to: str


def _relation(stated: str, asked: str, leads_to: str) -> Relation:
    return Relation(re.compile(rf"^(?:{stated})\b"), re.compile(rf"\b(?:{asked})\b", re.IGNORECASE), leads_to)


RELATIONS = (
    _relation(
        "citizen of|comes from",
        r"citizen(?:ship)?s?(?: of)?|nationality|(?:country|nation) (?:to which|that|where|from which)|"
        r"belong(?:s|ed)?(?: to)?|hail(?:s|ed)?(?: from)?|com(?:e|es|ing) from|country of origin|originat\w+|origin",
        "country",
    ),
    _relation("married to", r"spouses?|partners?|wife|husband|married(?: to)?|partner/spouse", "person"),
    _relation(
        "died in",
        r"die[ds]?(?: in)?|death|pass(?:ed)? away|breathed? (?:his|her|their) last|last breath|place of death",
        "place",
    ),
    _relation("born in", r"born(?: in)?|birthplaces?|place of birth|birth", "place"),
    _relation("lives in", r"lives?(?: in)?|home|resid\w+", "place"),
    _relation("author|written by", r"authors?|writers?|wrote|written by", "person"),
    _relation("performed by", r"perform(?:er|ed|s)?(?: by)?|artist|singer|sang|plays the role", "person"),
    _relation("capital", r"capitals?(?: city)?|cent(?:er|re) of government|seat of government", "city"),
    _relation("located in", r"continents?|located(?: in)?|situated", "continent"),
    _relation(
        "associated with sport",
        r"sports?(?: discipline)?|sportsperson|compet\w+|speciali[sz]\w+|associated with|position|played|plays",
        "sport",
    ),
    _relation("plays position", r"positions?|special(?:i)?ty|specialt\w+|speciali[sz]\w+|plays?|played", "position"),
    _relation("type of music", r"genres?|music(?:al)?(?: genre| style)?|type of music|kind of music|style", "genre"),
    _relation(
        "created in",
        r"origin(?:s|al|ally|ate|ates|ated|ating)?(?: from| in)?|country of origin|creat\w+|birthplace|c[ao]mes? from|"
        r"developed|hails?|gave rise|deriv\w+|founding|first (?:practi[cs]ed|developed|came)|made|start\w*|bec[ao]me",
        "country",
    ),
    _relation("created by", r"creat(?:or|ed|es)(?: by)?|individual who created", "person"),
    _relation("founded by", r"found(?:er|ed|s|ing)(?: by)?|establish\w+|responsible for founding", "person"),
    _relation("founded in", r"founded(?: in)?|com(?:e|es|ing) into existence|establish\w+|formed|originat\w+", "place"),
    _relation(
        "affiliated with religion|religion",
        r"religio(?:n|ns|us)(?: affiliation)?|faith|affiliat\w+|believ\w+|follow(?:s|ed)?",
        "religion",
    ),
    _relation(
        r"univeristy|university|educated|graduated from|studies at",
        r"universit(?:y|ies)|educat(?:ed|ion|ional)(?: institution)?(?: at)?|attended|studied|"
        r"alma mater|school|college",
        "school",
    ),
    _relation(
        "employed by|works at",
        r"employ(?:er|ed|s|ee)?(?: by)?|works? for|worked|part of|company|organi[sz]ation|institution",
        "company",
    ),
    _relation(
        "worked in",
        r"work(?:ed|s|ing)?(?: location| hours| in)?|location of (?:the )?work|place of work|spend most",
        "place",
    ),
    _relation(
        "works in field|works as",
        r"occupation|job(?: title)?|profession(?:al role)?|kind of work|field|position|role",
        "occupation",
    ),
    _relation("headquarters|headquartered in", r"headquarter(?:s|ed)?(?: location)?|based", "place"),
    _relation(
        "head of government|prime minister|mayor|governor",
        r"heads? of (?:the )?(?:[A-Z]\w+ )?government|head of the|prime minister|political leader|"
        r"chief executive of the country|chief executive|government|mayor|governor",
        "person",
    ),
    _relation(
        "head of state|president|king|queen",
        r"heads? of state|chief of state|highest-ranking official|chief public representative|president|monarch|"
        r"report to",
        "person",
    ),
    _relation("chief executive officer", r"chief executive officer|ceo|chief executive", "person"),
    _relation("director", r"direct(?:or|ed|s)(?:/\w+)?|manag(?:er|ed|es)|producer", "person"),
    _relation("chairperson", r"chair(?:person|man|woman)?", "person"),
    _relation("head coach", r"(?:head )?coach", "person"),
    _relation("official language", r"official(?: language| tongue| documents| business|ly)?", "language"),
    _relation(
        "speaks", r"speaks?|spoken|languages? (?:does|are|were|can)|writ(?:e|ten) or sign(?:ed)?|sign", "language"
    ),
    _relation(
        "written in language|original language", r"language|written(?: in)?|language of the (?:work|book)", "language"
    ),
    _relation("developed by", r"develop(?:er|ed)(?: of| by)?", "company"),
    _relation(
        "company|manufacturer|produced by", r"manufactur\w+|maker|produc(?:ed|er|es)(?: by)?|company|made by", "company"
    ),
    _relation(
        "origianl broadcaster|original broadcaster|broadcaster",
        r"(?:original(?:ly)? )?broadcast(?:er|ed|ing)?|aired|network",
        "company",
    ),
    _relation("child|has (?:son|daughter|child)", r"child(?:ren)?|son|daughter", "person"),
    _relation("famous for|known for", r"famous(?: for)?|notable(?: work)?|known for|significant creation|work", "work"),
)

TYPES: dict[str, frozenset[str]] = {
    "country": frozenset({"country"}),
    "nation": frozenset({"country"}),
    "city": frozenset({"city", "place"}),
    "town": frozenset({"city", "place"}),
    "place": frozenset({"place", "city", "country"}),
    "location": frozenset({"place", "city", "country"}),
    "where": frozenset({"place", "city", "country", "continent"}),
    "continent": frozenset({"continent"}),
    "language": frozenset({"language"}),
    "languages": frozenset({"language"}),
    "religion": frozenset({"religion"}),
    "faith": frozenset({"religion"}),
    "sport": frozenset({"sport"}),
    "position": frozenset({"position", "person"}),
    "university": frozenset({"school"}),
    "company": frozenset({"company"}),
    "capital": frozenset({"city"}),
    "occupation": frozenset({"occupation"}),
    "profession": frozenset({"occupation"}),
    "who": frozenset({"person", "company"}),
    "individual": frozenset({"person"}),
    "person": frozenset({"person"}),
}
"""What a question that begins so wants to be told."""


@lru_cache(maxsize=4_096)
def relation_of(predicate: str) -> Relation:
    """The relation that a predicate states; one of its own words if it is none of the common ones."""
    for relation in RELATIONS:
        if relation.stated.match(predicate):
            return relation
    own = [w for w in words(predicate) if w not in STOP_WORDS] or words(predicate)
    stems = "|".join(re.escape(stem(word)) + r"\w*" for word in own) or "(?!)"
    return Relation(re.compile(re.escape(predicate)), re.compile(rf"\b(?:{stems})", re.IGNORECASE), "")
