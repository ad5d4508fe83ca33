"""The stored and returned types of the persona.

A trait is a memory of the kind ``trait``: one record for each value that a dimension has had. The current one holds the
key of the dimension. Replaced values are ``superseded`` and linked from their successors. A knowledge entry is a memory
of the kind ``knowledge``, with a key made from its text.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from longmind.systems.scoped_store import validated
from longmind.types import Id, Memory, Model, Moment, Unit

TRAIT, KNOWLEDGE = "trait", "knowledge"
LEDGER = "persona:ledger"
"""The key of the record whose version every change of the knowledge entries expects."""
ProfileSubject = Literal["user", "agent"]
PROFILE_SUBJECTS: tuple[ProfileSubject, ...] = ("user", "agent")
Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Statement = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
Support = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
"""The pieces of evidence for a value, each weighted by its confidence and its age."""
MAX_EVIDENCE = 50
MAX_RIVALS = 8
MAX_READINGS = 50


class PersonaSettings(Model):
    """Settings of one agent for its profiles; see ``PersonaMemory.configure``."""

    knowledge: Annotated[int, Field(ge=1, le=100_000)] = 100
    """The most entries about the user, and as many of the agent; beyond it the least useful is archived."""
    traits: Annotated[int, Field(ge=1, le=100_000)] = 100
    """The most traits of the user, and as many of the agent; beyond it the least sure is archived."""
    prior: Annotated[float, Field(gt=0.0, le=1_000.0)] = 1.0
    """How many pieces of evidence the doubt about a trait weighs: confidence = support / (all support + prior)."""
    half_life_days: Annotated[float, Field(gt=0.0, le=36_500.0)] = 180.0
    """The days in which the weight of evidence for a trait halves."""
    established: Unit = 0.5
    """The confidence from which a trait is shown in prompts: one remark is not a trait."""
    overturn: Annotated[int, Field(ge=1, le=1_000)] = 2
    """The observations that another value needs before it can replace the current one."""


class TraitReading(Model):
    """The score and confidence of a trait at a moment."""

    at: Moment
    score: Unit | None
    confidence: Unit


class Observation(Model):
    """What was observed of a trait at once."""

    value: Label
    score: Unit | None = None
    confidence: Unit
    observations: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """How many independent pieces of evidence it sums up."""
    evidence: tuple[Id, ...] = ()

    @property
    def weight(self) -> float:
        """What it adds to the support of its value."""
        return self.confidence * self.observations


class Rival(Model):
    """Another value that was observed for the same dimension."""

    value: Label
    score: Unit | None = None
    support: Support = 0.0
    confidence: Unit
    observations: Annotated[int, Field(ge=1)] = 1
    evidence: tuple[Id, ...] = ()


class TraitBody(Model):
    """A trait as it is stored."""

    about: ProfileSubject
    dimension: Label
    value: Label
    score: Unit | None = None
    support: Support = 0.0
    confidence: Unit
    observations: Annotated[int, Field(ge=1)] = 1
    evidence: tuple[Id, ...] = ()
    weighed_at: Moment | None = None
    """When its support, and that of its rivals, was last brought up to date."""
    against: Annotated[int, Field(ge=0)] = 0
    """Observations of other values while this one was current."""
    rivals: tuple[Rival, ...] = ()
    readings: tuple[TraitReading, ...] = ()

    @classmethod
    def read(cls, record: Memory) -> TraitBody:
        return validated(cls, record.body)

    def text(self) -> str:
        """Return the text that is searched. Of the agent's own it says so, lest it be taken for the user's."""
        return f"{'The agent itself, ' if self.about == 'agent' else ''}{self.dimension}: {self.value}"


class Trait(Model):
    """A trait: a dimension and its value, with confidence and evidence."""

    id: str
    about: ProfileSubject
    dimension: str
    value: str
    score: Unit | None
    """How pronounced it is, if it was scored."""
    support: float
    """The pieces of evidence for it, weighted by their confidence and age."""
    confidence: Unit
    established: bool
    """Whether there is enough evidence to show it in prompts: one remark is not a trait."""
    observations: int
    against: int
    evidence: tuple[str, ...]
    rivals: tuple[Rival, ...]
    readings: tuple[TraitReading, ...]
    """Its scores and confidences over time, the oldest first."""
    since: Moment
    until: Moment | None
    """When another value replaced it; None for the current value."""


class KnowledgeBody(Model):
    """A knowledge entry as it is stored."""

    about: ProfileSubject
    confidence: Unit
    observations: Annotated[int, Field(ge=1)] = 1
    evidence: tuple[Id, ...] = ()

    @classmethod
    def read(cls, record: Memory) -> KnowledgeBody:
        return validated(cls, record.body)


class Knowledge(Model):
    """A knowledge entry: something known about the user, or something the agent knows."""

    id: str
    about: ProfileSubject
    text: str
    confidence: Unit
    importance: Unit
    observations: int
    evidence: tuple[str, ...]
    used: int
    usefulness: Unit
    since: Moment
    archived: bool


class Learnt(Model):
    """The result of learning a knowledge entry."""

    knowledge: Knowledge
    created: bool
    archived: tuple[str, ...] = ()
    """The ids of entries that were archived to keep the limit."""


class Profile(Model):
    """The whole profile of the user or of the agent."""

    about: ProfileSubject
    traits: tuple[Trait, ...]
    knowledge: tuple[Knowledge, ...]
