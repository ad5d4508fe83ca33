"""The stored and returned types of working memory.

An item is a memory of the kind ``working``. One more record of that kind, the state, lists the items in their slots,
with the focus, the task and the conversation. Every change expects the version of the state, so concurrent writers
together cannot exceed the limits.

A session has a state of its own, and items of the kind ``session_item``. These are internal: recall does not return
them, so nothing of one session reaches another.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from longmind.types import Id, Json, Model, Moment, Name, PlainJson, Source, Text, Unit

KIND = "working"
SESSION_KIND = "session_item"
STATE = "working:state"
SESSION_STATE = "working:session"
LOG = "episode:working memory"
"""The keys of the state, of the states of sessions, and of the episode that evicted items are written to."""
MAX_LEFT = 50
"""How many items that left without an event of their own a state remembers."""
MAX_VARIABLES = 200
MAX_VARIABLE_CHARS = 65_536
Sort = Literal["importance", "recency", "attention"]


def _small(value: Json) -> Json:
    if len(value) > MAX_VARIABLES or len(json.dumps(value, ensure_ascii=False)) > MAX_VARIABLE_CHARS:
        raise ValueError(f"must be at most {MAX_VARIABLES} values and {MAX_VARIABLE_CHARS} characters together")
    return value


Variables = Annotated[PlainJson, AfterValidator(_small)]
Line = Annotated[Text, StringConstraints(max_length=2_000)]


class WorkingLimits(Model):
    """The limits: the number of slots, and the tokens of all items together."""

    items: Annotated[int, Field(ge=1, le=1_000)] = 7
    tokens: Annotated[int, Field(ge=1, le=10_000_000)] = 2_000


class ChosenLimits(Model):
    """The limits that were set for this working memory; None leaves the default."""

    items: int | None = None
    tokens: int | None = None


class Task(Model):
    """What the agent is doing, with its variables."""

    name: Name | None = None
    goal: Line = ""
    variables: Variables = Field(default_factory=dict)
    begun_at: Moment | None = None


class ConversationState(Model):
    """The state of a conversation. The texts are short reminders; dialogue memory has everything that was said."""

    session: Name | None = None
    topic: Line = ""
    intent: Line = ""
    turns: Annotated[int, Field(ge=0)] = 0
    last_user: Line = ""
    last_assistant: Line = ""
    questions: Annotated[tuple[Line, ...], Field(max_length=20)] = ()
    """Questions that are not answered yet."""
    notes: Variables = Field(default_factory=dict)


class SlotBody(Model):
    """A slot as it is stored: one item, or several that are related."""

    members: tuple[Id, ...]
    label: str = ""


class StateBody(Model):
    """The state as it is stored."""

    limits: ChosenLimits = ChosenLimits()
    focus: Line = ""
    slots: tuple[SlotBody, ...] = ()
    task: Task = Task()
    conversation: ConversationState = ConversationState()
    left: dict[Name, Id] = Field(default_factory=dict)
    """Where in episodic memory the text of items is that left without an event of their own, by key."""
    revision: int = 0
    """Counts the changes, so that the record changes even if only an item's text did."""


class ItemBody(Model):
    """An item as it is stored; its text is the record's content, or ``text`` for an item of a session."""

    key: Name
    origin: Id | None = None
    """The memory that its text is from: the event it was fetched back from, or what a run recorded."""
    recorded: bool = False
    """Whether the origin keeps the text in episodic memory, so that no other event is written when the item leaves."""
    text: str | None = None


class Item(Model):
    """An item of working memory, with its current scores."""

    id: str
    key: str
    content: str
    session: str | None = None
    """The session it belongs to; None if it is for all sessions of the user."""
    importance: Unit
    source: Source
    trust: Unit
    tokens: int
    put_at: Moment
    attended_at: Moment
    """When it was last put or attended to."""
    recency: Unit
    score: Unit
    """0.7 importance + 0.3 recency."""
    relevance: Unit = 0.0
    """How well it matches the focus or the query."""
    attention: Unit
    """The mean of score and relevance if there is a focus or a query, else the score."""
    chunk: str | None = None
    """The label of the chunk it is in, if it shares its slot."""


class Slot(Model):
    """A slot: one item, or a chunk of related items."""

    label: str
    items: tuple[Item, ...]
    tokens: int
    attention: Unit


class Evicted(Model):
    """An evicted item, and the event or episode in episodic memory that keeps it."""

    key: str
    event: str
    reason: Literal["evicted", "replaced", "released"]


class Placed(Model):
    """The result of putting an item."""

    item: Item
    evicted: tuple[Evicted, ...] = ()
    """The evicted items, including the replaced value of the same key; ``fetch`` brings an item back."""


class WorkingContext(Model):
    """Everything in working memory."""

    focus: str
    task: Task
    conversation: ConversationState
    slots: tuple[Slot, ...]
    tokens: int
    limits: WorkingLimits
