"""What was said beside a question: the last messages of a conversation.

They are read with less weight than the question, and what repeats them is not returned: whoever asks has them already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from longmind.text.analysis import words
from longmind.types import Hit, Memory, Message

RECENT = 4
"""How many of the last messages of a conversation are read beside a question."""
BESIDE = 0.3
"""The weight of what was said beside a question; the question's own words have 1."""


def recent_texts(conversation: Sequence[Message]) -> list[str]:
    """Return the texts of the last messages."""
    return [message.content for message in conversation[-RECENT:]]


def said_beside(query: str, recent: Sequence[str]) -> str:
    """Return what was said last in a conversation, without the question itself."""
    asked = _plain(query)
    return "\n".join(content for content in recent if _plain(content) != asked)


def weighted_terms(own: list[tuple[int, float]], beside: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return the terms of a question and, with less weight, of what was said beside it.

    All words beside it together weigh at most half as much as its own. A question without words of its own ("and
    then?") is read by those alone.
    """
    if not own or not beside:
        return own or beside
    total = sum(weight for _, weight in own)
    share = min(BESIDE, 0.5 * total / sum(weight for _, weight in beside))
    known = {term for term, _ in own}
    return [*own, *((term, weight * share) for term, weight in beside if term not in known)]


def without_recent(hits: list[Hit], recent: Sequence[str]) -> list[Hit]:
    """Return the hits that do not repeat one of the last messages."""
    repeats = repeating(recent)
    return hits if repeats is None else [hit for hit in hits if not repeats(hit.memory)]


def repeating(recent: Sequence[str]) -> Callable[[Memory], bool] | None:
    """Return what tells a memory that repeats one of the last messages; None if there are none."""
    contents = {_plain(content) for content in recent} - {""}
    return (lambda memory: _plain(memory.content) in contents) if contents else None


def _plain(text: str) -> str:
    return " ".join(words(text))
