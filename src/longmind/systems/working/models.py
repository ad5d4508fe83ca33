"""What working memory stores and returns.

An item is a memory of the kind ``working``. Which items there are, and in which slots, stands in one more record of
that kind, the state, together with the focus, the task and the conversation. Every change of working memory changes the
state and expects its version, so no two writers can together put in more than there is room for.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from longmind.types import Id, Json, Model, Moment, Name, PlainJson, Source, Text, Unit

KIND = "working"
STATE = "working:state"
LOG = "episode:working memory"
"""The keys of the state and of the episode that what leaves is written to."""
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
    """How much there is room for: slots, and tokens of all items together."""

    items: Annotated[int, Field(ge=1, le=1_000)] = 7
    tokens: Annotated[int, Field(ge=1, le=10_000_000)] = 2_000


class Task(Model):
    """What the agent is doing, and the variables of it."""

    name: Name | None = None
    goal: Line = ""
    variables: Variables = Field(default_factory=dict)
    begun_at: Moment | None = None


class ConversationState(Model):
    """Where a conversation stands. The texts are reminders; the whole of what was said is in the dialogue."""

    session: Name | None = None
    topic: Line = ""
    intent: Line = ""
    turns: Annotated[int, Field(ge=0)] = 0
    last_user: Line = ""
    last_assistant: Line = ""
    questions: Annotated[tuple[Line, ...], Field(max_length=20)] = ()
    """Asked and not answered yet."""
    notes: Variables = Field(default_factory=dict)


class SlotBody(Model):
    """A slot as it is stored: one item, or several that belong together."""

    members: tuple[Id, ...]
    label: str = ""


class StateBody(Model):
    """The state as it is stored."""

    limits: WorkingLimits = WorkingLimits()
    focus: Line = ""
    slots: tuple[SlotBody, ...] = ()
    task: Task = Task()
    conversation: ConversationState = ConversationState()
    revision: int = 0
    """Counts the changes: each makes the record another one, also when only an item's text changed."""


class ItemBody(Model):
    """An item as it is stored; its text is the record's content."""

    key: Name
    origin: Id | None = None
    """The event it was fetched back from."""


class Item(Model):
    """Something in mind, and how much it counts now."""

    id: str
    key: str
    content: str
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
    """How well it fits the focus, or the question."""
    attention: Unit
    """Score and relevance together: their mean where there is a focus or a question, else the score."""
    chunk: str | None = None
    """The label of the chunk it is in, if it shares its slot."""


class Slot(Model):
    """One of the places there are: an item, or a chunk of items that belong together."""

    label: str
    items: tuple[Item, ...]
    tokens: int
    attention: Unit


class Evicted(Model):
    """An item that left, and the event of episodic memory that keeps it."""

    key: str
    event: str
    reason: Literal["evicted", "replaced", "released"]


class Placed(Model):
    """What putting an item did."""

    item: Item
    evicted: tuple[Evicted, ...] = ()
    """What left, the replaced value of the same key included; ``fetch`` brings an item back."""


class WorkingContext(Model):
    """All that is in mind."""

    focus: str
    task: Task
    conversation: ConversationState
    slots: tuple[Slot, ...]
    tokens: int
    limits: WorkingLimits
