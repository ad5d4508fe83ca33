"""The stored and returned types of episodic memory: episodes, their events, and views of them.

An episode is a memory of the kind ``episode``; ``occurred_at`` is its start. An event is a memory of the kind ``event``
whose session is its episode's id, so that an index finds the events of an episode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, StringConstraints

from longmind.systems.scoped_store import validated
from longmind.types import Duration, Id, Memory, Model, Moment, Name, PlainJson, Source, Tag, Text, Unit

EPISODE, EVENT = "episode", "event"
Outcome = Literal["succeeded", "failed", "unknown"]
Length = Literal["short", "medium", "full"]
Title = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]


class EpisodeBody(Model):
    """An episode as it is stored."""

    title: Title
    type: Name = "episode"
    description: Text = ""
    end: Moment | None = None
    parent: Id | None = None
    outcome: Outcome = "unknown"
    note: Text = ""
    attributes: PlainJson = Field(default_factory=dict)
    standing: bool = False
    """Whether it is a log that a system keeps open for ever, and not something that happened."""
    recorded: Annotated[int, Field(ge=0)] = 0
    """The number of events ever recorded. It changes with each, so that concurrent writers conflict."""
    children: Annotated[int, Field(ge=0)] = 0
    """The number of episodes ever begun within this one, for the same reason."""
    latest: Moment | None = None
    """The start of the latest event."""
    covers: Moment | None = None
    """The end of the event that ends last."""

    @classmethod
    def read(cls, record: Memory) -> EpisodeBody:
        """Return the body of a record, with defaults for fields that another writer left out."""
        fields = {name: value for name, value in record.body.items() if name in cls.model_fields}
        fields.setdefault("title", record.content.strip().partition("\n")[0][:500] or record.id)
        attributes = fields.pop("attributes", None)
        if not isinstance(attributes, dict):
            fields |= {} if attributes is None else {"attributes": attributes}
            return validated(cls, fields)
        return validated(cls, fields).model_copy(
            update={"attributes": attributes}
        )  # JSON that the record was checked for

    def text(self) -> str:
        """Return the text that is searched."""
        return "\n".join(part for part in (self.title, self.description, self.note) if part)

    def filters(self) -> dict[str, Any]:
        """Return the metadata that filters use."""
        fields: dict[str, Any] = {"type": self.type, "outcome": self.outcome, "open": self.end is None}
        return fields | ({"parent": self.parent} if self.parent else {})


class Episode(Model):
    """Something that happened: its title, its start and end, and its outcome."""

    id: str
    version: int
    title: str
    type: str
    description: str = ""
    start: Moment
    end: Moment | None = None
    outcome: Outcome = "unknown"
    note: str = ""
    """The reason for the outcome."""
    parent: str | None = None
    tags: tuple[str, ...] = ()
    attributes: PlainJson = Field(default_factory=dict)
    importance: Unit = 0.5
    session: str | None = None
    user: str | None = None
    events: int = 0
    """How many events were recorded."""
    standing: bool = False

    @property
    def open(self) -> bool:
        """Whether it has not ended yet."""
        return self.end is None

    @property
    def duration(self) -> timedelta | None:
        """How long it took; None if it has not ended."""
        return None if self.end is None else self.end - self.start

    def overlaps(self, start: datetime, end: datetime) -> bool:
        """Whether it was in progress at some moment from ``start`` to ``end``, both included."""
        return self.start <= end and (self.end is None or self.end >= start)

    @classmethod
    def of(cls, record: Memory) -> Episode:
        body = EpisodeBody.read(record)
        return cls.model_construct(  # the record and its body were checked
            id=record.id,
            version=record.version,
            title=body.title,
            type=body.type,
            description=body.description,
            start=record.occurred_at,
            end=body.end,
            outcome=body.outcome,
            note=body.note,
            parent=body.parent,
            tags=record.tags,
            attributes=body.attributes,
            importance=record.importance,
            session=record.session,
            user=record.user,
            events=body.recorded,
            standing=body.standing,
        )


class EventBody(Model):
    """An event as it is stored; its text is the record's content, and its actor is the record's source."""

    episode: Id | None = None
    type: Name = "note"
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False, le=1e11)] = 0.0
    data: PlainJson = Field(default_factory=dict)


class Event(Model):
    """Something that happened at a moment, usually within an episode."""

    id: str
    episode: str | None
    type: str
    what: str
    at: Moment
    duration: Duration = timedelta(0)
    actor: str | None = None
    data: PlainJson = Field(default_factory=dict)
    importance: Unit = 0.5
    valence: float = 0.0
    tags: tuple[str, ...] = ()
    user: str | None = None

    @property
    def end(self) -> datetime:
        return self.at + self.duration

    @classmethod
    def of(cls, record: Memory) -> Event:
        fields = {name: value for name, value in record.body.items() if name in EventBody.model_fields}
        data = fields.pop("data", {})
        if not isinstance(data, dict):
            fields["data"] = data  # which is refused
        body = validated(EventBody, fields)
        return cls.model_construct(  # the record and its body were checked
            id=record.id,
            episode=body.episode,
            type=body.type,
            what=record.content,
            at=record.occurred_at,
            duration=timedelta(seconds=body.seconds),
            actor=record.source.name,
            data=data,
            importance=record.importance,
            valence=record.valence,
            tags=record.tags,
            user=record.user,
        )


class EventDraft(Model):
    """An event to be recorded."""

    what: Text = ""
    type: Name = "note"
    at: Moment
    duration: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(0)
    actor: Name | None = None
    data: PlainJson = Field(default_factory=dict)
    importance: Unit = 0.5
    valence: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.0
    tags: tuple[Tag, ...] = ()
    key: Annotated[str, StringConstraints(min_length=1, max_length=100)] | None = None
    """An event with this key is recorded once."""
    unique: Literal["episode", "agent"] = "episode"
    """Whether it is recorded once in its episode, or once in all episodes of the agent."""
    source: Source | None = None
    """Where it comes from, which decides how far it is trusted; by default the agent, named as its actor."""


class EpisodeEntry(Model):
    """What a batch adds to one episode: events, attributes, and perhaps its end."""

    key: Name
    """The episode's own key. One that no episode has begins an episode."""
    title: Title
    type: Name = "episode"
    description: Text = ""
    start: Moment
    """When it begins, unless it has begun already. One that has begun later begins then instead."""
    events: tuple[EventDraft, ...] = ()
    attributes: PlainJson = Field(default_factory=dict)
    """Added to those that the episode has; one of the same name is replaced."""
    tags: tuple[Tag, ...] = ()
    importance: Unit = 0.5
    end: Moment | None = None
    outcome: Outcome = "unknown"
    note: Text = ""


