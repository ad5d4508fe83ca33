"""The public types: records, filters, hits and reports.

They are frozen pydantic models: validated once on construction, dumped with ``model_dump_json()``, and safe to share
between tasks. Times are UTC. Scores run from 0 to 1.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Generator, Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from longmind.clock import as_utc

MAX_CONTENT = 1_000_000
"""Characters one memory may hold; a longer text is a document, which is split."""

_REPR_CHARS = 80
MAX_TAGS = 100
"""Tags of one memory."""
MAX_FILTER_TAGS = 1_000
"""Tags in one list of a filter."""
MAX_FILTER_VALUES = 10_000
"""Values in any other list of a filter."""
MAX_METADATA_BYTES, MAX_METADATA_VALUES, MAX_METADATA_DEPTH = 65_536, 1_000, 16
"""How large the metadata of a message, a document or a call may be: its JSON, its values and its nesting."""
MAX_FACTS = 500
"""Facts that consolidation takes from one memory; the rest of its statements are counted as rejected."""

State = Literal["active", "archived", "superseded", "stale", "quarantined"]
STATES: tuple[State, ...] = ("active", "archived", "superseded", "stale", "quarantined")
Role = Literal["user", "assistant", "system", "tool", "document"]
Direction = Literal["out", "in", "both"]
Order = Literal["recorded", "occurred", "importance", "accessed"]
Json = dict[str, Any]
T = TypeVar("T")


_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _name(value: str) -> str:
    if not value or value != value.strip():
        raise ValueError("must not be empty nor begin or end with a space")
    if not value.isprintable() and _CONTROL.search(value):
        raise ValueError("must not contain control characters")
    return _plain_text(value)


def _plain_text(value: str) -> str:
    if "\x00" in value:
        raise ValueError("must not contain the NUL character, which no database stores")
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError("must be valid Unicode: it contains a lone surrogate") from error
    return value


def _moment(value: datetime) -> datetime:
    try:
        return as_utc(value)
    except OverflowError as error:
        raise ValueError("is outside the years 1 to 9999 when told in UTC") from error


def _plain_json(value: Json) -> Json:
    if value:
        _check_json(value, 0)
    return value


def _check_json(node: Any, depth: int) -> None:
    if depth > 32:
        raise ValueError("must not be nested deeper than 32 levels")
    if isinstance(node, str):
        _plain_text(node)
    elif isinstance(node, bool) or node is None:
        pass
    elif isinstance(node, int):
        if abs(node) >= 2**63:
            raise ValueError("whole numbers must fit 64 bits")
    elif isinstance(node, float):
        if not math.isfinite(node):
            raise ValueError("numbers must be finite")
    elif isinstance(node, (dict, Mapping)):
        for key, item in node.items():
            if not isinstance(key, str):
                raise ValueError("keys must be strings")
            _plain_text(key)
            _check_json(item, depth + 1)
    elif isinstance(node, (list, tuple)):
        for item in node:
            _check_json(item, depth + 1)
    else:
        raise ValueError(f"must be plain JSON, and {type(node).__name__} is not")


def _bounded_json(value: Json) -> Json:
    if value:
        _check_size(value)
        _check_json(value, 0)
    return value


def _check_size(value: Json) -> None:
    """Refuse JSON that is too large, as soon as that is known: the rest of it is not looked at."""
    size = values = 0
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        node, depth = waiting.pop()
        values += 1
        if isinstance(node, str):
            size += len(node) if node.isascii() else len(node.encode(errors="replace"))
        elif isinstance(node, dict | list | tuple):
            children = list(node.values()) if isinstance(node, dict) else node
            if values + len(waiting) + len(children) > MAX_METADATA_VALUES:
                raise ValueError(f"must not hold more than {MAX_METADATA_VALUES:,} values")
            if children and depth >= MAX_METADATA_DEPTH:
                raise ValueError(f"must not be nested deeper than {MAX_METADATA_DEPTH} levels")
            size += sum(len(str(key).encode(errors="replace")) + 4 for key in node) if isinstance(node, dict) else 2
            waiting += [(child, depth + 1) for child in children]
        else:
            size += 8
        if size > MAX_METADATA_BYTES:
            raise ValueError(f"must not hold more than {MAX_METADATA_BYTES:,} bytes")


Name = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_name)]
Kind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Text = Annotated[str, StringConstraints(max_length=MAX_CONTENT), AfterValidator(_plain_text)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_plain_text)]
Moment = Annotated[datetime, AfterValidator(_moment)]
Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")]
Unit = Annotated[float, Field(ge=0.0, le=1.0)]
PlainJson = Annotated[Json, AfterValidator(_plain_json)]
Metadata = Annotated[Json, AfterValidator(_bounded_json)]
"""Metadata as a caller gives it: plain JSON of bounded size."""


class Model(BaseModel):
    """The base of every public type: frozen, and strict about unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, ser_json_inf_nan="null", defer_build=True
    )

    def to_dict(self) -> Json:
        """Return the fields as a plain dict that is ready for JSON: times are texts, tuples are lists."""
        return self.model_dump(mode="json")


M = TypeVar("M", bound=Model)
_set = object.__setattr__


def construct_unvalidated(kind: type[M], fields: Json) -> M:
    """Construct a model without validation, from all of its fields.

    For fields that are known to be valid: those of a row that was validated when it was written, or parts that were
    validated one by one. Validating a memory again would cost ten times as much.
    """
    model = kind.__new__(kind)
    _set(model, "__dict__", fields)
    _set(model, "__pydantic_fields_set__", _all_fields(kind))
    _set(model, "__pydantic_extra__", None)
    _set(model, "__pydantic_private__", None)
    return model


