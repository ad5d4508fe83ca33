"""Claims that were read with too little certainty to be facts: they are kept until more is said of the same.

"My phone is a Galaxy A52, what can I delete?" may be read with a confidence of a half, so no fact comes of it. Whoever
tells months later that they traded the Galaxy in makes it likely after all. So an unsure claim is stored, as a memory
of the kind ``claim``, which no recall finds, no context shows and no answer rests on. Two things come of it: told again
in another session it may become a fact, and the reader of changes is asked about it as about a fact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from longmind.consolidate.model import content_terms, is_meant
from longmind.consolidate.rules.claims import Claim
from longmind.consolidate.work import Work
from longmind.store.base import AddLink, Delete, Put, Update, Write
from longmind.systems.semantic import Evidence, Fact, fold_name, predicate_name
from longmind.types import Filter, Json, Link, Memory

KIND = "claim"
_ENOUGH = 0.9
"""How likely all that was read of a claim must make it: as likely as what is learnt at once."""
_LATEST = 300
"""The latest claims of a user, which are looked at."""
_KEPT = timedelta(days=365)
"""How long a claim is kept after it was last told."""


@dataclass(slots=True)
class UnsureClaims:
    """The unsure claims of one user."""

    work: Work
    user: str | None
    _ids: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Ids of claims by subject and predicate."""
    _over: list[Memory] = field(default_factory=list)
    """What the message that is being read says is over."""

    async def load(self) -> list[Memory]:
        """Load the latest claims of the user, and return them."""
        users = None if self.user is None else (self.user,)
        where = Filter(kinds=(KIND,), states=("active",), users=users)
        page = await self.work.store.scan(self.work.scope, where, descending=True, limit=_LATEST)
        records = await self.work.draft.get(self.work.scope, [memory.id for memory in page.items])
        own = [record for record in records if record.user == self.user]
        for record in own:
            self._add(record)
        return own

    async def note(self, memory: Memory, claim: Claim) -> Memory | None:
        """Keep a claim of a memory, and return its record; None if it is kept already."""
        known = self._alike(claim)
        evidence: Json = {"memory": memory.id, "span": list(claim.span), "session": memory.session}
        if known is None:
            record = self._record(memory, claim, evidence)
            await self._write(Put(record), record.id, memory)
            self._add(record)
            return record
        if all(each["memory"] != memory.id for each in known.body["evidence"]):
            confidence = known.body["confidence"]
            again = memory.session in {each["session"] for each in known.body["evidence"]}
            body = {
                **known.body,
                "confidence": max(confidence, claim.confidence) if again else together(confidence, claim.confidence),
                "evidence": [*known.body["evidence"], evidence],
            }
            changes = {"body": body, "expires_at": self.work.clock.now() + _KEPT}
            await self._write(Update(known.id, changes, known.version), known.id, memory)
        return None

    def told_before(self, memory: Memory, claim: Claim) -> Memory | None:
        """Return what was told in other sessions too, if all that was read makes it likely enough.

        Of what has one value at a time another value speaks for a claim as well, if that is sure enough to replace one:
        it is what the user tells of, and has changed.
        """
        if memory.session is None:
            return None
        known = self._alike(claim)
        if known is None and claim.certain and not claim.many:
            known = next(iter(self._about(claim.subject, claim.predicate)), None)
        if known is None or together(known.body["confidence"], claim.confidence) < _ENOUGH:
            return None
        return None if {each["session"] for each in known.body["evidence"]} & {memory.session, None} else known

    async def end(self, claim: Claim) -> list[Memory]:
        """Return the records of what a claim says is over; they are dropped when its message has been read."""
        wanted = content_terms(claim.object)
        predicates = dict.fromkeys((claim.predicate, *claim.also, *claim.by_name)) if wanted else ()
        over = [
            record
            for predicate in predicates
            for record in self._about(claim.subject, predicate)
            if is_meant(wanted, content_terms(record.body["object"]))
        ]
        self._over += over
        return over

    async def evidence_of(self, record: Memory) -> list[Evidence]:
        """Return what a claim rests on, as far as it is there still."""
        kept = record.body["evidence"]
        there = {memory.id for memory in await self.work.draft.get(self.work.scope, [each["memory"] for each in kept])}
        return [Evidence(memory=each["memory"], span=each["span"]) for each in kept if each["memory"] in there]

    async def drop(self, id: str) -> None:
        """Delete a claim that has become a fact, or is over."""
        record = self.work.draft.now.get(id)
        if record is not None:
            await self.work.apply([Delete(id, record.version)])

    async def drop_alike(self, claim: Claim) -> None:
        """Delete the record of what is a fact now."""
        known = self._alike(claim)
        if known is not None:
            await self.drop(known.id)

    async def drop_ended(self) -> None:
        """Delete what a message says is over."""
        for record in self._over:
            await self.drop(record.id)
        self._over.clear()

    def _record(self, memory: Memory, claim: Claim, evidence: Json) -> Memory:
        return self.work.scoped(self.user).new(
            KIND,
            f"{claim.subject} {claim.predicate} {claim.object}",
            body={
                "subject_name": claim.subject,
                "predicate": predicate_name(claim.predicate),
                "object": claim.object,
                "confidence": claim.confidence,
                "many": claim.many,
                "relates": claim.relates,
                "evidence": [evidence],
            },
            source=memory.source.model_copy(update={"span": None}),
            trust=memory.trust,
            occurred_at=memory.occurred_at,
            valid_from=memory.occurred_at,
            expires_at=self.work.clock.now() + _KEPT,
        )

    async def _write(self, write: Write, id: str, memory: Memory) -> None:
        await self.work.apply([write, AddLink(Link(source=id, relation="derived_from", target=memory.id))])
        self.work.notes.why[id] = (memory.id, "read, but not surely enough for a fact")

    def _add(self, record: Memory) -> None:
        name = fold_name(record.body["subject_name"]), record.body["predicate"]
        self._ids.setdefault(name, []).append(record.id)

    def _about(self, subject: str, predicate: str) -> Iterator[Memory]:
        for id in self._ids.get((fold_name(subject), predicate_name(predicate)), ()):
            record = self.work.draft.now.get(id)
            if record is not None:
                yield record

    def _alike(self, claim: Claim) -> Memory | None:
        """Return the record that says the same as a claim."""
        wanted = content_terms(claim.object)
        same = (each for each in self._about(claim.subject, claim.predicate) if _terms(each) == wanted)
        return next(same, None) if wanted else None


def together(first: float, second: float) -> float:
    """Return how likely something is that was read twice, where each reading may be wrong by itself."""
    return 1 - (1 - first) * (1 - second)


def as_fact(record: Memory) -> Fact:
    """Return the fact that a claim would be; nothing in semantic memory has its id."""
    body = record.body
    return Fact(
        id=record.id,
        version=record.version,
        subject=body["subject_name"],
        subject_id="",
        predicate=body["predicate"],
        object=body["object"],
        confidence=body["confidence"],
        source=record.source,
        trust=record.trust,
        state=record.state,
        valid_from=record.valid_from,
        recorded_at=record.recorded_at,
        user=record.user,
    )


def _terms(record: Memory) -> frozenset[str]:
    return content_terms(record.body["object"])
