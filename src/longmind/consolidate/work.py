"""What a stage works with: the new memories, a draft to propose its changes on, and notes about these changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from longmind.clock import Clock
from longmind.config import AgentSettings
from longmind.consolidate.draft import Draft, DraftClock
from longmind.errors import InvalidInput
from longmind.store.base import Batch, Write
from longmind.store.store import Store
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.shared import AGENT
from longmind.types import Filter, Hit, Memory, Scope

if TYPE_CHECKING:
    from longmind.consolidate.model import ModelCalls
    from longmind.models.changes import ChangeReader
    from longmind.models.statements import StatementReader
    from longmind.store.base import Vector
    from longmind.store.store import Embed

    Vectors = tuple[Sequence[Vector | None], str | None]


@dataclass(slots=True)
class Notes:
    """What a stage notes about its changes, for the report and for the next run."""

    why: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By record: the memory that is the reason for its change, and the reason in words."""
    rejected: Counter[str] = field(default_factory=Counter)
    """How many candidates were rejected, by reason."""
    failed: str | None = None
    """Why the language model could not do its part."""
    pending: list[str] = field(default_factory=list)
    """Messages that the next run has to look at again."""
    due: float | None = None
    """When, in seconds since 1970, the stage has something to do though nothing was written."""
    upkeep_due: float | None = None
    """When, in seconds since 1970, the next upkeep is due; None: there is nothing to keep up, or it is turned off."""


async def _no_vectors(texts: Sequence[str]) -> Vectors:
    return [None] * len(texts), None


@dataclass(slots=True)
class Work:
    """The work of one stage on one agent."""

    store: Store
    scope: Scope
    clock: Clock
    settings: AgentSettings
    draft: Draft
    """A draft of the agent's memories; what is written to it becomes one batch."""
    shared_draft: Draft
    """A draft of the tenant's shared memory; what is written to it becomes one batch of its own."""
    sources: list[Memory]
    """What is new since the last run, oldest first."""
    operation: str
    unanswered: frozenset[str] = frozenset()
    """The sources that are here only since they wait for their answer: what they state was read when they were new."""
    kinds: frozenset[str] = frozenset()
    """The kinds of the memories that were written since the last run."""
    learnt: Sequence[str] = ()
    """What was written since the last run, by this run too, and may be offered to shared memory."""
    deleted: frozenset[str] = frozenset()
    """The memories that were deleted since the last run."""
    first_run: bool = False
    """Whether no run over this scope has ended yet."""
    reflections: Sequence[str] = ()
    """The agent's reflections on its runs that are new, or were strengthened, since they were last counted."""
    upkeep: bool = False
    """Whether this run does the upkeep of all users: what time and visits make necessary."""
    model: ModelCalls | None = None
    """The language model, where there is one."""
    reader: StatementReader | None = None
    """The trained reader of statements, where it is installed and the agent uses it."""
    changes: ChangeReader | None = None
    """The trained reader of changes, which is installed and used with that of statements."""
    embed: Embed = _no_vectors
    """Makes vectors for what a stage compares; those of new memories are made when the draft is written."""
    notes: Notes = field(default_factory=Notes)

    def users(self) -> list[str | None]:
        """Return the users of the new memories; no user comes first."""
        return in_order({memory.user for memory in self.sources})

    async def users_with_topics(self) -> list[str | None]:
        """Return the users who have topics in mid-term memory; no user comes first."""
        where = Filter(kinds=("segment",), states=("active", "stale"))
        return in_order({memory.user async for memory in self.store.scan_all(self.scope, where)})

    def scoped(self, user: str | None) -> ScopedStore:
        """Return the draft as a memory system uses it for one user. Vectors are made when the draft is written."""
        return self._drafted(self.draft, user)

    def scoped_shared(self, user: str | None) -> ScopedStore:
        """Return the draft of shared memory as ``SharedMemory`` uses it on behalf of one user."""
        return self._drafted(self.shared_draft, user)

    def reading(self, user: str | None) -> ScopedStore:
        """Return the real store for one user, for what a stage only reads."""
        return ScopedStore(self.store, self._scope_of(user), self.clock, _no_vectors, _no_search)

    async def apply(self, writes: Sequence[Write]) -> None:
        """Apply these writes, if there are any, to the draft."""
        if writes:
            await self.draft.apply(Batch(self.scope, self.operation, self.clock.now(), tuple(writes)))

    def _drafted(self, draft: Draft, user: str | None) -> ScopedStore:
        clock = DraftClock(self.clock, draft)
        store = Store(draft, clock, defaults=self.store.defaults)
        return ScopedStore(store, self._scope_of(user), clock, _no_vectors, _no_search)

    def _scope_of(self, user: str | None) -> Scope:
        return self.scope if user is None and self.scope.all_users else self.scope.of_user(user)


class Stage(Protocol):
    """A step of the cycle. It looks at what is new and proposes changes on the drafts; it writes nothing itself."""

    @property
    def name(self) -> str: ...

    async def propose(self, work: Work) -> None: ...


def shared_scope(scope: Scope) -> Scope:
    """Return the scope of the shared memory of a tenant."""
    return Scope(tenant=scope.tenant, agent=AGENT)


def in_order(users: set[str | None]) -> list[str | None]:
    """Return users in alphabetical order; no user comes first."""
    return sorted(users, key=lambda user: (user is not None, user or ""))


async def _no_search(
    query: str, *, k: int = 10, kinds: Sequence[str] | None = None, where: Filter | None = None
) -> list[Hit]:
    raise InvalidInput("A draft cannot be searched.", hint="A stage reads by key, by link or by kind.")
