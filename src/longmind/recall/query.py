"""Parse a question: its words, quoted phrases, the time or event it names, its kind, and whether it asks for what the
assistant said."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from longmind.recall.anchors import Anchor, anchor_in
from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.text.time_spans import TimeSpan, find_span

MAX_READ = 20_000
"""Characters of a question that are parsed for its kind and its times; the search uses all of it."""

_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{3,200})[\"”»]")
_ASSISTANT_SAID = re.compile(
    r"\byou(?:r)? (?:recommend|suggest|advis|propos|explain|help|describ|said|say|tell|told|mention|walk|list|show|giv|"
    r"gave|provid|outlin)|(?:recommend|suggest|advise|propose|did|have|explain)\w* you(?:r)?\b"
)
_REQUEST = re.compile(r"\b(?:can|could|would|will) you\b")
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("when", re.compile(r"\b(?:when|date|month|year|day|how long|what time)\b")),
    ("count", re.compile(r"\bhow (?:many|much|often)\b|\bnumber of\b")),
    ("who", re.compile(r"\bwho(?:m|se)?\b")),
    ("where", re.compile(r"\bwhere\b")),
    (
        "latest",
        re.compile(r"\b(?:latest|newest|currently|these days|right now|at the moment|most recent(?:ly)?|still)\b"),
    ),
    ("preference", re.compile(r"\b(?:prefer\w*|favou?rite|like|likes|love|loves|hate|hates|enjoy\w*|dislike\w*)\b")),
    ("procedure", re.compile(r"\bhow (?:do|can|should|to|did) \b|\bsteps?\b|\bprocedure\b")),
    (
        "goal",
        re.compile(
            r"\b(?:my|our|your|current|active|open) (?:\w+ )?(?:goals?|objectives?|aims?)\b|\bmy plans?\b|"
            r"\b(?:goals?|objectives?) (?:do|does|did|have|has|are|is)\b|\bworking towards?\b|\bdeadlines?\b"
        ),
    ),
    ("list", re.compile(r"\b(?:list|all|every|which .*s\b|summar\w+|overview)\b")),
)

_PRESENT = re.compile(
    r"\b(?:is|are|am|isn't|aren't|does|do|don't|doesn't|has|have|can|will|won't)\b|^(?:who|which \w+|what \w+) \w+s\b"
)
_PAST = re.compile(
    r"\b(?:did|didn't|was|were|wasn't|weren't|had|used to|before|ever|first|original(?:ly)?|earlier|previous(?:ly)?"
    r"|former(?:ly)?|ago|last|been|once|in the past)\b|\b(?:has|have)\b.*\b\w+(?:ed|en|ought|one|ade|een)\b"
)
_SEVERAL = re.compile(
    r"\b(?:what|which)(?:\s+(?:kinds?|types?|sorts?|other|new|different|some|specific|two|three|four)(?:\s+of)?)*"
    r"\s+(?:[\w'-]+\s+){0,2}?(?!(?:is|does|this|was|has)\b)[a-z]+[^s'\W]s\b|\bhow many\b|\bwhat are\b|\ball\b"
)
"""A question for several things wants all of them, not the newest."""
_QUESTION = re.compile(
    r"\?\s*$|^(?:what|which|who|whom|whose|where|how|when|why|at|in|on|to|for|with|from|did|was|were|had|could|would)\b"
)

_STATEMENT = re.compile(
    r"\W*(?:(?:well|so|oh|hey|hi|yeah|yes|no|wow|and|but|also|ok|okay|today|yesterday|lately|recently|finally|just)\W+)*"
    r"(?:i|i['’](?:m|ve|d|ll)|we|we['’](?:re|ve|d|ll)|my|our)\s+\w+\s+\w+"
)
"""How somebody begins who tells of themselves: "I finally signed up ...", "My sister has ..."."""


def is_statement(text: str) -> bool:
    """Whether a text, in lower case, tells of the speaker and asks nothing."""
    return "?" not in text and _STATEMENT.match(text) is not None


def asks_for_now(text: str) -> bool:
    """Whether a question, in lower case, asks for one thing as it is now: in the present tense, or only named."""
    if _PAST.search(text) or _SEVERAL.search(text):
        return False
    return bool(_PRESENT.search(text)) or not _QUESTION.search(text)


@dataclass(frozen=True)
class Query:
    """A parsed question."""

    text: str
    phrases: tuple[str, ...] = ()
    kinds: frozenset[str] = field(default=frozenset())
    """The kinds of question it is, any of: when, count, who, where, latest, preference, procedure, goal, list; or
    statement, for a text that asks nothing."""
    span: TimeSpan | None = None
    anchor: Anchor | None = None
    """The event before or after which it asks, if it names no date."""
    asks_assistant: bool = False
    """Whether it asks for what the assistant said."""
    asks_for_now: bool = False
    """Whether it asks for what is so now, so that what was said later brings earlier turns up to date."""

    @cached_property
    def words(self) -> list[str]:
        """The words of the question in order, folded, stop words included."""
        return words(self.text[:MAX_READ])

    @cached_property
    def stems(self) -> dict[str, str]:
        """The stems of the question, stop words included, and a word that has each."""
        return {stem(word): word for word in reversed(self.words)}

    @cached_property
    def terms(self) -> frozenset[str]:
        """The stems of the question without stop words."""
        return frozenset(stem(word) for word in self.words if word not in STOP_WORDS)


def parse_query(text: str, now: datetime) -> Query:
    """Parse a question; relative times count from ``now``."""
    head = text[:MAX_READ]
    lowered = head.lower()
    span = find_span(head, now)
    kinds = {name for name, pattern in _KINDS if pattern.search(lowered)}
    return Query(
        text=text,
        phrases=tuple(phrase.strip() for phrase in _QUOTED.findall(head) if phrase.strip())[:5],
        kinds=frozenset({*kinds, "statement"} if is_statement(lowered) else kinds),
        span=span,
        anchor=anchor_in(head) if span is None else None,
        asks_for_now=span is None and asks_for_now(lowered),
        asks_assistant=bool(_ASSISTANT_SAID.search(lowered)) and not _REQUEST.search(lowered),
    )
