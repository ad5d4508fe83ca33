"""``SemanticMemory``: what the agent knows about the world, apart from when and how it came to know it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from longmind.errors import InvalidInput
from longmind.kinds import owned_by
from longmind.store.base import MAX_PAGE
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic.concepts import Concepts
from longmind.systems.semantic.export import Format, exported
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

Given = str | Memory | Evidence


class SemanticMemory:
    """Concepts, facts with the time in which they held, relations, definitions and rules.

    Names are found whatever their case, and by alias. Everything is kept: a value that changed is ended, not replaced.
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
        """Make a concept, or add to the one of this name. What is not given stays; aliases are added."""
        return await self._concepts.define(
            name, definition=definition, category=category, aliases=aliases, attributes=attributes
        )

    async def concept(self, name: str) -> Concept | None:
        """The concept that a name, an alias or an id means, or None."""
        return await self._concepts.find(name)

    async def concepts(
        self, *, category: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[Concept]:
        """A page of concepts, of all or of one category."""
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
    ) -> Predicate:
        """Say what a predicate means; what is not given stays. See ``Predicate`` for each word.

        A predicate that nobody declared is declared by its first use: ``learn`` makes it single-valued, ``relate``
        makes it relate many concepts; a few common ones are known (see ``semantic.vocabulary``).
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
        return await self._predicates.declare(predicate, **changes)

    async def predicates(self) -> list[Predicate]:
        """The predicates that are declared or in use, by name."""
        return await self._predicates.every()

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
        evidence: Given | Sequence[Given] | None = None,
        source: Source | None = None,
        derived_from: Sequence[str | Fact | Memory] = (),
        importance: float = 0.5,
    ) -> Learned:
        """Learn that something holds from ``valid_from`` (now, if not given) to ``valid_to`` (open, if not given).

        Of a single-valued predicate, what was known of another value for that time gives way: it is ended there, kept,
        and linked; what was derived from it is marked stale. A statement without an end about the past reaches to the
        next thing known, so it never ends the present. The same value again adds evidence and makes it surer.
        ``confidence`` is by default how far the source is trusted.
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
        evidence: Given | Sequence[Given] | None = None,
        source: Source | None = None,
        derived_from: Sequence[str | Fact | Memory] = (),
    ) -> Learned:
        """Learn that two concepts are related; they are made if they are new. See ``learn``."""
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
        """What holds, or held at ``as_of``: the one value of a single-valued predicate, all of another.

        ``as_of`` asks how the world was, by what is known today. ``known_at`` asks what the agent knew then. Together:
        what the agent, then, took the world to have been. Inverses and symmetric predicates are read from either side.
        What was forgotten since is not told.
        """
        return await self._facts.know(_name(subject), predicate, as_of=as_of, known_at=known_at)

    async def history(self, subject: str | Concept, predicate: str) -> list[Fact]:
        """Everything ever stated, superseded and retracted values too, by the time it is about."""
        return await self._facts.history(_name(subject), predicate)

    async def about(
        self,
        concept: str | Concept,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        limit: int = 100,
    ) -> ConceptSummary:
        """What is known of a concept, and where it is mentioned; ``NotFound`` if there is no such concept."""
        return await self._facts.about(_name(concept), as_of=as_of, known_at=known_at, limit=_bounded(limit))

    async def facts(
        self,
        *,
        predicate: str | None = None,
        current: bool = True,
        limit: int = 50,
        cursor: str | None = None,
        descending: bool = False,
    ) -> Page[Fact]:
        """A page of facts: those that hold now, or with ``current=False`` all that were ever stated."""
        return await self._facts.page(predicate, current=current, limit=limit, cursor=cursor, descending=descending)

    async def end(self, fact: str | Fact, at: datetime | None = None) -> Fact:
        """Say that a fact held until a moment (now), without a value that took its place."""
        return await self._facts.end(fact if isinstance(fact, str) else fact.id, at)

    async def retract(self, fact: str | Fact, because: str = "") -> Fact:
        """Say that a fact never held. It is kept, answers nothing, and what was derived from it is stale.

        What it had ended stays ended; to bring that back as well, ``undo`` the operation that learnt it.
        """
        return await self._facts.retract(fact if isinstance(fact, str) else fact.id, because)

    # -- the graph -----------------------------------------------------------------------------------------------

    async def path(
        self, start: str | Concept, end: str | Concept, *, depth: int = 6, as_of: datetime | None = None
    ) -> Path | None:
        """The shortest way from one concept to another in at most ``depth`` facts, or None."""
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
        """The facts by which a relation holds: stated, stated by its inverse, or a chain of a transitive one."""
        return await self._graphs.holds(_name(subject), predicate, _name(object), depth=depth, as_of=as_of)

    async def neighbourhood(
        self, concept: str | Concept, depth: int = 1, *, as_of: datetime | None = None, limit: int = 200
    ) -> Graph:
        """The concepts within some steps of one, and the facts among them."""
        return await self._graphs.neighbourhood(_name(concept), depth, as_of=as_of, limit=limit)

    async def graph(self, *, category: str | None = None, as_of: datetime | None = None, limit: int = 1_000) -> Graph:
        """All concepts, or those of a category, and the facts among them."""
        return await self._graphs.whole(as_of=as_of, category=category, limit=limit)

    async def export(
        self,
        format: Format = "json",
        *,
        concept: str | Concept | None = None,
        depth: int = 2,
        as_of: datetime | None = None,
        limit: int = 1_000,
    ) -> str:
        """The graph, or a concept's neighbourhood, as JSON, GraphML or Mermaid."""
        if concept is None:
            return exported(await self.graph(as_of=as_of, limit=limit), format)
        return exported(await self.neighbourhood(concept, depth, as_of=as_of, limit=limit), format)

    # -- search and rules ----------------------------------------------------------------------------------------

    async def search(
        self, query: str, k: int = 10, *, category: str | None = None, as_of: datetime | None = None
    ) -> list[SemanticHit]:
        """Concepts, facts and rules that fit a text; with a category only such concepts and what is said of them."""
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
        """Keep a rule: a sentence, perhaps with premises and a conclusion: triples where ``?x`` stands for anything."""
        return await self._rules.add(rule_body(name, statement, when, then, confidence))

    async def rules(self, *, limit: int = 50, cursor: str | None = None) -> Page[Rule]:
        """A page of rules."""
        return await self._rules.page(limit=limit, cursor=cursor)

    async def derive(self) -> list[Learned]:
        """Apply the rules to what holds now. Derived facts go stale when a premise or the rule changes.

        What follows from the whole agent's facts and rules alone is derived without a user.
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
