"""Statements about change: what no longer holds, and whether somebody who moved lives there now.

A claim of this module either ends something, or is too unsure to replace what is known. A move counts as a new home
only if nothing speaks against it: a stay for a time, a group that moves to a tool, a name that is no place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from longmind.consolidate.rules import phrases
from longmind.consolidate.rules.lexicon import PLACES
from longmind.text.vocabulary import NUMBER_WORDS

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


def tells_of_stay(text: str) -> bool:
    """Whether a text says that something is for a time only."""
    return _TEMPORARY.search(text) is not None


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

_ADVERBS = r"(?:(?:just|finally|recently|also|already|now|actually|sadly|even|both|had\s+to|decided\s+to)\s+){0,2}"
_I = rf"\b(?:I|we)(?:'ve|\s+have)?\s+{_ADVERBS}"
_NEGATED = (
    (re.compile(r"\b(I|we)\s+no\s+longer\s+", re.IGNORECASE), r"\1 "),
    (re.compile(r"\b(I'm|I am|we're|we are)\s+no\s+longer\s+", re.IGNORECASE), r"\1 "),
    (re.compile(r"\b(I|we)\s+(?:don't|do\s+not)\s+(.+?),?\s+any\s?(?:more|longer)\b", re.IGNORECASE), r"\1 \2"),
    (re.compile(r"\b(I'm|I am|we're|we are)\s+not\s+(.+?),?\s+any\s?(?:more|longer)\b", re.IGNORECASE), r"\1 \2"),
)
_STOPPED_DOING = re.compile(rf"{_I}(?:stop(?:ped)?|quit|g[ai]ven?\s+up)\s+([a-z]+ing)\b", re.IGNORECASE)
_LEFT_JOB = re.compile(
    rf"(?:{_I}(?:quit|left|lost|leave|resign(?:ed)?\s+from|retired?\s+from)\s+"
    r"(?:(?:my|the|our)\s+(?:old\s+)?(?:jobs?|position|work)\s+(?:at|with)\s+)?|"
    rf"\bI(?:\s+was|\s+got|'ve\s+been|\s+have\s+been)\s+{_ADVERBS}(?:laid\s+off|fired|let\s+go)\s+(?:from|by)\s+)",
    re.IGNORECASE,
)
_LEFT_ANY_JOB = re.compile(
    rf"{_I}(?:(?:quit|left|lost|gave\s+up)\s+(?:my|our)\s+jobs?|retired)\b(?!\s+(?:at|with|from|as)\b)", re.IGNORECASE
)
_FOR_TODAY = re.compile(
    rf"^\W*(?:\w+\s+)?(?:early|late|at\s+(?:half\s+past\s+)?(?:\d|noon|midnight|(?:{'|'.join(NUMBER_WORDS)})\b)|today|tonight"
    r"|this\s+(?:morning|afternoon|evening)|around|for\s+(?:lunch|a\b|the\s+day))",
    re.IGNORECASE,
)
"""What follows a place that somebody left for the day, not for good."""
_LEFT_HOME = re.compile(rf"\b(?:I|we)\s+{_ADVERBS}moved\s+(?:out\s+of|away\s+from)\s+", re.IGNORECASE)
_GAVE_UP = re.compile(
    rf"{_I}(?:sold|gave\s+away|got\s+rid\s+of|scrapped|cancel+ed|traded\s+in|returned)\s+(?:my|our|the)\s+",
    re.IGNORECASE,
)
_GAVE_UP_HABIT = re.compile(rf"{_I}(?:g[ai]ven?\s+up|quit)\s+(?:my\s+|the\s+)?(?=[a-z])(?![a-z]+ing\b)", re.IGNORECASE)
_DROPPED_OUT = re.compile(rf"{_I}dropped\s+out\b", re.IGNORECASE)
_DIVORCED = re.compile(
    r"\b(?:I|we)(?:'m|'re|\s+am|\s+are|\s+got|\s+have|'ve)?\s+(?:now\s+|just\s+|finally\s+|recently\s+)*divorced\b",
    re.IGNORECASE,
)
_SEPARATED = re.compile(
    rf"{_I}(?:broke(?:n)?\s+up|split\s+up|separated)(?:\s+with\s+(?P<name>(?-i:[A-Z])\w+))?"
    rf"|\b(?:we're|we\s+are)\s+(?:not\s+together\s+any\s?(?:more|longer)|no\s+longer\s+together|separated)\b",
    re.IGNORECASE,
)
LOSS_BEFORE = re.compile(
    r"\b(?:lost|bur(?:y|ied)|put\s+down|put\s+to\s+sleep|g[ai]ve\s+(?:away|up)|rehomed?|sold|sell|said\s+goodbye\s+to)\s+$",
    re.IGNORECASE,
)
LOSS_AFTER = re.compile(
    r"\s+(?:\w+ly\s+|just\s+|has\s+|had\s+)*(?:died|passed\s+away|passed\s+on|ran\s+away|is\s+dead)\b", re.I
)
_ENDING_WORDS = frozenset(
    """longer more anymore anylonger stop stopped quit give gave given left lost leave resign resigned retire
    retired laid fired let moved sold rid scrapped traded returned dropped divorced broke broken split separated
    together""".split()
)
"""Words of which every expression above has one, beside forms of "cancelled". Most sentences have none."""
_SPOUSES = ("married to", "has husband", "has wife", "has spouse")
_PARTNERS = ("has girlfriend", "has boyfriend", "has partner", "has fiance", "has fiancee")
_OWNED = ("has", "drives", "signed up for")
_HABITS = ("likes", "plays", "is learning", "studies", "works on", "is reading")


def may_end(words: Sequence[str]) -> bool:
    """Whether a sentence of these lower-case words may say that something no longer holds.

    If not, ``affirm`` and ``endings`` find nothing in it; they take far longer.
    """
    return not _ENDING_WORDS.isdisjoint(words) or any(word.startswith("cancel") for word in words)


def affirm(text: str) -> list[str]:
    """Return the statements that a sentence says no longer hold; none if it says nothing of the kind.

    What was stopped may have been stated in several forms: "I stopped playing tennis" ends "I play tennis" and "I'm
    playing tennis".
    """
    for pattern, replacement in _NEGATED:
        affirmed, count = pattern.subn(replacement, text, count=1)
        if count:
            return [affirmed]
    if stopped := _STOPPED_DOING.search(text):
        who, doing, rest = text[stopped.start()], stopped[1].lower(), text[stopped.end() :]
        who = "I" if who == "I" else "we"
        return [f"{who} {verb}{rest}" for verb in _bases(doing)] + [
            f"{'I am' if who == 'I' else 'we are'} {doing}{rest}"
        ]
    return []


def _bases(doing: str) -> list[str]:
    """Return the verbs of which a form in -ing may be made: playing, smoking, running."""
    stem = doing.removesuffix("ing")
    bases = [stem, f"{stem}e"]
    if len(stem) > 2 and stem[-1] == stem[-2]:
        bases.append(stem[:-1])
    return bases


def endings(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield start, end, predicate and object of what a sentence says has ended; an empty object is any.

    A sentence may end facts of several predicates. Only those that are known are ended, so the ones that were never
    stated do no harm.
    """
    for pattern, predicate in ((_LEFT_JOB, "works at"), (_LEFT_HOME, "lives in")):
        for match in pattern.finditer(text):
            name = phrases.name(text[match.end() :])
            if name is not None and not _FOR_TODAY.match(text[match.end() + len(name) :]):
                yield match.start(), match.end() + len(name), predicate, name
    for match in _LEFT_ANY_JOB.finditer(text):
        for predicate in ("works at", "works as"):
            yield match.start(), match.end(), predicate, ""
    for pattern, predicates in ((_GAVE_UP, _OWNED), (_GAVE_UP_HABIT, _HABITS)):
        for match in pattern.finditer(text):
            phrase, taken = phrases.cut(text[match.end() :])
            if phrase is not None and (object := phrases.thing(phrase)) is not None:
                for predicate in predicates:
                    yield match.start(), match.end() + taken, predicate, object
    for match in _DROPPED_OUT.finditer(text):
        yield match.start(), match.end(), "studies", ""
    for match in _DIVORCED.finditer(text):
        for predicate in _SPOUSES:
            yield match.start(), match.end(), predicate, ""
    for match in _SEPARATED.finditer(text):
        for predicate in (*_PARTNERS, *_SPOUSES):
            yield match.start(), match.end(), predicate, match["name"] or ""
