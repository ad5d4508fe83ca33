"""Traits as records: observing a trait, and its history."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from longmind.errors import NotFound
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.ownership import find_own, marks, mine, own_key
from longmind.systems.persona import evidence
from longmind.systems.persona.evidence import fold_label
from longmind.systems.persona.models import (
    TRAIT,
    Observation,
    PersonaSettings,
    ProfileSubject,
    Rival,
    Trait,
    TraitBody,
)
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.unvalidated import link_unvalidated
from longmind.types import Filter, Link, Memory, Scope


def profile_scope(scoped: ScopedStore, about: ProfileSubject) -> Scope:
    """Return the scope of a profile. The agent's own belongs to no user, so that it is the same for all users."""
    return scoped.scope if about == "user" else scoped.scope.of_user(None)


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of the user, or of the agent."""

    scoped: ScopedStore
    about: ProfileSubject
    settings: PersonaSettings

    @property
    def scope(self) -> Scope:
        return profile_scope(self.scoped, self.about)

    async def current(self) -> list[Trait]:
        """Return the current traits, the highest confidence first."""
        traits = [self._as_trait(record) for record in await self._current_records()]
        return sorted(traits, key=lambda trait: (-trait.confidence, trait.dimension))

    async def find(self, dimension: str) -> Trait | None:
        record = await self._find_record(dimension)
        return None if record is None else self._as_trait(record)

    async def history(self, dimension: str) -> list[Trait]:
        """Return every value a dimension has had, the oldest first; the last one is current."""
        where = self._where(metadata={"dimension": fold_label(dimension)}, states=None)
        traits = [self._as_trait(record) async for record in self.scoped.store.scan_all(self.scope, where)]
        return sorted(traits, key=lambda trait: (trait.since, trait.id))

    async def observe(self, dimension: str, observed: Observation, correction: bool) -> Trait:
        """Record one observation and return the trait as it is now."""
        sources = await check_evidence(self.scoped, observed.evidence)
        record = await self._find_record(dimension)
        now, settings = self.scoped.now(), self.settings
        if record is None:
            counted = _count_pieces(observed, sources, ())
            first = evidence.first_observed(self.about, dimension, counted, settings, now)
            if correction:
                first = evidence.with_reading(_as_sure_as(first, observed, settings), now)
            new = self._record(first)
            gone = await self._least_sure(len(await self._current_records()) + 1 - settings.traits)
            writes: list[Write] = [Put(new, existing="fail"), *_derived(new.id, observed.evidence)]
            await self._write([*writes, *gone], "observed")
            return self._trait(new, first)
        body = evidence.faded(TraitBody.read(record), settings, now)
        same = fold_label(observed.value) == fold_label(body.value)
        held = _held_evidence(body, observed, same)
        fresh = tuple(id for id in observed.evidence if id not in held)
        if observed.evidence and not fresh and (same or not correction):
            return self._trait(record, body)
        counted = _count_pieces(observed, sources, held)
        updated = (
            evidence.with_support(body, counted, settings, now)
            if same
            else evidence.with_opposition(body, counted, settings, now)
        )
        rival = None if same else evidence.find_winner(updated, settings)
        if correction and not same:
            rival = evidence.corrected(updated, observed, settings)
        if rival is not None:
            return await self._overturn(record, updated, rival)
        if correction:
            updated = _as_sure_as(updated, observed, settings)
        changes = {
            "body": updated.model_dump(mode="json"),
            "importance": updated.confidence,
            "metadata": {**record.metadata, "established": self._is_established(updated)},
        }
        receipt = await self._write(
            [Update(record.id, changes, record.version), *_derived(record.id, fresh)], "observed"
        )
        return self._trait(receipt[0], updated)

    async def _overturn(self, record: Memory, body: TraitBody, rival: Rival) -> Trait:
        """Replace the current value by a rival's; the old record is kept as history."""
        now = self.scoped.now()
        new = self._record(evidence.with_rival_value(body, rival, self.settings, now))
        old = {
            "key": None,
            "state": "superseded",
            "valid_to": max(now, record.valid_from or now),
            "body": body.model_dump(mode="json"),
        }
        known = {m.id for m in await self.scoped.store.get_all(self.scoped.scope, list(rival.evidence))}
        writes: list[Write] = [
            Update(record.id, old, record.version),
            Put(new, existing="fail"),
            AddLink(Link(source=new.id, relation="supersedes", target=record.id)),
            *_derived(new.id, [id for id in rival.evidence if id in known]),
        ]
        await self._write(writes, "another value holds")
        return self._as_trait(new)

    async def _least_sure(self, count: int) -> list[Write]:
        """Return the writes that archive so many of the least sure traits."""
        if count < 1:
            return []
        records = await self._current_records()
        records.sort(key=lambda record: (self._as_trait(record).confidence, record.recorded_at, record.id))
        return [Update(r.id, {"key": None, "state": "archived"}, r.version) for r in records[:count]]

    async def _current_records(self) -> list[Memory]:
        return [record async for record in self.scoped.store.scan_all(self.scope, self._where(states=("active",)))]

    def _is_established(self, body: TraitBody) -> bool:
        return body.confidence >= self.settings.established

    def _record(self, body: TraitBody) -> Memory:
        now = self.scoped.now()
        return self.scoped.new(
            TRAIT,
            body.text(),
            user=self.scope.user,
            key=own_key(self.scope, self._name(body.dimension)),
            body=body.model_dump(mode="json"),
            importance=body.confidence,
            metadata=marks(
                self.scope,
                about=self.about,
                dimension=fold_label(body.dimension),
                established=self._is_established(body),
            ),
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

    def _as_trait(self, record: Memory) -> Trait:
        """Return a stored trait: the current value as sure as it is now, a former one as it was at its end."""
        body = TraitBody.read(record)
        return self._trait(
            record, body if record.valid_to is not None else evidence.faded(body, self.settings, self.scoped.now())
        )

    def _trait(self, record: Memory, body: TraitBody) -> Trait:
        return Trait(
            id=record.id,
            about=body.about,
            dimension=body.dimension,
            value=body.value,
            score=body.score,
            support=body.support,
            confidence=body.confidence,
            established=self._is_established(body),
            observations=body.observations,
            against=body.against,
            evidence=body.evidence,
            rivals=body.rivals,
            readings=body.readings,
            since=record.valid_from or record.recorded_at,
            until=record.valid_to,
        )


async def check_evidence(scoped: ScopedStore, ids: tuple[str, ...]) -> list[Memory]:
    """Return the memories given as evidence; raise ``NotFound`` if one does not exist."""
    memories = await scoped.store.get_all(scoped.scope, list(ids)) if ids else []
    known = {memory.id for memory in memories}
    if missing := [id for id in ids if id not in known]:
        raise NotFound(
            f"The evidence {missing[0]} is not among the memories here.",
            hint="Give the ids of memories this follows from, or none.",
            ids=missing,
        )
    return memories


def _count_pieces(observed: Observation, sources: Sequence[Memory], held: Collection[str]) -> Observation:
    """Return an observation with the number of independent pieces in its evidence that were not counted before.

    What was said in one conversation is one piece. Without evidence the number given with the observation counts.
    """
    fresh = [source for source in sources if source.id not in held]
    if not fresh:
        return observed
    sessions = {source.session for source in fresh if source.session is not None}
    return observed.model_copy(update={"observations": len(sessions) or len(fresh)})


def _as_sure_as(body: TraitBody, observed: Observation, settings: PersonaSettings) -> TraitBody:
    """Return a trait that is at least as sure as a correction that states its value."""
    sure = min(observed.confidence, evidence.CERTAIN)
    others = sum(rival.support for rival in body.rivals) + settings.prior
    support = max(body.support, others * sure / (1.0 - sure))
    return evidence.weighed(body.model_copy(update={"support": support}), settings)


def _held_evidence(body: TraitBody, observed: Observation, same: bool) -> tuple[str, ...]:
    """Return the evidence that was already counted for the observed value."""
    if same:
        return body.evidence
    return next((r.evidence for r in body.rivals if fold_label(r.value) == fold_label(observed.value)), ())


def _derived(id: str, sources: Sequence[str]) -> list[Write]:
    return [AddLink(link_unvalidated(id, "derived_from", source)) for source in sources]
