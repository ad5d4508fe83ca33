"""What waits for the language model: its budget is spent, or it does not answer.

The record says up to which change the model has read, and until when the rest waits. It is written with the changes of
the stage it is about and under the operation of the run, so a crash leaves it where the facts are, and ``undo`` takes
it back with them. What waits was dealt with by rules already; nothing is lost while it waits.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from longmind.clock import Clock
from longmind.consolidate.watermark import own
from longmind.store.base import Put, Update, Write
from longmind.store.store import Store
from longmind.types import Memory, Model, Moment, Scope, Source

KEY = "configuration:consolidation-waits"
PAUSED = "paused"
"""Why a run over an agent that is paused stopped."""


class Waiting(Model):
    """How far the model has read, and what waits for when."""

    after: int | None = None
    """The model has read every source up to this number; None: no model has taken part yet."""
    retell: tuple[tuple[str | None, str], ...] = ()
    """Conversations, by user and name, whose summaries the model has not told yet."""
    until: Moment | None = None
    """When there is a reason to try again; None: nothing waits."""
    why: str = ""
    rest: bool = False
    """Whether trying sooner is of no use. A budget may be raised at any time; a server that is down needs its rest."""

    def resting(self, now: datetime) -> bool:
        """Whether the model is to be left alone now."""
        return self.rest and self.until is not None and now < self.until

    def due(self, now: datetime) -> bool:
        """Whether something waits and its time has come."""
        return self.until is not None and now >= self.until


class Waits:
    """The record of an agent, or of one of its users."""

    def __init__(self, store: Store, scope: Scope, clock: Clock) -> None:
        self._store = store
        self._scope = scope
        self._clock = clock
        self.record: Memory | None = None
        self.now = Waiting()

    async def read(self) -> Waiting:
        """What waits, as it is stored."""
        self.record = await own(self._store, self._scope, KEY)
        self.now = Waiting() if self.record is None else Waiting.model_validate(self.record.body)
        return self.now

    def write(self, waiting: Waiting) -> Write | None:
        """The write that stores it, if nobody else did since it was read; None if it says what is stored."""
        if waiting == self.now:
            return None
        body = waiting.model_dump(mode="json")
        if self.record is not None:
            return Update(self.record.id, {"body": body}, self.record.version)
        moment = self._clock.now()
        made = Memory(
            id=self._clock.new_id(),
            tenant=self._scope.tenant,
            agent=self._scope.agent,
            user=self._scope.user,
            kind="configuration",
            key=KEY,
            content="",
            body=body,
            source=Source(role="system"),
            trust=1.0,
            occurred_at=moment,
            recorded_at=moment,
        )
        return Put(made, existing="fail")


async def waiting(store: Store, scope: Scope, clock: Clock) -> Waiting:
    """What waits for an agent, or for one of its users."""
    return await Waits(store, scope, clock).read()


def next_day(now: datetime) -> datetime:
    """When the budgets of a day are there again: the next midnight, UTC."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
