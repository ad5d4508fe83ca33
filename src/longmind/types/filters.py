"""Filters on memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field, model_validator

from longmind.types.fields import (
    MAX_FILTER_TAGS,
    MAX_FILTER_VALUES,
    MAX_METADATA_VALUES,
    Kind,
    Moment,
    Name,
    Role,
    State,
    Tag,
    Unit,
    plain_text,
)
from longmind.types.memory import Memory
from longmind.types.model import Model

Scalar = str | int | float | bool
V = TypeVar("V")
_Listed = Annotated[tuple[V, ...], Field(max_length=MAX_FILTER_VALUES)]
_Tags = Annotated[tuple[Tag, ...], Field(max_length=MAX_FILTER_TAGS)]
_Number = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Bound = Annotated[str, AfterValidator(plain_text)] | _Number


class Range(Model):
    """A range of numbers, or of texts by code point: ``gt``, ``gte``, ``lt`` and ``lte`` as bounds."""

    gt: _Bound | None = None
    gte: _Bound | None = None
    lt: _Bound | None = None
    lte: _Bound | None = None

    @model_validator(mode="after")
    def _bounds_are_alike(self) -> Range:
        texts = {isinstance(bound, str) for _, bound in self.bounds()}
        if len(texts) != 1:
            raise ValueError("must have at least one bound, and all of them numbers or all of them texts")
        return self

    def bounds(self) -> list[tuple[str, str | int | float]]:
        """Return the comparisons that are given, each with its bound."""
        given = ((name, getattr(self, name)) for name in ("gt", "gte", "lt", "lte"))
        return [(name, bound) for name, bound in given if bound is not None]


class Filter(Model):
    """A filter on memories. All given fields must match; a list means "any of these"."""

    ids: _Listed[str] | None = None
    kinds: _Listed[Kind] | None = None
    states: tuple[State, ...] | None = ("active", "stale", "superseded")
    sessions: _Listed[Name] | None = None
    users: _Listed[Name] | None = None
    keys: _Listed[Name] | None = None
    tags_any: _Tags | None = None
    tags_all: _Tags | None = None
    roles: tuple[Role, ...] | None = None
    speakers: _Listed[Name] | None = None
    since: Moment | None = None
    until: Moment | None = None
    recorded_since: Moment | None = None
    recorded_until: Moment | None = None
    valid_at: Moment | None = None
    expired: bool | None = False
    """Whether memories match that have expired: False for those that have not, True for only those, None for both."""
    expired_at: Moment | None = None
    """The moment at which ``expired`` is decided: now, unless it is given."""
    min_importance: Unit | None = None
    min_trust: Unit | None = None
    metadata: Annotated[Mapping[str, Scalar | Range], Field(max_length=MAX_METADATA_VALUES)] | None = None
    """Top-level keys of ``Memory.metadata``, and the value each must equal or the range it must be in, such as
    ``{"price": {"gte": 5, "lt": 10}}``. True and 1 are different, and a number is in no range of texts."""
    without_kinds: _Listed[Kind] | None = None
    """Kinds that do not match."""

    def matches_expiry(self, memory: Memory) -> bool:
        """Return whether a memory is as ``expired`` asks. Without a moment, any memory is."""
        return self.expired is None or self.expired_at is None or memory.has_expired(self.expired_at) == self.expired

    def metadata_values(self) -> dict[str, Scalar]:
        """Return the metadata that must equal a value."""
        return {key: value for key, value in (self.metadata or {}).items() if not isinstance(value, Range)}

    def metadata_ranges(self) -> list[tuple[str, str, str | int | float]]:
        """Return the metadata that must be in a range: the key, the comparison and the bound."""
        ranges = [(key, value) for key, value in (self.metadata or {}).items() if isinstance(value, Range)]
        return [(key, name, bound) for key, value in ranges for name, bound in value.bounds()]
