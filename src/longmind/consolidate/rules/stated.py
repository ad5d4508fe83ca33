"""What a claim of the reader of statements does to the memory.

Only what holds now, or has ended, may change what was known. What was, what is to come and what holds for a time is
kept under a predicate of its own, beside it; what is denied, imagined, asked or somebody else's word is not kept. The
table in ``docs/concepts/semantic.md`` says the same for readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from longmind.consolidate.rules import changes, phrases
from longmind.consolidate.rules.claims import Claim, Reason, Refused
from longmind.consolidate.rules.framing import framed
from longmind.consolidate.rules.lexicon import FAMILY, PETS, SINGLE_KIN
from longmind.consolidate.rules.relations import (
    DIET,
    MAIL,
    PARTNER_PREDICATES,
    PERSONAL_DEADLINE,
    PHONE,
    QUANTITY,
    RELATIONS,
    Relation,
    kin,
    known_by_name,
)
from longmind.models.statements import Span, StatedClaim, Status
from longmind.text.dates import TIME_PHRASE, NamedTime, resolve_phrase
from longmind.text.durations import resolve_duration, resolve_end
from longmind.text.sentences import sentences

_REFUSED: dict[Status, Reason] = {
    "negated": "negated",
    "hypothetical": "hypothetical",
    "reported": "reported",
    "asked": "question",
}
_SPEAKERS = re.compile(r"(?:i|me|my|mine|myself|we|us|our|ours|i'm|i've|we're|we've|im|ive)", re.IGNORECASE)
_POINTS = re.compile(
    r"(?:he|she|they|it|her|him|them|his|hers|their|theirs|its|this|that|these|those|you|your|who|which|one|someone|"
    r"somebody|everyone|everybody|(?:he|she|it|that|they|you)['’]?(?:s|re))",
    re.IGNORECASE,
)
"""Words that name somebody only together with what was said before."""
_SOMEBODY = re.compile(r"(?:he|she|him|her|his|hers|(?:he|she)['’]?s)", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
_KIN_BEFORE = re.compile(rf"\b(?P<kin>{FAMILY}|{PETS})(?:['’]?s name is|\s+is called|\s+named|,)?\s+$", re.IGNORECASE)
_KIN_ALONE = re.compile(
    rf"(?:(?:my|our|two|three|four|\d+|little|big|older|younger|elder|ex|best|late|old|new)[\s-]+)*(?:{FAMILY}|{PETS})",
    re.IGNORECASE,
)
_MINE = re.compile(r"\b(?:my|our|your|his|her|their|the|['’]s)\s+(?:[\w-]+\s+){0,2}[\w-]+$", re.IGNORECASE)
"""Somebody who is only mentioned: "my uncle says". That there is an uncle is not what is said."""
_FAMILIES = frozenset({"partner", "child", "parent", "sibling", "relative", "knows", "pet"})
_PEOPLE = _FAMILIES - {"pet"}
_CLAUSES = frozenset({"habit", "event", "instruction", "other"})
"""Relations whose object is a clause, which keeps its articles."""
_DIETS = re.compile(r"vegan|vegetarian|[a-z]+tarian|omnivore", re.IGNORECASE)
_LOOKS_BACK = re.compile(r"\b(?:last|past|ago|yesterday|earlier|\d{4})\b", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:since|for|now|from)\b", re.IGNORECASE)
_DAY = timedelta(days=1)
_LONG_AGO = timedelta(days=365)
_LASTING = timedelta(days=366)
"""What is said to last longer than this is no short stay."""
_PAUSE = re.compile(r"for\b", re.IGNORECASE)
_PAUSED = timedelta(days=31)
"""What is left off for no longer than this goes on: "I'm off the tablets for 48 hours"."""
_PHONE = re.compile(r"\+?[\d\s()/.-]{6,}")
_MAIL = re.compile(r"\S+@\S+\.\w+")
_APART = re.compile(r"single|divorced|separated|widow(?:ed|er)?|alone|on my own", re.IGNORECASE)
"""Being this means that there is no partner any more."""
_RELATIONSHIP = re.compile(
    r"\b(?:single|married|divorced|engaged|separated|widow(?:ed|er)?|alone|on my own|together|dating|relationship|"
    r"split|broke|wed(?:ding)?|marriage|divorce|taken|seeing)\b",
    re.IGNORECASE,
)
"""Words for how somebody lives with somebody, in place of a name."""
_ANY_JOB = re.compile(r"(?:job|work|working|position|post|role|contract|day job|old job)", re.IGNORECASE)
"""What is left by somebody who does not say which: "I quit my job"."""
_RETIRED = re.compile(r"retired|(?:into\s+)?retirement|in retirement|(?:a\s+)?pensioner", re.IGNORECASE)
"""Whoever is, or did, this has no work any more."""
_STATES_OF_WORK = frozenset({("works_as", "current"), ("other", "current"), ("event", "past")})
"""Where the reader finds that somebody has retired."""
_CHANGING = frozenset({"current", "ended", "negated"})
_MOVES = frozenset({"lives_in", "works_at", "works_as", "works_in", "studied_at"})
"""Relations in which one state follows another, so that an old date says nothing of today."""
_AS_IT_WERE = re.compile(
    r"\b(?:basically|practically|virtually|essentially|pretty much|more or less|sort of|kind of)"
    r"(?:\s+(?:live|work|study|an?|the|at|in|as|for))*\s+$",
    re.IGNORECASE,
)
"""Whoever is basically a taxi driver is none."""


def named_person(claims: Sequence[StatedClaim], text: str, speaker: str | None) -> str | None:
    """Return whom "he" or "she" means in a turn: the one person whom its claims name, if there is just one."""
    spans = {claim.subject for claim in claims if claim.subject is not None}
    spans |= {claim.object for claim in claims if claim.relation in _PEOPLE and claim.subject is None}
    names = {name for span in spans if (name := _name(_words(text, span), speaker)) is not None and name != speaker}
    return names.pop() if len(names) == 1 else None


def apply_claim(
    claim: StatedClaim, text: str, speaker: str | None, said_at: datetime, person: str | None = None
) -> Claim | Refused:
    """Return what a claim of a turn says as a claim for semantic memory, or why it is not kept.

    ``person`` is whom "he" or "she" means.
    """
    status = settled_status(claim, text, said_at)
    relation = _relation(claim, text)
    denied = relation.negated if relation is not None and status == "negated" else None
    if denied is None and (reason := _REFUSED.get(status)) is not None:
        return Refused(reason, _words(text, claim.span), claim.span)
    subject = _subject(claim, text, speaker, person)
    object = _object(claim, text, speaker)
    if subject is None or object is None or relation is None or subject.casefold() == object.casefold():
        return Refused("unclear", _words(text, claim.span), claim.span)
    if status == "ended" and claim.relation in ("works_at", "works_as") and _ANY_JOB.fullmatch(object):
        relation, object = replace(relation, relates=False, also=("works at", "works as")), ""
    time = _time(claim, text, said_at)
    return _kept(claim, status, subject, relation, object, time, text, said_at) or Refused(
        "unclear", _words(text, claim.span), claim.span
    )


def implied_endings(
    claim: StatedClaim, text: str, speaker: str | None, said_at: datetime, person: str | None = None
) -> Iterator[Claim]:
    """Yield what a certain claim says no longer holds, beside what it states.

    What somebody denies ends if it was known, since they know better by now; whoever is single has no partner, and
    whoever has retired no work; and "my girlfriend left" ends whoever is known as that.
    """
    subject = _subject(claim, text, speaker, person)
    if not claim.certain or subject is None:
        return
    status, words = settled_status(claim, text, said_at), _words(text, claim.object).strip()
    span, rule = claim.span, f"read {claim.relation}"
    if status == "negated":
        relation, object = _relation(claim, text), _object(claim, text, speaker)
        if relation is not None and object is not None:
            yield Claim(
                subject, relation.predicate, object, span, claim.confidence, rule, ended=True, also=relation.also
            )
    elif status == "current" and claim.relation == "partner" and _APART.fullmatch(words):
        yield Claim(
            subject, "has partner", "", span, claim.confidence, rule, many=False, ended=True, also=PARTNER_PREDICATES
        )
    elif (claim.relation, status) in _STATES_OF_WORK and _RETIRED.fullmatch(words):
        is_work = claim.relation == "works_as"  # which replaces what somebody worked as before
        predicate, also = ("works at", ()) if is_work else ("works as", ("works at",))
        yield Claim(subject, predicate, "", span, claim.confidence, rule, many=False, ended=True, also=also)
    elif status == "ended" and claim.relation in _FAMILIES and _KIN_ALONE.fullmatch(words):
        word = words.split()[-1].lower()
        also = PARTNER_PREDICATES if f"has {word}" in PARTNER_PREDICATES else ("has pet",) * (claim.relation == "pet")
        yield Claim(
            subject, f"has {word}", "", span, claim.confidence, rule, word not in SINGLE_KIN, ended=True, also=also
        )


def settled_status(claim: StatedClaim, text: str, said_at: datetime) -> Status:
    """Return a claim's status, corrected by the time it names, since dates are read better by rules.

    A stay of some weeks is temporary, and what has a date before today is not to come, however sure the model is. A
    home or a job "as it were" is a figure of speech. What would change something is not taken from a quotation, a
    condition or somebody else's word; that there is a relative holds there too ("my aunt says").
    """
    mentioned = claim.status == "current" and claim.relation in _FAMILIES
    if claim.status in _CHANGING and not mentioned and (status := framed(text, claim.object[0])) is not None:
        return status
    if claim.status == "ended" and claim.time is not None and _PAUSE.match(_words(text, claim.time)):
        length = resolve_duration(_words(text, claim.time))
        return "temporary" if length is not None and length <= _PAUSED else "ended"
    if claim.relation not in _MOVES or claim.status not in ("current", "planned"):
        return claim.status
    if _AS_IT_WERE.search(text[: claim.object[0]]):
        return "hypothetical"
    if claim.status == "planned":
        time = _time(claim, text, said_at)
        over = time is not None and time.start is not None and said_at - time.start > _DAY
        # "in January" is the next one of somebody who has plans
        return "current" if over and _LOOKS_BACK.search(_words(text, claim.time or claim.object)) else "planned"
    if claim.time is not None and (length := resolve_duration(_words(text, claim.time))) is not None:
        lasting = length >= _LASTING or re.search(r"\b(?:past|last|been)\b", text, re.IGNORECASE)
        return "current" if lasting else "temporary"
    sentence = next((s.text for s in sentences(text) if s.start <= claim.object[0] < s.start + len(s.text)), text)
    return "temporary" if claim.relation == "lives_in" and changes.tells_of_stay(sentence) else "current"


def _kept(
    claim: StatedClaim,
    status: Status,
    subject: str,
    relation: Relation,
    object: str,
    time: NamedTime | None,
    text: str,
    said_at: datetime,
) -> Claim | None:
    span, confidence, rule = claim.span, claim.confidence, f"read {claim.relation}"
    start = None if time is None or time.start is None or time.start > said_at else time.start
    dated = f"{object} ({time.text})" if time is not None and time.text else object
    if status == "negated" and relation.negated is not None:
        return Claim(subject, relation.negated, object, span, confidence, rule)
    if status == "current":
        # A move of long ago may have been followed by others, so it takes its place in the past.
        moved = start is not None and said_at - start > _LONG_AGO and claim.relation in _MOVES
        moved = moved and claim.time is not None and not _SINCE.search(_words(text, claim.time))
        return Claim(
            subject, relation.predicate, object, span, confidence, rule, relation.many, relation.relates,
            start if relation.many or moved else None, since=None if moved else start,
            also=relation.also, instead_of=relation.instead_of, certain=claim.certain,
        )  # fmt: skip
    if status == "ended":
        return Claim(
            subject, relation.predicate, object, span, confidence, rule, relation.many, relation.relates,
            start, ended=True, also=relation.also, certain=claim.certain, by_name=known_by_name(claim.relation),
        )  # fmt: skip
    if status == "past" and relation.past is not None:
        return Claim(subject, relation.past, dated, span, confidence, rule, start=start)
    if status == "planned" and claim.relation == "event":
        return Claim(subject, "plans", dated, span, confidence, rule, also=("plans to",))
    if status == "planned" and relation.intention is not None:
        return Claim(subject, "plans to", f"{relation.intention} {dated}".strip(), span, confidence, rule)
    if status == "temporary":
        end = resolve_end(_words(text, claim.time), said_at) if claim.time is not None else None
        predicate = relation.stay or (relation.predicate if relation.many else None)
        if end is not None and predicate is not None:
            return Claim(subject, predicate, object, span, confidence, rule, until=end)
    return None


def _words(text: str, span: Span) -> str:
    return text[span[0] : span[1]]


def _subject(claim: StatedClaim, text: str, speaker: str | None, person: str | None) -> str | None:
    """Return whom a claim is about; None if the words do not name anybody."""
    if claim.subject is None:
        return speaker
    words = _words(text, claim.subject)
    return person if _SOMEBODY.fullmatch(words) else _name(words, speaker)


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


def _object(claim: StatedClaim, text: str, speaker: str | None) -> str | None:
    words = " ".join(_words(text, claim.object).split()).strip(' .,;:!?"“”')
    if claim.relation not in _CLAUSES:
        words = _ARTICLE.sub("", words)
    if not words or _POINTS.fullmatch(words):
        return None
    return words if speaker is None else phrases.spoken(words, speaker)


def _relation(claim: StatedClaim, text: str) -> Relation | None:
    """Return how the relation of a claim is stored, which for relatives, animals and numbers the words decide."""
    words = _words(text, claim.object).strip()
    if claim.relation == "property" and re.search(r"\d", words):
        return QUANTITY
    if claim.relation == "diet" and _DIETS.fullmatch(words):
        return DIET
    if claim.relation == "contact" and (way := _way(words)) is not None:
        return way
    if claim.relation == "deadline" and claim.subject is None:
        return PERSONAL_DEADLINE
    if claim.relation not in _FAMILIES:
        return RELATIONS[claim.relation]
    if _KIN_ALONE.fullmatch(words):
        mentioned = claim.relation == "parent" or _MINE.search(f"{text[: claim.object[0]]}{words}")
        return None if mentioned else Relation("has", past="had", also=("owns",))
    if claim.relation == "partner" and _RELATIONSHIP.search(words):
        return Relation("relationship", past="former relationship")
    before = _KIN_BEFORE.search(text[: claim.object[0]])
    if before is None:
        return RELATIONS[claim.relation]
    word = re.sub(r"(?<=friend)s$|(?<=neighbor)s$|(?<=neighbour)s$", "", before["kin"].lower())
    return kin(word, many=word not in SINGLE_KIN)


def _way(words: str) -> Relation | None:
    """Return the way to reach somebody that an address is, if there is one such at a time."""
    return MAIL if _MAIL.fullmatch(words) else PHONE if _PHONE.fullmatch(words) else None


def _time(claim: StatedClaim, text: str, said_at: datetime) -> NamedTime | None:
    match = None if claim.time is None else TIME_PHRASE.search(_words(text, claim.time))
    return None if match is None else resolve_phrase(match, said_at)
