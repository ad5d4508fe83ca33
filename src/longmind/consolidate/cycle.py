"""One run over an agent: what is new goes through the stages, each one atomic write, and a report tells what changed.

All writes of a run have one operation, so ``undo(report.id)`` takes the whole run back. A run that crashed is gone on
with under the same operation; whatever it had done is found done. A run over an unchanged agent does nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longmind import telemetry
from longmind.clock import Clock
from longmind.config import AgentSettings
from longmind.consolidate.draft import Draft
from longmind.consolidate.model import ModelPart
from longmind.consolidate.progress import Numbered, Progress
from longmind.consolidate.reporting import added_up, measured, proposed, stage_report
from longmind.consolidate.rules.extraction import is_source
from longmind.consolidate.stages.distill import Distilling
from longmind.consolidate.stages.extract import Extraction
from longmind.consolidate.stages.forget import Forgetting
from longmind.consolidate.stages.profile import Profiling
from longmind.consolidate.stages.reconcile import Merging
from longmind.consolidate.stages.segment import Segmenting
from longmind.consolidate.stages.share import promote
from longmind.consolidate.stages.summarise import Retelling
from longmind.consolidate.waiting import PAUSED, Waiting, Waits
from longmind.consolidate.watermark import Ledger, Mark, Spent
from longmind.consolidate.work import Notes, Stage, Work
from longmind.errors import Conflict, NotFound
from longmind.store.base import Write
from longmind.store.store import Store
from longmind.types import ConsolidationReport, Memory, Proposed, Scope, StageReport

if TYPE_CHECKING:
    from longmind.consolidate.model import Extractor, Teller
    from longmind.models.chat import Chat
    from longmind.store.store import Embed

STAGES: tuple[Stage, ...] = (
    Segmenting(),
    Extraction(),
    Merging(),
    Profiling(),
    Retelling(),
    Distilling(),
    Forgetting(),
)
ACTOR = "consolidation"
SLICE = 2_000
"""Sources that are dealt with in one write."""
_TRIES = 8
_HOW_FAR = "consolidate: how far it came"
_RETOLD = 200
"""Conversations that can wait for their summaries; the rest get theirs when they grow."""
_AT_THE_END = ("distill", "forget")
_FOR_THE_MODEL = ("extract", "summarise")
"""The stages that go over what waited for the model."""


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
    teller: Teller | None = None
    stages: Sequence[Stage] = STAGES
    watch: Callable[[str], None] = _unwatched
    """Told of each point that a run passes, before it is passed; for tests that stop it there."""
    _proposed: list[Proposed] = field(default_factory=list)
    _reports: dict[str, StageReport] = field(default_factory=dict)
    _progress: Progress = field(init=False)
    _ledger: Ledger = field(init=False)
    _waits: Waits = field(init=False)
    _facts: dict[str, Memory] = field(default_factory=dict)
    """The facts that this run wrote."""
    _dues: dict[str, float | None] = field(default_factory=dict)
    """By stage: when time alone makes it necessary again."""
    _model: ModelPart | None = None
    _after: int | None = None
    """Up to where the model has read."""
    _behind: bool = False
    """Whether the model has left something unread in this run."""
    _pending: tuple[str, ...] = ()
    """The turns of this run that wait for their answers."""
    _part: Numbered = field(default_factory=list)
    """The slice that is being dealt with."""

    def __post_init__(self) -> None:
        self._progress = Progress(self.store, self.scope, self.clock)
        self._ledger = Ledger(self.store, self.scope, self.clock)
        self._waits = Waits(self.store, self.scope, self.clock)

    async def run(self, *, dry_run: bool = False) -> ConsolidationReport:
        """Do all there is to do, or only tell it."""
        named: dict[str, telemetry.Value | None] = {"longmind.agent": self.scope.agent, "longmind.dry_run": dry_run}
        with telemetry.span("longmind.consolidate", named) as span:
            report = await self._run(dry_run)
            span.set("longmind.read", report.read)
            span.set("longmind.changes", len(report.proposed))
            span.set("longmind.stopped", report.stopped is not None)
            return report

    async def _run(self, dry_run: bool) -> ConsolidationReport:
        progress = self._progress
        progress.mark = await self._ledger.read()
        progress.operation = progress.mark.running or self.clock.new_id()
        if self.settings.consolidate_paused:
            return self._report(dry_run, 0, stopped=PAUSED)
        helped = self.extractor is not None or self.teller is not None
        waiting = await self._waits.read() if helped else Waiting()
        if not waiting.due(self.clock.now()) and await progress.unchanged(self._ledger):
            return self._report(dry_run, 0)
        spent = await self._ledger.spent()
        if stopped := self._over(spent.seconds):
            return self._report(dry_run, 0, stopped=stopped)
        if helped and not waiting.resting(self.clock.now()):
            self._model = self._model_part(spent, waiting)
        self._after = waiting.after if waiting.after is not None or self._model is None else progress.mark.through
        began = time.monotonic()
        read, stopped = await self._cycle(spent.seconds, dry_run=dry_run)
        calls = 0 if self._model is None else self._model.calls
        if not dry_run and self._budgeted and (read or calls):
            await self._ledger.spend(time.monotonic() - began, calls)
        return self._report(dry_run, read, stopped=stopped)

    # -- the way of a run ----------------------------------------------------------------------------------------

    async def _cycle(self, seconds: float, *, dry_run: bool) -> tuple[int, str | None]:
        """All stages over all that is new, a slice at a time. Says how much was read, and why it stopped early."""
        began = time.monotonic()
        draft: Draft | None = Draft(self.store.backend, self.scope) if dry_run else None
        waits = self._model is not None and self._waits.now.until is not None
        waiting, new = await self._progress.new(self._after if waits else None)
        read = 0
        for part in _slices(waiting):
            read += await self._slice(part, [s for s in self.stages if s.name in _FOR_THE_MODEL], draft)
        slices = _slices(new) or [[]]
        for number, part in enumerate(slices):
            last = number == len(slices) - 1
            held = self._held() if number else []
            stages = [s for s in self.stages if last or s.name not in _AT_THE_END]
            read += await self._slice([*held, *part], stages, draft) - len(held)
            if last:
                await self._promote(draft)
            mark = self._progress.mark
            reached = max((mark.extracted, *(seq for _, seq in part)))
            self._progress.mark = mark.model_copy(update={"extracted": reached})
            stopped = None if last else self._over(seconds + time.monotonic() - began)
            if stopped is not None:
                if draft is None:
                    writes = [self._ledger.write(self._progress.mark), *self._waiting(ended=False)]
                    await self._apply(writes, _HOW_FAR)
                return read, stopped
        if draft is None:
            await self._finish()
        stop = None if self._model is None else self._model.stopped
        return read, None if stop is None else stop.why

    def _held(self) -> Numbered:
        """The turns of the slices before that still wait for their answers, which may be in this one."""
        return [(id, 0) for id in self._pending]

    async def _slice(self, part: Numbered, stages: Sequence[Stage], draft: Draft | None) -> int:
        """Some sources through some stages; how many sources there were."""
        sources = await self._progress.sources([id for id, _ in part])
        self._part = part
        if self._model is not None:
            self._model.wanted = {id for id, seq in part if self._is_unread(seq)}
        for stage in stages:
            with telemetry.span(f"longmind.consolidate.{stage.name}", {"longmind.sources": len(sources)}) as span:
                report = await self._stage(stage, sources, draft)
                span.set("longmind.changes", report.added + report.changed + report.superseded + report.archived)
                span.set("longmind.calls", report.calls)
            measured(stage.name, report)
            self._reports[stage.name] = added_up(self._reports.get(stage.name), report)
        return len(sources)

    async def _promote(self, shared: Draft | None) -> None:
        """Offer to all agents of the tenant what this one has learnt since the last run."""
        progress = self._progress
        ids = sorted(progress.facts - self._facts.keys())
        facts = {memory.id: memory for memory in await progress.sources(ids)} | self._facts
        told = await promote(self._work([], shared), facts, progress.gone, dry_run=shared is not None)
        self._proposed += told.lines
        counts = Counter(line.action for line in told.lines)
        refused = {"personal": told.refused} if told.refused else {}
        report = StageReport(stage="distill", added=counts["add"], changed=counts["change"], rejected=refused)
        self._reports["distill"] = added_up(self._reports.get("distill"), report)

    def _is_unread(self, seq: int) -> bool:
        """Whether the model should read a source. One that waits for its answer (0) it read when that was new, and
        what a run that was broken off let it read it has read; what was put before and has changed since, it has not.
        """
        return seq > (self._after or 0) or 0 < seq <= self._progress.mark.through

    async def _stage(self, stage: Stage, sources: list[Memory], shared: Draft | None) -> StageReport:
        """One stage: propose on a draft, and write the draft. Begun anew as often as another writer was faster."""
        began, progress = time.perf_counter(), self._progress
        calls = 0 if self._model is None else self._model.calls
        for attempt in range(_TRIES):
            work = self._work(sources, shared)
            self.watch(f"{stage.name}: begin")
            before = set(work.draft.now) if shared is not None else set()
            try:
                await stage.propose(work)
                self.watch(f"{stage.name}: proposed")
                changes = proposed(stage.name, work.draft, work.notes, skip=before)
                if shared is None:
                    await self._write(stage.name, work)
                break
            except (Conflict, NotFound):  # versions and keys too: somebody wrote what this was decided on
                if attempt == _TRIES - 1 or shared is not None:
                    raise
                await asyncio.sleep(0.01 * attempt)
                sources = await progress.sources([memory.id for memory in sources])
                progress.mark = progress.mark.model_copy(update={"running": (await self._reread()).running})
                await self._waits.read()
        if stage.name == "segment":
            self._pending = tuple(work.notes.pending)
        self._proposed += changes
        for change in changes:
            fact = work.draft.now.get(change.memory_id) if change.kind == "fact" else None
            if fact is not None:
                self._facts[fact.id] = fact
        asked = (0 if self._model is None else self._model.calls) - calls
        return stage_report(stage.name, changes, work.notes, time.perf_counter() - began, asked)

    async def _write(self, name: str, work: Work) -> None:
        progress, notes = self._progress, work.notes
        if name == "segment":
            progress.mark = progress.mark.model_copy(update={"pending": tuple(notes.pending)})
        if name in ("segment", "forget"):
            self._dues[name] = notes.due
            due = min(filter(None, self._dues.values()), default=None)
            progress.mark = progress.mark.model_copy(update={"due": due})
        writes = work.draft.writes()
        if name == "extract" and self._model is not None:
            writes += self._read_on(work.sources)
        if not writes:
            return
        progress.mark = progress.mark.model_copy(update={"running": progress.operation})
        self.watch(f"{name}: write")
        await self._apply([*writes, self._ledger.write(progress.mark)], f"consolidate: {name}")
        await self._ledger.read()
        if self._model is not None:
            await self._waits.read()
        self.watch(f"{name}: written")

    def _read_on(self, sources: Sequence[Memory]) -> list[Write]:
        """The write that says how far the model has read now, if that has changed."""
        part, after = self._model, self._after or 0
        assert part is not None
        unread = {m.id for m in sources if m.id in part.wanted and m.id not in part.read and is_source(m)}
        behind = [seq for id, seq in self._part if id in unread and seq > after]
        if behind and not self._behind:
            self._behind, self._after = True, min(behind) - 1
        elif not self._behind:
            self._after = max([after, *(seq for _, seq in self._part)])
        return self._waiting(ended=False)

    def _waiting(self, *, ended: bool) -> list[Write]:
        """The write of what waits for the model, if that has changed.

        Until a run has ended, what waited before it still does: a run that is broken off must not forget it.
        """
        part, told = self._model, self._waits.now
        if part is None:
            return []
        if part.stopped is not None:
            stop = part.stopped
            told = told.model_copy(update={"until": stop.until, "why": stop.why, "rest": stop.rest})
        elif ended:
            told = Waiting()
        retell = tuple(sorted(part.places, key=str)[:_RETOLD])
        write = self._waits.write(told.model_copy(update={"after": self._after, "retell": retell}))
        return [] if write is None else [write]

    async def _finish(self) -> None:
        """Set the mark behind everything that was dealt with."""
        progress = self._progress
        through = await progress.reached()
        done = Mark(through=through, extracted=through, pending=progress.mark.pending, due=progress.mark.due)
        self.watch("finish")
        stored = self._ledger.record
        if stored is None or Mark.model_validate(stored.body) != done or self._waiting(ended=True):
            try:
                await self._apply([self._ledger.write(done), *self._waiting(ended=True)], _HOW_FAR)
            except (Conflict, NotFound):
                await self._reread()
                raise
            progress.mark = done
        self.watch("finished")

    async def _reread(self) -> Mark:
        """The mark after somebody else wrote it. If it was taken back, this run must not set it forward again: what
        the undone run had read is for the next one to read."""
        stored = await self._ledger.read()
        if stored.through < self._progress.mark.through:
            raise Conflict("An earlier run was undone while this one was at work.", hint="Consolidate again.")
        return stored

    async def _apply(self, writes: Sequence[Write], reason: str) -> None:
        """Make these writes, and note whether anybody else wrote since the last ones."""
        before = (await self.store.backend.head(self.scope)).seq
        await self.store.apply(
            self.scope, writes, embed=self.embed, generated=self._progress.operation, actor=ACTOR, reason=reason
        )
        after = (await self.store.backend.head(self.scope)).seq
        self._progress.wrote(before, after, writes)

    # -- the rest ------------------------------------------------------------------------------------------------

    def _model_part(self, spent: Spent, waiting: Waiting) -> ModelPart:
        limit = self.settings.consolidate_calls_per_day
        left = None if limit is None else max(0, limit - spent.calls)
        return ModelPart(self.clock, self.extractor, self.teller, calls_left=left, places=set(waiting.retell))

    def _work(self, sources: list[Memory], shared: Draft | None) -> Work:
        return Work(
            store=self.store,
            scope=self.scope,
            clock=self.clock,
            settings=self.settings,
            draft=shared or Draft(self.store.backend, self.scope),
            sources=sources,
            operation=self._progress.operation,
            embed=self.embed,
            kinds=frozenset(self._progress.kinds),
            model=self._model,
            notes=Notes(),
        )

    @property
    def _budgeted(self) -> bool:
        chosen = self.settings
        return chosen.consolidate_seconds_per_day is not None or chosen.consolidate_calls_per_day is not None

    def _over(self, seconds: float) -> str | None:
        """Why no more may be done today; calls of a model only end what needs a model."""
        limit = self.settings.consolidate_seconds_per_day
        if limit is not None and seconds >= limit:
            return f"{seconds:.1f} of {limit:g} seconds for today are used"
        return None

    def _report(self, dry_run: bool, read: int, *, stopped: str | None = None) -> ConsolidationReport:
        return ConsolidationReport(
            id=self._progress.operation,
            dry_run=dry_run,
            read=read,
            proposed=tuple(self._proposed),
            stages=tuple(self._reports[s.name] for s in self.stages if s.name in self._reports),
            stopped=stopped,
        )


def _slices(found: Numbered) -> list[Numbered]:
    return [found[start : start + SLICE] for start in range(0, len(found), SLICE)]


async def consolidate(
    store: Store,
    scope: Scope,
    settings: AgentSettings,
    embed: Embed,
    *,
    dry_run: bool = False,
    chat: Chat | None = None,
) -> ConsolidationReport:
    """Turn what is new into knowledge, and report it; with a language model it is asked as well."""
    made = Cycle(store, scope, settings, store.clock, embed)
    if chat is not None:
        from longmind.consolidate.model import ChatExtractor, ChatTeller

        made.extractor, made.teller = ChatExtractor(chat), ChatTeller(chat)
    return await made.run(dry_run=dry_run)
