"""Whom and what the words of a claim name: its subject, its object, how its relation is stored, and its time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from longmind.consolidate.rules import phrases
from longmind.consolidate.rules.lexicon import SINGLE_KIN
from longmind.consolidate.rules.relations import (
    DIET,
    MAIL,
    OF_A_PARTNER,
    PERSONAL_DEADLINE,
    PHONE,
    QUANTITY,
    RELATIONS,
    RELATIONSHIP,
    SCHEDULE,
    Relation,
    kin,
)
from longmind.models.statements import Span, StatedClaim
from longmind.text.dates import TIME_PHRASE, NamedTime, resolve_phrase
from longmind.text.vocabulary import FAMILY, PETS, RELATIVES

_SPEAKERS = re.compile(
    r"(?:i|me|my|mine|myself|we|us|our|ours|i'm|i've|we're|we've|im|ive"
    r"|we\s+(?:all|both)|(?:we\s+)?(?:the\s+)?(?:all|both|two|three|four|five|six)\s+of\s+us)",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"(?:he|she|they|it|her|him|them|his|hers|their|theirs|its|this|that|these|those|you|your|who|which|one|someone|"
    r"somebody|everyone|everybody|(?:he|she|it|that|they|you)['’]?(?:s|re))",
    re.IGNORECASE,
)
"""Words that name somebody only together with what was said before."""
_SOMEBODY = re.compile(r"(?:he|she|him|her|his|hers|(?:he|she)['’]?s)", re.IGNORECASE)
_CLAUSE = re.compile(
    r"(?:i|we|you|he|she|they|it|there)(?:['’]\w+)?\s+(?!(?:and|or|both|all|two|three|four)\b)", re.IGNORECASE
)
"""How words begin that are no noun phrase but a part of a sentence: "we had to rename the app"."""
_NOUN_PHRASE = re.compile(r".*\b(?P<last>(?:my|our|the|an?|his|her|their|this|these)\s+.+)", re.IGNORECASE | re.DOTALL)
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
_KIN_BEFORE = re.compile(rf"\b(?P<kin>{FAMILY}|{PETS})(?:['’]?s name is|\s+is called|\s+named|,)?\s+$", re.IGNORECASE)
KIN_ALONE = re.compile(
    rf"(?:(?:my|our|two|three|four|\d+|little|big|older|younger|elder|ex|best|late|old|new)[\s-]+)*(?:{FAMILY}|{PETS})",
    re.IGNORECASE,
)
_RELATIVES_WITH_NAMES = "uncle|aunt|auntie|aunty|grandma|grandpa|granny|nana|cousin"
"""Words that stand before the name of a relative although nobody says whose it is: "Uncle Reg"."""
_KIN_AND_NAME = re.compile(
    r"(?i:(?:(?:my|our)\s+(?:(?:little|big|older|younger|elder|late|old|best|dear|great|twin)[\s-]+)*"
    rf"(?:{FAMILY}|{PETS})|{_RELATIVES_WITH_NAMES})),?\s+(?P<name>[^\W\d_a-z][\w-]*(?:\s+[^\W\d_a-z][\w-]*)*)"
)
_KIN_AS_NAME = frozenset(
    {*RELATIVES, "mummy", "mommy", "daddy", "mama", "papa", "granny", "nan", "nana", "gran", "granddad", "grandad"}
)
"""Relatives whom the speaker calls by these words alone: "Dad is 80"."""
_WHOSE = re.compile(
    r"\b(?:an?|the|his|her|their|your|its|this|these|those|every|each|any|some|no|whose|\w+['’]s|\w+s['’])\s+"
    r"(?:[\w-]+\s+)?$",
    re.IGNORECASE,
)
"""Words before a relative who is somebody else's, or anybody's."""
_MINE = re.compile(r"\b(?:my|our|your|his|her|their|the|['’]s)\s+(?:[\w-]+\s+){0,2}[\w-]+$", re.IGNORECASE)
"""Somebody who is only mentioned: "my uncle says". That there is an uncle is not what is said."""
_FORMER = re.compile(r"\b(?:ex|late|old|former)[\s-]+[\w-]+$", re.IGNORECASE)
_OWN = re.compile(r"\b(?:my|our)\s+(?:[\w-]+\s+){0,2}[\w-]+$", re.IGNORECASE)
"""Somebody whom the speaker calls theirs."""
_HOUSEHOLD = frozenset({"partner", "child", "sibling", "pet"})
"""Not everybody has these, so that somebody has them is worth knowing: "my wife says"."""
FAMILIES = frozenset({"partner", "child", "parent", "sibling", "relative", "knows", "pet"})
_PEOPLE = FAMILIES - {"pet"}
_CLAUSES = frozenset({"habit", "event", "instruction", "other"})
"""Relations whose object is a clause, which keeps its articles."""
_DIETS = re.compile(r"vegan|vegetarian|[a-z]+tarian|omnivore", re.IGNORECASE)
_PHONE = re.compile(r"\+?\(?\d[\d\s()/.-]{4,}\d")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DAY = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tues?|wed|thu|thurs?|fri|sat|sun|weekdays?|weekends?|daily|noon"
)
_HOUR = re.compile(r"\d{1,2}(?:[:.]\d\d)?(?:am|pm|h)?")
_OF_SCHEDULES = frozenset(
    """on at from to till until and every each the first second third fourth last other of month now always morning
    mornings afternoon afternoons evening evenings night nights am pm a.m p.m o'clock""".split()
)
_RELATIONSHIP = re.compile(
    r"\b(?:single|married|divorced|engaged|separated|widow(?:ed|er)?|alone|on my own|together|dating|relationship|"
    r"split|broke|wed(?:ding)?|marriage|divorce|taken|seeing)\b",
    re.IGNORECASE,
)
"""Words for how somebody lives with somebody, in place of a name."""


