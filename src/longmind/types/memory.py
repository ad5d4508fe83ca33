"""A memory, whose it is, where it comes from, and how it is linked to others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from longmind.types.fields import MAX_TAGS, Id, Kind, Moment, Name, PlainJson, Role, State, Tag, Text, Unit, plain_text
from longmind.types.model import Model

_REPR_CHARS = 80


class Scope(Model):
    """Whose memories: a tenant, one of its agents, and perhaps one user of that agent, or all of them.

    Tenant and agent are a wall. Within it, a scope with a user sees that user's memories and those that belong to
    no user; a scope without one sees only those that belong to no user. ``all_users`` sees everything the agent holds.
    What a scope without a user writes belongs to no user, with ``all_users`` too.
    """

    tenant: Name = "default"
    agent: Name
    user: Name | None = None
    all_users: bool = False

    @model_validator(mode="after")
    def _one_user_or_all(self) -> Scope:
        if self.all_users and self.user is not None:
            raise ValueError("give a user or all_users, not both")
        return self

    @property
    def viewer(self) -> str | None:
        """The user whose memories are seen beside those of no user; '' for nobody's, None for everybody's."""
        return None if self.all_users else self.user or ""

    def of_user(self, user: str | None) -> Scope:
        """Return the scope of one user of the same agent, or with None of what belongs to no user."""
        return self.model_copy(update={"user": user, "all_users": False})

    def of_all_users(self) -> Scope:
        """Return the scope of everything that the same agent holds."""
        return self.model_copy(update={"user": None, "all_users": True})

    def sees_user(self, user: str | None) -> bool:
        """Whether what belongs to a user, or with None to no user, is inside this scope."""
        return self.all_users or user is None or user == self.user

    def sees(self, memory: Memory) -> bool:
        """Whether a memory is inside this scope."""
        return memory.tenant == self.tenant and memory.agent == self.agent and self.sees_user(memory.user)


class Source(Model):
    """Who said it and where: a speaker in a conversation, a passage of a document, a tool."""

    role: Role = "user"
    name: Name | None = None
    uri: Annotated[str, StringConstraints(max_length=2000), AfterValidator(plain_text)] | None = None
    span: tuple[int, int] | None = None

    @model_validator(mode="after")
    def _span_is_forward(self) -> Source:
        if self.span is not None and not 0 <= self.span[0] <= self.span[1] < 2**62:
            raise ValueError("span must be (start, end) with 0 <= start <= end")
        return self


SHARED_AGENT = "@shared"
"""The reserved agent of a tenant that holds its shared memory."""
TRUST: Mapping[Role, float] = {"system": 1.0, "user": 0.8, "assistant": 0.7, "tool": 0.5, "document": 0.4}
"""How far a source is trusted unless the caller says otherwise."""


class Memory(Model):
    """One record. Every kind of memory is a typed view over these fields."""

    id: Id
    version: Annotated[int, Field(ge=1, lt=2**62)] = 1
    tenant: Name
    agent: Name
    user: Name | None = None
    session: Name | None = None
    kind: Kind = "message"
    key: Name | None = None
    """A name that is unique among the agent's live records, for those that have one."""
    content: Text
    body: PlainJson = Field(default_factory=dict)
    importance: Unit = 0.5
    valence: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.0
    tags: Annotated[tuple[Tag, ...], Field(max_length=MAX_TAGS)] = ()
    metadata: PlainJson = Field(default_factory=dict)
    source: Source = Source()
    trust: Unit = 0.8
    occurred_at: Moment
    recorded_at: Moment
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    expires_at: Moment | None = None
    """When it stops being remembered: from then on no read returns it unless it is asked for, and the next
    consolidation removes it. Not when it stops being true, which is ``valid_to``."""
    access_count: Annotated[int, Field(ge=0, lt=2**62)] = 0
    last_accessed_at: Moment | None = None
    interaction: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    state: State = "active"

    @model_validator(mode="after")
    def _validity_is_forward(self) -> Memory:
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise ValueError("valid_to must not be before valid_from")
        return self

    def __repr__(self) -> str:
        about = [self.kind, self.source.name or self.source.role, self.occurred_at.date().isoformat()]
        state: list[str] = [] if self.state == "active" else [self.state]
        text = " ".join(self.content.split())
        shown = text if len(text) <= _REPR_CHARS else text[:_REPR_CHARS] + "..."
        return f"Memory({self.id}, {', '.join(about + state)}: {shown!r})"

    __str__ = __repr__

    def has_expired(self, at: datetime) -> bool:
        """Return whether it has expired at a moment."""
        return self.expires_at is not None and self.expires_at <= at

    def content_hash(self) -> str:
        """Return a hash of this memory, independent of where it is stored and how often it was read."""
        content = self.model_dump(mode="json", exclude=UNHASHED)
        return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


UNHASHED = {"version", "access_count", "last_accessed_at", "interaction"}
UPDATABLE = frozenset(Memory.model_fields) - {
    "id",
    "version",
    "tenant",
    "agent",
    "user",
    "recorded_at",
    "access_count",
    "last_accessed_at",
    "interaction",
}
"""The fields that an update may change: not the scope, the id and the counters."""


class Link(Model):
    """A directed, weighted relation between two memories of one agent."""

    source: Id
    relation: Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,100}$"), AfterValidator(plain_text)]
    target: Id
    weight: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 1.0
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    metadata: PlainJson = Field(default_factory=dict)


class Neighbour(Model):
    """A memory reached over links: how far away, and over which link last."""

    id: str
    depth: int
    link: Link
