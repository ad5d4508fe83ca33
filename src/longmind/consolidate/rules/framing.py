"""What stands around a statement and takes it back: a quotation, a condition, somebody else's word."""

from __future__ import annotations

import re

from longmind.models.statements import Status
from longmind.text.sentences import sentences

_CONDITION = re.compile(r"^\W*(?:(?:and|but|so|then|well|oh|maybe)\W+)*(?:if|unless|suppose|imagine)\b", re.IGNORECASE)
_SAYING = re.compile(
    r"(?P<who>[\w'’]+)\s+(?:(?:also|still|always|just|even|now|keeps?|goes|is|are|was|were|has|have|had|around|round|"
    r"about)\s+)*(?:says?|said|saying|claims?|claimed|claiming|reckons?|reckoned|thinks|believes|insists|insisted|"
    r"swears|announces|announced|declares|declared|writes|wrote|mentions|mentioned|assumes|assumed|pretends|"
    r"pretended|(?:tells|telling|told)(?!\s+(?:\w+\s+)?to\b))\b[^,;:.!?]*$",
    re.IGNORECASE,
)
_SOURCE = re.compile(r"\baccording to\s+(?!me\b|us\b)", re.IGNORECASE)
_OWN = re.compile(r"(?:i|we|i['’]?m|i['’]?ve|we['’]?re|we['’]?ve|i['’]?d|and|to|you)", re.IGNORECASE)
"""Whoever says it is the speaker, or is asked to say it: "I told you that I moved"."""


def framed(text: str, at: int) -> Status | None:
    """Return the status of what stands at a place of a text if something around it takes it back.

    Words that stand in quotation marks alone are a title, and no quotation.
    """
    before = text[:at]
    title = before.endswith(('"', "“"))
    if not title and (before.count('"') % 2 or before.count("“") > before.count("”")):
        return "reported"
    sentence = next((s for s in sentences(text) if s.start <= at < s.start + len(s.text)), None)
    if sentence is None:
        return None
    led = sentence.text[: at - sentence.start]
    if _CONDITION.search(led):
        return "hypothetical"
    match = _SAYING.search(led)
    if _SOURCE.search(led):
        return "reported"
    return "reported" if match is not None and not _OWN.fullmatch(match["who"]) else None
