"""What episodic memory stores and returns: episodes, their events, and views over them.

An episode is a memory of the kind ``episode``: it occurred when it began, and its body tells the rest. An event is a
memory of the kind ``event`` whose session is its episode, so that the events of one are read by an index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, StringConstraints

from longmind.systems.scoped_store import validated
from longmind.types import Id, Memory, Model, Moment, Name, PlainJson, Tag, Text, Unit

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
    """Whether it is a log that a system keeps and that never ends, and not something that happened."""
    recorded: Annotated[int, Field(ge=0)] = 0
    """Counts the events ever recorded. It changes with each, so two writers cannot miss each other."""
    children: Annotated[int, Field(ge=0)] = 0
    """Counts the episodes ever begun within this one, for the same reason."""
    latest: Moment | None = None
    """When the latest of its events began."""
    covers: Moment | None = None
    """Until when its events last."""

    @classmethod
    def read(cls, record: Memory) -> EpisodeBody:
        """The body of a record; one that another writer made may lack what only this system needs."""
        fields = {name: value for name, value in record.body.items() if name in cls.model_fields}
        fields.setdefault("title", record.content.strip().partition("\n")[0][:500] or record.id)
        return validated(cls, fields)

    def text(self) -> str:
        """What is searched."""
        return "\n".join(part for part in (self.title, self.description, self.note) if part)

    def filters(self) -> dict[str, Any]:
        """What episodes are filtered by, as the record's metadata."""
        fields: dict[str, Any] = {"type": self.type, "outcome": self.outcome, "open": self.end is None}
        return fields | ({"parent": self.parent} if self.parent else {})


class Episode(Model):
    """Something that happened: its title, when it began and ended, how it came out."""

    id: str
    version: int
    title: str
    type: str
    description: str = ""
    start: Moment
    end: Moment | None = None
    outcome: Outcome = "unknown"
    note: str = ""
    """Why it came out so."""
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
        """Whether it is still going on."""
        return self.end is None

    @property
    def duration(self) -> timedelta | None:
        """How long it took; None while it goes on."""
        return None if self.end is None else self.end - self.start

    def overlaps(self, start: datetime, end: datetime) -> bool:
        """Whether it was going on at some moment from ``start`` to ``end``, both included."""
        return self.start <= end and (self.end is None or self.end >= start)

    @classmethod
    def of(cls, record: Memory) -> Episode:
        body = EpisodeBody.read(record)
        return cls(
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
    """An event as it is stored; its text is the record's content and its actor the record's source."""

    episode: Id | None = None
    type: Name = "note"
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False, le=1e11)] = 0.0
    data: PlainJson = Field(default_factory=dict)


class Event(Model):
    """One thing that happened, perhaps within an episode."""

    id: str
    episode: str | None
    type: str
    what: str
    at: Moment
    duration: timedelta = timedelta(0)
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
        body = validated(EventBody, fields)
        return cls(
            id=record.id,
            episode=body.episode,
            type=body.type,
            what=record.content,
            at=record.occurred_at,
            duration=timedelta(seconds=body.seconds),
            actor=record.source.name,
            data=body.data,
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


class EpisodeHit(Model):
    """An episode that fits a question, how well, and which of its events do."""

    episode: Episode
    score: Unit
    why: str
    events: tuple[Event, ...] = ()


class Timeline(Model):
    """What happened around a moment, in order, and which episodes were going on then."""

    moment: Moment
    before: tuple[Event, ...]
    after: tuple[Event, ...]
    """At the moment and later."""
    ongoing: tuple[Episode, ...]
    truncated: bool = False
    """Whether more lies within the time asked for than was told."""


class Meanwhile(Model):
    """What else happened in the time of an episode, or in a span of time."""

    start: Moment
    end: Moment
    episodes: tuple[Episode, ...]
    events: tuple[Event, ...]
    memories: tuple[Memory, ...]
    """Other kinds: what was said, read or learnt then."""
    truncated: bool = False


class Replayed(Model):
    """One event of a replay: which number it is, and how long after the beginning it happened."""

    number: int
    offset: timedelta
    event: Event


class Lesson(Model):
    """A difference between what succeeded and what failed, with the counts it rests on."""

    statement: str
    subject: str
    """What was different: ``event:verify``, ``data:tool=search``, ``actor:ann``, ``tag:urgent``, ``attribute:n=2``."""
    advice: Literal["do", "avoid"]
    succeeded_with: int = 0
    failed_with: int = 0
    succeeded_without: int = 0
    failed_without: int = 0
    lift: float = 1.0
    """How many times as often such episodes succeeded as all of them did."""
    odds_ratio: float = 1.0
    confidence: Unit
    """How sure the direction is, as if this were the only thing looked at; it is a hint and no proof of a cause."""
    episodes: tuple[str, ...]
    """The ids of the episodes that speak for it."""
    against: tuple[str, ...] = ()
    """The ids of those that speak against it."""
    by_model: bool = False


class Remark(Model):
    """What was noted at the end of an episode."""

    episode: str
    title: str
    outcome: Outcome
    note: str


class Lessons(Model):
    """What the episodes relevant to a task teach."""

    task: str
    considered: tuple[str, ...]
    """The ids of the episodes looked at."""
    succeeded: int
    failed: int
    lessons: tuple[Lesson, ...]
    remarks: tuple[Remark, ...] = ()
    rejected: int = 0
    """Lessons of a model that quoted nothing found in the episodes they cite."""


class Account(Model):
    """An episode and its events, as a model gets them: the text is data, never an instruction."""

    episode: Episode
    text: str


class LessonDraft(Model):
    """A lesson as a model proposes it. It counts only if the quote stands in one of the accounts it cites."""

    statement: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    advice: Literal["do", "avoid"] = "do"
    episodes: Annotated[tuple[str, ...], Field(min_length=1)]
    quote: Annotated[str, StringConstraints(min_length=1)]
    confidence: Unit = 0.5


class Cluster(Model):
    """Episodes that are alike, and what they have in common."""

    label: str
    summary: str
    episodes: tuple[Episode, ...]
    """The most typical first."""
    terms: tuple[str, ...]
    outcomes: Mapping[Outcome, int]
    cohesion: Unit
    """How alike they are on average; 1 for a cluster of one."""


class EpisodeSummariser(Protocol):
    """A model that shortens a text. What it is given is data to be told again, never an instruction."""

    async def summarise(self, text: str, *, words: int) -> str: ...


class Teacher(Protocol):
    """A model that reads accounts of episodes and proposes lessons for a task."""

    async def lessons(self, task: str, accounts: Sequence[Account]) -> Sequence[LessonDraft]: ...
