"""Reading what was known about a subject and a predicate over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from longmind.store.base import Update, Write
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic.lookups import by_keys, tier
from longmind.systems.semantic.models import FactBody, Predicate
from longmind.systems.semantic.names import slot_key, value_identity
from longmind.systems.semantic.timeline import EVER, is_current
from longmind.types import Memory


@dataclass(frozen=True, slots=True)
class Timeline:
    """The current facts of one timeline, its key, and writes that fail if it was changed since it was read."""

    slot: str
    facts: list[Memory]
    guard: list[Write]


class Timelines:
    """The facts of a scope, found by the concepts they are about."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def own(self, like: FactBody, predicate: Predicate, user: str | None) -> Timeline:
        """The timeline that a fact like this belongs to among a user's, or the whole agent's, oldest first.

        The fact that holds the key is read before everything else: every change of a timeline changes it, so a batch
        that expects it as it was then fails if anybody changed the timeline while it was read.
        """
        slot = slot_key(like.subject, predicate.name, like.identity if predicate.many else None)
        holders = [r for r in await by_keys(self._scoped, [slot]) if r.user == user]
        facts = await self.said_of([like.subject], predicate.name)
        mine = [r for r in facts if r.user == user and is_current(r)]
        if predicate.many:
            wanted = like.identity
            mine = [r for r in mine if value_identity(r.body["object"], r.body.get("object_id")) == wanted]
        mine.sort(key=lambda r: (r.valid_from or EVER, r.id))
        return Timeline(slot, mine, [Update(r.id, {}, r.version) for r in holders])

    async def said_of(self, subjects: Sequence[str], predicate: str | None = None) -> list[Memory]:
        """All facts about these concepts, in any state; of one predicate, or of all."""
        links = await self._scoped.store.all_links(self._scoped.scope, subjects, relation="about", direction="in")
        wanted = [e.source for e in links if predicate is None or e.metadata.get("predicate") == predicate]
        return _facts(await self._scoped.store.get_all(self._scoped.scope, wanted))

    async def said_with(self, objects: Sequence[str], predicate: str) -> list[Memory]:
        """All facts of a predicate that have one of these concepts as their object, in any state."""
        links = await self._scoped.store.all_links(self._scoped.scope, objects, relation=predicate, direction="in")
        return _facts(await self._scoped.store.get_all(self._scoped.scope, [link.source for link in links]))

    async def touching(self, concepts: Sequence[str]) -> list[Memory]:
        """All facts that have one of these concepts at an end, in any state."""
        links = await self._scoped.store.all_links(self._scoped.scope, concepts, direction="in")
        return _facts(await self._scoped.store.get_all(self._scoped.scope, [link.source for link in links]))

    async def as_known(self, facts: Iterable[Memory], known_at: datetime | None) -> list[Memory]:
        """These facts as they were recorded at a moment; those not known then are left out."""
        if known_at is None:
            return list(facts)
        past = [await self._scoped.store.get_at(self._scoped.scope, fact.id, known_at) for fact in facts]
        return _facts(record for record in past if record is not None)

    def answer(self, facts: Iterable[Memory], *, many: bool) -> list[Memory]:
        """The facts that answer a question, the nearest and surest first.

        Where only one value can hold, what is the scope's own hides what is the whole agent's, and that hides what only
        other users said.
        """
        scope = self._scoped.scope
        ordered = sorted(facts, key=lambda r: (tier(scope, r.user), -float(r.body["confidence"]), r.recorded_at, r.id))
        if many or not ordered:
            return ordered
        first = tier(scope, ordered[0].user)
        return [record for record in ordered if tier(scope, record.user) == first]


def held_at(facts: Iterable[Memory], moment: datetime) -> list[Memory]:
    """Those that held in the world at a moment; what is quarantined answers nothing."""
    return [
        r
        for r in facts
        if r.state != "quarantined"
        and is_current(r)
        and (r.valid_from is None or r.valid_from <= moment)
        and (r.valid_to is None or moment < r.valid_to)
    ]


def _facts(records: Iterable[Memory]) -> list[Memory]:
    return [record for record in records if record.kind == "fact"]
