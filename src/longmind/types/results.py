"""What the other calls return: pages, changes, counts, and what was forgotten or undone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Generic, Literal, TypeVar

from longmind.types.fields import Json, Moment
from longmind.types.memory import Link
from longmind.types.model import Model

T = TypeVar("T")


class Page(Model, Generic[T]):
    """One page of a listing; ``cursor`` gets the next page, and is None at the end."""

    items: tuple[T, ...]
    cursor: str | None = None


class Forgotten(Model):
    """What ``forget`` removed. ``undo(forgotten.operation)`` brings it back, unless it was erased."""

    count: int
    ids: tuple[str, ...]
    """What was asked for; with ``erase`` also what was derived from it."""
    operation: str | None = None
    """The operation's id; None if nothing was removed, or if it was erased and cannot be undone."""
    erased: bool = False


class UndoneChange(Model):
    """What an undo did to one memory."""

    action: Literal["removed", "restored", "changed"]
    """``removed``: the operation had stored it. ``restored``: the operation had deleted it. ``changed``: its fields
    are what they were before the operation."""
    memory_id: str
    kind: str
    content: str
    """What the memory says now, or said before it was removed."""
    fields: tuple[str, ...] = ()
    """Of what was changed: the fields."""


class Undone(Model):
    """What ``undo`` changed. It is an operation too: ``undo(undone.operation)`` takes it back."""

    undone: str
    """The operation that was undone."""
    operation: str
    """The id of the undo itself."""
    changes: tuple[UndoneChange, ...]
    links: int = 0
    """How many links were added or removed."""

    def ids(self, action: Literal["removed", "restored", "changed"]) -> tuple[str, ...]:
        """Return the ids of the memories to which this was done."""
        return tuple(change.memory_id for change in self.changes if change.action == action)


class Change(Model):
    """One line of the journal: who changed what, when, why, and what it was before and after."""

    seq: int
    operation: str
    at: Moment
    actor: str
    reason: str
    action: Literal["put", "update", "delete", "erase", "link", "unlink"]
    memory_id: str
    before: Json | None = None
    after: Json | None = None
    link: Link | None = None


class ConversationSummary(Model):
    """A session that has messages, as ``conversations`` lists it."""

    id: str
    user: str | None
    messages: int
    first_at: Moment
    last_at: Moment


class Stats(Model):
    """Counts of what a scope holds."""

    memories: int
    links: int
    changes: int
    by_kind: Mapping[str, int]
    by_state: Mapping[str, int]
    vectors: int
    """Memories with a vector in the active space."""


class Growth(Model):
    """How many of the memories that a scope holds are of each day (UTC), by kind."""

    days: tuple[date, ...]
    """The days, one after the other, the last one today."""
    by_kind: Mapping[str, tuple[int, ...]]
    """For each kind that has any, one number for each day."""


class ContextLine(Model):
    """A line of a context, and why it is there."""

    heading: str
    """The heading under which it stands."""
    text: str
    """The line as a model reads it."""
    memory_id: str
    kind: str
    why: str
    standing: bool = False
    """Whether it stands in every context, whatever the task."""
    score: float | None = None
    """How well it fits the task; None for one that stands."""
