"""What a stage works with: the memories that are new, a draft to try its changes on, and what it has to say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from longmind.clock import Clock
from longmind.config import AgentSettings
from longmind.consolidate.draft import Draft, DraftClock
from longmind.errors import InvalidInput
from longmind.store.store import Store
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Hit, Memory, Scope

if TYPE_CHECKING:
    from longmind.consolidate.model import ModelPart
    from longmind.store.base import Vector
    from longmind.store.store import Embed

    Vectors = tuple[Sequence[Vector | None], str | None]


@dataclass(slots=True)
class Notes:
    """What a stage has to say of its changes."""

    why: dict[str, tuple[str, str]] = field(default_factory=dict)
    """For a record: the memory that is the reason, and the reason in words."""
    rejected: Counter[str] = field(default_factory=Counter)
    failed: str | None = None
    pending: list[str] = field(default_factory=list)
    """Messages that the next run has to look at again."""
    due: float | None = None
    """When, in seconds, time alone makes the stage necessary again."""


@dataclass(slots=True)
class Work:
    """One stage's work on one agent."""

    store: Store
    scope: Scope
    clock: Clock
    settings: AgentSettings
    draft: Draft
    sources: list[Memory]
    """What is new since the last run, oldest first."""
    operation: str
    embed: Embed | None = None
    """What makes vectors, for what a run writes outside the agent."""
    kinds: frozenset[str] = frozenset()
    """The kinds of the memories that were written since the last run."""
    model: ModelPart | None = None
    """The language model, where there is one."""
    notes: Notes = field(default_factory=Notes)

    def users(self) -> list[str | None]:
        """Whose memories are among the new ones, nobody's first."""
        return sorted({memory.user for memory in self.sources}, key=lambda user: (user is not None, user or ""))

    def scoped(self, user: str | None) -> ScopedStore:
        """The draft as a memory system uses it for one user. Vectors are made once, when all is written."""
        scope = self.scope.model_copy(update={"user": user})
        clock = DraftClock(self.clock, self.draft)
        return ScopedStore(Store(self.draft, clock), scope, clock, _no_vectors, _no_search)

    def reading(self, user: str | None) -> ScopedStore:
        """The real store for one user, for what a stage only reads."""
        scope = self.scope.model_copy(update={"user": user})
        return ScopedStore(self.store, scope, self.clock, _no_vectors, _no_search)

    def outside(self, user: str | None) -> ScopedStore:
        """The real store for one user, for what is written to memory that belongs to no agent."""
        scope = self.scope.model_copy(update={"user": user})
        return ScopedStore(self.store, scope, self.clock, self.embed or _no_vectors, _no_search)


class Stage(Protocol):
    """One step of the cycle: looks at what is new and tries its changes on the draft. It writes nothing itself."""

    @property
    def name(self) -> str: ...

    async def propose(self, work: Work) -> None: ...


async def _no_vectors(texts: Sequence[str]) -> Vectors:
    return [None] * len(texts), None


async def _no_search(
    query: str, *, k: int = 10, kinds: Sequence[str] | None = None, where: Filter | None = None
) -> list[Hit]:
    raise InvalidInput("A draft cannot be searched.", hint="A stage reads by key, by link or by kind.")
