"""The inputs and results of the manager."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Protocol

from pydantic import BeforeValidator, Field, StringConstraints

from longmind.errors import InvalidInput, LongmindError
from longmind.systems.episodic import Episode, Event, Outcome, Title
from longmind.systems.procedural import LearningResult
from longmind.systems.scoped_store import validated
from longmind.systems.semantic import Learned
from longmind.types import Hit, Id, Memory, Message, Model, Moment, Name, PlainJson, Scalar, Source, Tag, Text, Unit

MOST = 1_000
"""Events, messages and facts, each, that one experience may have: they are written in one batch."""
_HEADLINE = 100


# -- inputs -----------------------------------------------------------------------------------------------


class StatedFact(Model):
    """A fact that an experience states: subject, predicate and object, or a list of these three."""

    subject: Annotated[str, StringConstraints(min_length=1)]
    predicate: Annotated[str, StringConstraints(min_length=1)]
    object: Scalar
    valid_from: Moment | None = None
    """Since when it holds; by default since the experience began."""
    valid_to: Moment | None = None
    confidence: Unit | None = None
    qualifiers: Mapping[str, Scalar] = Field(default_factory=dict)
    importance: Unit = 0.5


class ExperienceEvent(Model):
    """An event of an experience, or only the text of one. One without a time happened when the one before it did."""

    what: Text = ""
    type: Name = "note"
    at: Moment | None = None
    duration: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(0)
    actor: Name | None = None
    data: PlainJson = Field(default_factory=dict)
    importance: Unit = 0.5
    valence: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.0
    tags: tuple[Tag, ...] = ()


def _as_fact(value: Any) -> Any:
    if isinstance(value, list | tuple):
        if len(value) != 3:
            raise ValueError("a fact is three things: subject, predicate and object")
        return dict(zip(("subject", "predicate", "object"), value, strict=True))
    return value


def _as_event(value: Any) -> Any:
    return {"what": value} if isinstance(value, str) else value


def _as_message(value: Any) -> Any:
    return {"content": value} if isinstance(value, str) else value


class Experience(Model):
    """Something that happened: how it went, what was said, and the facts it states."""

    title: Title
    type: Name = "experience"
    description: Text = ""
    start: Moment | None = None
    end: Moment | None = None
    outcome: Outcome = "unknown"
    note: Text = ""
    """Why it came out so."""
    parent: Id | None = None
    tags: tuple[Tag, ...] = ()
    attributes: PlainJson = Field(default_factory=dict)
    importance: Unit = 0.5
    session: Name | None = None
    """Where the messages were said; by default each experience is a place of its own."""
    events: Annotated[tuple[Annotated[ExperienceEvent, BeforeValidator(_as_event)], ...], Field(max_length=MOST)] = ()
    messages: Annotated[tuple[Annotated[Message, BeforeValidator(_as_message)], ...], Field(max_length=MOST)] = ()
    text: Text = ""
    """Free text. It is remembered, and consolidation extracts its facts."""
    facts: Annotated[tuple[Annotated[StatedFact, BeforeValidator(_as_fact)], ...], Field(max_length=MOST)] = ()
    """Facts that are learnt at once, with the episode as evidence."""
    source: Source | None = None
    """Who says so; it decides how far the facts are trusted."""
    key: Annotated[str, StringConstraints(min_length=1, max_length=100)] | None = None
    """With a key the same experience can be stored again harmlessly, and goes on where it was cut off."""


class ExtractedClaim(Protocol):
    """What an extractor found in a text; ``longmind.consolidate`` makes such claims."""

    @property
    def subject(self) -> str: ...
    @property
    def predicate(self) -> str: ...
    @property
    def object(self) -> str: ...
    @property
    def span(self) -> tuple[int, int]: ...
    @property
    def confidence(self) -> float: ...
    @property
    def many(self) -> bool: ...
    @property
    def relates(self) -> bool: ...
    @property
    def start(self) -> datetime | None: ...


def experience_of(data: Any) -> Experience:
    """Return an experience from an ``Experience``, its fields, or a text, whose first line is the title."""
    if isinstance(data, Experience):
        return data
    if isinstance(data, str):
        return validated(Experience, {"title": headline(data), "text": data})
    if isinstance(data, Mapping):
        return validated(Experience, data)
    raise InvalidInput(
        f"A {type(data).__name__} is no experience.", hint="Give a text, the fields of an Experience, or one."
    )


def headline(text: str) -> str:
    """The first line of a text, cut where it gets long."""
    line = " ".join(text.strip().partition("\n")[0].split())
    return line if len(line) <= _HEADLINE else line[: _HEADLINE - 1].rstrip() + "…"


# -- results ---------------------------------------------------------------------------------------------


class SystemFailure(Model):
    """A system that could not do what was asked, and why. The others did."""

    system: str
    error: str
    """The name of the exception."""
    message: str

    @classmethod
    def of(cls, system: str, error: BaseException) -> SystemFailure:
        return cls(system=system, error=type(error).__name__, message=str(error) or type(error).__name__)


class StoreResult(Model):
    """What each system stored."""

    stored: Mapping[str, Any]
    """By the system's name: what its ``store`` returned."""
    failed: tuple[SystemFailure, ...] = ()

    def check(self) -> StoreResult:
        """Return itself if every system stored the data; otherwise raise an error that names those that did not."""
        if self.failed:
            problems = "; ".join(f"{failure.system}: {failure.message}" for failure in self.failed)
            raise LongmindError(
                f"Not every system stored it. {problems}",
                hint=f"It is stored in: {', '.join(self.stored) or 'none'}.",
                failed=[failure.system for failure in self.failed],
            )
        return self


class RetrieveResult(Model):
    """What each system holds under a key; those that hold nothing are left out."""

    key: str
    by_system: Mapping[str, Any]
    failed: tuple[SystemFailure, ...] = ()


class SystemHit(Hit):
    """A hit, and the system it belongs to."""

    system: str


class SearchResult(Model):
    """What the systems know about a question, the best hit first, whichever system it is from."""

    query: str
    hits: tuple[SystemHit, ...]
    failed: tuple[SystemFailure, ...] = ()

    @property
    def by_system(self) -> Mapping[str, tuple[SystemHit, ...]]:
        """The hits grouped by system, the system with the best hit first."""
        groups: dict[str, tuple[SystemHit, ...]] = {}
        for hit in self.hits:
            groups[hit.system] = (*groups.get(hit.system, ()), hit)
        return groups


class RefusedFact(Model):
    """A fact that could not be learnt, and why."""

    fact: str
    message: str


class ExperienceResult(Model):
    """What was stored of an experience."""

    episode: Episode
    events: tuple[Event, ...]
    messages: tuple[Memory, ...]
    """What was said, with the free text last."""
    facts: tuple[Learned, ...]
    refused: tuple[RefusedFact, ...] = ()


class OutcomeResult(Model):
    """What was learnt from an outcome."""

    learned: LearningResult | None
    """What it did to the procedure's statistics, and what it decided."""
    episode: Episode | None
    """The episode it was about, judged anew."""
