"""What a claim says without words: what no longer holds if it does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial

from longmind.consolidate.rules.claims import Claim
from longmind.consolidate.rules.lexicon import SINGLE_KIN
from longmind.consolidate.rules.naming import FAMILIES, KIN_ALONE, object_of, relation_of, subject_of, words_of
from longmind.consolidate.rules.relations import OF_THE_LIVING, PARTNER_PREDICATES, RELATIONS
from longmind.consolidate.rules.replacing import APART
from longmind.consolidate.rules.stated import settled_status
from longmind.models.statements import StatedClaim
from longmind.text.sentences import sentence_at
from longmind.text.vocabulary import FAMILY, PARTNER_WORDS, PETS

_RETIRED = re.compile(
    r"(?:has\s+|have\s+|is\s+|(?:just|now|finally)\s+)*retired(?:\s+(?:from|after|in|at|on|last|this|since)\s.*)?"
    r"|(?:(?:went|goes|gone)\s+)?(?:into\s+)?retirement|in retirement|(?:a\s+)?pensioner",
    re.IGNORECASE,
)
"""Whoever is, or did, this has no work any more."""
_MEAT = re.compile(
    r"(?:meat|beef|pork|chicken|lamb|turkey|bacon|ham|steaks?|burgers?|sausages?)(?:\s+(?:again|now))?",
    re.IGNORECASE,
)
"""Whoever eats this is no vegetarian."""
_STATES_OF_WORK = frozenset(
    {("works_as", "current"), ("other", "current"), ("property", "current"), ("event", "past"), ("event", "current")}
)
"""Where the reader finds that somebody has retired."""
_SAME_CLAUSE = r"(?:(?!\b(?:when|after|since|because|while|as|and|but|who|whose|before|until)\b)[^,;:.!?])*"
_DIED_AFTER = re.compile(
    rf"^{_SAME_CLAUSE}\b(?:died|dies|dead|deceased|pass(?:ed|es)\s+(?:away|on)|was\s+put\s+(?:down|to\s+sleep))\b",
    re.IGNORECASE,
)
_DEATH_BEFORE = re.compile(
    r"\b(?:bur(?:y|ied)|death\s+of|funeral\s+(?:of|for)|mourn(?:ing|ed)?|put\s+down|outlived)\s+"
    rf"(?:(?:my|our|dear|late|old)\s+)*(?:(?:{FAMILY}|{PETS}),?\s+)?$",
    re.IGNORECASE,
)
_DEATH_OF = re.compile(r"^['’]s?\s+(?:\w+\s+)?(?:death|funeral|passing)\b", re.IGNORECASE)
"""Words that tell that whoever is named beside them has died."""
_NOT = re.compile(r"\b(?:no|not|never|none|without|cannot)\b|n['’]t\b", re.IGNORECASE)


def implied_endings(
    claim: StatedClaim, text: str, speaker: str | None, said_at: datetime, person: str | None = None
) -> Iterator[Claim]:
    """Yield what a certain claim says no longer holds, beside what it states.

    What somebody denies ends if it was known, since they know better by now, and what was denied ends when it holds;
    what somebody dislikes they do not like; whoever is single has no partner, and whoever has retired no work; and "my
    girlfriend left" ends whoever is known as that. Of whoever has died nothing holds any more that takes a life.
    """
    subject = subject_of(claim, text, speaker, person)
    if not claim.certain or subject is None:
        return
    status, words = settled_status(claim, text, said_at), words_of(text, claim.object).strip()
    relation, object = relation_of(claim, text), object_of(claim, text, speaker)
    endings = partial(_ending, subject, claim)
    if status == "ended" and claim.relation in FAMILIES and _has_died(claim, text):
        whose = f"{subject}'s {words.split()[-1].lower()}" if KIN_ALONE.fullmatch(words) else object
        if whose is not None:
            yield _ending(whose, claim, OF_THE_LIVING[0], many=False, also=OF_THE_LIVING[1:])
    if status == "negated" and relation is not None and object is not None:
        yield endings(relation.predicate, object, also=relation.also)
    elif status == "current" and claim.relation == "partner" and APART.fullmatch(words):
        yield endings("has partner", many=False, also=PARTNER_PREDICATES)
        for word in PARTNER_WORDS:
            yield endings("has", word)
    elif status == "current" and claim.relation == "diet" and _MEAT.fullmatch(words):
        yield endings("diet", "vegetarian", many=False)
        yield endings("diet", "vegan", many=False)
    elif (claim.relation, status) in _STATES_OF_WORK and _RETIRED.fullmatch(words):
        yield endings("works at", many=False)
        if claim.relation != "works_as":  # which replaces what somebody worked as before
            yield endings("works as", many=False)
    elif status == "ended" and claim.relation in FAMILIES and KIN_ALONE.fullmatch(words):
        word = words.split()[-1].lower()
        also = PARTNER_PREDICATES if f"has {word}" in PARTNER_PREDICATES else ("has pet",) * (claim.relation == "pet")
        yield endings(f"has {word}", many=word not in SINGLE_KIN, also=also)
        yield endings("has", word)
    elif status == "current" and claim.relation == "dislikes" and object is not None:
        yield endings("likes", object, also=RELATIONS["likes"].also)
    elif status == "current" and (denial := RELATIONS[claim.relation].negated) is not None:
        if claim.relation in FAMILIES:
            yield endings(denial, many=False)
        elif relation is not None and object is not None:
            yield endings(relation.negated or denial, _words_up_to(claim, text))


def _has_died(claim: StatedClaim, text: str) -> bool:
    """Whether a text says of whom a claim names that they have died; nobody else of the same sentence counts."""
    before, after = text[: claim.object[0]], text[claim.object[1] :]
    return any((_DIED_AFTER.search(after), _DEATH_OF.search(after), _DEATH_BEFORE.search(before)))


def _words_up_to(claim: StatedClaim, text: str) -> str:
    """Return the words of a claim that may name what was denied: "we bought a car, a Jogger" ends that there is no car.

    They are those of the sentence up to the object; where these deny something themselves, the object alone.
    """
    sentence = sentence_at(text, claim.object[0])
    words = text[claim.object[0] if sentence is None else sentence.start : claim.object[1]]
    return words_of(text, claim.object) if _NOT.search(words) else words


def _ending(
    subject: str, claim: StatedClaim, predicate: str, object: str = "", *, many: bool = True, also: tuple[str, ...] = ()
) -> Claim:
    """Return a claim that something has ended; without an object any value, or the only one if there may be many."""
    rule = f"read {claim.relation}"
    return Claim(subject, predicate, object, claim.span, claim.confidence, rule, many, ended=True, also=also)
