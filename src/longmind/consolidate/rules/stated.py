"""What a claim of the reader of statements does to the memory.

Only what holds now, or has ended, may change what was known. What was, what is to come and what holds for a time is
kept under a predicate of its own, beside it, and so is what is surely denied; what is imagined, asked or somebody
else's word is not kept. The table in ``docs/concepts/semantic.md`` says the same for readers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta

from longmind.consolidate.rules import changes
from longmind.consolidate.rules.claims import Claim, Reason, Refused
from longmind.consolidate.rules.framing import framed
from longmind.consolidate.rules.naming import FAMILIES, object_of, relation_of, subject_of, time_of, words_of
from longmind.consolidate.rules.relations import OF_HEALTH, Relation, known_by_name
from longmind.models.statements import StatedClaim, Status
from longmind.text.dates import NamedTime
from longmind.text.durations import resolve_duration, resolve_end
from longmind.text.sentences import sentence_at

_REFUSED: dict[Status, Reason] = {
    "negated": "negated",
    "hypothetical": "hypothetical",
    "reported": "reported",
    "asked": "question",
}
_LOOKS_BACK = re.compile(r"\b(?:last|past|ago|yesterday|earlier|\d{4})\b", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:since|for|now|from)\b", re.IGNORECASE)
_DAY = timedelta(days=1)
_LONG_AGO = timedelta(days=365)
_LASTING = timedelta(days=366)
"""What is said to last longer than this is no short stay."""
_MOVED = re.compile(
    r"\b(?:moved|postponed|rescheduled|shifted|delayed|put\s+(?:off|back)|push(?:ed|ing)\s+(?:\w+\s+){0,3}(?:back|out)"
    r"|(?:brought|moved)\s+(?:\w+\s+){0,3}forward|(?:was|been|is|got|they|have|has|had|we|i)\s+changed\b|instead"
    r"|(?:had|have|has|needed|managed)\s+to\s+(?:move|postpone|reschedule|shift|delay|change|swap)"
    r"|swapped|(?:new|other)\s+(?:date|day|time|slot))\b",
    re.IGNORECASE,
)
"""What is said of something to come that has another date now."""
_PAUSE = re.compile(r"for\b", re.IGNORECASE)
_PAUSED = timedelta(days=31)
"""What is left off for no longer than this goes on: "I'm off the tablets for 48 hours"."""
_ANY_JOB = re.compile(r"(?:job|work|working|position|post|role|contract|day job|old job)", re.IGNORECASE)
"""What is left by somebody who does not say which: "I quit my job"."""
_FOR_NOW = timedelta(days=31)
"""How long something is held true that is said to last for a time, if no words tell until when."""
_CHANGING = frozenset({"current", "ended", "negated"})
_MOVES = frozenset({"lives_in", "works_at", "works_as", "works_in", "studied_at"})
"""Relations in which one state follows another, so that an old date says nothing of today."""
_DWELLING = re.compile(
    r"\b(?:live[sd]?|living|mov(?:e[sd]?|ing)|home|house|flat|apartment|settl\w+|resid\w+|based|rent\w*|address)\b",
    re.IGNORECASE,
)
"""Words that tell of a home; without them a place may be one where somebody is for a while."""
_AS_IT_WERE = re.compile(
    r"\b(?:basically|practically|virtually|essentially|pretty much|more or less|sort of|kind of)"
    r"(?:\s+(?:live|work|study|an?|the|at|in|as|for))*\s+$",
    re.IGNORECASE,
)
"""Whoever is basically a taxi driver is none."""


def apply_claim(
    claim: StatedClaim, text: str, speaker: str | None, said_at: datetime, person: str | None = None
) -> Claim | Refused:
    """Return what a claim of a turn says as a claim for semantic memory, or why it is not kept.

    ``person`` is whom "he" or "she" means.
    """
    status = settled_status(claim, text, said_at)
    relation = relation_of(claim, text)
    denied = status == "negated" and claim.certain and relation is not None and relation.negated is not None
    if not denied and (reason := _REFUSED.get(status)) is not None:
        return Refused(reason, words_of(text, claim.span), claim.span)
    subject = subject_of(claim, text, speaker, person)
    object = object_of(claim, text, speaker)
    if subject is None or object is None or relation is None or subject.casefold() == object.casefold():
        return Refused("unclear", words_of(text, claim.span), claim.span)
    if status == "ended" and claim.relation in ("works_at", "works_as") and _ANY_JOB.fullmatch(object):
        relation, object = replace(relation, relates=False, also=("works at", "works as")), ""
    time = time_of(claim, text, said_at, ahead=status == "planned")
    return _kept(claim, status, subject, relation, object, time, text, said_at) or Refused(
        "unclear", words_of(text, claim.span), claim.span
    )


def settled_status(claim: StatedClaim, text: str, said_at: datetime) -> Status:
    """Return a claim's status, corrected by the time it names, since dates are read better by rules.

    A stay of some weeks is temporary, and what has a date before today is not to come, however sure the model is. A
    home or a job "as it were" is a figure of speech. What would change something is not taken from a quotation, a
    condition or somebody else's word; that there is a relative holds there too ("my aunt says").
    """
    mentioned = claim.status == "current" and claim.relation in FAMILIES
    if claim.status in _CHANGING and not mentioned and (status := _framed(claim, text)) is not None:
        return status
    if claim.status == "ended" and claim.time is not None and _PAUSE.match(words_of(text, claim.time)):
        length = resolve_duration(words_of(text, claim.time))
        return "temporary" if length is not None and length <= _PAUSED else "ended"
    if claim.status == "ended" and _has_new_date(claim, text, said_at):
        return "planned"
    if claim.relation not in _MOVES or claim.status not in ("current", "planned"):
        return claim.status
    if _AS_IT_WERE.search(text[: claim.object[0]]):
        return "hypothetical"
    if claim.status == "planned":
        time = time_of(claim, text, said_at)
        over = time is not None and time.start is not None and said_at - time.start > _DAY
        # "in January" is the next one of somebody who has plans
        return "current" if over and _LOOKS_BACK.search(words_of(text, claim.time or claim.object)) else "planned"
    if claim.time is not None and (length := resolve_duration(words_of(text, claim.time))) is not None:
        lasting = length >= _LASTING or re.search(r"\b(?:past|last|been)\b", text, re.IGNORECASE)
        return "current" if lasting else "temporary"
    if claim.relation != "lives_in":
        return "current"
    sentence = sentence_at(text, claim.object[0])
    tells_of_home = sentence is not None and _DWELLING.search(sentence.text) is not None
    # without a home in it the next one counts, too: "Greetings from Tallinn! I'm here for six weeks."
    context = sentence.text if sentence is not None and tells_of_home else text
    return "temporary" if changes.tells_of_stay(context) else "current"


def _framed(claim: StatedClaim, text: str) -> Status | None:
    return framed(text, claim.object[0], of_health=claim.relation in OF_HEALTH)


def _is_moved(claim: StatedClaim, text: str) -> re.Match[str] | None:
    """Return the words of a sentence that say that what a claim plans has another date now."""
    sentence = sentence_at(text, claim.object[0])
    if claim.relation != "event" or sentence is None:
        return None
    start, end = claim.object
    others = f"{text[sentence.start : start]}{' ' * (end - start)}{text[end : sentence.start + len(sentence.text)]}"
    return _MOVED.search(others)  # "moving house" moves nothing


def _has_new_date(claim: StatedClaim, text: str, said_at: datetime) -> bool:
    """Whether what a claim ends has only been put off: "the meeting was postponed to 12 May"."""
    moved, sentence = _is_moved(claim, text), sentence_at(text, claim.object[0])
    if moved is None or sentence is None or claim.time is None or claim.time[0] < sentence.start + moved.end():
        return False
    time = time_of(claim, text, said_at, ahead=True)
    return time is not None and time.start is not None and time.start > said_at


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
        moved = moved and claim.time is not None and not _SINCE.search(words_of(text, claim.time))
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
    if status == "planned" and relation.coming is not None:
        moved = claim.certain and _is_moved(claim, text) is not None
        instead_of = (relation.coming,) if moved else ()
        return Claim(
            subject, relation.coming, dated, span, confidence, rule, also=relation.also,
            instead_of=instead_of, certain=claim.certain,
        )  # fmt: skip
    if status == "planned" and relation.intention is not None:
        return Claim(subject, "plans to", f"{relation.intention} {dated}".strip(), span, confidence, rule)
    if status == "temporary":
        end = resolve_end(words_of(text, claim.time), said_at) if claim.time is not None else None
        predicate = relation.stay or (relation.predicate if relation.many else None)
        if predicate is not None:
            return Claim(subject, predicate, object, span, confidence, rule, until=end or said_at + _FOR_NOW)
    return None
