"""Statements about change: what no longer holds, and whether somebody who moved lives there now.

A claim of this module either ends something, or is too unsure to replace what is known. A move counts as a new home
only if nothing speaks against it: a stay for a time, a group that moves to a tool, a name that is no place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from longmind.consolidate.rules import phrases
from longmind.consolidate.rules.lexicon import PLACES

_COUNT = (
    r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d+|half an?|a few|several|some|a couple of|the)"
)
_TEMPORARY = re.compile(
    rf"\b(?:for|of|only)\s+(?:(?:about|just|the\s+whole|another|most\s+of)\s+)?{_COUNT}\s+(?:next\s+|last\s+|\w+\s+)?"
    r"(?:nights?|days?|weeks?|weekends?|months?|years?|semesters?|terms?|summer|winter|spring|autumn|fall|seasons?|while"
    r"|holidays?|time\s+being)\b(?!\s+ago)|\btemporar|\buntil\b|\bfor\s+now\b",
    re.IGNORECASE,
)
_NO_PLACE = re.compile(r"\b(?:[A-Z]|\d[\w.]*|[A-Z]{2,5})\b|(?:ing|ment|tions?|ness|ity|ance|ence|ics|ship)\b", re.ASCII)
"""A letter, a number or an acronym, or the ending of a word for an activity: a department, a plan, a version."""
_NUMBERED = re.compile(r"\s+[\d#]")
_REGION = re.compile(r",\s*([A-Z][\w ]+)")


def is_home(group: bool, name: str, rest: str) -> bool:
    """Whether "moved to <name>" says where somebody lives now. ``rest`` is the sentence from the name on."""
    if _TEMPORARY.search(rest):
        return False
    after = rest[rest.find(name) + len(name) :] if name in rest else ""
    if _NUMBERED.match(after):
        return False
    region = _REGION.match(after)
    if _is_known_place(name) or (region is not None and _is_known_place(region[1])):
        return True
    return not group and not _NO_PLACE.search(name)


def _is_known_place(name: str) -> bool:
    words = name.split()
    return any(" ".join(words[:count]) in PLACES for count in range(len(words), 0, -1))


# -- what no longer holds ----------------------------------------------------------------------------------------------

_ADVERBS = r"(?:(?:just|finally|recently|also|already|now|actually|sadly|had\s+to)\s+){0,2}"
_NEGATED = (
    (re.compile(r"\b(I|we)\s+no\s+longer\s+", re.IGNORECASE), r"\1 "),
    (re.compile(r"\b(I'm|I am|we're|we are)\s+no\s+longer\s+", re.IGNORECASE), r"\1 "),
    (re.compile(r"\b(I|we)\s+(?:don't|do\s+not)\s+(.+?),?\s+any\s?(?:more|longer)\b", re.IGNORECASE), r"\1 \2"),
    (re.compile(r"\b(I'm|I am|we're|we are)\s+not\s+(.+?),?\s+any\s?(?:more|longer)\b", re.IGNORECASE), r"\1 \2"),
)
_LEFT_JOB = re.compile(
    rf"\b(?:(?:I|we)\s+{_ADVERBS}(?:quit|left|lost|resigned\s+from)\s+(?:(?:my|the|our)\s+jobs?\s+(?:at|with)\s+)|"
    rf"I(?:\s+was|\s+got|'ve\s+been|\s+have\s+been)\s+{_ADVERBS}(?:laid\s+off|fired|let\s+go)\s+(?:from|by)\s+)",
    re.IGNORECASE,
)
_LEFT_HOME = re.compile(rf"\b(?:I|we)\s+{_ADVERBS}moved\s+(?:out\s+of|away\s+from)\s+", re.IGNORECASE)
_GAVE_UP = re.compile(
    rf"\b(?:I|we)(?:'ve|\s+have)?\s+{_ADVERBS}(?:sold|gave\s+away|got\s+rid\s+of|scrapped)\s+(?:my|our|the)\s+",
    re.IGNORECASE,
)
_DIVORCED = re.compile(
    r"\b(?:I|we)(?:'m|'re|\s+am|\s+are|\s+got|\s+have|'ve)?\s+(?:now\s+|just\s+|finally\s+|recently\s+)*divorced\b",
    re.IGNORECASE,
)
LOSS_BEFORE = re.compile(
    r"\b(?:lost|bur(?:y|ied)|put\s+down|put\s+to\s+sleep|g[ai]ve\s+(?:away|up)|rehomed?|sold|sell|said\s+goodbye\s+to)\s+$",
    re.IGNORECASE,
)
LOSS_AFTER = re.compile(
    r"\s+(?:\w+ly\s+|just\s+|has\s+|had\s+)*(?:died|passed\s+away|passed\s+on|ran\s+away|is\s+dead)\b", re.I
)
_SPOUSES = ("married to", "has husband", "has wife", "has spouse")


def affirm(text: str) -> str | None:
    """Return what a sentence says no longer holds, as the statement it ends; None if it says nothing of the kind."""
    for pattern, replacement in _NEGATED:
        affirmed, count = pattern.subn(replacement, text, count=1)
        if count:
            return affirmed
    return None


def endings(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield start, end, predicate and object of what a sentence says has ended; an empty object is any."""
    for pattern, predicate in ((_LEFT_JOB, "works at"), (_LEFT_HOME, "lives in")):
        for match in pattern.finditer(text):
            if (name := phrases.name(text[match.end() :])) is not None:
                yield match.start(), match.end() + len(name), predicate, name
    for match in _GAVE_UP.finditer(text):
        phrase, taken = phrases.cut(text[match.end() :])
        if phrase is not None and (object := phrases.thing(phrase)) is not None:
            yield match.start(), match.end() + taken, "has", object
    for match in _DIVORCED.finditer(text):
        for predicate in _SPOUSES:
            yield match.start(), match.end(), predicate, ""
