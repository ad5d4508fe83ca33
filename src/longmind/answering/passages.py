"""Passages: recalled memories with the turns beside them, as the reader sees them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from longmind.kinds import SAID
from longmind.store.search.columns import NONE
from longmind.store.store import Store
from longmind.text.replies import only_asks
from longmind.types import Hit, Memory, Scope

ASSISTANT = "Assistant"
"""How the reader sees an agent without a name."""
USER = "User"
"""How the reader sees a user without a name."""


@dataclass(frozen=True, slots=True)
class SpokenText:
    """A memory as the reader sees it: who said it, when, and what."""

    memory: Memory
    speaker: str | None
    """Who speaks; None for a document, or anything else that nobody said."""

    @property
    def said_at(self) -> datetime:
        return self.memory.occurred_at

    @property
    def content(self) -> str:
        return self.memory.content

    @property
    def prefix(self) -> str:
        return f"{self.speaker}: " if self.speaker else ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A recalled memory with the turns before and after it."""

    texts: tuple[SpokenText, ...]
    main: int
    """The place of the recalled memory among the texts."""
    rank: int
    """Its place among the hits of recall, from 0."""
    score: float
    """The score of its hit: the chance that it is right."""

    @property
    def read(self) -> list[str]:
        """The texts for the reader."""
        return [text.prefix + text.content for text in self.texts]


def spoken(memory: Memory) -> SpokenText:
    """Return a memory with its speaker."""
    if memory.kind not in SAID or memory.source.role in ("tool", "system", "document"):
        return SpokenText(memory, memory.source.name)
    if memory.source.name:
        return SpokenText(memory, memory.source.name)
    return SpokenText(memory, ASSISTANT if memory.source.role == "assistant" else (memory.user or USER).capitalize())


async def passages_of(
    store: Store, scope: Scope, hits: Sequence[Hit], without: Set[str] = frozenset()
) -> list[Passage]:
    """Return the passages of hits, with one turn before each and one after it, read in one query.

    The turns with the ids ``without`` stand beside none.
    """
    view = await store.view(scope)
    beside: dict[str, list[str]] = {}
    for hit in hits:
        row = view.row_of(hit.memory.id)
        places = [] if row is None else [int(view.column(side)[row]) for side in ("before", "after")]
        beside[hit.memory.id] = [NONE_ID if place == NONE else view.ids[place] for place in places] or [NONE_ID] * 2
    known = {hit.memory.id: hit.memory for hit in hits}
    wanted = {id for ids in beside.values() for id in ids if id != NONE_ID} - set(known) - without
    known |= {memory.id: memory for memory in (await store.get_all(scope, sorted(wanted)) if wanted else [])}
    passages = []
    for rank, hit in enumerate(hits):
        before, after = (known.get(id) for id in beside[hit.memory.id])
        texts = [memory for memory in (before, hit.memory, after) if memory is not None]
        passages.append(Passage(tuple(map(spoken, texts)), 1 if before is not None else 0, rank, hit.score))
    return passages


def is_evidence(memory: Memory) -> bool:
    """Return whether a memory can hold an answer: no question, no reply of the agent, no record of its own work."""
    if memory.kind == "message":
        return not (memory.source.role == "assistant" and not memory.source.name) and not only_asks(memory.content)
    return not (memory.kind == "episode" and memory.metadata.get("type") == "task")


NONE_ID = ""
