"""Learning: one statement about the world, put in its place in time."""

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
from longmind.systems.semantic.names import concept_key
from longmind.systems.semantic.predicates import Predicates, Use
from longmind.systems.semantic.timelines import (
    FactTimeline,
    TimelineChanges,
    TimelineReader,
    body_of,
    combined,
    compatible,
    with_next_revision,
)
from longmind.types import TRUST, Json, Link, Memory, Scalar, Source


@dataclass(frozen=True, slots=True)
class Statement:
    """What ``learn`` is told."""

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
        """The same from the other side."""
        return replace(self, subject=str(self.object), object=self.subject)


@dataclass(slots=True)
class _Placed:
    """A statement whose names are resolved and whose timeline is read."""

    said: Statement
    body: FactBody
    use: Use
    timeline: FactTimeline
    concepts: list[Write]
    premises: list[Memory]

    @property
    def doubtful(self) -> bool:
        """Whether something that it rests on no longer stands."""
        return any(p.state in ("stale", "quarantined") or p.body.get("retracted_at") for p in self.premises)


class StatementLearner:
    """Puts statements in their place."""

    def __init__(
        self, scoped: ScopedStore, concepts: Concepts, predicates: Predicates, timelines: TimelineReader
    ) -> None:
        self._scoped = scoped
        self._concepts = concepts
        self._predicates = predicates
        self._timelines = timelines

    async def learn(self, said: Statement) -> Learned:
        """Learn a statement. See ``SemanticMemory.learn``."""
        start = as_utc(said.valid_from) if said.valid_from else self._scoped.now()
        end = as_utc(said.valid_to) if said.valid_to else None
        if end is not None and end <= start:
            raise InvalidInput(
                "valid_to is not after valid_from, so the statement never held.",
                hint="Without valid_from a statement holds from now on; give both for something that is over.",
            )
        said = replace(said, valid_from=start, valid_to=end)
        return await retry_on_conflict(lambda: self._learn(said))

    async def _learn(self, said: Statement) -> Learned:
        placed = await self._place(said)
        same, others = self._divided(placed)
        assert said.valid_from is not None
        change = apply_interval(
            [interval_of(r) for r in same], [interval_of(r) for r in others], said.valid_from, said.valid_to
        )
        kept = change.joins[-1] if change.joins else None
        whole = kept is not None and (kept.start, kept.end) == (change.joined_start, change.joined_end)
        if kept is not None and whole and not change.cuts:
            return await self._confirm(placed, kept.what)
        changes = TimelineChanges(self._scoped, placed.timeline)
        fact = self._grow(changes, placed, change) if change.joins else self._begin(changes, placed, change)
        ended = await changes.cut(change, fact)
        self._link_sources(changes, placed, fact)
        receipt = await self._write(placed, await changes.writes())
        now = {m.id: m for m in receipt.memories}
        return Learned(
            fact=Fact.of(now[fact.id]),
            outcome="changed" if change.cuts else "extended" if change.joins else "new",
            superseded=tuple(Fact.of(now[id]) for id in ended),
            stale=tuple(changes.stale),
            operation=receipt.operation,
        )

    # -- reading ---------------------------------------------------------------------------------------------------

    async def _place(self, said: Statement) -> _Placed:
        use = await self._predicates.used(said.predicate, relating=said.relating)
        predicate = use.predicate
        self._check_object(said, predicate)
        said = said.turned() if use.swapped else said
        names = [said.subject, *([str(said.object)] if predicate.relates else [])]
        named = await self._concepts.named(names)
        records, concepts = dict[str, Memory](), list[Write]()
        for name in names:
            record = named.writable(name) or next(
                (r for n, r in records.items() if concept_key(n) == concept_key(name)), None
            )
            if record is None:
                record = self._concepts.new(name)
                concepts += [*named.freeing(name), Put(record, existing="fail")]
            records[name] = record
        ends = [records[name] for name in names]
        if predicate.relates and ends[0].id == ends[1].id:
            raise InvalidInput(
                f"{said.subject!r} cannot be related to itself by {predicate.name!r}.",
                hint="Check the names: two of them may be aliases of one concept.",
            )
        if predicate.symmetric:
            ends.sort(key=lambda record: record.id)
        body = self._body(said, predicate, ends)
        timeline = await self._timelines.own(body, predicate, self._scoped.scope.user)
        return _Placed(said, body, use, timeline, concepts, await self._premises(said))

    def _body(self, said: Statement, predicate: Predicate, ends: Sequence[Memory]) -> FactBody:
        confidence = TRUST[said.source.role] if said.confidence is None else said.confidence
        return validated(
            FactBody,
            {
                "subject": ends[0].id,
                "subject_name": ends[0].body["name"],
                "predicate": predicate.name,
                "object": ends[1].body["name"] if predicate.relates else said.object,
                "object_id": ends[1].id if predicate.relates else None,
                "qualifiers": said.qualifiers,
                "confidence": confidence,
                "evidence": said.evidence,
                "rule": said.rule,
            },
        )

    def _check_object(self, said: Statement, predicate: Predicate) -> None:
        if predicate.relates and not isinstance(said.object, str):
            raise InvalidInput(
                f"{predicate.name!r} relates concepts, and {said.object!r} is not the name of one.",
                hint="Use another predicate for a plain value.",
            )
        if said.relating and not predicate.relates:
            raise InvalidInput(
                f"{predicate.name!r} has plain values, so it cannot relate concepts.",
                hint="Declare another predicate with relates=True, or use `learn`.",
            )

    async def _premises(self, said: Statement) -> list[Memory]:
        """What the statement rests on. It must exist, and a span must lie in its text."""
        wanted = [*(e.memory for e in said.evidence), *said.derived_from]
        memories = {m.id: m for m in await self._scoped.store.get_all(self._scoped.scope, wanted)} if wanted else {}
        for id in wanted:
            if id not in memories:
                raise NotFound(f"The evidence {id} is not a memory here.", id=id)
        for evidence in said.evidence:
            length = len(memories[evidence.memory].content)
            if evidence.span is not None and evidence.span[1] > length:
                raise InvalidInput(
                    f"The evidence's span ends at {evidence.span[1]}, and the text of {evidence.memory} at {length}.",
                    hint="A span counts characters of Memory.content: (start, end), end exclusive.",
                )
        return list(memories.values())

    def _divided(self, placed: _Placed) -> tuple[list[Memory], list[Memory]]:
        """The timeline's facts that say the same, and the others. The newest decides first what can be joined."""
        same: list[Memory] = []
        others: list[Memory] = []
        qualifiers = dict(placed.body.qualifiers)
        for record in reversed(placed.timeline.facts):
            body = body_of(record)
            if body.identity == placed.body.identity and compatible(body.qualifiers, qualifiers):
                qualifiers |= body.qualifiers
                same.append(record)
            else:
                others.append(record)
        return same, others

    # -- deciding --------------------------------------------------------------------------------------------------

    async def _confirm(self, placed: _Placed, known: Memory) -> Learned:
        """The same was known for that time: more evidence makes it surer, the same evidence changes nothing."""
        changes = TimelineChanges(self._scoped, placed.timeline)
        self._add_to(changes, placed, known)
        if known.id not in changes.updates and not changes.links:
            return Learned(fact=Fact.of(known), outcome="confirmed")
        self._link_sources(changes, placed, known)
        receipt = await self._write(placed, await changes.writes())
        now = {m.id: m for m in receipt.memories}
        return Learned(fact=Fact.of(now[known.id]), outcome="confirmed", operation=receipt.operation)

    def _begin(self, changes: TimelineChanges, placed: _Placed, change: IntervalChange[Memory]) -> Memory:
        """A new record for a value that was not known at, or next to, that time."""
        said, body = placed.said, placed.body
        over = change.late is not None and change.late.start <= self._scoped.now()
        record = self._scoped.new(
            "fact",
            describe_fact(body),
            body=body.model_dump(mode="json"),
            metadata={"predicate": body.predicate},
            source=said.source,
            trust=TRUST[said.source.role],
            importance=said.importance,
            occurred_at=change.start,
            valid_from=change.start,
            valid_to=change.end,
            state="superseded" if over else "stale" if placed.doubtful else "active",
        )
        changes.put(record)
        changes.links.append(
            Link(source=record.id, relation="about", target=body.subject, metadata={"predicate": body.predicate})
        )
        if body.object_id is not None:
            changes.links.append(Link(source=record.id, relation=body.predicate, target=body.object_id))
        if change.late is not None:
            changes.supersede(record, by=change.late.what)
        return record

    def _grow(self, changes: TimelineChanges, placed: _Placed, change: IntervalChange[Memory]) -> Memory:
        """Let the newest record of this value cover the time of all that it touches; the others end in it."""
        *merged, kept = (span.what for span in change.joins)
        self._add_to(changes, placed, kept)
        changes.update(kept, valid_from=change.joined_start, valid_to=change.joined_end)
        if change.joined_end is None and kept.state == "superseded":
            changes.update(kept, state="active")
        for record in merged:
            changes.update(record, valid_to=record.valid_from, state="superseded")
            changes.supersede(record, by=kept)
        return kept

    def _add_to(self, changes: TimelineChanges, placed: _Placed, known: Memory) -> None:
        """Add what the statement brings to a fact that says the same."""
        body, new = body_of(known), placed.body
        fresh = tuple(e for e in new.evidence if e not in body.evidence)
        qualifiers = {**new.qualifiers, **body.qualifiers}
        confidence = body.confidence
        if fresh or not (new.evidence or placed.said.rule):
            confidence = combined(body.confidence, new.confidence, CERTAIN)
        grown = body.model_copy(
            update={"evidence": body.evidence + fresh, "qualifiers": qualifiers, "confidence": confidence}
        )
        if grown != body:
            changes.update(known, body=grown.model_dump(mode="json"))
        if describe_fact(grown) != known.content:
            changes.update(known, content=describe_fact(grown))
        if known.state == "stale" and not placed.doubtful:
            changes.update(known, state="active")

    def _link_sources(self, changes: TimelineChanges, placed: _Placed, fact: Memory) -> None:
        for premise in (p for p in placed.premises if p.id != fact.id):
            changes.links.append(Link(source=fact.id, relation="derived_from", target=premise.id))

    async def _write(self, placed: _Placed, writes: list[Write]) -> Receipt:
        """Write, on condition that the predicate and the premises are still what they were when they were read.

        A premise that is a fact counts this as a change of its own. So whoever changes the premise at the same time
        either sees what is derived from it here, and marks it stale, or makes this write fail.
        """
        changed = {w.id for w in writes if isinstance(w, Update)}
        guards: list[Write] = []
        for premise in (p for p in placed.premises if p.id not in changed):
            changes = {"body": with_next_revision(premise)} if premise.kind == "fact" else {}
            guards.append(Update(premise.id, changes, premise.version))
        reason = f"learn {describe_fact(placed.body)}"[:200]
        return await self._scoped.rewrite([*placed.use.guard, *guards, *placed.concepts, *writes], reason)


def describe_fact(body: FactBody) -> str:
    """A fact as a sentence, which is what search reads."""
    text = f"{body.subject_name} {body.predicate} {body.object}"
    if body.qualifiers:
        text += f" ({', '.join(f'{key}: {value}' for key, value in sorted(body.qualifiers.items()))})"
    return text


def evidence_of(evidence: Any) -> tuple[Evidence, ...]:
    """Evidence as a caller gives it: a memory or its id, with or without a span, or several of these."""
    if evidence is None:
        return ()
    if isinstance(evidence, Evidence):
        return (evidence,)
    if isinstance(evidence, Memory):
        return (Evidence(memory=evidence.id),)
    if isinstance(evidence, str):
        return (validated(Evidence, {"memory": evidence}),)
    return tuple(item for part in evidence for item in evidence_of(part))
