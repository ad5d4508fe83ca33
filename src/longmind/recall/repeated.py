"""Repetitions: turns that say word for word what a better hit says.

Somebody who talks with an assistant every day says the same again and again, and so does the assistant. Each turn is a
memory of its own, but ten hits should not be one sentence ten times. A question for when or how often something
happened is another matter: to it each occasion is an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from longmind.kinds import SAID
from longmind.recall.query import Query
from longmind.text.analysis import words
from longmind.types import Memory

_OCCASIONS = frozenset({"when", "count", "latest", "list"})
"""Kinds of questions to which every occasion is an answer."""
_LONGEST = 2_000
"""Characters of a text that is compared; longer texts are not repeated by chance."""


def asks_for_occasions(query: Query) -> bool:
    """Return whether a question asks when, how often or on which occasions something was said or happened."""
    return query.span is not None or query.anchor is not None or not _OCCASIONS.isdisjoint(query.kinds)


def find_repeated(memories: Sequence[Memory]) -> dict[str, str]:
    """Map the id of each memory to that of the first one in which the same speaker says the same words."""
    first: dict[tuple[object, ...], str] = {}
    repeated: dict[str, str] = {}
    for memory in memories:
        if memory.kind not in SAID or len(memory.content) > _LONGEST:
            continue
        source = memory.source
        key = (memory.kind, memory.user, memory.state, source.role, source.name, *words(memory.content))
        if (kept := first.setdefault(key, memory.id)) != memory.id:
            repeated[memory.id] = kept
    return repeated
