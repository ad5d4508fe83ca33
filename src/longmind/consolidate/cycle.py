"""One run of consolidation over an agent: new memories go through the stages, and a report tells what changed.

Each stage proposes its changes on a draft of the store and writes them as one batch. All batches of a run have one
operation, so ``undo(report.id)`` takes the whole run back. A run that crashed is continued under the same operation and
finds done what it had done. A run over an unchanged agent does nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longmind import telemetry
from longmind.clock import Clock
from longmind.config import AgentSettings
from longmind.consolidate.bookmarks import (
    PAUSED,
    Bookmarks,
    DailyUse,
    ModelBookmark,
    RunBookmark,
    RunProgress,
    SourceNumbers,
)
from longmind.consolidate.draft import Draft
from longmind.consolidate.model import ModelCalls
from longmind.consolidate.model_progress import ModelProgress
from longmind.consolidate.reporting import (
    add_reports,
    build_stage_report,
    list_changes,
    record_metrics,
    total_counts,
)
from longmind.consolidate.stages.distill import DistillStage
from longmind.consolidate.stages.extract import ExtractStage
from longmind.consolidate.stages.forget import ForgetStage
from longmind.consolidate.stages.profile import ProfileStage
from longmind.consolidate.stages.reconcile import ReconcileStage
from longmind.consolidate.stages.segment import SegmentStage
from longmind.consolidate.stages.share import ShareStage
from longmind.consolidate.stages.summarise import SummariseStage
from longmind.consolidate.work import Notes, Stage, Work, shared_scope
from longmind.errors import Conflict, ModelError, NotFound
from longmind.kinds import SHAREABLE
from longmind.models.changes import open_change_reader
from longmind.models.statements import open_statement_reader
from longmind.pacing import rare_collections
from longmind.store.base import Delete, Write
from longmind.store.store import Store
from longmind.types import ConsolidationReport, Memory, Proposed, Scope, StageReport

if TYPE_CHECKING:
    from longmind.consolidate.model import Extractor, SummaryWriter
    from longmind.models.changes import ChangeReader
    from longmind.models.statements import StatementReader
    from longmind.store.store import Embed
    from longmind.systems.episodic import Teacher

STAGES: tuple[Stage, ...] = (
    SegmentStage(),
    ExtractStage(),
    ReconcileStage(),
    ProfileStage(),
    SummariseStage(),
    DistillStage(),
    ForgetStage(),
    ShareStage(),
)
ACTOR = "consolidation"
SLICE = 2_000
"""Sources that go through the stages together."""
_TRIES = 8
_TRIES_SHARED = 100
"""Tries of the stage that writes to shared memory, where all agents of the tenant write."""
_log = logging.getLogger("longmind")
_BOOKMARK_REASON = "consolidate: how far it came"
_LAST_SLICE_ONLY = ("distill", "forget", "share")
_WITH_MODEL = ("extract", "summarise")
"""The stages that process what waited for the model."""
_REPORTED_AS = {"share": "distill"}
"""Sharing is reported as part of ``distill``, so that reports have the seven stages of ``types.STAGES``."""


Progress = Callable[[str, float], None]
"""Called after each stage with its name and the share of the run that is done, from 0 to 1."""


def _ignore(point: str) -> None:
    """Watch nothing."""


@dataclass(slots=True)
class Cycle:
    """Consolidation of one agent, or of one of its users."""

    store: Store
    scope: Scope
    settings: AgentSettings
    clock: Clock
    embed: Embed
    extractor: Extractor | None = None
    summary_writer: SummaryWriter | None = None
    teacher: Teacher | None = None
    stages: Sequence[Stage] = STAGES
    watch: Callable[[str], None] = _ignore
    """Called with the name of each point of a run before it is passed; for tests that stop it there."""
    progress: Progress | None = None
    _changes: list[Proposed] = field(default_factory=list)
    _reports: dict[str, StageReport] = field(default_factory=dict)
    _progress: RunProgress = field(init=False)
    _bookmarks: Bookmarks = field(init=False)
    _learnt: dict[str, None] = field(default_factory=dict)
    """The ids of what this run wrote and may offer to shared memory."""
    _dues: dict[str, float | None] = field(default_factory=dict)
    """By stage: when it has something to do though nothing was written."""
    _reader: StatementReader | None = None
    _change_reader: ChangeReader | None = None
    _model: ModelProgress = field(init=False)
    _pending: tuple[str, ...] = ()
    """The turns of this run that wait for their answers."""
    _unanswered: frozenset[str] = frozenset()
    """Those of the sources at hand that are there only for that."""
    _known: dict[str, Memory] = field(default_factory=dict)
    """Records as this run read or wrote them, as long as no other writer is known to have written since."""
    _upkeep: bool = False
    """Whether this run does the upkeep of dialogue memory."""
    _stages_done: int = 0
    _stages_total: int = 0
    """How often a stage runs: once for each slice."""

    def __post_init__(self) -> None:
        self._progress = RunProgress(self.store, self.scope, self.clock)
        self._bookmarks = Bookmarks(self.store, self.scope, self.clock)
        self._model = ModelProgress(self._bookmarks.model)

    async def run(self, *, dry_run: bool = False) -> ConsolidationReport:
        """Process everything that is new; with ``dry_run`` only report what would change."""
        attributes: dict[str, telemetry.Value | None] = {
            "longmind.agent": self.scope.agent,
            "longmind.dry_run": dry_run,
        }
        with telemetry.span("longmind.consolidate", attributes) as span, rare_collections():
            report = await self._run(dry_run)
            span.set("longmind.read", report.read)
            span.set("longmind.changes", len(report.proposed))
            span.set("longmind.stopped", report.stopped is not None)
            return report

    async def _run(self, dry_run: bool) -> ConsolidationReport:
        progress, bookmarks = self._progress, self._bookmarks
        progress.bookmark = await bookmarks.run.read()
        progress.operation = progress.bookmark.running or self.clock.new_id()
        if self.settings.consolidate_paused:
            return self._report(dry_run, 0, stopped=PAUSED)
        has_model = self.extractor is not None or self.summary_writer is not None
        waiting = await bookmarks.model.read() if has_model else ModelBookmark()
        if not waiting.is_due(self.clock.now()) and await progress.is_up_to_date(bookmarks.run.memory):
            return self._report(dry_run, 0)
        use = await bookmarks.use_today()
        if stopped := self._over_budget(use.seconds):
            return self._report(dry_run, 0, stopped=stopped)
        can_ask = has_model and not waiting.is_backing_off(self.clock.now())
        self._model.begin(self._model_calls(use, waiting) if can_ask else None, waiting, progress.bookmark.through)
        if self.settings.statement_reader:
            self._reader = await _open_reader()
            self._change_reader = await asyncio.to_thread(open_change_reader) if self._reader is not None else None
        began = time.monotonic()
        read, stopped = await self._process(use.seconds, dry_run=dry_run)
        if not dry_run and self._has_budget and (read or self._model.call_count):
            await bookmarks.add_use(time.monotonic() - began, self._model.call_count)
        return self._report(dry_run, read, stopped=stopped)

    def stopped_report(self, reason: str) -> ConsolidationReport:
        """Return the report of a run that was given up for a reason."""
        return self._report(False, 0, stopped=reason)

    # -- slices and stages ---------------------------------------------------------------------------------------

    async def _process(self, seconds: float, *, dry_run: bool) -> tuple[int, str | None]:
        """Send everything new through the stages, a slice at a time.

        Return how many sources were read, and why the run stopped early, if it did.
        """
        began, progress = time.monotonic(), self._progress
        self._upkeep = progress.is_upkeep_due()
        draft: Draft | None = Draft(self.store.backend, self.scope) if dry_run else None
        waiting, new = await progress.read_new(self._model.waiting_after)
        read = 0
        with_model = [s for s in self.stages if s.name in _WITH_MODEL]
        slices, waiting_slices = _slices(new) or [[]], _slices(waiting)
        for_each = [s for s in self.stages if s.name not in _LAST_SLICE_ONLY]
        self._stages_total = (
            len(with_model) * len(waiting_slices) + len(for_each) * (len(slices) - 1) + len(self.stages)
        )
        for part in waiting_slices:
            read += await self._process_slice(part, with_model, draft)
        for number, part in enumerate(slices):
            last = number == len(slices) - 1
            pending = [(id, 0) for id in self._pending] if number else []  # their answers may be in this slice
            read += await self._process_slice([*pending, *part], self.stages if last else for_each, draft)
            read -= len(pending)
            progress.move(extracted=max((progress.bookmark.extracted, *(seq for _, seq in part))))
            stopped = None if last else self._over_budget(seconds + time.monotonic() - began)
            if stopped is not None:
                if draft is None:
                    bookmark = self._bookmarks.run.overwrite(progress.bookmark)
                    await self._apply([bookmark, *self._model.writes(ended=False)], _BOOKMARK_REASON)
                return read, stopped
        if draft is None:
            await self._finish()
        return read, self._model.stopped_because

    async def _process_slice(self, part: SourceNumbers, stages: Sequence[Stage], draft: Draft | None) -> int:
        """Send some sources through some stages; return how many sources there were."""
        sources = await self._progress.load([id for id, _ in part])
        self._known = {memory.id: memory for memory in sources}
        self._unanswered = frozenset(id for id, seq in part if not seq)
        self._model.take(part, self._progress.bookmark.through)
        for stage in stages:
            with telemetry.span(f"longmind.consolidate.{stage.name}", {"longmind.sources": len(sources)}) as span:
                report = await self._run_stage(stage, sources, draft)
                span.set("longmind.changes", report.added + report.changed + report.superseded + report.archived)
                span.set("longmind.calls", report.calls)
            record_metrics(report)
            self._reports[report.stage] = add_reports(self._reports.get(report.stage), report)
            self._stages_done += 1
            if self.progress is not None:
                self.progress(report.stage, self._stages_done / self._stages_total)
        return len(sources)

    async def _run_stage(self, stage: Stage, sources: list[Memory], dry_draft: Draft | None) -> StageReport:
        """Let a stage propose its changes on a draft, and write the draft; retry when another writer was faster."""
        began, progress = time.perf_counter(), self._progress
        reported_as = _REPORTED_AS.get(stage.name, stage.name)
        calls = self._model.call_count
        tries = _TRIES if stage.name != "share" else _TRIES_SHARED
        for attempt in range(tries):
            work = self._work(sources, dry_draft)
            self.watch(f"{stage.name}: begin")
            before = set(work.draft.now) if dry_draft is not None else set()
            try:
                await stage.propose(work)
                self.watch(f"{stage.name}: proposed")
                changes = await asyncio.to_thread(_list_changes, reported_as, work, before)
                if dry_draft is None:
                    await self._write(stage.name, work)
                break
            except (Conflict, NotFound):  # versions and keys too: another writer changed what this was decided on
                if attempt == tries - 1 or dry_draft is not None:
                    raise
                await asyncio.sleep(0.01 * min(attempt, _TRIES))
                sources = await progress.load([memory.id for memory in sources])
                self._known = {memory.id: memory for memory in sources}
                progress.move(running=(await self._read_bookmark()).running)
                await self._bookmarks.model.read()
        if stage.name == "segment":
            self._pending = tuple(work.notes.pending)
        self._changes += changes
        self._learnt.update(dict.fromkeys(change.memory_id for change in changes if change.kind in SHAREABLE))
        new_calls = self._model.call_count - calls
        return build_stage_report(reported_as, changes, work.notes, time.perf_counter() - began, new_calls)

    # -- writing -------------------------------------------------------------------------------------------------

    async def _write(self, name: str, work: Work) -> None:
        """Write the drafts of a stage, with the bookmarks."""
        progress, notes = self._progress, work.notes
        if name == "segment":
            progress.move(pending=tuple(notes.pending))
        if name == "profile" and progress.reflections:
            progress.move(reflected=progress.read_through)
            progress.reflections = {}
        if name == "forget" and self._upkeep:
            progress.move(upkeep_due=notes.upkeep_due)
        if name in ("segment", "forget"):
            self._dues[name] = notes.due
            dues = (*self._dues.values(), progress.bookmark.upkeep_due)
            progress.move(due=min(filter(None, dues), default=None))
        writes, shared = await asyncio.to_thread(_writes, work)
        if name == "extract":
            writes += self._model.move(work)
        if writes:
            progress.move(running=progress.operation)
            self.watch(f"{name}: write")
            await self._apply([*writes, self._bookmarks.run.overwrite(progress.bookmark)], f"consolidate: {name}")
            await self._bookmarks.run.read()
            await self._model.read_again()
            self.watch(f"{name}: written")
        if shared:
            self.watch(f"{name}: write")
            await self.store.apply(
                shared_scope(self.scope),
                shared,
                embed=self.embed,
                generated=progress.operation,
                actor=ACTOR,
                reason=f"consolidate: {name}",
            )
            self.watch(f"{name}: written")

    async def _finish(self) -> None:
        """Move the bookmark behind everything that was processed."""
        progress, record = self._progress, self._bookmarks.run
        through = await progress.reached()
        made, refused = total_counts(self._reports.values())
        done = progress.bookmark.model_copy(
            update={"through": through, "extracted": through, "running": None, "made": made, "refused": refused}
        )
        self.watch("finish")
        if record.memory is None or record.body != done or self._model.writes(ended=True):
            try:
                await self._apply([record.overwrite(done), *self._model.writes(ended=True)], _BOOKMARK_REASON)
            except (Conflict, NotFound):
                await self._read_bookmark()
                raise
            progress.bookmark = done
        self.watch("finished")

    async def _read_bookmark(self) -> RunBookmark:
        """Read the bookmark after another writer wrote it.

        If an undo moved it back, this run must not move it forward again: the next run has to read what the undone
        run had read.
        """
        stored = await self._bookmarks.run.read()
        if stored.through < self._progress.bookmark.through:
            raise Conflict("An earlier run was undone while this one was at work.", hint="Consolidate again.")
        return stored

    async def _apply(self, writes: Sequence[Write], reason: str) -> None:
        """Apply a batch to the agent's scope, and note whether another writer wrote since the last batch."""
        before = (await self.store.backend.head(self.scope)).seq
        receipt = await self.store.apply(
            self.scope, writes, embed=self.embed, generated=self._progress.operation, actor=ACTOR, reason=reason
        )
        after = (await self.store.backend.head(self.scope)).seq
        self._progress.note_write(before, after, writes, receipt)
        if not self._progress.alone:
            self._known = {}
            return
        self._known.update((memory.id, memory) for memory in receipt.memories)
        for write in writes:
            if isinstance(write, Delete):
                self._known.pop(write.id, None)

    # -- pieces --------------------------------------------------------------------------------------------------

    def _model_calls(self, use: DailyUse, waiting: ModelBookmark) -> ModelCalls:
        limit = self.settings.consolidate_calls_per_day
        left = None if limit is None else max(0, limit - use.calls)
        return ModelCalls(
            self.clock,
            self.extractor,
            self.summary_writer,
            self.teacher,
            calls_left=left,
            unsummarised=set(waiting.unsummarised),
        )

    def _work(self, sources: list[Memory], dry_draft: Draft | None) -> Work:
        """Return the work of a stage. Its draft need not read again what this run read or wrote before."""
        progress = self._progress
        return Work(
            store=self.store,
            scope=self.scope,
            clock=self.clock,
            settings=self.settings,
            draft=dry_draft or Draft(self.store.backend, self.scope, self._known),
            shared_draft=Draft(self.store.backend, shared_scope(self.scope)),
            sources=sources,
            unanswered=self._unanswered,
            operation=progress.operation,
            kinds=frozenset(progress.kinds),
            learnt=[*sorted(progress.learnt - self._learnt.keys()), *self._learnt],
            deleted=frozenset(progress.deleted),
            first_run=progress.bookmark.through == 0,
            upkeep=self._upkeep,
            reflections=tuple(progress.reflections),
            model=self._model.calls,
            reader=self._reader,
            changes=self._change_reader,
            embed=self.embed,
            notes=Notes(),
        )

    @property
    def _has_budget(self) -> bool:
        settings = self.settings
        return settings.consolidate_seconds_per_day is not None or settings.consolidate_calls_per_day is not None

    def _over_budget(self, seconds: float) -> str | None:
        """Return why no more may be done today. A spent budget of calls only stops what needs a model."""
        limit = self.settings.consolidate_seconds_per_day
        if limit is not None and seconds >= limit:
            return f"{seconds:.1f} of {limit:g} seconds for today are used"
        return None

    def _report(self, dry_run: bool, read: int, *, stopped: str | None = None) -> ConsolidationReport:
        return ConsolidationReport(
            id=self._progress.operation,
            dry_run=dry_run,
            read=read,
            proposed=tuple(self._changes),
            stages=tuple(self._reports[s.name] for s in self.stages if s.name in self._reports),
            stopped=stopped,
        )


async def _open_reader() -> StatementReader | None:
    """Return the trained reader of statements; None where it is not installed, or cannot be loaded."""
    try:
        return await asyncio.to_thread(open_statement_reader)
    except ModelError as error:
        _log.warning("Statements are read by patterns only: %s %s", error.message, error.hint or "")
        return None


def _list_changes(stage: str, work: Work, before: Collection[str]) -> list[Proposed]:
    """Return the changes of both drafts of a stage."""
    changes = list_changes(stage, work.draft, work.notes, skip=before)
    return changes + list_changes(stage, work.shared_draft, work.notes, explained_only=True)


def _writes(work: Work) -> tuple[list[Write], list[Write]]:
    """Return the batches that write both drafts of a stage."""
    return work.draft.writes(), work.shared_draft.writes()


def _slices(numbers: SourceNumbers) -> list[SourceNumbers]:
    return [numbers[start : start + SLICE] for start in range(0, len(numbers), SLICE)]
