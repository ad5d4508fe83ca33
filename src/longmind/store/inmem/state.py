"""What the in-memory store holds, in dictionaries and lists.

Every value is immutable, so a shallow copy of the containers is a snapshot. A batch works on such a copy of its
agent and the copy takes the place of the original only when every write went well: that is the whole transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from longmind.store.base import Space
from longmind.types import Json, Link, Memory, Scope

Action = Literal["put", "update", "delete", "erase", "link", "unlink"]
LinkKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """A memory, the number of the change that put it, and the terms it is found by."""

    memory: Memory
    seq: int
    terms: bytes


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the journal as it is kept: only what was before, since what came after can be derived."""

    seq: int
    operation: str
    at: datetime
    actor: str
    reason: str
    action: Action
    memory_id: str
    user: str | None
    before: Json | None = None
    link: Link | None = None

    @property
    def about_link(self) -> bool:
        return self.action in ("link", "unlink")

    def names(self, id: str) -> bool:
        """Whether this line is about a memory, or about a link that begins or ends at it."""
        return id == self.memory_id or (self.link is not None and id in (self.link.source, self.link.target))

    def cleared(self) -> Line:
        """The line without anything it tells about content; why it was changed may tell that too."""
        return replace(self, reason="", before=None, link=None)


@dataclass(frozen=True, slots=True)
class Remembered:
    """An idempotent batch that was applied: what it asked for, and the memories it answered with."""

    fingerprint: str
    ids: tuple[str, ...]


@dataclass(slots=True)
class AgentState:
    """All that one agent of one tenant holds."""

    rows: dict[str, Row] = field(default_factory=dict)
    links: dict[LinkKey, Link] = field(default_factory=dict)
    vectors: dict[tuple[str, str], bytes] = field(default_factory=dict)
    """By space name and memory id; float16 bytes."""
    journal: list[Line] = field(default_factory=list)
    operations: dict[str, Remembered] = field(default_factory=dict)

    def copy(self) -> AgentState:
        return AgentState(
            dict(self.rows), dict(self.links), dict(self.vectors), list(self.journal), dict(self.operations)
        )

    @property
    def head(self) -> int:
        return len(self.journal)

    def visible(self, scope: Scope, id: str) -> Memory | None:
        """A memory, if it exists and the scope may see it."""
        row = self.rows.get(id)
        return row.memory if row is not None and scope.sees(row.memory) else None

    def links_of(self, id: str) -> list[LinkKey]:
        """The links that begin or end at a memory, by source, relation and target."""
        return sorted(key for key in self.links if id in (key[0], key[2]))

    def key_holder(self, user: str | None, key: str) -> Memory | None:
        """The memory of this user (or of no user) that holds a key."""
        held = (row.memory for row in self.rows.values() if row.memory.key == key and row.memory.user == user)
        return next(held, None)

    def drop_vectors(self, id: str) -> None:
        """Forget the vectors of a memory in every space."""
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
        """What an agent holds; an empty one when it holds nothing yet."""
        return self.agents.get((scope.tenant, scope.agent)) or AgentState()
