"""A value with its name, and a write of one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from longmind.types import Duration, Id, Json, Memory, Model, Moment, Name, PlainJson, Text
from longmind.types.fields import plain_text

MAX_LABELS = 64
"""Labels of one namespace."""
Label = Annotated[str, StringConstraints(max_length=1_000), AfterValidator(plain_text)]
Namespace = Annotated[tuple[Label, ...], Field(max_length=MAX_LABELS)]
"""Where a value is: labels from the outermost to the innermost, as in ("users", "alice", "settings")."""
Lifetime = Annotated[timedelta, Field(gt=timedelta(0), le=timedelta(days=36_500))]
_PRECISION = 100
"""A refresh that would move the end by less than this part of the lifetime is left out: reads would all be writes."""
ValueKey = Annotated[str, StringConstraints(max_length=2_000), AfterValidator(plain_text)]


class ValueName(Model):
    """The namespace and the key of a value."""

    namespace: Namespace
    key: ValueKey


class Value(Model):
    """A value as it is stored."""

    namespace: Namespace
    key: ValueKey
    value: Json
    id: Id
    """The id of its memory."""
    version: int
    """It grows with every write."""
    created_at: Moment
    updated_at: Moment
    """When it was last written, or the moment that the writer stated."""
    expires_at: Moment | None = None
    ttl: Duration | None = None
    """How long it lasts after it was written or refreshed."""

    @classmethod
    def of(cls, memory: Memory) -> Value:
        """Return the value that a memory holds."""
        return cls(
            namespace=tuple(memory.metadata["labels"]),
            key=memory.metadata["key"],
            value=memory.body,
            id=memory.id,
            version=memory.version,
            created_at=memory.recorded_at,
            updated_at=memory.occurred_at,
            expires_at=memory.expires_at,
            ttl=ttl_of(memory),
        )

    def needs_refresh(self, now: datetime) -> bool:
        """Whether a refresh would let it last noticeably longer: by a hundredth of its ``ttl`` or more."""
        if self.ttl is None or self.expires_at is None:
            return False
        return now + self.ttl - self.expires_at >= self.ttl / _PRECISION


def ttl_of(memory: Memory) -> timedelta | None:
    """Return how long the value of a memory lasts after each write and refresh."""
    seconds = memory.metadata.get("ttl")
    return None if seconds is None else timedelta(seconds=seconds)


class ValueHit(Model):
    """A value that a search found."""

    value: Value
    score: float


class ValueWrite(Model):
    """One of the writes of a transaction: a new value, or with None the removal of what is there."""

    namespace: Namespace
    key: ValueKey
    value: PlainJson | None
    text: Text | None = None
    """What search and recall find it by: by default a line for each field, and nothing if it is empty."""
    session: Name | None = None
    """The session it belongs to, by which ``list`` and ``clear`` are fast."""
    at: Moment | None = None
    """The moment it stands for, which orders a listing: now, unless it is stated."""
    expires_at: Moment | None = None
    ttl: Lifetime | None = None
    """How long it lasts after each refresh, and after this write unless ``expires_at`` is stated."""
    expected_version: Annotated[int, Field(ge=0)] | None = None
    """The version that is replaced; 0 for none. If another one is there, nothing of the transaction is written."""
    keep: bool = False
    """Whether a value that is there stays as it is."""
    erase: bool = False
    """Of a removal: whether the journal keeps nothing of it either."""

    @model_validator(mode="after")
    def _keeps_or_replaces(self) -> ValueWrite:
        if self.keep and (self.value is None or self.expected_version is not None):
            raise ValueError("keep is for a value, and has no expected_version")
        return self
