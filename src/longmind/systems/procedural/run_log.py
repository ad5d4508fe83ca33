"""The durable log of one run: a step that is recorded here is never done again.

A run has one owner. Each write replaces the run's progress by compare-and-set and stores the finished step in the same
transaction. If two processes work on one run, the next write of one of them is refused, and it stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from longmind.errors import Conflict, VersionConflict
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.procedural.runs import (
    DERIVED_FROM,
    FINAL,
    RUN,
    STEP,
    PendingApproval,
    Progress,
    Run,
    RunFailure,
    StepRecord,
    build_run,
    read_progress,
    read_request,
    run_session,
)
from longmind.systems.procedural.values import MAX_RUN, json_size
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Link, Memory

_ACTOR = "procedure"


class Halt(Exception):
    """The run stops here without having failed; finished steps stay done."""


class TakenOver(Halt):
    """Another process owns the run now."""


class CancelRequested(Halt):
    """The run is to be cancelled."""


class Paused(Halt):
    """A step waits for approval."""

    def __init__(self, waiting: PendingApproval) -> None:
        super().__init__(waiting.path)
        self.waiting = waiting


class RunLog:
    """The log of a run that this process owns."""

    def __init__(
        self, scoped: ScopedStore, memory: Memory, steps: tuple[StepRecord, ...], lease_seconds: float
    ) -> None:
        self._scoped = scoped
        self._memory = memory
        self._lease = lease_seconds
        self._mark = scoped.now()
        self._records = {record.path: record for record in steps}
        self._bytes = sum(json_size(record.result) for record in steps)
        self._own_steps = sum(not record.undo for record in steps)
        self.request = read_request(memory)
        self.progress = read_progress(memory)

    @property
    def run_id(self) -> str:
        return self._memory.id

    @property
    def version(self) -> int:
        return self._memory.version

    @property
    def started_at(self) -> datetime:
        return self._memory.occurred_at

    @property
    def records(self) -> tuple[StepRecord, ...]:
        return tuple(self._records.values())

    def now(self) -> datetime:
        return self._scoped.now()

    def run(self) -> Run:
        return build_run(self._memory, self.records)

    def find(self, path: str) -> StepRecord | None:
        """Return the record of a step; None if it is not finished."""
        return self._records.get(path)

    def fits(self, result: Any) -> bool:
        """Whether this result fits into the size limit of the run."""
        return self._bytes + json_size(result) <= MAX_RUN

    def steps_done(self) -> int:
        """Return how many steps this run and those it started have done."""
        return self._own_steps + self.progress.child_steps

    def steps_left(self) -> int:
        """Return how many more steps this run and those it starts may do."""
        return self.request.max_steps - self.steps_done()

    def count_child(self, steps: int) -> None:
        """Count the steps of a run that a step started; stored with the next write."""
        self.progress = self.progress.model_copy(update={"child_steps": self.progress.child_steps + steps})

    def approval(self, path: str) -> bool | None:
        """Return whether a step was approved; None if nobody has decided yet."""
        decided = self.progress.approvals.get(path)
        return None if decided is None else decided.approved

    async def record(self, record: StepRecord) -> None:
        """Store what a step did. After this returns, the step is not repeated, even after a crash."""
        memory = self._scoped.new(
            STEP,
            "",
            body=record.model_dump(mode="json"),
            key=f"{STEP}:{self.run_id}:{record.path}",
            session=run_session(self.run_id),
            user=self._memory.user,
            importance=0.1,
            occurred_at=record.started_at,
            metadata={"run": self.run_id, "outcome": record.outcome},
        )
        belongs = Link(source=memory.id, relation=DERIVED_FROM, target=self.run_id)  # erasing the run erases its steps
        writes: list[Write] = [Put(memory, existing="fail"), AddLink(belongs)]
        await self.save({"cursor": record.path}, writes, reason=f"step {record.path}")
        self._records[record.path] = record
        self._own_steps += not record.undo
        self._bytes += json_size(record.result)
        if self.progress.cancel is not None and self.progress.ending is None:
            raise CancelRequested(self.run_id)

    async def wait_for(self, waiting: PendingApproval) -> None:
        """Store that the run waits for an approval, and give up ownership."""
        await self.save({"status": "waiting", "waiting": waiting, "owner": None}, reason=f"wait for {waiting.path}")

    async def interrupt(self) -> None:
        """Give up ownership, so that the run can be resumed at once."""
        await self.save({"status": "interrupted", "owner": None}, reason="interrupted")

    async def compensating(self, ending: str, error: RunFailure | None) -> None:
        """Store that compensation has begun; a run that is resumed later continues with it."""
        await self.save({"ending": ending, "error": error}, reason="compensate")

    async def save(
        self,
        changes: Mapping[str, Any],
        writes: list[Write] | None = None,
        *,
        reason: str,
        content: str | None = None,
    ) -> None:
        """Store the run's progress and these writes together. A request to cancel that came in between is kept."""
        while True:
            progress = self.changed(changes)
            fields: dict[str, Any] = {"metadata": progress.model_dump(mode="json")}
            if content is not None:
                fields["content"] = content
            update = Update(self.run_id, fields, expected_version=self.version)
            try:
                receipt = await self._scoped.write([update, *(writes or ())], reason=reason, actor=_ACTOR)
            except VersionConflict as conflict:
                if conflict.details.get("id") != self.run_id:
                    raise
                await self.reread()
                continue
            self._memory, self.progress = receipt.memories[0], progress
            self._mark = self.now()
            return

    def changed(self, changes: Mapping[str, Any]) -> Progress:
        """Return the progress with these changes and the time spent so far, and a renewed lease if it has an owner."""
        now = self.now()
        spent = max(0.0, (now - self._mark).total_seconds())
        ours = {"lease_until": now + timedelta(seconds=self._lease), "seconds": self.progress.seconds + spent}
        changed = self.progress.model_copy(update={**ours, **changes})
        return changed if changed.owner else changed.model_copy(update={"lease_until": None})

    async def reread(self) -> None:
        """Read the run again after another process wrote it; ``TakenOver`` unless it only asked to cancel."""
        self._memory = await self._load_if_owned()

    async def cancel_requested(self) -> bool:
        """Whether a request to cancel was stored since the last write."""
        await self._load_if_owned()
        return self.progress.cancel is not None

    async def _load_if_owned(self) -> Memory:
        fresh = await self._scoped.need(self.run_id, RUN)
        progress = read_progress(fresh)
        if progress.owner != self.progress.owner or progress.status in FINAL:
            raise TakenOver(f"Somebody else works on run {self.run_id} now, so this one stopped.")
        self.progress = self.progress.model_copy(update={"cancel": progress.cancel})
        return fresh


