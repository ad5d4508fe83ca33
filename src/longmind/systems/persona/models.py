"""What the persona stores and returns.

A trait is a memory of the kind ``trait``: one record for each value a dimension ever had, the one that holds now with
the key of the dimension. Values that lost are ``superseded`` and linked from what replaced them. A piece of knowledge
is a memory of the kind ``knowledge``, with its text as its key.
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
    """What one agent does its own way with profiles; see ``PersonaMemory.configure``."""

    knowledge: Annotated[int, Field(ge=1, le=100_000)] = 100
    """Entries kept for the user, and as many for the agent; the least useful leaves first, to the archive."""
    contradiction: Unit = 0.5
    """How much of a contradicting observation's confidence is taken from the value that holds."""
    overturn: Annotated[int, Field(ge=1, le=1_000)] = 2
    """Observations another value needs before it can take the place of the one that holds."""


class TraitReading(Model):
    """How a trait stood at a moment."""

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
    """Observations that said otherwise while this value held."""
    rivals: tuple[Rival, ...] = ()
    readings: tuple[TraitReading, ...] = ()

    @classmethod
    def read(cls, record: Memory) -> TraitBody:
        return validated(cls, record.body)

    def text(self) -> str:
        """What search looks at."""
        return f"{self.dimension}: {self.value}"


class Trait(Model):
    """One side of a character: a dimension and its value, how sure, and from what."""

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
    """How it came to this, the oldest first."""
    since: Moment
    until: Moment | None
    """When another value took its place; None for the value that holds."""


class KnowledgeBody(Model):
    """A piece of knowledge as it is stored."""

    about: ProfileSubject
    confidence: Unit
    observations: Annotated[int, Field(ge=1)] = 1
    evidence: tuple[Id, ...] = ()

    @classmethod
    def read(cls, record: Memory) -> KnowledgeBody:
        return validated(cls, record.body)


class Knowledge(Model):
    """Something known of the user, or something the agent knows."""

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
    """What learning a piece of knowledge did."""

    knowledge: Knowledge
    created: bool
    archived: tuple[str, ...] = ()
    """Entries that had to make room."""


class Profile(Model):
    """All that is known of the user, or that the agent is."""

    about: ProfileSubject
    traits: tuple[Trait, ...]
    knowledge: tuple[Knowledge, ...]
