"""One run over an agent: what is new goes through the stages, each one atomic write, and a report tells what changed.

All writes of a run have one operation, so ``undo(report.id)`` takes the whole run back. A run that crashed is gone on
with under the same operation; whatever it had done is found done. A run over an unchanged agent does nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recollect.clock import Clock
from recollect.config import AgentSettings
from recollect.consolidate.distill import Distilling
from recollect.consolidate.draft import Draft
from recollect.consolidate.extract import READ
from recollect.consolidate.forget import Forgetting
from recollect.consolidate.learning import Extraction
from recollect.consolidate.merging import Merging
from recollect.consolidate.profile import Profiling
from recollect.consolidate.reporting import proposed, stage_report
from recollect.consolidate.segment import Segmenting
from recollect.consolidate.summarise import Summaries
from recollect.consolidate.watermark import Ledger, Mark
from recollect.consolidate.work import Notes, Stage, Work
from recollect.errors import Conflict, NotFound
from recollect.store.base import Update, Write
from recollect.store.store import Store
from recollect.types import ConsolidationReport, Memory, Proposed, Scope, StageReport

if TYPE_CHECKING:
    from recollect.consolidate.asking import Extractor
    from recollect.store.store import Embed

STAGES: tuple[Stage, ...] = (
    Segmenting(),
    Extraction(),
    Merging(),
    Profiling(),
    Summaries(),
    Distilling(),
    Forgetting(),
)
ACTOR = "consolidation"
SLICE = 2_000
"""Sources that are dealt with in one write."""
_TRIES = 8
_PART = 500
_OWN_LINES = 5
"""Lines behind the mark that are looked at; consolidation itself leaves fewer there."""
_PAUSED = "paused"


def _unwatched(point: str) -> None:
    """Nobody watches."""


@dataclass(slots=True)
class Cycle:
    """Consolidation of one agent, or of one of its users."""

    store: Store
    scope: Scope
    settings: AgentSettings
    clock: Clock
    embed: Embed
    extractor: Extractor | None = None
    stages: Sequence[Stage] = STAGES
    watch: Callable[[str], None] = _unwatched
    """Told of each point that a run passes, before it is passed; for tests that stop it there."""
    _proposed: list[Proposed] = field(default_factory=list)
    _reports: dict[str, StageReport] = field(default_factory=dict)
    _mark: Mark = field(default_factory=Mark)
    _operation: str = ""
    _calls: int = 0
    _safe: int = 0
    """Everything in the journal up to here was dealt with, or is this run's own."""
    _alone: bool = True
    """Whether nobody else is known to have written since what is new was read."""

    async def run(self, *, dry_run: bool = False) -> ConsolidationReport:
        """Do all there is to do, or only tell it."""
        ledger = Ledger(self.store, self.scope, self.clock)
        self._mark = await ledger.read()
        self._operation = self._mark.running or self.clock.new_id()
        if self.settings.consolidate_paused:
            return self._report(dry_run, 0, stopped=_PAUSED)
        if await self._unchanged(ledger):
            return self._report(dry_run, 0)
        spent = await ledger.spent()
        if stopped := self._over(spent.seconds, spent.calls):
            return self._report(dry_run, 0, stopped=stopped)
        began = time.monotonic()
        read, stopped = await self._cycle(ledger, spent.seconds, spent.calls, dry_run=dry_run)
        if not dry_run and self._budgeted and (read or self._calls):
            await ledger.spend(time.monotonic() - began, self._calls)
        return self._report(dry_run, read, stopped=stopped)

    # -- the way of a run ----------------------------------------------------------------------------------------

    async def _cycle(self, ledger: Ledger, seconds: float, calls: int, *, dry_run: bool) -> tuple[int, str | None]:
        """All stages over all that is new, a slice at a time. Says how much was read, and why it stopped early."""
        began = time.monotonic()
        new = await self._new()
        read = 0
        slices = [new[start : start + SLICE] for start in range(0, len(new), SLICE)] or [[]]
        draft: Draft | None = Draft(self.store.backend, self.scope) if dry_run else None
        for number, part in enumerate(slices):
            last = number == len(slices) - 1
            sources = await self._sources([id for id, _ in part])
            read += len(sources)
            reached = max((seq for _, seq in part), default=self._mark.extracted)
            for stage in self.stages:
                if stage.name in ("distill", "forget") and not last:
                    continue
                await self._stage(stage, sources, ledger, draft, calls)
            self._mark = self._mark.model_copy(update={"extracted": reached})
            used = seconds + time.monotonic() - began
            if not last and (stopped := self._over(used, calls + self._calls)):
                if draft is None:
                    await self._set_mark(ledger)
                return read, stopped
        if draft is None:
            await self._finish(ledger)
        return read, None

    async def _stage(
        self, stage: Stage, sources: list[Memory], ledger: Ledger, shared: Draft | None, calls: int
    ) -> None:
        """One stage: propose on a draft, and write the draft. Begun anew as often as another writer was faster."""
        began = time.perf_counter()
        for attempt in range(_TRIES):
            work = self._work(sources, shared, calls)
            self.watch(f"{stage.name}: begin")
            before = set(work.draft.now) if shared is not None else set()
            await stage.propose(work)
            self.watch(f"{stage.name}: proposed")
            changes = proposed(stage.name, work.draft, work.notes, skip=before)
            try:
                if shared is None:
                    await self._write(stage.name, work, ledger)
                break
            except (Conflict, NotFound):  # versions and keys too: somebody wrote what this was decided on
                if attempt == _TRIES - 1:
                    raise
                await asyncio.sleep(0.01 * attempt)
                self._mark = self._mark.model_copy(update={"running": (await ledger.read()).running})
        self._calls += work.notes.calls
        self._proposed += changes
        report = stage_report(stage.name, changes, work.notes, time.perf_counter() - began)
        self._reports[stage.name] = _added(self._reports.get(stage.name), report)

    async def _write(self, name: str, work: Work, ledger: Ledger) -> None:
        notes = work.notes
        if name == "segment":
            self._mark = self._mark.model_copy(update={"pending": tuple(notes.pending)})
        if name == "forget":
            self._mark = self._mark.model_copy(update={"due": notes.due})
        writes = work.draft.writes()
        if not writes:
            return
        self._mark = self._mark.model_copy(update={"running": self._operation})
        self.watch(f"{name}: write")
        await self._apply([*writes, ledger.write(self._mark)], f"consolidate: {name}")
        await ledger.read()
        self.watch(f"{name}: written")

    async def _finish(self, ledger: Ledger) -> None:
        """Set the mark behind everything that was dealt with."""
        through = await self._reached()
        done = Mark(through=through, extracted=through, pending=self._mark.pending, due=self._mark.due)
        self.watch("finish")
        if ledger.record is None or Mark.model_validate(ledger.record.body) != done:
            self._mark = done
            await self._set_mark(ledger)
        self.watch("finished")

    async def _set_mark(self, ledger: Ledger) -> None:
        await self._apply([ledger.write(self._mark)], "consolidate: how far it came")

    async def _apply(self, writes: Sequence[Write], reason: str) -> None:
        """Make these writes, and note whether anybody else wrote since the last ones."""
        before = (await self.store.backend.head(self.scope)).seq
        await self.store.apply(
            self.scope, writes, embed=self.embed, generated=self._operation, actor=ACTOR, reason=reason
        )
        after = (await self.store.backend.head(self.scope)).seq
        self._alone = self._alone and before == self._safe and after - before == _lines(writes)
        if self._alone:
            self._safe = after

    # -- what is new ---------------------------------------------------------------------------------------------

    async def _unchanged(self, ledger: Ledger) -> bool:
        """Whether nothing but the mark itself was written since the last run, and time has made nothing due.

        The mark was written after everything up to ``through``, so one line behind that point can only be its own.
        """
        mark = self._mark
        if ledger.record is None or mark.running is not None:
            return False
        if mark.due is not None and self.clock.now().timestamp() >= mark.due:
            return False
        head = await self.store.backend.head(self.scope)
        if head.seq <= mark.through + 1:
            return True
        own = await ledger.ids()
        later = await self.store.journal(self.scope, after=mark.through, limit=_OWN_LINES)
        return len(later) < _OWN_LINES and all(change.memory_id in own for change in later)

    async def _new(self) -> list[tuple[str, int]]:
        """The sources behind the mark: id and number, oldest first."""
        found: dict[str, int] = {}
        async for part in self.store.backend.feed(self.scope, self._mark.through):
            self._safe = part.head.seq
            for row in part.rows:
                if row.kind in READ and row.state in ("active", "stale") and row.seq > self._mark.extracted:
                    found[row.id] = row.seq
        for id in self._mark.pending:
            found.setdefault(id, 0)
        return sorted(found.items(), key=lambda one: (one[1], one[0]))

    async def _sources(self, ids: Sequence[str]) -> list[Memory]:
        found: list[Memory] = []
        for start in range(0, len(ids), _PART):
            found += await self.store.get_many(self.scope, ids[start : start + _PART])
        return [memory for memory in found if memory.content]  # a page of messages says nothing of its own

    async def _reached(self) -> int:
        """How far everything is dealt with: to the end, if all that was written meanwhile is this run's own."""
        last = self._safe
        while not self._alone:
            part = await self.store.journal(self.scope, after=last, limit=1_000)
            for change in part:
                if change.operation != self._operation:
                    return last
                last = change.seq
            if len(part) < 1_000:
                break
        return last

    # -- the rest ------------------------------------------------------------------------------------------------

    def _work(self, sources: list[Memory], shared: Draft | None, calls: int) -> Work:
        limit = self.settings.consolidate_calls_per_day
        return Work(
            store=self.store,
            scope=self.scope,
            clock=self.clock,
            settings=self.settings,
            draft=shared or Draft(self.store.backend, self.scope),
            sources=sources,
            operation=self._operation,
            extractor=self.extractor,
            calls_left=None if limit is None else max(0, limit - calls - self._calls),
            notes=Notes(),
        )

    @property
    def _budgeted(self) -> bool:
        chosen = self.settings
        return chosen.consolidate_seconds_per_day is not None or chosen.consolidate_calls_per_day is not None

    def _over(self, seconds: float, calls: int) -> str | None:
        """Why no more may be done today; calls of a model only end what needs a model."""
        limit = self.settings.consolidate_seconds_per_day
        if limit is not None and seconds >= limit:
            return f"{seconds:.1f} of {limit:g} seconds for today are used"
        return None

    def _report(self, dry_run: bool, read: int, *, stopped: str | None = None) -> ConsolidationReport:
        return ConsolidationReport(
            id=self._operation,
            dry_run=dry_run,
            read=read,
            proposed=tuple(self._proposed),
            stages=tuple(self._reports[s.name] for s in self.stages if s.name in self._reports),
            stopped=stopped,
        )


def _lines(writes: Sequence[Write]) -> int:
    """How many lines of the journal these writes make; too few if they remove records that have links."""
    return sum(not isinstance(write, Update) or bool(write.changes) for write in writes)


def _added(before: StageReport | None, now: StageReport) -> StageReport:
    """Two slices of one stage as one."""
    if before is None:
        return now
    numbers = ("added", "changed", "superseded", "archived", "deleted", "seconds", "calls")
    told: dict[str, object] = {name: getattr(before, name) + getattr(now, name) for name in numbers}
    reasons = {*before.rejected, *now.rejected}
    told["rejected"] = {r: before.rejected.get(r, 0) + now.rejected.get(r, 0) for r in sorted(reasons)}
    return now.model_copy(update={**told, "failed": now.failed or before.failed})


async def consolidate(
    store: Store,
    scope: Scope,
    settings: AgentSettings,
    embed: Embed,
    *,
    dry_run: bool = False,
    extractor: Extractor | None = None,
) -> ConsolidationReport:
    """Turn what is new into knowledge, and report it."""
    return await Cycle(store, scope, settings, store.clock, embed, extractor).run(dry_run=dry_run)