async def load_steps(scoped: ScopedStore, run: Memory) -> tuple[StepRecord, ...]:
    """Load the step records of a run, in the order in which the steps finished."""
    where = Filter(kinds=(STEP,), sessions=(run_session(run.id),), states=None)
    memories = [memory async for memory in scoped.store.scan_all(scoped.scope, where)]
    return tuple(StepRecord.model_validate(memory.body) for memory in memories)


async def claim_run(scoped: ScopedStore, run: Memory, lease_seconds: float, *, take_over: bool) -> RunLog:
    """Take ownership of a run to continue it; ``Conflict`` while another process may be working on it."""
    progress = read_progress(run)
    now = scoped.now()
    if progress.status == "running" and progress.lease_until and progress.lease_until > now and not take_over:
        raise Conflict(
            f"Run {run.id} may still be at work, until {progress.lease_until:%Y-%m-%d %H:%M:%S} UTC.",
            hint="Wait until then, or pass take_over=True if its process is gone.",
            run=run.id,
        )
    claimed = progress.model_copy(
        update={
            "status": "running",
            "waiting": None,
            "owner": scoped.clock.new_id(),
            "lease_until": now + timedelta(seconds=lease_seconds),
        }
    )
    update = Update(run.id, {"metadata": claimed.model_dump(mode="json")}, expected_version=run.version)
    try:
        receipt = await scoped.write([update], reason="resume", actor=_ACTOR)
    except VersionConflict as conflict:
        raise Conflict(
            f"Somebody else was faster to take up run {run.id}.", hint="Read the run to see how it goes on.", run=run.id
        ) from conflict
    return RunLog(scoped, receipt.memories[0], await load_steps(scoped, run), lease_seconds)