def named_person(claims: Sequence[StatedClaim], text: str, speaker: str | None) -> str | None:
    """Return whom "he" or "she" means in a turn: the one person whom its claims name, if there is just one."""
    spans = {claim.subject for claim in claims if claim.subject is not None}
    spans |= {claim.object for claim in claims if claim.relation in _PEOPLE and claim.subject is None}
    names = {name for span in spans if (name := _named(text, span, speaker)) is not None and name != speaker}
    return names.pop() if len(names) == 1 else None


def words_of(text: str, span: Span) -> str:
    """Return the words of a text that a span covers."""
    return text[span[0] : span[1]]


def subject_of(claim: StatedClaim, text: str, speaker: str | None, person: str | None) -> str | None:
    """Return whom a claim is about; None if the words do not name anybody."""
    if claim.subject is None:
        return speaker
    words = words_of(text, claim.subject)
    return person if _SOMEBODY.fullmatch(words) else _named(text, claim.subject, speaker)


def relative_named(words: str, before: str, speaker: str | None) -> str | None:
    """Return which relative some words name behind others; None if they name none.

    "Dad" is the speaker's, and "Uncle Reg" and "my sister Ana" mean the names.
    """
    words = words.strip()
    if (match := _KIN_AND_NAME.fullmatch(words)) is not None:
        return match["name"]
    if speaker is not None and words.casefold() in _KIN_AS_NAME and not _WHOSE.search(before):
        return f"{speaker}'s {words.lower()}"
    return None


def _named(text: str, span: Span, speaker: str | None) -> str | None:
    """Return whom some words of a text name; of a part of a sentence it is what that ends with."""
    words = words_of(text, span)
    if not _SPEAKERS.fullmatch(words) and _CLAUSE.match(words):
        match = _NOUN_PHRASE.fullmatch(words)
        return None if match is None else _named(text, (span[0] + match.start("last"), span[1]), speaker)
    return relative_named(words, text[: span[0]], speaker) or _name(words, speaker)


def _name(words: str, speaker: str | None) -> str | None:
    """Return whom some words name by themselves."""
    words = _ARTICLE.sub("", words).strip()
    if _SPEAKERS.fullmatch(words):
        return speaker
    if not words or _POINTS.fullmatch(words):
        return None
    if re.search(r"\b(?:my|our|me|myself)\b", words, re.IGNORECASE):
        return None if speaker is None else phrases.spoken(words[0].lower() + words[1:], speaker)
    return words


def object_of(claim: StatedClaim, text: str, speaker: str | None) -> str | None:
    """Return what a claim states of its subject; None if the words do not name anything."""
    return _value(_object_words(claim, text), speaker, clause=claim.relation in _CLAUSES)


