"""What stands around a statement and takes it back: a quotation, a condition, what was not done, somebody else's word.

``framed`` is for claims of the trained reader, which has judged them by itself: only what is plain overrules it.
``doubted`` is for patterns, which know nothing else: any word of doubt counts.
"""

from __future__ import annotations

import re
from typing import Literal

from longmind.models.statements import Status
from longmind.text.sentences import sentence_at

_CONDITION = re.compile(r"^\W*(?:(?:and|but|so|then|well|oh|maybe)\W+)*(?:if|unless|suppose|imagine)\b", re.IGNORECASE)
_SAYING = re.compile(
    r"(?P<who>[\w'’]+)\s+(?:(?:also|still|always|just|even|now|keeps?|goes|is|are|was|were|has|have|had|around|round|"
    r"about)\s+)*(?:says?|said|saying|claims?|claimed|claiming|reckons?|reckoned|thinks|believes|insists|insisted|"
    r"swears|announces|announced|declares|declared|writes|wrote|mentions|mentioned|assumes|assumed|pretends|"
    r"pretended|(?:tells|telling|told)(?!\s+(?:\w+\s+)?to\b))\b[^,;:.!?]*$",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"\b(?:(?:was|were)\s+(?:\w+\s+)?(?:going|about|tempted|supposed|meant|close)\s+to"
    r"|(?:almost|nearly)\s+(?:quit|left|moved|bought|sold|cancel+ed|joined|married|switched|changed|gave|got|took)"
    r"|(?:thinking|thought|dreaming|dreamt|dreamed|toying|joking)\s+(?:of|about|with))\b[^,;:.!?]*$",
    re.IGNORECASE,
)
"""What was nearly done, and was not: "I was going to cancel it"."""
_TO_ME = re.compile(r"\band\s+(?:\w+\s+)?\w+\s+(?:me|us)\b", re.IGNORECASE)
"""What somebody did, and did not say: "the doctor said it is over and put me on candesartan"."""
_ASKED_FOR = re.compile(r"\b(?:asked|applied|begged|requested|petitioned)\b[^,.!?;:]*$", re.IGNORECASE)
_REFUSED = re.compile(
    r"^[^.!?]*[.!?]?[^.!?]*\b(?:refused|declined|denied|rejected|said\s+no|(?:was|were|got)\s+turned\s+down"
    r"|turned\s+(?:it|me|us|that|them)\s+down)\b",
    re.IGNORECASE,
)
"""What was asked for and refused: "I asked for an extension to 16 May, they said no"."""
_SOURCE = re.compile(r"\baccording to\s+(?!me\b|us\b)", re.IGNORECASE)
_DOUBTED = re.compile(
    r"\b(?:if|unless|wish|imagine|suppose|pretend|whether|would|could|should|might|maybe|perhaps|"
    r"dreamed|dreamt|dreaming"
    r"|hope|hoped|as though|when i was|used to|almost|nearly|never|not|n't|can't|until|before|why|how|what)\b[^,;.]*$",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\b(?:said|says|saying|asked|asks|told|tells|claims?|claimed|thinks?|thought|heard|reads?)\b[^,;.]*$",
    re.IGNORECASE,
)
_EXPERTS = re.compile(
    r"(?:doctors?|dr|gps?|surgeons?|nurses?|midwife|midwives|dentists?|physios?|physiotherapists?|vets?"
    r"|\w+ologists?|paediatricians?|pediatricians?|psychiatrists?|pharmacists?)",
    re.IGNORECASE,
)
"""Those whose word on somebody's health is what is known of it."""
_OWN = re.compile(r"(?:i|we|i['’]?m|i['’]?ve|we['’]?re|we['’]?ve|i['’]?d|and|to|you)", re.IGNORECASE)
"""Whoever says it is the speaker, or is asked to say it: "I told you that I moved"."""


def framed(text: str, at: int, *, of_health: bool = False) -> Status | None:
    """Return the status of what stands at a place of a text if something around it takes it back.

    Words that stand in quotation marks alone are a title, and no quotation. ``of_health`` is whether it is about
    somebody's health, of which a doctor's word is no hearsay.
    """
    before = text[:at]
    if _is_quoted(before) and not before.endswith(('"', "“")):
        return "reported"
    sentence = sentence_at(text, at)
    if sentence is None:
        return None
    led = sentence.text[: at - sentence.start]
    refused = _ASKED_FOR.search(led) is not None and _REFUSED.search(text[at:]) is not None
    if _CONDITION.search(led) or _NOT_DONE.search(led) or refused:
        return "hypothetical"
    if _SOURCE.search(led):
        return "reported"
    match = _SAYING.search(led)
    if match is None or _TO_ME.search(led, match.start()):
        return None
    if _OWN.fullmatch(match["who"]) or (of_health and _EXPERTS.fullmatch(match["who"])):
        return None
    return "reported"


def doubted(before: str) -> Literal["hypothetical", "reported"] | None:
    """Return the status of what a pattern finds behind these words of a sentence, if they take it back."""
    if _DOUBTED.search(before):
        return "hypothetical"
    return "reported" if _SAID.search(before) or _is_quoted(before) else None


def _is_quoted(before: str) -> bool:
    """Whether a quotation has begun in front of some words and not ended."""
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")
