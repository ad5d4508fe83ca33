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
MAX_EVIDENCE = 50
MAX_RIVALS = 8
MAX_READINGS = 50


class PersonaSettings(Model):
    """Settings of one agent for its profiles; see ``PersonaMemory.configure``."""

    knowledge: Annotated[int, Field(ge=1, le=100_000)] = 100
    """The most entries about the user, and as many of the agent; beyond it the least useful is archived."""
    contradiction: Unit = 0.5
    """The share of a contradicting observation's confidence that is taken from the current value."""
    overturn: Annotated[int, Field(ge=1, le=1_000)] = 2
    """The observations that another value needs before it can replace the current one."""


class TraitReading(Model):
    """The score and confidence of a trait at a moment."""

    at: Moment
    score: Unit | None
    confidence: Unit


class Rival(Model):
    """Another value that was observed for the same dimension."""

    value: Label
    score: Unit | None = None
    confidence: Unit
    observations: Annotated[int, Field(ge=1)] = 1
    evidence: tuple[Id, ...] = ()


class TraitBody(Model):
    """A trait as it is stored."""

    about: ProfileSubject
    dimension: Label
    value: Label
    score: Unit | None = None
    confidence: Unit
    observations: Annotated[int, Field(ge=1)] = 1
    evidence: tuple[Id, ...] = ()
    against: Annotated[int, Field(ge=0)] = 0
    """Observations of other values while this one was current."""
    rivals: tuple[Rival, ...] = ()
    readings: tuple[TraitReading, ...] = ()

    @classmethod
    def read(cls, record: Memory) -> TraitBody:
        return validated(cls, record.body)

    def text(self) -> str:
        """Return the text that is searched."""
        return f"{self.dimension}: {self.value}"


class Trait(Model):
    """A trait: a dimension and its value, with confidence and evidence."""

    id: str
    about: ProfileSubject
    dimension: str
    value: str
    score: Unit | None
    """How pronounced it is, if it was scored."""
    confidence: Unit
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
