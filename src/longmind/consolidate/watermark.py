"""How far consolidation has come with an agent, kept with the agent's memories.

Everything that the journal has up to ``through`` was dealt with. A run that finds only its own mark behind that point
has nothing to do, which costs two small reads. The mark is written together with the changes of each stage and under
the operation of the run, so a crash leaves it exactly as far as the changes are, and ``undo`` takes it back with them,
also behind the runs that came later (it is one of ``consolidate.undo.SHARED``): these find done what they had done.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from longmind.clock import Clock
from longmind.store.base import Put, Update, Write
from longmind.store.store import Store
from longmind.systems.scoped_store import retry_on_conflict
from longmind.types import Memory, Model, Scope, Source

KEY = "configuration:consolidation"
SPENT = "configuration:consolidation-spent"
KIND = "configuration"


class Mark(Model):
    """How far a run has come."""

    through: int = 0
    """Every change up to this number was dealt with."""
    extracted: int = 0
    """Sources up to this number are extracted already, though the run that did it has not ended."""
    running: str | None = None
    """The operation of a run that has begun and not ended; the next run goes on under the same one."""
    pending: tuple[str, ...] = ()
    """Messages that wait for a reply before they make a page."""
    due: float | None = None
    """When, in seconds, time alone gives consolidation something to do."""


class Spent(Model):
    """What consolidation used on a day."""

    day: str = ""
    seconds: float = 0.0
    calls: int = 0

    def on(self, moment: datetime) -> Spent:
        """What was used on the day of a moment: nothing, if the last use was on another."""
        day = f"{moment.astimezone(UTC):%Y-%m-%d}"
        return self if self.day == day else Spent(day=day)


async def gone(store: Store, scope: Scope, after: int) -> set[str]:
    """The memories that were removed behind a number; none if nothing was dealt with before."""
    if not after:
        return set()
    return {id async for part in store.backend.feed(scope, after) for id in part.gone}


async def own(store: Store, scope: Scope, key: str) -> Memory | None:
    """The record that a scope holds for itself; each user has one of the same key, which others may see."""
    found = await store.by_key(scope, key)
    return found if found is not None and found.user == scope.user else None


class Ledger:
    """The two small records of an agent, or of one of its users, that consolidation keeps for itself."""

    def __init__(self, store: Store, scope: Scope, clock: Clock) -> None:
        self._store = store
        self._scope = scope
        self._clock = clock
        self.record: Memory | None = None

    async def read(self) -> Mark:
        """The mark as it stands."""
        self.record = await own(self._store, self._scope, KEY)
        return Mark() if self.record is None else Mark.model_validate(self.record.body)

    def write(self, mark: Mark) -> Write:
        """The write that sets the mark, if nobody else did since it was read."""
        body = mark.model_dump(mode="json")
        if self.record is not None:
            return Update(self.record.id, {"body": body}, self.record.version)
        return Put(self._new(KEY, body), existing="fail")

    async def ids(self) -> set[str]:
        """The ids of the two records."""
        found = [self.record, await own(self._store, self._scope, SPENT)]
        return {record.id for record in found if record is not None}

    async def spent(self) -> Spent:
        record = await own(self._store, self._scope, SPENT)
        told = Spent() if record is None else Spent.model_validate(record.body)
        return told.on(self._clock.now())

    async def spend(self, seconds: float, calls: int) -> None:
        """Add to what was used today. It is no part of the run: what was used stays used when the run is undone."""

        async def add() -> None:
            record = await own(self._store, self._scope, SPENT)
            before = (Spent() if record is None else Spent.model_validate(record.body)).on(self._clock.now())
            more = {"seconds": round(before.seconds + seconds, 3), "calls": before.calls + calls}
            body = before.model_copy(update=more).model_dump(mode="json")
            if record is None:
                write: Write = Put(self._new(SPENT, body), existing="fail")
            else:
                write = Update(record.id, {"body": body}, record.version)
            await self._store.apply(self._scope, [write], actor="consolidation", reason="consolidation: what was used")

        await retry_on_conflict(add)

    def _new(self, key: str, body: Mapping[str, Any]) -> Memory:
        now = self._clock.now()
        return Memory(
            id=self._clock.new_id(),
            tenant=self._scope.tenant,
            agent=self._scope.agent,
            user=self._scope.user,
            kind=KIND,
            key=key,
            content="",
            body=dict(body),
            source=Source(role="system"),
            trust=1.0,
            occurred_at=now,
            recorded_at=now,
        )
