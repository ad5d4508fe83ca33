"""Traits as records: observing a trait, and its history."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from longmind.errors import NotFound
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.ownership import find_own, marks, mine, own_key
from longmind.systems.persona import evidence
from longmind.systems.persona.evidence import fold_label
from longmind.systems.persona.models import TRAIT, PersonaSettings, ProfileSubject, Rival, Trait, TraitBody
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Link, Memory, Scope


def profile_scope(scoped: ScopedStore, about: ProfileSubject) -> Scope:
    """Return the scope of a profile. The agent's own belongs to no user, so that it is the same for all users."""
    return scoped.scope if about == "user" else scoped.scope.of_user(None)


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of the user, or of the agent."""

    scoped: ScopedStore
    about: ProfileSubject

    @property
    def scope(self) -> Scope:
        return profile_scope(self.scoped, self.about)

    async def current(self) -> list[Trait]:
        """Return the current traits, the highest confidence first."""
        records = [record async for record in self.scoped.store.scan_all(self.scope, self._where(states=("active",)))]
        return sorted(map(as_trait, records), key=lambda trait: (-trait.confidence, trait.dimension))

    async def find(self, dimension: str) -> Trait | None:
        record = await self._find_record(dimension)
        return None if record is None else as_trait(record)

    async def history(self, dimension: str) -> list[Trait]:
        """Return every value a dimension has had, the oldest first; the last one is current."""
        where = self._where(metadata={"dimension": fold_label(dimension)}, states=None)
        traits = [as_trait(record) async for record in self.scoped.store.scan_all(self.scope, where)]
        return sorted(traits, key=lambda trait: (trait.since, trait.id))

    async def observe(self, dimension: str, observed: Rival, settings: PersonaSettings, correction: bool) -> Trait:
        """Record one observation and return the trait as it is now."""
        await check_evidence(self.scoped, observed.evidence)
        record = await self._find_record(dimension)
        now = self.scoped.now()
        if record is None:
            fields = {"about": self.about, "dimension": dimension, **observed.model_dump()}
            first = evidence.with_reading(TraitBody.model_validate(fields), now)
            new = self._record(first)
            await self._write([Put(new, existing="fail"), *_derived(new.id, observed)], "observed")
            return _trait(new, first)
        body = TraitBody.read(record)
        same = fold_label(observed.value) == fold_label(body.value)
        if observed.evidence and _is_counted(body, observed, same) and (same or not correction):
            return _trait(record, body)
        updated = (
            evidence.with_support(body, observed, now)
            if same
            else evidence.with_opposition(body, observed, settings, now)
        )
        rival = None if same else evidence.find_winner(updated, settings)
        if correction and not same:
            known = {fold_label(r.value): r for r in updated.rivals}
            rival = known.get(fold_label(observed.value), observed).model_copy(
                update={"confidence": observed.confidence}
            )
        if rival is not None:
            return await self._overturn(record, updated, rival)
        changes = {"body": updated.model_dump(mode="json"), "importance": updated.confidence}
        writes: list[Write] = [Update(record.id, changes, record.version), *_derived(record.id, observed)]
        receipt = await self._write(writes, "observed")
        return _trait(receipt[0], updated)

    async def _overturn(self, record: Memory, body: TraitBody, rival: Rival) -> Trait:
        """Replace the current value by a rival's; the old record is kept as history."""
        now = self.scoped.now()
        new = self._record(evidence.with_rival_value(body, rival, now))
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
            metadata=marks(self.scope, about=self.about, dimension=fold_label(body.dimension)),
            valid_from=now,
        )

    async def _find_record(self, dimension: str) -> Memory | None:
        return await find_own(self.scoped, self._name(dimension), self.scope)

    def _name(self, dimension: str) -> str:
        return f"trait:{self.about}:{sha256(fold_label(dimension).encode()).hexdigest()[:32]}"

    def _where(self, *, metadata: dict[str, Any] | None = None, **fields: Any) -> Filter:
        return mine(self.scope, kinds=(TRAIT,), metadata={"about": self.about, **(metadata or {})}, **fields)

    async def _write(self, writes: list[Write], reason: str) -> tuple[Memory, ...]:
        return (await self.scoped.rewrite(writes, f"persona: {reason}")).memories


async def check_evidence(scoped: ScopedStore, ids: tuple[str, ...]) -> None:
    """Raise ``NotFound`` if a memory given as evidence does not exist."""
    known = {m.id for m in await scoped.store.get_all(scoped.scope, list(ids))} if ids else set()
    if missing := [id for id in ids if id not in known]:
        raise NotFound(
            f"The evidence {missing[0]} is not among the memories here.",
            hint="Give the ids of memories this follows from, or none.",
            ids=missing,
        )


def _is_counted(body: TraitBody, observed: Rival, same: bool) -> bool:
    """Whether all of this evidence was already counted for the same value."""
    held = body.evidence
    if not same:
        held = next((r.evidence for r in body.rivals if fold_label(r.value) == fold_label(observed.value)), ())
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
