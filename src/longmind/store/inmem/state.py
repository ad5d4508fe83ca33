"""What the in-memory store holds, in dictionaries and lists.

Every value is immutable, so a shallow copy of the containers is a snapshot. A batch works on such a copy of its
agent and the copy takes the place of the original only when every write went well: that is the whole transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from longmind.store.base import Space
from longmind.store.plan import JournalLine
from longmind.store.reads import LinkKey
from longmind.types import Link, Memory, Scope


@dataclass(frozen=True, slots=True)
class Row:
    """A memory, the number of the change that put it, and its index terms."""

    memory: Memory
    seq: int
    terms: bytes


@dataclass(frozen=True, slots=True)
class AppliedBatch:
    """An idempotent batch that was applied: its fingerprint, and the ids of the memories in its receipt."""

    fingerprint: str
    ids: tuple[str, ...]


@dataclass(slots=True)
class AgentState:
    """All that one agent of one tenant holds."""

    rows: dict[str, Row] = field(default_factory=dict)
    links: dict[LinkKey, Link] = field(default_factory=dict)
    vectors: dict[tuple[str, str], bytes] = field(default_factory=dict)
    """By space name and memory id; float16 bytes."""
    journal: list[JournalLine] = field(default_factory=list)
    operations: dict[tuple[str | None, str], AppliedBatch] = field(default_factory=dict)
    """By user and operation id."""

    def copy(self) -> AgentState:
        return AgentState(
            dict(self.rows), dict(self.links), dict(self.vectors), list(self.journal), dict(self.operations)
        )

    @property
    def head(self) -> int:
        return len(self.journal)

    def visible(self, scope: Scope, id: str) -> Memory | None:
        """Return a memory if it exists and the scope may see it."""
        row = self.rows.get(id)
        return row.memory if row is not None and scope.sees(row.memory) else None

    def owner(self, link: Link) -> str | None:
        """Return whose a link is: the user's at its source, or else the user's at its target."""
        return self.rows[link.source].memory.user or self.rows[link.target].memory.user

    def drop_vectors(self, id: str) -> None:
        """Remove the vectors of a memory in every space."""
        for place in [place for place in self.vectors if place[1] == id]:
            del self.vectors[place]


@dataclass(slots=True)
class State:
    """A whole store. Give it to ``InmemBackend.open`` to go on where another backend stopped."""

    agents: dict[tuple[str, str], AgentState] = field(default_factory=dict)
    active: Space | None = None
    building: Space | None = None
    epoch: int = 0

    def copy(self) -> State:
        agents = {name: agent.copy() for name, agent in self.agents.items()}
        return State(agents, self.active, self.building, self.epoch)

    def agent(self, scope: Scope) -> AgentState:
        """Return the state of an agent, an empty one if it holds nothing yet."""
        return self.agents.get((scope.tenant, scope.agent)) or AgentState()


def owned_copy(memory: Memory) -> Memory:
    """Return a copy for the caller, who may change its body and metadata without harm to the store."""
    return memory.model_copy(deep=True) if memory.body or memory.metadata else memory
