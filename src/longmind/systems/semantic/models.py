"""The stored and returned types of semantic memory.

Types named ``...Body`` are stored in ``Memory.body``; the others are returned to callers. A fact's validity, source,
trust and state are fields of its record, so recall, filters and history need no knowledge of facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, model_validator

from longmind.systems.semantic.intervals import EVER, NEVER
from longmind.systems.semantic.names import value_identity
from longmind.text.quoting import label
from longmind.types import Hit, Id, Memory, Model, Moment, Name, PlainJson, Scalar, Source, State, Text, Unit

CERTAIN = 0.99
"""The highest confidence that repeated evidence can reach; only a caller can state 1.0."""


class Predicate(Model):
    """The meaning of a predicate: how many values it has at once, what its object is, and its inverse."""

    name: str
    many: bool = False
    """Whether several values may hold at once. If not, a new value ends the previous one."""
    relates: bool = False
    """Whether the object is a concept; if not, it is a plain value."""
    inverse: str | None = None
    """The predicate in the opposite direction: ``lives in`` and ``home of``."""
    symmetric: bool = False
    transitive: bool = False
    description: str = ""

    @model_validator(mode="after")
    def _fits_together(self) -> Predicate:
        if (self.inverse or self.symmetric or self.transitive) and not self.relates:
            raise ValueError("only a predicate that relates concepts can be inverse, symmetric or transitive")
        if self.symmetric and not self.many:
            raise ValueError("a symmetric predicate must be declared many: it holds for both ends")
        if self.symmetric and self.inverse:
            raise ValueError("a symmetric predicate is its own inverse")
        if self.inverse == self.name:
            raise ValueError("a predicate that is its own inverse is symmetric")
        return self


class Evidence(Model):
    """Where a statement comes from: a memory, and optionally a range of characters of its text."""

    memory: Id
    span: tuple[int, int] | None = None

    @model_validator(mode="after")
    def _span_is_forward(self) -> Evidence:
        if self.span is not None and not 0 <= self.span[0] < self.span[1]:
            raise ValueError("span must be (start, end) with 0 <= start < end")
        return self


class ConceptBody(Model):
    """A concept as it is stored."""

    name: Name
    category: Name | None = None
    aliases: tuple[Name, ...] = ()
    definition: Text = ""
    attributes: PlainJson = Field(default_factory=dict)


class Concept(ConceptBody):
    """A concept: something the agent has a name for."""

    id: str
    version: int
    user: str | None = None
    recorded_at: Moment

    @classmethod
    def of(cls, record: Memory) -> Concept:
        return cls.model_validate(
            {
                **record.body,
                "id": record.id,
                "version": record.version,
                "user": record.user,
                "recorded_at": record.recorded_at,
            }
        )


class FactBody(Model):
    """A fact as it is stored. It has names beside ids so that it can be read on its own."""

    subject: Id
    subject_name: str
    predicate: str
    object: Scalar
    """The value, or the name of the concept."""
    object_id: Id | None = None
    qualifiers: PlainJson = Field(default_factory=dict)
    confidence: Unit = 0.8
    evidence: tuple[Evidence, ...] = ()
    rule: str | None = None
    """The rule that derived it."""
    retracted_at: Moment | None = None
    retracted_because: str = ""
    revision: int = 0
    """Counts changes to the timeline and to facts derived from this one, so that of two writers that read the same
    state only one succeeds."""

    @property
    def identity(self) -> str:
        return value_identity(self.object, self.object_id)


class Fact(Model):
    """A statement: subject, predicate and object, when it held, its confidence, and its source."""

    id: str
    version: int
    subject: str
    subject_id: str
    predicate: str
    object: Scalar
    object_id: str | None = None
    qualifiers: PlainJson = Field(default_factory=dict)
    confidence: Unit
    evidence: tuple[Evidence, ...] = ()
    rule: str | None = None
    source: Source
    trust: Unit
    state: State
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    recorded_at: Moment
    retracted: bool = False
    retracted_because: str = ""
    user: str | None = None
    turned_from: str | None = None
    """The stored predicate, if the fact is read from its object's side."""

    @property
    def open(self) -> bool:
        """Whether it holds and has no known end."""
        return self.valid_to is None and not self.retracted

    def holds_at(self, moment: datetime) -> bool:
        """Whether it held in the world at a moment."""
        return not self.retracted and (self.valid_from or EVER) <= moment < (self.valid_to or NEVER)

    def turned(self, relation: str) -> Fact:
        """Return the same fact read from its object's side, with the predicate's inverse."""
        ends = {"subject": self.object, "subject_id": self.object_id, "object": self.subject}
        return self.model_copy(
            update={**ends, "object_id": self.subject_id, "predicate": relation, "turned_from": self.predicate}
        )

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {self.object}"

    @classmethod
    def of(cls, record: Memory) -> Fact:
        body = FactBody.model_validate(record.body)
        return cls(
            id=record.id,
            version=record.version,
            subject=body.subject_name,
            subject_id=body.subject,
            predicate=body.predicate,
            object=body.object,
            object_id=body.object_id,
            qualifiers=body.qualifiers,
            confidence=body.confidence,
            evidence=body.evidence,
            rule=body.rule,
            source=record.source,
            trust=record.trust,
            state=record.state,
            valid_from=record.valid_from,
            valid_to=record.valid_to,
            recorded_at=record.recorded_at,
            retracted=body.retracted_at is not None,
            retracted_because=body.retracted_because,
            user=record.user,
        )