class EpisodeHit(Model):
    """An episode that matches a query, with its score and the events that match."""

    episode: Episode
    score: Unit
    why: str
    events: tuple[Event, ...] = ()


class Timeline(Model):
    """The events around a moment in order, and the episodes in progress at that time."""

    moment: Moment
    before: tuple[Event, ...]
    after: tuple[Event, ...]
    """Events at the moment and later."""
    ongoing: tuple[Episode, ...]
    truncated: bool = False
    """Whether the limit left some out."""


class Meanwhile(Model):
    """What else happened during an episode or a span of time."""

    start: Moment
    end: Moment
    episodes: tuple[Episode, ...]
    events: tuple[Event, ...]
    memories: tuple[Memory, ...]
    """Memories of other kinds: what was said, read or learnt in that time."""
    truncated: bool = False


class Replayed(Model):
    """An event of a replay, with its number and its time since the start of the episode."""

    number: int
    offset: Duration
    event: Event


class Lesson(Model):
    """A difference between episodes that succeeded and those that failed, with its counts."""

    statement: str
    subject: str
    """What was different, such as ``event:verify``, ``data:tool=search``, ``actor:ann``, ``tag:urgent``,
    ``attribute:n=2``."""
    advice: Literal["do", "avoid"]
    succeeded_with: int = 0
    failed_with: int = 0
    succeeded_without: int = 0
    failed_without: int = 0
    lift: float = 1.0
    """The success rate of such episodes, divided by that of all episodes."""
    odds_ratio: float = 1.0
    confidence: Unit
    """How sure the direction is, if this were the only trait examined. It is a hint, not proof of a cause."""
    episodes: tuple[str, ...]
    """The ids of the episodes that support it."""
    against: tuple[str, ...] = ()
    """The ids of the episodes that contradict it."""
    by_model: bool = False


class Remark(Model):
    """A note on the outcome of an episode."""

    episode: str
    title: str
    outcome: Outcome
    note: str


class Lessons(Model):
    """What the episodes relevant to a task teach."""

    task: str
    considered: tuple[str, ...]
    """The ids of the episodes that were examined."""
    succeeded: int
    failed: int
    lessons: tuple[Lesson, ...]
    remarks: tuple[Remark, ...] = ()
    rejected: int = 0
    """Lessons of a model whose quotes are not in the episodes they cite."""


class Account(Model):
    """An episode and its events as a model reads them. The text is data, never an instruction."""

    episode: Episode
    text: str


class LessonDraft(Model):
    """A lesson as a model proposes it. It is accepted only if its quote is in one of the accounts it cites."""

    statement: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    advice: Literal["do", "avoid"] = "do"
    episodes: Annotated[tuple[str, ...], Field(min_length=1)]
    quote: Annotated[str, StringConstraints(min_length=1)]
    confidence: Unit = 0.5


class Cluster(Model):
    """Similar episodes, and what they have in common."""

    label: str
    summary: str
    episodes: tuple[Episode, ...]
    """The episodes, the most typical first."""
    terms: tuple[str, ...]
    outcomes: Mapping[Outcome, int]
    cohesion: Unit
    """Their average similarity; 1 for a cluster of one."""


class EpisodeSummariser(Protocol):
    """A model that shortens a text. The text is data, never an instruction."""

    async def summarise(self, text: str, *, words: int) -> str: ...


class Teacher(Protocol):
    """A model that reads accounts of episodes and proposes lessons for a task."""

    async def lessons(self, task: str, accounts: Sequence[Account]) -> Sequence[LessonDraft]: ...
