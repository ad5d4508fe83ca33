"""``SemanticMemory``: what the agent knows about the world, independent of when and how it learnt it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from longmind.arguments import checked_arguments
from longmind.errors import InvalidInput
from longmind.kinds import owned_by
from longmind.store.base import MAX_PAGE
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic.concepts import Concepts
from longmind.systems.semantic.export import Format, export_graph
from longmind.systems.semantic.facts import Facts
from longmind.systems.semantic.graph import Graphs
from longmind.systems.semantic.learner import Statement, StatementLearner, evidence_of
from longmind.systems.semantic.models import (
    Concept,
    ConceptSummary,
    Evidence,
    Fact,
    Graph,
    Learned,
    Path,
    Pattern,
    Predicate,
    Rule,
    SemanticHit,
)
from longmind.systems.semantic.predicates import Predicates
from longmind.systems.semantic.rules import Rules, rule_body
from longmind.systems.semantic.timelines import TimelineReader
from longmind.types import Filter, Memory, Page, Scalar, Source

EvidenceInput = str | Memory | Evidence


@checked_arguments
class SemanticMemory:
    """Concepts, facts with their validity in time, relations, definitions and rules.

    Names are resolved without regard to case, and by alias. Nothing is overwritten: a value that changed is ended and
    kept.
    """

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped
        self._concepts = Concepts(scoped)
        self._predicates = Predicates(scoped)
        timelines = TimelineReader(scoped)
        self._facts = Facts(scoped, self._concepts, self._predicates, timelines)
        self._learning = StatementLearner(scoped, self._concepts, self._predicates, timelines)
        self._graphs = Graphs(scoped, self._concepts, self._predicates, timelines)
        self._rules = Rules(scoped, self._concepts, self._predicates, self._facts, self._learning)

    # -- concepts ------------------------------------------------------------------------------------------------

    async def define(
        self,
        name: str,
        definition: str | None = None,
        *,
        category: str | None = None,
        aliases: Sequence[str] = (),
        attributes: Mapping[str, Any] | None = None,
    ) -> Concept:
        """Create a concept, or change the one with this name.

        Fields that are None stay as they were; aliases are added.
        """
        return await self._concepts.define(
            name, definition=definition, category=category, aliases=aliases, attributes=attributes
        )

    async def concept(self, name: str) -> Concept | None:
        """Return the concept with a name, an alias or an id, or None."""
        return await self._concepts.find(name)

    async def concepts(
        self, *, category: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[Concept]:
        """Return a page of concepts, of all categories or of one."""
        return await self._concepts.page(category, limit=limit, cursor=cursor)

    # -- predicates ----------------------------------------------------------------------------------------------

    async def declare(
        self,
        predicate: str,
        *,
        many: bool | None = None,
        relates: bool | None = None,
        inverse: str | None = None,
        symmetric: bool | None = None,
        transitive: bool | None = None,
        description: str | None = None,
        learnt: bool = False,
    ) -> Predicate:
        """Declare what a predicate means; see ``Predicate``. Arguments that are None stay as they were.

        A predicate that was not declared is declared by its first use: ``learn`` makes it single-valued, ``relate``
        makes it many-valued between concepts. Some common predicates are built in (``COMMON_PREDICATES``). With
        ``learnt`` it is there for a fact that is stored next, and is erased with the last fact that uses it.
        """
        values = {
            "many": many,
            "relates": relates,
            "inverse": inverse,
            "symmetric": symmetric,
            "transitive": transitive,
            "description": description,
        }
        changes = {word: value for word, value in values.items() if value is not None}
        return await self._predicates.declare(predicate, learnt=learnt, **changes)

    async def predicates(self) -> list[Predicate]:
        """Return the predicates that are declared or in use, by name."""
        return await self._predicates.list_all()

    # -- facts ---------------------------------------------------------------------------------------------------

    async def learn(
        self,
        subject: str | Concept,
        predicate: str,
        object: Scalar | Concept,
        *,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        confidence: float | None = None,
        qualifiers: Mapping[str, Scalar] | None = None,
        evidence: EvidenceInput | Sequence[EvidenceInput] | None = None,
        source: Source | None = None,
        derived_from: Sequence[str | Fact | Memory] = (),
        importance: float = 0.5,
    ) -> Learned:
        """Learn that something holds from ``valid_from`` (by default now) until ``valid_to`` (by default open).

        If the predicate is single-valued, other values are ended for that time. They are kept and linked, and what was
        derived from them is marked stale. A statement about the past without an end lasts until the next known value,
        so it never ends the present one. Stating the same value again adds evidence and raises its confidence.
        ``confidence`` is by default the trust in the source.
        """
        return await self._learning.learn(
            Statement(
                subject=_name(subject),
                predicate=predicate,
                object=object.id if isinstance(object, Concept) else object,
                relating=isinstance(object, Concept),
                valid_from=valid_from,
                valid_to=valid_to,
                confidence=confidence,
                qualifiers=dict(qualifiers or {}),
                evidence=evidence_of(evidence),
                source=source or Source(),
                derived_from=_ids(derived_from),
                importance=importance,
            )
        )

    async def relate(
        self,
        subject: str | Concept,
        predicate: str,
        object: str | Concept,
        *,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        confidence: float | None = None,
        qualifiers: Mapping[str, Scalar] | None = None,
        evidence: EvidenceInput | Sequence[EvidenceInput] | None = None,
        source: Source | None = None,
        derived_from: Sequence[str | Fact | Memory] = (),
    ) -> Learned:
        """Learn a relation between two concepts, which are created if they are new. See ``learn``."""
        return await self._learning.learn(
            Statement(
                subject=_name(subject),
                predicate=predicate,
                object=_name(object),
                relating=True,
                valid_from=valid_from,
                valid_to=valid_to,
                confidence=confidence,
                qualifiers=dict(qualifiers or {}),
                evidence=evidence_of(evidence),
                source=source or Source(),
                derived_from=_ids(derived_from),
            )
        )

    async def know(
        self,
        subject: str | Concept,
        predicate: str,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> list[Fact]:
        """Return what holds now, or held at ``as_of``: one value of a single-valued predicate, otherwise all.

        ``as_of`` asks about the world at that time, by what is known today. ``known_at`` asks what the agent knew at
        that time. With both, the answer is what the agent then believed about that time. Inverse and symmetric
        predicates are read from either side. Facts that were forgotten since are not returned.
        """
        return await self._facts.know(_name(subject), predicate, as_of=as_of, known_at=known_at)

    async def history(self, subject: str | Concept, predicate: str) -> list[Fact]:
        """Return everything ever stated, superseded and retracted values too, ordered by validity."""
        return await self._facts.history(_name(subject), predicate)

    async def about(
        self,
        concept: str | Concept,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        limit: int = 100,
    ) -> ConceptSummary:
        """Return the facts about a concept and those that mention it; ``NotFound`` if there is no such concept."""
        return await self._facts.about(_name(concept), as_of=as_of, known_at=known_at, limit=_bounded(limit))

    async def ended(self, concept: str | Concept) -> list[Fact]:
        """Return what held once of a concept and holds no more, the latest first; ``NotFound`` as for ``about``."""
        return await self._facts.ended(_name(concept))

    async def facts(
        self,
        *,
        predicate: str | None = None,
        current: bool = True,
        limit: int = 50,
        cursor: str | None = None,
        descending: bool = False,
    ) -> Page[Fact]:
        """Return a page of facts: those that hold now, or with ``current=False`` all that were ever stated."""
        return await self._facts.page(predicate, current=current, limit=limit, cursor=cursor, descending=descending)

    async def end(self, fact: str | Fact, at: datetime | None = None, *, because_of: str | None = None) -> Fact:
        """End a fact at a moment (by default now), without a value that replaces it.

        ``because_of`` is the id of the memory that says so. If that is erased, the fact holds again.
        """
        return await self._facts.end(fact if isinstance(fact, str) else fact.id, at, because_of)

    async def retract(self, fact: str | Fact, because: str = "") -> Fact:
        """Mark a fact as never true. It stays stored but answers no query; what was derived from it becomes stale.

        Values that it had ended stay ended. To restore them too, ``undo`` the operation that learnt it.
        """
        return await self._facts.retract(fact if isinstance(fact, str) else fact.id, because)

    # -- the graph -----------------------------------------------------------------------------------------------

    async def path(
        self, start: str | Concept, end: str | Concept, *, depth: int = 6, as_of: datetime | None = None
    ) -> Path | None:
        """Return the shortest path between two concepts with at most ``depth`` facts, or None."""
        return await self._graphs.path(_name(start), _name(end), depth=depth, as_of=as_of)

    async def holds(
        self,
        subject: str | Concept,
        predicate: str,
        object: str | Concept,
        *,
        depth: int = 6,
        as_of: datetime | None = None,
    ) -> Path | None:
        """Return the path by which a relation holds: stated, stated as its inverse, or a chain if it is transitive."""
        return await self._graphs.holds(_name(subject), predicate, _name(object), depth=depth, as_of=as_of)

    async def neighbourhood(
        self, concept: str | Concept, depth: int = 1, *, as_of: datetime | None = None, limit: int = 200
    ) -> Graph:
        """Return the concepts within ``depth`` steps of one, and the facts among them."""
        return await self._graphs.neighbourhood(_name(concept), depth, as_of=as_of, limit=limit)

    async def graph(self, *, category: str | None = None, as_of: datetime | None = None, limit: int = 1_000) -> Graph:
        """Return all concepts, or those of a category, and the facts among them."""
        return await self._graphs.whole_graph(as_of=as_of, category=category, limit=limit)

    async def export(
        self,
        format: Format = "json",
        *,
        concept: str | Concept | None = None,
        depth: int = 2,
        as_of: datetime | None = None,
        limit: int = 1_000,
    ) -> str:
        """Return the graph, or a concept's neighbourhood, as JSON, GraphML or Mermaid."""
        if concept is None:
            return export_graph(await self.graph(as_of=as_of, limit=limit), format)
        return export_graph(await self.neighbourhood(concept, depth, as_of=as_of, limit=limit), format)

    # -- search and rules ----------------------------------------------------------------------------------------

    async def search(
        self, query: str, k: int = 10, *, category: str | None = None, as_of: datetime | None = None
    ) -> list[SemanticHit]:
        """Return concepts, facts and rules that match a text.

        With a ``category``, only its concepts and the facts about them are searched.
        """
        where = Filter(valid_at=as_of)
        if category is not None:
            where = where.model_copy(update={"ids": tuple(await self._graphs.in_category(category))})
        hits = await self._scoped.search(query, k=k, kinds=owned_by("semantic"), where=where)
        return [SemanticHit.of(hit) for hit in hits]

    async def rule(
        self,
        name: str,
        statement: str,
        *,
        when: Sequence[Pattern | Sequence[Scalar]] = (),
        then: Pattern | Sequence[Scalar] | None = None,
        confidence: float = 0.9,
    ) -> Rule:
        """Store a rule: a sentence, optionally with premises and a conclusion.

        Premises and conclusion are triples; a word that begins with ``?`` is a variable.
        """
        return await self._rules.add(rule_body(name, statement, when, then, confidence))

    async def rules(self, *, limit: int = 50, cursor: str | None = None) -> Page[Rule]:
        """Return a page of rules."""
        return await self._rules.page(limit=limit, cursor=cursor)

    async def derive(self) -> list[Learned]:
        """Apply the rules to what holds now. Derived facts become stale when a premise or the rule changes.

        Conclusions from facts and rules of the whole agent are derived in the scope without a user.
        """
        return await self._rules.apply()


def _name(concept: str | Concept) -> str:
    return concept if isinstance(concept, str) else concept.id


def _ids(records: Sequence[str | Fact | Memory]) -> tuple[str, ...]:
    return tuple(record if isinstance(record, str) else record.id for record in records)


def _bounded(limit: int) -> int:
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(f"limit must be from 1 to {MAX_PAGE}, not {limit}.")
    return limit
