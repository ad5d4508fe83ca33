"""Learning a statement: resolve its names, find its timeline, and write what changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from longmind.clock import as_utc
from longmind.errors import InvalidInput, NotFound
from longmind.store.base import Put, Receipt, Update, Write
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.systems.semantic.concepts import Concepts
from longmind.systems.semantic.intervals import IntervalChange, apply_interval, interval_of
from longmind.systems.semantic.models import CERTAIN, Evidence, Fact, FactBody, Learned, Predicate
from longmind.systems.semantic.names import concept_key, value_digest
from longmind.systems.semantic.predicates import Predicates, PredicateUse
from longmind.systems.semantic.timelines import (
    FactTimeline,
    TimelineChanges,
    TimelineReader,
    are_compatible,
    body_of,
    combine_confidences,
    with_next_revision,
)
from longmind.types import TRUST, Json, Link, Memory, Scalar, Source


@dataclass(frozen=True, slots=True)
class Statement:
    """The arguments of ``SemanticMemory.learn`` and ``relate``, before names are resolved."""

    subject: str
    predicate: str
    object: Scalar
    relating: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    confidence: float | None = None
    qualifiers: Json = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    source: Source = field(default_factory=Source)
    derived_from: tuple[str, ...] = ()
    rule: str | None = None
    importance: float = 0.5

    def turned(self) -> Statement:
        """Return the statement with subject and object swapped."""
        return replace(self, subject=str(self.object), object=self.subject)


@dataclass(slots=True)
class _ResolvedStatement:
    """A statement whose names are resolved and whose timeline is read."""

    statement: Statement
    body: FactBody
    use: PredicateUse
    timeline: FactTimeline
    concepts: list[Write]
    premises: list[Memory]

    @property
    def has_doubtful_premise(self) -> bool:
        """Whether a premise is stale, quarantined or retracted."""
        return any(p.state in ("stale", "quarantined") or p.body.get("retracted_at") for p in self.premises)


class StatementLearner:
    """Learns statements: adds each to its timeline."""

    def __init__(
        self, scoped: ScopedStore, concepts: Concepts, predicates: Predicates, timelines: TimelineReader
    ) -> None:
        self._scoped = scoped
        self._concepts = concepts
        self._predicates = predicates
        self._timelines = timelines

    async def learn(self, statement: Statement) -> Learned:
        """Learn a statement. See ``SemanticMemory.learn``."""
        start = as_utc(statement.valid_from) if statement.valid_from else self._scoped.now()
        end = as_utc(statement.valid_to) if statement.valid_to else None
        if end is not None and end <= start:
            raise InvalidInput(
                "valid_to is not after valid_from, so the statement never held.",
                hint="Without valid_from a statement holds from now on; give both for something that is over.",
            )
        statement = replace(statement, valid_from=start, valid_to=end)
        return await retry_on_conflict(lambda: self._learn(statement))

    async def _learn(self, statement: Statement) -> Learned:
        resolved = await self._resolve(statement)
        same, others = self._divide(resolved)
        assert statement.valid_from is not None
        change = apply_interval(
            [interval_of(r) for r in same], [interval_of(r) for r in others], statement.valid_from, statement.valid_to
        )
        kept = change.joins[-1] if change.joins else None
        whole = kept is not None and (kept.start, kept.end) == (change.joined_start, change.joined_end)
        if kept is not None and whole and not change.cuts:
            return await self._confirm(resolved, kept.what)
        changes = TimelineChanges(self._scoped, resolved.timeline)
        fact = self._extend(changes, resolved, change) if change.joins else self._new_fact(changes, resolved, change)
        ended = await changes.cut(change, fact)
        self._link_sources(changes, resolved, fact)
        receipt = await self._write(resolved, await changes.writes())
        now = {m.id: m for m in receipt.memories}
        return Learned(
            fact=Fact.of(now[fact.id]),
            outcome="changed" if change.cuts else "extended" if change.joins else "new",
            superseded=tuple(Fact.of(now[id]) for id in ended),
            stale=tuple(changes.stale),
            operation=receipt.operation,
        )

    # -- reading ---------------------------------------------------------------------------------------------------

    async def _resolve(self, statement: Statement) -> _ResolvedStatement:
        use = await self._predicates.for_statement(statement.predicate, relating=statement.relating)
        predicate = use.predicate
        self._check_object(statement, predicate)
        statement = statement.turned() if use.swapped else statement
        names = [statement.subject, *([str(statement.object)] if predicate.relates else [])]
        by_name = await self._concepts.resolve(names)
        records, concepts = dict[str, Memory](), list[Write]()
        for name in names:
            record = by_name.writable(name) or next(
                (r for n, r in records.items() if concept_key(n) == concept_key(name)), None
            )
            if record is None:
                record = self._concepts.new_learnt(name)
                concepts += [*by_name.orphan_deletions(name), Put(record, existing="fail")]
            records[name] = record
        ends = [records[name] for name in names]
        if predicate.relates and ends[0].id == ends[1].id:
            raise InvalidInput(
                f"{statement.subject!r} cannot be related to itself by {predicate.name!r}.",
                hint="Check the names: two of them may be aliases of one concept.",
            )
        if predicate.symmetric:
            ends.sort(key=lambda record: record.id)
        body = self._body(statement, predicate, ends)
        timeline = await self._timelines.read_timeline(body, predicate, self._scoped.scope.user)
        return _ResolvedStatement(statement, body, use, timeline, concepts, await self._premises(statement))

    def _body(self, statement: Statement, predicate: Predicate, ends: Sequence[Memory]) -> FactBody:
        confidence = TRUST[statement.source.role] if statement.confidence is None else statement.confidence
        return validated(
            FactBody,
            {
                "subject": ends[0].id,
                "subject_name": ends[0].body["name"],
                "predicate": predicate.name,
                "object": ends[1].body["name"] if predicate.relates else statement.object,
                "object_id": ends[1].id if predicate.relates else None,
                "qualifiers": statement.qualifiers,
                "confidence": confidence,
                "evidence": statement.evidence,
                "rule": statement.rule,
            },
        )

    def _check_object(self, statement: Statement, predicate: Predicate) -> None:
        if predicate.relates and not isinstance(statement.object, str):
            raise InvalidInput(
                f"{predicate.name!r} relates concepts, and {statement.object!r} is not the name of one.",
                hint="Use another predicate for a plain value.",
            )
        if statement.relating and not predicate.relates:
            raise InvalidInput(
                f"{predicate.name!r} has plain values, so it cannot relate concepts.",
                hint="Declare another predicate with relates=True, or use `learn`.",
            )

    async def _premises(self, statement: Statement) -> list[Memory]:
        """Return the memories that the statement is derived from. They must exist, and a span must lie in its text."""
        wanted = [*(e.memory for e in statement.evidence), *statement.derived_from]
        memories = {m.id: m for m in await self._scoped.store.get_all(self._scoped.scope, wanted)} if wanted else {}
        for id in wanted:
            if id not in memories:
                raise NotFound(f"The evidence {id} is not a memory here.", id=id)
        for evidence in statement.evidence:
            length = len(memories[evidence.memory].content)
            if evidence.span is not None and evidence.span[1] > length:
                raise InvalidInput(
                    f"The evidence's span ends at {evidence.span[1]}, and the text of {evidence.memory} at {length}.",
                    hint="A span counts characters of Memory.content: (start, end), end exclusive.",
                )
        return list(memories.values())

    def _divide(self, resolved: _ResolvedStatement) -> tuple[list[Memory], list[Memory]]:
        """Divide the timeline's facts into those with the same value and the others.

        The newest fact decides which can be joined.
        """
        same: list[Memory] = []
        others: list[Memory] = []
        qualifiers = dict(resolved.body.qualifiers)
        for record in reversed(resolved.timeline.facts):
            body = body_of(record)
            if body.identity == resolved.body.identity and are_compatible(body.qualifiers, qualifiers):
                qualifiers |= body.qualifiers
                same.append(record)
            else:
                others.append(record)
        return same, others

    # -- deciding --------------------------------------------------------------------------------------------------

    async def _confirm(self, resolved: _ResolvedStatement, known: Memory) -> Learned:
        """Add to a fact that was already known for that time. Only new evidence raises the confidence."""
        changes = TimelineChanges(self._scoped, resolved.timeline)
        self._add_to(changes, resolved, known)
        if known.id not in changes.updates and not changes.links:
            return Learned(fact=Fact.of(known), outcome="confirmed")
        self._link_sources(changes, resolved, known)
        receipt = await self._write(resolved, await changes.writes())
        now = {m.id: m for m in receipt.memories}
        return Learned(fact=Fact.of(now[known.id]), outcome="confirmed", operation=receipt.operation)

    def _new_fact(
        self, changes: TimelineChanges, resolved: _ResolvedStatement, change: IntervalChange[Memory]
    ) -> Memory:
        """Build a new record, for a value that was not known at or next to that time."""
        statement, body = resolved.statement, resolved.body
        over = change.late is not None and change.late.start <= self._scoped.now()
        record = self._scoped.new(
            "fact",
            describe_fact(body),
            body=body.model_dump(mode="json"),
            metadata={"predicate": body.predicate},
            source=statement.source,
            trust=TRUST[statement.source.role],
            importance=statement.importance,
            occurred_at=change.start,
            valid_from=change.start,
            valid_to=change.end,
            state="superseded" if over else "stale" if resolved.has_doubtful_premise else "active",
        )
        changes.put(record)
        described = {"predicate": body.predicate, "value": value_digest(body.identity)}
        changes.links.append(Link(source=record.id, relation="about", target=body.subject, metadata=described))
        if body.object_id is not None:
            changes.links.append(Link(source=record.id, relation=body.predicate, target=body.object_id))
        if change.late is not None:
            changes.supersede(record, by=change.late.what)
        return record

    def _extend(self, changes: TimelineChanges, resolved: _ResolvedStatement, change: IntervalChange[Memory]) -> Memory:
        """Extend the newest record of this value over all intervals it touches; the others are merged into it."""
        *merged, kept = (span.what for span in change.joins)
        self._add_to(changes, resolved, kept)
        changes.update(kept, valid_from=change.joined_start, valid_to=change.joined_end)
        if change.joined_end is None and kept.state == "superseded":
            changes.update(kept, state="active")
        for record in merged:
            changes.update(record, valid_to=record.valid_from, state="superseded")
            changes.supersede(record, by=kept)
        return kept

    def _add_to(self, changes: TimelineChanges, resolved: _ResolvedStatement, known: Memory) -> None:
        """Add the evidence and confidence of the statement to a fact with the same value."""
        body, new = body_of(known), resolved.body
        fresh = tuple(e for e in new.evidence if e not in body.evidence)
        qualifiers = {**new.qualifiers, **body.qualifiers}
        confidence = body.confidence
        if fresh or not (new.evidence or resolved.statement.rule):
            confidence = combine_confidences(body.confidence, new.confidence, CERTAIN)
        grown = body.model_copy(
            update={"evidence": body.evidence + fresh, "qualifiers": qualifiers, "confidence": confidence}
        )
        if grown != body:
            changes.update(known, body=grown.model_dump(mode="json"))
        if describe_fact(grown) != known.content:
            changes.update(known, content=describe_fact(grown))
        if known.state == "stale" and not resolved.has_doubtful_premise:
            changes.update(known, state="active")

    def _link_sources(self, changes: TimelineChanges, resolved: _ResolvedStatement, fact: Memory) -> None:
        for premise in (p for p in resolved.premises if p.id != fact.id):
            changes.links.append(Link(source=fact.id, relation="derived_from", target=premise.id))

    async def _write(self, resolved: _ResolvedStatement, writes: list[Write]) -> Receipt:
        """Write, provided that the predicate and the premises are unchanged since they were read.

        A premise that is a fact gets a new revision. So a concurrent change of the premise either sees the fact derived
        here and marks it stale, or makes this write fail.
        """
        changed = {w.id for w in writes if isinstance(w, Update)}
        guards: list[Write] = []
        for premise in (p for p in resolved.premises if p.id not in changed):
            changes = {"body": with_next_revision(premise)} if premise.kind == "fact" else {}
            guards.append(Update(premise.id, changes, premise.version))
        reason = f"learn {describe_fact(resolved.body)}"[:200]
        return await self._scoped.rewrite([*resolved.use.guard, *guards, *resolved.concepts, *writes], reason)


def describe_fact(body: FactBody) -> str:
    """Return a fact as a sentence, which is the text that is searched."""
    text = f"{body.subject_name} {body.predicate} {body.object}"
    if body.qualifiers:
        text += f" ({', '.join(f'{key}: {value}' for key, value in sorted(body.qualifiers.items()))})"
    return text


def evidence_of(evidence: Any) -> tuple[Evidence, ...]:
    """Return evidence in one form; callers may give memories or ids, with or without spans, one or several."""
    if evidence is None:
        return ()
    if isinstance(evidence, Evidence):
        return (evidence,)
    if isinstance(evidence, Memory):
        return (Evidence(memory=evidence.id),)
    if isinstance(evidence, str):
        return (validated(Evidence, {"memory": evidence}),)
    return tuple(item for part in evidence for item in evidence_of(part))
