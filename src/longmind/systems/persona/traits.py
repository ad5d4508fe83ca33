"""Traits as records: observing one, and what it was before."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from longmind.errors import NotFound
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.ownership import find_own, marks, mine, own_key
from longmind.systems.persona import evidence
from longmind.systems.persona.evidence import folded
from longmind.systems.persona.models import TRAIT, PersonaSettings, ProfileSubject, Rival, Trait, TraitBody
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Link, Memory, Scope


def whose(scoped: ScopedStore, about: ProfileSubject) -> Scope:
    """Whom records are of: the agent's own persona belongs to no user, so that it is the same with all of them."""
    return scoped.scope if about == "user" else scoped.scope.model_copy(update={"user": None})


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of the user, or of the agent."""

    scoped: ScopedStore
    about: ProfileSubject

    @property
    def scope(self) -> Scope:
        return whose(self.scoped, self.about)

    async def current(self) -> list[Trait]:
        """The values that hold now, the surest first."""
        records = [record async for record in self.scoped.store.scan_all(self.scope, self._where(states=("active",)))]
        return sorted(map(as_trait, records), key=lambda trait: (-trait.confidence, trait.dimension))

    async def find(self, dimension: str) -> Trait | None:
        record = await self._held(dimension)
        return None if record is None else as_trait(record)

    async def history(self, dimension: str) -> list[Trait]:
        """Every value a dimension ever had, the oldest first; the last one is what holds now."""
        where = self._where(metadata={"dimension": folded(dimension)}, states=None)
        traits = [as_trait(record) async for record in self.scoped.store.scan_all(self.scope, where)]
        return sorted(traits, key=lambda trait: (trait.since, trait.id))

    async def observe(self, dimension: str, observed: Rival, settings: PersonaSettings, correction: bool) -> Trait:
        """Take in one observation."""
        await check_evidence(self.scoped, observed.evidence)
        record = await self._held(dimension)
        now = self.scoped.now()
        if record is None:
            fields = {"about": self.about, "dimension": dimension, **observed.model_dump()}
            first = evidence.noted(TraitBody.model_validate(fields), now)
            new = self._record(first)
            await self._write([Put(new, existing="fail"), *_derived(new.id, observed)], "observed")
            return _trait(new, first)
        body = TraitBody.read(record)
        same = folded(observed.value) == folded(body.value)
        if observed.evidence and _known(body, observed, same) and (same or not correction):
            return _trait(record, body)
        told_body = evidence.supported(body, observed, now) if same else evidence.opposed(body, observed, settings, now)
        rival = None if same else evidence.winner(told_body, settings)
        if correction and not same:
            known = {folded(r.value): r for r in told_body.rivals}
            rival = known.get(folded(observed.value), observed).model_copy(update={"confidence": observed.confidence})
        if rival is not None:
            return await self._overturn(record, told_body, rival)
        changes = {"body": told_body.model_dump(mode="json"), "importance": told_body.confidence}
        writes: list[Write] = [Update(record.id, changes, record.version), *_derived(record.id, observed)]
        receipt = await self._write(writes, "observed")
        return _trait(receipt[0], told_body)

    async def _overturn(self, record: Memory, body: TraitBody, rival: Rival) -> Trait:
        """Another value takes the place; the old one stays as history."""
        now = self.scoped.now()
        new = self._record(evidence.overturned(body, rival, now))
        old = {
            "key": None,
            "state": "superseded",
            "valid_to": max(now, record.valid_from or now),
            "body": body.model_dump(mode="json"),
        }
        known = {m.id for m in await self.scoped.store.get_all(self.scoped.scope, list(rival.evidence))}
        here = rival.model_copy(update={"evidence": tuple(id for id in rival.evidence if id in known)})
        writes: list[Write] = [
            Update(record.id, old, record.version),
            Put(new, existing="fail"),
            AddLink(Link(source=new.id, relation="supersedes", target=record.id)),
            *_derived(new.id, here),
        ]
        await self._write(writes, "another value holds")
        return as_trait(new)

    def _record(self, body: TraitBody) -> Memory:
        now = self.scoped.now()
        return self.scoped.new(
            TRAIT,
            body.text(),
            user=self.scope.user,
            key=own_key(self.scope, self._name(body.dimension)),
            body=body.model_dump(mode="json"),
            importance=body.confidence,
            metadata=marks(self.scope, about=self.about, dimension=folded(body.dimension)),
            valid_from=now,
        )

    async def _held(self, dimension: str) -> Memory | None:
        return await find_own(self.scoped, self._name(dimension), self.scope)

    def _name(self, dimension: str) -> str:
        return f"trait:{self.about}:{sha256(folded(dimension).encode()).hexdigest()[:32]}"

    def _where(self, *, metadata: dict[str, Any] | None = None, **fields: Any) -> Filter:
        return mine(self.scope, kinds=(TRAIT,), metadata={"about": self.about, **(metadata or {})}, **fields)

    async def _write(self, writes: list[Write], reason: str) -> tuple[Memory, ...]:
        return (await self.scoped.rewrite(writes, f"persona: {reason}")).memories


async def check_evidence(scoped: ScopedStore, ids: tuple[str, ...]) -> None:
    """``NotFound`` if any of these is not there: nothing is known from what nobody can look up."""
    known = {m.id for m in await scoped.store.get_all(scoped.scope, list(ids))} if ids else set()
    if missing := [id for id in ids if id not in known]:
        raise NotFound(
            f"The evidence {missing[0]} is not among the memories here.",
            hint="Give the ids of memories this follows from, or none.",
            ids=missing,
        )


def _known(body: TraitBody, observed: Rival, same: bool) -> bool:
    """Whether all of this evidence has been counted already for the same value."""
    held = body.evidence
    if not same:
        held = next((r.evidence for r in body.rivals if folded(r.value) == folded(observed.value)), ())
    return set(observed.evidence) <= set(held)


def _derived(id: str, observed: Rival) -> list[Write]:
    return [AddLink(Link(source=id, relation="derived_from", target=source_id)) for source_id in observed.evidence]


def as_trait(record: Memory) -> Trait:
    return _trait(record, TraitBody.read(record))


def _trait(record: Memory, body: TraitBody) -> Trait:
    return Trait(
        id=record.id,
        about=body.about,
        dimension=body.dimension,
        value=body.value,
        score=body.score,
        confidence=body.confidence,
        observations=body.observations,
        against=body.against,
        evidence=body.evidence,
        rivals=body.rivals,
        readings=body.readings,
        since=record.valid_from or record.recorded_at,
        until=record.valid_to,
    )