class Learned(Model):
    """The result of learning a statement."""

    fact: Fact
    outcome: Literal["new", "confirmed", "extended", "changed"]
    """Whether it was new, already known, known for another time, or replaced another value."""
    superseded: tuple[Fact, ...] = ()
    """The facts that contradicted it, as they are now: ended but kept."""
    stale: tuple[str, ...] = ()
    """The ids of the memories derived from them, directly or indirectly, that were marked stale."""
    operation: str | None = None
    """The operation id for ``undo``; None if nothing was written."""


class ConceptSummary(Model):
    """What is known about a concept at a moment."""

    concept: Concept
    facts: tuple[Fact, ...]
    """Facts with the concept as their subject."""
    mentions: tuple[Fact, ...]
    """Facts with the concept as their object."""
    truncated: bool = False


class PathStep(Model):
    """One step of a path: a fact, read forwards or from its object's side."""

    source: str
    relation: str
    target: str
    fact: Fact
    forward: bool = True


class Path(Model):
    """The shortest path between two concepts: the concepts in order, and the facts between them."""

    concepts: tuple[str, ...]
    steps: tuple[PathStep, ...]

    def __str__(self) -> str:
        text = label(self.concepts[0])
        for step in self.steps:
            predicate = label(step.fact.predicate)
            arrow = f"-[{predicate}]->" if step.forward else f"<-[{predicate}]-"
            text += f" {arrow} {label(step.target)}"
        return text


class Node(Model):
    """A concept of a graph, and its distance in steps from the concept that was asked for."""

    concept: Concept
    depth: int = 0


class Graph(Model):
    """Concepts and the facts among them. ``truncated`` says that the limit left some out."""

    nodes: tuple[Node, ...]
    edges: tuple[Fact, ...]
    """Facts between two concepts of the graph."""
    values: tuple[Fact, ...] = ()
    """Facts whose object is a plain value."""
    truncated: bool = False


class Pattern(Model):
    """A triple in which a word that begins with ``?`` is a variable, which stands for the same thing everywhere."""

    subject: Annotated[str, Field(min_length=1)]
    predicate: str
    object: Scalar


class RuleBody(Model):
    """A rule as it is stored: a sentence, and optionally premises and a conclusion."""

    name: Name
    statement: Text
    when: tuple[Pattern, ...] = ()
    then: Pattern | None = None
    confidence: Unit = 0.9


class Rule(RuleBody):
    """A general statement, which may derive facts."""

    id: str
    version: int

    @classmethod
    def of(cls, record: Memory) -> Rule:
        return cls.model_validate({**record.body, "id": record.id, "version": record.version})


class SemanticHit(Model):
    """A search result: a concept, a fact or a rule, with its score and the reason."""

    score: Unit
    why: str
    concept: Concept | None = None
    fact: Fact | None = None
    rule: Rule | None = None

    @classmethod
    def of(cls, hit: Hit) -> SemanticHit:
        record = hit.memory
        return cls(
            score=hit.score,
            why=hit.why,
            concept=Concept.of(record) if record.kind == "concept" else None,
            fact=Fact.of(record) if record.kind == "fact" else None,
            rule=Rule.of(record) if record.kind == "rule" else None,
        )


Qualifiers = Mapping[str, Scalar]
