"""What a claim says without words: what no longer holds if it does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial

from longmind.consolidate.rules.claims import Claim
from longmind.consolidate.rules.lexicon import SINGLE_KIN
from longmind.consolidate.rules.naming import FAMILIES, KIN_ALONE, object_of, relation_of, subject_of, words_of
from longmind.consolidate.rules.relations import PARTNER_PREDICATES, PARTNER_WORDS, RELATIONS
from longmind.consolidate.rules.stated import settled_status
from longmind.models.statements import StatedClaim
from longmind.text.sentences import sentence_at

_APART = re.compile(r"single|divorced|separated|widow(?:ed|er)?|alone|on my own", re.IGNORECASE)
"""Being this means that there is no partner any more."""
_RETIRED = re.compile(r"retired|(?:into\s+)?retirement|in retirement|(?:a\s+)?pensioner", re.IGNORECASE)
"""Whoever is, or did, this has no work any more."""
_STATES_OF_WORK = frozenset({("works_as", "current"), ("other", "current"), ("event", "past")})
"""Where the reader finds that somebody has retired."""
_NOT = re.compile(r"\b(?:no|not|never|none|without|cannot)\b|n['’]t\b", re.IGNORECASE)


def implied_endings(
    claim: StatedClaim, text: str, speaker: str | None, said_at: datetime, person: str | None = None
) -> Iterator[Claim]:
    """Yield what a certain claim says no longer holds, beside what it states.

    What somebody denies ends if it was known, since they know better by now, and what was denied ends when it holds;
    what somebody dislikes they do not like; whoever is single has no partner, and whoever has retired no work; and "my
    girlfriend left" ends whoever is known as that.
    """
    subject = subject_of(claim, text, speaker, person)
    if not claim.certain or subject is None:
        return
    status, words = settled_status(claim, text, said_at), words_of(text, claim.object).strip()
    relation, object = relation_of(claim, text), object_of(claim, text, speaker)
    endings = partial(_ending, subject, claim)
    if status == "negated" and relation is not None and object is not None:
        yield endings(relation.predicate, object, also=relation.also)
    elif status == "current" and claim.relation == "partner" and _APART.fullmatch(words):
        yield endings("has partner", many=False, also=PARTNER_PREDICATES)
        for word in PARTNER_WORDS:
            yield endings("has", word)
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
