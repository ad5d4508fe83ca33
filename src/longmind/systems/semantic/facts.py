"""Queries for facts, and ending or retracting them."""

from __future__ import annotations

from datetime import datetime

from longmind.clock import as_utc
from longmind.errors import Forbidden, InvalidInput
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.systems.semantic.concepts import Concepts
from longmind.systems.semantic.endings import ending_link
from longmind.systems.semantic.intervals import EVER, NEVER, interval_of
from longmind.systems.semantic.models import Concept, ConceptSummary, Fact
from longmind.systems.semantic.names import predicate_name
from longmind.systems.semantic.predicates import Predicates, PredicateUse
from longmind.systems.semantic.timelines import TimelineChanges, TimelineReader, body_of, held_at
from longmind.systems.semantic.visibility import read_consistently
from longmind.types import Filter, Memory, Page, Scalar


class Facts:
    """The facts of a scope."""

    def __init__(
        self, scoped: ScopedStore, concepts: Concepts, predicates: Predicates, timelines: TimelineReader
    ) -> None:
        self._scoped = scoped
        self._concepts = concepts
        self._predicates = predicates
        self._timelines = timelines

    async def know(
        self, subject: str, predicate: str, *, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> list[Fact]:
        """Return what held at ``as_of``, by what is known now or was known at ``known_at``."""
        use = await self._predicates.find(predicate)
        known = None if known_at is None else as_utc(known_at)
        moment = as_utc(as_of) if as_of else known or self._scoped.now()
        concepts = [r.id for r in (await self._concepts.resolve([subject])).all(subject)]
        if use is None or not concepts:
            return []
        stated, turned = await read_consistently(self._scoped, lambda: self._both_sides(concepts, use))
        stated = held_at(await self._timelines.as_known_at(stated, known), moment)
        turned = held_at(await self._timelines.as_known_at(turned, known), moment)
        many = use.predicate.many or use.swapped
        facts_by_id = {r.id: Fact.of(r) for r in stated}
        relation = predicate_name(predicate)
        facts_by_id |= {r.id: Fact.of(r).turned(relation) for r in turned}
        return [facts_by_id[r.id] for r in self._timelines.rank_answers([*stated, *turned], many=many)]

    async def _both_sides(self, concepts: list[str], use: PredicateUse) -> tuple[list[Memory], list[Memory]]:
        """Return the facts with these concepts as subject, and those to be read from the object's side."""
        name = use.predicate.name
        if use.swapped:
            return [], await self._timelines.facts_with_object(concepts, name)
        stated = await self._timelines.facts_about(concepts, name)
        return stated, await self._timelines.facts_with_object(concepts, name) if use.predicate.symmetric else []

    async def history(self, subject: str, predicate: str) -> list[Fact]:
        """Return everything ever stated, superseded and retracted facts too, ordered by validity."""
        use = await self._predicates.find(predicate)
        concepts = [r.id for r in (await self._concepts.resolve([subject])).all(subject)]
        if use is None or not concepts:
            return []
        stated, turned = await read_consistently(self._scoped, lambda: self._both_sides(concepts, use))
        facts = [Fact.of(r) for r in stated] + [Fact.of(r).turned(predicate_name(predicate)) for r in turned]
        return sorted(facts, key=lambda f: (f.valid_from or EVER, f.recorded_at, f.id))

    async def about(
        self, name: str, *, as_of: datetime | None, known_at: datetime | None, limit: int
    ) -> ConceptSummary:
        """Return the facts that held at a moment and mention this concept."""
        records = await self._concepts.need(name)
        known = None if known_at is None else as_utc(known_at)
        moment = as_utc(as_of) if as_of else known or self._scoped.now()
        ids = {r.id for r in records}
        sources = await read_consistently(self._scoped, lambda: self._timelines.facts_touching(sorted(ids)))
        ranked = self._timelines.rank_answers(
            held_at(await self._timelines.as_known_at(sources, known), moment), many=True
        )
        facts = [Fact.of(r) for r in ranked]
        about_it = [f for f in facts if f.subject_id in ids]
        mentioning_it = [f for f in facts if f.subject_id not in ids]
        return ConceptSummary(
            concept=Concept.of(records[0]),
            facts=tuple(about_it[:limit]),
            mentions=tuple(mentioning_it[:limit]),
            truncated=len(about_it) > limit or len(mentioning_it) > limit,
        )

    async def ended(self, name: str) -> list[Fact]:
        """Return the facts about this concept that have ended and were not retracted, the latest first."""
        ids = {r.id for r in await self._concepts.need(name)}
        records = await read_consistently(self._scoped, lambda: self._timelines.facts_touching(sorted(ids)))
        now = self._scoped.now()
        over = [fact for fact in map(Fact.of, records) if fact.valid_to is not None and fact.valid_to <= now]
        own = [fact for fact in over if fact.subject_id in ids and not fact.retracted]
        return sorted(own, key=lambda fact: (fact.valid_to or NEVER, fact.id), reverse=True)

    async def page(
        self, predicate: str | None, *, current: bool, limit: int, cursor: str | None, descending: bool
    ) -> Page[Fact]:
        """Return a page of facts in the order in which they were learnt."""
        metadata: dict[str, Scalar] = {"predicate": predicate_name(predicate)} if predicate else {}
        where = Filter(metadata=metadata or None, valid_at=self._scoped.now()) if current else Filter(states=None)
        if metadata and not current:
            where = where.model_copy(update={"metadata": metadata})
        page = await self._scoped.page("fact", where=where, limit=limit, cursor=cursor, descending=descending)
        return Page(items=tuple(map(Fact.of, page.items)), cursor=page.cursor)

    async def end(self, fact: str, at: datetime | None, because_of: str | None) -> Fact:
        """End a fact at a moment, without a value that replaces it."""
        moment = as_utc(at) if at else self._scoped.now()
        return await retry_on_conflict(lambda: self._end(fact, moment, because_of))

    async def retract(self, fact: str, because: str) -> Fact:
        """Mark a fact as never true.

        It stays stored but answers no query, and what was derived from it becomes stale.
        """
        return await retry_on_conflict(lambda: self._retract(fact, because))

    async def _end(self, id: str, moment: datetime, because_of: str | None) -> Fact:
        record, changes = await self._changes(id)
        span = interval_of(record)
        if record.body.get("retracted_at") is not None:
            raise InvalidInput(f"The fact {record.content!r} was retracted.", hint="Learn it again with its dates.")
        if moment <= span.start:
            raise InvalidInput(
                f"{record.content!r} began at {span.start.isoformat()}, and cannot have ended before that.",
                hint="If it never held, retract it.",
            )
        if moment >= (span.end or NEVER):
            raise InvalidInput(
                f"{record.content!r} is known to have ended at {span.until.isoformat()} already.",
                hint="To extend it, learn it again for the time it held.",
            )
        changes.update(record, valid_to=moment)
        if because_of is not None:
            changes.links.append(ending_link(record, moment, because_of))
        return await self._shrink(record, changes, "end")

    async def _retract(self, id: str, because: str) -> Fact:
        record, changes = await self._changes(id)
        if record.body.get("retracted_at") is not None:
            return Fact.of(record)
        facts_by_id = {"retracted_at": self._scoped.now(), "retracted_because": because}
        body = body_of(record).model_copy(update=facts_by_id)
        changes.update(record, body=body.model_dump(mode="json"), state="archived")
        return await self._shrink(record, changes, "retract")

    async def _changes(self, id: str) -> tuple[Memory, TimelineChanges]:
        record = await self._scoped.need(id, "fact")
        scope = self._scoped.scope
        if scope.user is not None and record.user != scope.user:
            raise Forbidden(f"The fact {record.content!r} is the whole agent's.", hint="Change it without a user.")
        body = body_of(record)
        predicate = (await self._predicates.for_user(body.predicate, record.user)).predicate
        return record, TimelineChanges(self._scoped, await self._timelines.read_timeline(body, predicate, record.user))

    async def _shrink(self, record: Memory, changes: TimelineChanges, verb: str) -> Fact:
        changes.shrunk.append(record.id)
        receipt = await self._scoped.rewrite(await changes.writes(), f"{verb} {record.content}"[:200])
        now = {m.id: m for m in receipt.memories}
        return Fact.of(now[record.id])
