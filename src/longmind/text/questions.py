"""What a question asks for: a time, a length of time, a number, yes or no, one of two, several things, or one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from longmind.text.vocabulary import RELATIVES

QuestionKind = Literal["time", "duration", "count", "yes or no", "choice", "list", "one"]
MAX_QUESTION = 1_000
"""Characters of a question that are read."""

_AUXILIARY = (
    "do does did is are was were has have had can could will would should shall might may must isn't aren't wasn't "
    "weren't doesn't don't didn't hasn't haven't won't can't couldn't wouldn't am"
).split()
_IS_AUXILIARY = frozenset(_AUXILIARY)
_TIME = re.compile(
    r"^(?:\W*(?:and|so|but|on|in|at|by|until|since|from|around|during)\s+)*"
    r"(?:when\b|(?:what|which)\s+(?:\w+\s+)?(?:date|day|month|year|week|weekend|time|season|century|decade)\b(?!\s+of\s+\w+ing))",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"\bhow long\b(?! ago)|\bhow (?:many|much) (?:time|hours|days|weeks|months|years)\b", re.IGNORECASE
)
_AGO = re.compile(r"\bhow long ago\b", re.IGNORECASE)
_COUNT = re.compile(r"\bhow (?:many|often)\b|\bwhat (?:is the )?number of\b", re.IGNORECASE)
_WH = re.compile(r"\b(?:what|which|who|whom|whose|where|list|name)\b", re.IGNORECASE)
_NOT_PLURAL = re.compile(r"(?:ss|us|is|ics|news|series|always|perhaps|besides|towards|afterwards)$")
_GENERAL = frozenset("things ways kinds types sorts".split())
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CAPITALISED = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w’'-]+(?:\s+[A-Z][\w’'-]+)*")
_OPENS_OPTION = frozenset("a an the to in on at with by for from his her their my your".split())
_OPEN_ENDED = frozenset("not anything something anyone someone anybody somebody any other others both so".split())
"""After "or" these name no alternative: "or not", "or anything like that"."""
MAX_OPTION = 6
"""The most words of an alternative."""
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|I'm|I've|we|us|our|ours)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """What a question asks for, and of whom."""

    kind: QuestionKind
    names: tuple[str, ...]
    """The names in it, in their order."""
    of_asker: bool
    """Whether it is about who asks: "Where do I live?"."""
    options: tuple[str, ...] = ()
    """The two alternatives of a choice: "Does Ana drink tea or coffee?"."""


def read_question(question: str) -> QuestionForm:
    """Return what a question asks for."""
    text = question.strip()[:MAX_QUESTION]
    kind = _kind(text)
    options = _options(text) if kind == "yes or no" else ()
    return QuestionForm("choice" if options else kind, names_in(text), _FIRST_PERSON.search(text) is not None, options)


def _options(text: str) -> tuple[str, ...]:
    """Return the two alternatives of a question; none if it has no "or", or what follows it names nothing.

    The second begins after "or"; the first is as long, or begins with the same small word: "a park or a theatre".
    """
    before, found, after = text.rstrip(" ?!.").rpartition(" or ")
    second, first = after.split(), before.rstrip(",").split()[1:]
    if not found or not second or not first or len(second) > MAX_OPTION or second[0].lower() in _OPEN_ENDED:
        return ()
    lowered = [word.lower() for word in first]
    if second[0].lower() in _OPENS_OPTION and second[0].lower() in lowered:
        start = len(first) - 1 - lowered[::-1].index(second[0].lower())
    else:
        start = len(first) - min(len(second), len(first))
    return " ".join(first[start:]), " ".join(second)


def names_in(text: str) -> tuple[str, ...]:
    """Return the capitalised words of a text that do not open a sentence, without an 's at their end."""
    found = (re.sub(r"['’]s$", "", match.group()) for match in _CAPITALISED.finditer(text))
    return tuple(dict.fromkeys(name for name in found if name not in ("I", "I'm", "I've")))


def _kind(text: str) -> QuestionKind:
    tokens = [word.lower() for word in _WORD.findall(text)]
    if not tokens:
        return "one"
    if _TIME.search(text) or _AGO.search(text):
        return "time"
    if _DURATION.search(text):
        return "duration"
    if _COUNT.search(text):
        return "count"
    if tokens[0] in _IS_AUXILIARY and not _WH.search(text[: len(tokens[0]) + 1]):
        return "yes or no"
    return "list" if _asks_for_several(tokens) else "one"


def _asks_for_several(tokens: list[str]) -> bool:
    """Return whether the noun that is asked for is in the plural, or what has been done up to now is asked for."""
    place = next((n for n, word in enumerate(tokens) if _WH.fullmatch(word)), None)
    if place is None:
        return False
    rest = tokens[place + 1 :]
    if rest[:1] in (["has"], ["have"]) and tokens[place] in ("what", "where", "who", "which"):
        return "been" not in rest  # "What has Ana painted?", but not "How has she been?"
    if rest[:1] in (["are"], ["were"]):
        return any(_is_plural(word) for word in rest[1:]) and tokens[place] in ("what", "which", "who")
    head = []
    for word in rest:
        if word in _IS_AUXILIARY or word in ("of", "in", "for", "from", "to", "that", "with", "about"):
            break
        head.append(word)
    if head and len(head) <= 4 and _is_plural(head[-1]) and len(head) < len(rest):
        return True
    return bool(head) and head[-1] in _GENERAL


def _is_plural(word: str) -> bool:
    if word in ("children", "people", "men", "women", "kids"):
        return True
    return (
        len(word) > 3
        and word.endswith("s")
        and not word.endswith(("'s", "’s"))
        and not _NOT_PLURAL.search(word)
        and word.removesuffix("s") not in RELATIVES
    )