def value_of(text: str, span: Span, speaker: str | None) -> str | None:
    """Return what some words of a text name as the value of a fact; None if they do not name anything."""
    return _value(words_of(text, span), speaker)


def _value(words: str, speaker: str | None, *, clause: bool = False) -> str | None:
    words = " ".join(words.split()).strip(' .,;:!?"“”')
    if not clause:
        words = _ARTICLE.sub("", words)
    if not words or _POINTS.fullmatch(words):
        return None
    return words if speaker is None else phrases.spoken(words, speaker)


def _object_words(claim: StatedClaim, text: str) -> str:
    """Return the words of an object; of a part of a mail address or a telephone number all of it."""
    start, end = claim.object
    ways = (_MAIL, _PHONE) if claim.relation == "contact" else ()
    whole = (match[0] for way in ways for match in way.finditer(text) if match.start() < end and match.end() > start)
    return next(whole, text[start:end])


def relation_of(claim: StatedClaim, text: str) -> Relation | None:
    """Return how the relation of a claim is stored, which for relatives, animals and numbers the words decide."""
    words = _object_words(claim, text).strip()
    if claim.relation == "property" and _is_schedule(words):
        return SCHEDULE
    if claim.relation == "property" and re.search(r"\d", words):
        return QUANTITY
    if claim.relation == "diet" and _DIETS.fullmatch(words):
        return DIET
    if claim.relation == "contact" and (way := _way(words)) is not None:
        return way
    if claim.relation == "deadline" and claim.subject is None:
        return PERSONAL_DEADLINE
    if claim.relation not in FAMILIES:
        return RELATIONS[claim.relation]
    if KIN_ALONE.fullmatch(words):
        return _kin_alone(claim, f"{text[: claim.object[0]]}{words}")
    if claim.relation == "partner" and _RELATIONSHIP.search(words):
        return RELATIONSHIP
    before = _KIN_BEFORE.search(text[: claim.object[0]])
    if before is None:
        return RELATIONS[claim.relation]
    word = re.sub(r"(?<=friend)s$|(?<=neighbor)s$|(?<=neighbour)s$", "", before["kin"].lower())
    relation = kin(word, many=word not in SINGLE_KIN)
    former = _FORMER.search(text[: before.end("kin")])
    return relation if former is None else replace(relation, instead_of=())


def _is_schedule(words: str) -> bool:
    """Whether some words are the time of what takes place again and again: "every Tuesday at 10"."""
    parts = re.findall(r"[^\s,&/–-]+", words.lower())
    days = [_DAY.fullmatch(part) is not None for part in parts]
    hours = [_HOUR.fullmatch(part) is not None for part in parts]
    known = all(
        part.strip(".") in _OF_SCHEDULES or day or hour for part, day, hour in zip(parts, days, hours, strict=True)
    )
    return known and (any(days) or ("at" in parts and any(hours)))


def _kin_alone(claim: StatedClaim, before: str) -> Relation | None:
    """Return the relation to relatives or animals without names; ``before`` is the text up to their end.

    Who is only mentioned counts if not everybody has one, and if it is the speaker's.
    """
    own = claim.relation in _HOUSEHOLD and claim.subject is None and _OWN.search(before)
    if claim.relation == "parent" or (_MINE.search(before) and not own):
        return None
    instead_of = OF_A_PARTNER if claim.relation == "partner" and not _FORMER.search(before) else ()
    denial = RELATIONS[claim.relation].negated
    return Relation("has", past="had", negated=denial, also=("owns",), instead_of=instead_of)


def _way(words: str) -> Relation | None:
    """Return the way to reach somebody that an address is, if there is one such at a time."""
    return MAIL if _MAIL.fullmatch(words) else PHONE if _PHONE.fullmatch(words) else None


def time_of(claim: StatedClaim, text: str, said_at: datetime, *, ahead: bool = False) -> NamedTime | None:
    """Return the time that a claim names; with ``ahead`` a month without a year is the next one."""
    match = None if claim.time is None else TIME_PHRASE.search(words_of(text, claim.time))
    return None if match is None else resolve_phrase(match, said_at, ahead=ahead)