@cache
def _all_fields(kind: type[Model]) -> set[str]:
    """Return the set of field names, shared by all instances: a frozen model never changes it."""
    return set(kind.model_fields)


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
    uri: Annotated[str, StringConstraints(max_length=2000), AfterValidator(_plain_text)] | None = None
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
    relation: Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,100}$"), AfterValidator(_plain_text)]
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


class Message(Model):
    """One turn of a conversation, as given to ``remember``."""

    role: Role = "user"
    content: Text
    name: Name | None = None
    occurred_at: Moment | None = None
    metadata: Metadata = Field(default_factory=dict)


class Document(Model):
    """A text with a title and a URI, as given to ``remember``; it is split into passages."""

    content: Annotated[str, StringConstraints(max_length=50_000_000), AfterValidator(_plain_text)]
    title: str | None = None
    uri: str | None = None
    occurred_at: Moment | None = None
    metadata: Metadata = Field(default_factory=dict)


Scalar = str | int | float | bool


V = TypeVar("V")
_Listed = Annotated[tuple[V, ...], Field(max_length=MAX_FILTER_VALUES)]
_Tags = Annotated[tuple[Tag, ...], Field(max_length=MAX_FILTER_TAGS)]


_Number = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Bound = Annotated[str, AfterValidator(_plain_text)] | _Number


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


class Page(Model, Generic[T]):
    """One page of a listing; ``cursor`` gets the next page, and is None at the end."""

    items: tuple[T, ...]
    cursor: str | None = None


class Scored(Model):
    """The id of a memory and its score, in the units of one arm."""

    id: str
    score: float


class Hit(Model):
    """A recalled memory, how well it fits, and why.

    Recall makes the reason and the components only when they are looked at, in whatever way: most callers read only
    the memory.
    """

    memory: Memory
    score: Unit
    why: str
    parts: Mapping[str, float] = Field(default_factory=dict)
    """The components of the score, by arm and prior."""
    _explain: Callable[[], tuple[str, Mapping[str, float]]] | None = PrivateAttr(None)

    @classmethod
    def explained_later(
        cls, memory: Memory, score: float, explain: Callable[[], tuple[str, Mapping[str, float]]]
    ) -> Hit:
        """Return a hit whose reason and components ``explain`` makes when they are first looked at."""
        hit = construct_unvalidated(cls, {"memory": memory, "score": score})
        _set(hit, "__pydantic_private__", {"_explain": explain})
        return hit

    def _explained(self) -> Hit:
        """Make the reason and the components, if that was not done yet."""
        private = self.__pydantic_private__
        if private is not None and private["_explain"] is not None:
            why, parts = private["_explain"]()
            self.__dict__.update(why=why, parts=parts)
            private["_explain"] = None
        return self

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name in ("why", "parts"):
                return self._explained().__dict__[name]
            return super().__getattr__(name)

    @model_serializer(mode="wrap")
    def _serialize(self, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(self._explained())

    def __eq__(self, other: object) -> bool:
        self._explained()
        return super().__eq__(other._explained() if isinstance(other, Hit) else other)

    def __iter__(self) -> Generator[tuple[str, Any], None, None]:
        yield from super(Hit, self._explained()).__iter__()

    def __getstate__(self) -> dict[Any, Any]:
        return super(Hit, self._explained()).__getstate__()

    def __copy__(self) -> Hit:
        return super(Hit, self._explained()).__copy__()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Hit:
        return super(Hit, self._explained()).__deepcopy__(memo)

    @property
    def shared(self) -> bool:
        """Whether it comes from the shared memory of the tenant, and not from what the agent knows itself."""
        return self.memory.agent == SHARED_AGENT

    def __repr__(self) -> str:
        return f"Hit({self.score:.2f}, {self.memory!r})"


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


STAGES = ("segment", "extract", "reconcile", "profile", "summarise", "distill", "forget")
"""The stages of consolidation, in their order."""


class Proposed(Model):
    """One change that consolidation makes, or proposes, and why."""

    action: Literal["add", "change", "supersede", "archive", "delete"]
    memory_id: str
    because_of: str
    """The memory that is the reason: the evidence of a fact, the newer of two that say the same, or itself."""
    why: str
    stage: str = ""
    kind: str = "message"
    content: str = ""
    """What the memory says, or would say."""


class StageReport(Model):
    """What one stage did."""

    stage: str
    added: int = 0
    changed: int = 0
    superseded: int = 0
    archived: int = 0
    deleted: int = 0
    rejected: Mapping[str, int] = Field(default_factory=dict)
    """Candidates that were rejected, counted by reason."""
    seconds: float = 0.0
    calls: int = 0
    """Requests to a language model."""
    failed: str | None = None
    """The error of an optional helper, such as a model; the stage continued without it."""


class ConsolidationReport(Model):
    """What a consolidation changed, or with ``dry_run`` would change. ``undo(report.id)`` reverts it."""

    id: str
    dry_run: bool
    read: int
    proposed: tuple[Proposed, ...]
    stages: tuple[StageReport, ...] = ()
    stopped: str | None = None
    """Why it stopped early: paused, or a budget is spent. The next run continues from there."""

    def of(self, stage: str) -> StageReport:
        """Return the report of one stage; an empty one if it did not run."""
        return next((report for report in self.stages if report.stage == stage), StageReport(stage=stage))
