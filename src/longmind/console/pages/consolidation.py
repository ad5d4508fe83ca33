"""Consolidation: what each run made of what the agent was told, what it refused, and what the next would do."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from longmind.console.parts.dialogs import confirm
from longmind.console.parts.elements import box, button, link, text
from longmind.console.parts.figures import figure, meter, plural
from longmind.console.parts.kinds import kind_badge, tag
from longmind.console.parts.memory_changes import changed_fields
from longmind.console.parts.messages import empty, say
from longmind.console.parts.panels import grid, panel, title
from longmind.console.parts.times import ago, time_ago
from longmind.console.view import View
from longmind.consolidate.bookmarks import RUN_KEYS
from longmind.kinds import INTERNAL
from longmind.types import Change, ConsolidationReport, Memory, Proposed

_RUNS = 20
_LINES = 3_000
_SHOWN = 100
_ACTION_LOOKS = {"add": "good", "supersede": "warn", "archive": "warn", "delete": "bad"}
_REASONS = {
    "question": "it is a question",
    "hypothetical": "it is only supposed",
    "negated": "it is denied",
    "reported": "somebody else is said to have said it",
    "unclear": "it is not clear what is meant",
    "unsure": "not sure enough to be a fact",
    "language": "in a language that the rules do not know",
    "quote": "the words it was drawn from are not in the source",
    "unsupported": "the source does not support it",
    "answer": "the language model's answer could not be read",
    "invalid": "it broke a rule of the memory it would go to",
    "conflict": "it conflicted with what was written meanwhile",
    "limit": "too many statements in one text",
    "personal": "too personal to be shared between agents",
}
FIRST = """\
longmind remember "I moved to Lisbon in May." --agent assistant --user alice
longmind consolidate --agent assistant --user alice"""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run as the journal tells it."""

    operation: str
    at: datetime
    first: int
    """The number of the journal's line behind which it began."""
    last: int
    made: dict[str, int]
    """How many memories it added, changed, superseded, archived and deleted."""
    refused: dict[str, int]
    """How many candidates it refused, by reason."""


async def build(view: View) -> None:
    """Build the page."""
    with title("Consolidation", "What the agent made of what it was told, run by run; and what it refused to believe."):
        actions = box("div", "lm-row")
    await ConsolidationPage(view, actions).show()


class ConsolidationPage:
    """The runs over the chosen agent and user."""

    def __init__(self, view: View, actions: Any) -> None:
        self._view = view
        self._memory = view.memory
        self._actions = actions
        self._trial = box("div", "lm-stack lm-trial-run")
        self._place = box("div", "lm-stack")

    async def show(self) -> None:
        """Read the runs and show them."""
        marks, settings, stats = await asyncio.gather(
            self._memory.list(where={"keys": sorted(RUN_KEYS)}), self._memory.configuration(), self._memory.stats()
        )
        runs = await self._runs(marks.items)
        self._buttons(paused=settings.consolidate_paused)
        self._place.clear()
        with self._place:
            if not runs and not stats.memories:
                empty(
                    "Nothing to consolidate yet",
                    "Remember something, then consolidate here or with the command line. The server also does it by "
                    "itself every six hours.",
                    FIRST,
                )
                return
            self._figures(runs, paused=settings.consolidate_paused)
            with panel("Refused", "what was read and not believed, in the runs below"):
                _refused(_summed(runs))
            with panel("Runs", "newest first"):
                if not runs:
                    text(
                        "It has not run for this choice of agent and user yet. Consolidate now begins.", "lm-note", "p"
                    )
                with box("ul", "lm-feed lm-versions"):
                    for number, run in enumerate(runs):
                        self._run(run, newest=number == 0)

    def _buttons(self, *, paused: bool) -> None:
        self._actions.clear()
        if not self._view.may_write:
            return
        with self._actions:
            button(
                "Resume" if paused else "Pause",
                partial(self._pause, not paused),
                icon="play_arrow" if paused else "pause",
            )
            button("Try without writing", partial(self._consolidate, dry_run=True), icon="science")
            button("Consolidate now", partial(self._consolidate, dry_run=False), look="primary", icon="auto_awesome")

    def _figures(self, runs: Sequence[PastRun], *, paused: bool) -> None:
        refused = sum(_summed(runs).values())
        with grid():
            figure("State", "Paused" if paused else "On", "for all users of this agent", classes="lm-span-4")
            figure(
                "Last run", ago(runs[0].at) if runs else "never", _made(runs[0]) if runs else "", classes="lm-span-4"
            )
            figure("Refused", f"{refused:,}", f"in the last {plural(len(runs), 'run')}", classes="lm-span-4")

    async def _pause(self, paused: bool) -> None:
        await self._memory.configure(consolidate_paused=paused)
        say("Consolidation is paused for this agent." if paused else "Consolidation goes on.")
        await self.show()

    async def _consolidate(self, *, dry_run: bool) -> None:
        report = await self._memory.consolidate(dry_run=dry_run)
        if report.stopped:
            say(f"It stopped: {report.stopped}.")
        elif not dry_run:
            say(f"Read {plural(report.read, 'memory', 'memories')}, made {plural(len(report.proposed), 'change')}.")
        self._trial.clear()
        with self._trial:
            name = "What a run would change" if dry_run else "What this run changed"
            with panel(
                name, f"{plural(report.read, 'memory', 'memories')} read; nothing was written" if dry_run else ""
            ):
                self._report(report)
        if not dry_run:
            await self.show()

    def _report(self, report: ConsolidationReport) -> None:
        if not report.proposed:
            text("Nothing: what was told has been consolidated already.", "lm-note", "p")
        with box("ul", "lm-feed lm-versions"):
            for line in report.proposed[:_SHOWN]:
                self._proposed(line)
        if len(report.proposed) > _SHOWN:
            text(f"and {plural(len(report.proposed) - _SHOWN, 'change')} more", "lm-note", "p")
        reasons: Counter[str] = Counter()
        for stage in report.stages:
            reasons.update(stage.rejected)
            if stage.failed:
                text(f"{stage.stage}: {stage.failed}", "lm-note lm-wrap", "p")
        if reasons:
            text("Refused", "", "h3")
            _refused(reasons)

    def _proposed(self, line: Proposed) -> None:
        with box("li"):
            with box("span", "lm-tags"):
                tag(line.action, _ACTION_LOOKS.get(line.action, ""))
                kind_badge(line.kind)
            with box("div"):
                text(line.content, "lm-clip-2")
                text(line.why, "lm-note lm-wrap", "p")
            link("evidence", self._view.link("/explorer", id=line.because_of), "lm-note")

    def _run(self, run: PastRun, *, newest: bool) -> None:
        with box("li", "lm-run"):
            with box("span", "lm-tags"):
                time_ago(run.at)
            with box("div", "lm-stack"):
                text(_made(run), "")
                if run.refused:
                    text(f"{sum(run.refused.values()):,} refused", "lm-note", "p")
                changes = box("div", "lm-stack")
            with box("span", "lm-tags"):
                button("Changes", partial(self._changes, run, changes))
                if self._view.may_write:
                    button("Undo", partial(self._ask_undo, run, newest=newest))

    async def _changes(self, run: PastRun, place: Any) -> None:
        if place.default_slot.children:
            place.clear()
            return
        lines = await self._lines(run)
        memories = (
            {
                memory.id: memory
                for memory in (await self._memory.list(where={"ids": sorted({line.memory_id for line in lines})})).items
            }
            if lines
            else {}
        )
        place.clear()
        with place:
            if not lines:
                text("Nothing that is still known: it only moved its bookmark.", "lm-note", "p")
            with box("ul", "lm-feed lm-versions"):
                for line in lines[:_SHOWN]:
                    _journal_line(self._view, line, memories.get(line.memory_id))
            if len(lines) > _SHOWN:
                text(f"and {plural(len(lines) - _SHOWN, 'change')} more", "lm-note", "p")

    async def _lines(self, run: PastRun) -> list[Change]:
        """Return the changes of a run, from the journal: memories only, not the links between them."""
        lines: list[Change] = []
        stream = self._memory.watch(after=run.first)
        try:
            read = 0
            async for change in stream:
                read += 1
                if change.operation == run.operation and change.link is None and _kind(change) not in INTERNAL:
                    lines.append(change)
                if change.seq >= run.last or read >= _LINES:
                    break
        finally:
            await stream.aclose()  # type: ignore[attr-defined]
        return lines

    def _ask_undo(self, run: PastRun, *, newest: bool) -> None:
        async def undo() -> None:
            undone = await self._memory.undo(run.operation)
            say(f"The run is undone: {plural(len(undone.changes), 'change')}.")
            self._trial.clear()
            await self.show()

        later = "" if newest else " Runs after it stay."
        confirm(
            "Undo this run?",
            f"What it learnt is taken back, and what it read is read again by the next run.{later}",
            "Undo the run",
            undo,
        )

    async def _runs(self, marks: Sequence[Memory]) -> list[PastRun]:
        histories = await asyncio.gather(*(self._memory.history(mark.id) for mark in marks))
        runs = [run for mark, history in zip(marks, histories, strict=True) for run in past_runs(mark, history)]
        return sorted(runs, key=lambda run: run.at, reverse=True)[:_RUNS]


def past_runs(mark: Memory, history: Sequence[Change]) -> list[PastRun]:
    """Return the runs that moved a bookmark, from its history; those that were undone are left out."""
    runs: dict[str, PastRun] = {}
    undone: set[str] = set()
    before = 0
    for number, change in enumerate(history):
        if change.actor != "consolidation":
            undone.update(part for part in change.reason.split() if part in runs)
            continue
        following = history[number + 1].before if number + 1 < len(history) else mark.model_dump(mode="json")
        body = (change.after or following or {}).get("body", {})
        run = runs.get(change.operation)
        first = run.first if run else before
        made, refused = dict(body.get("made", {})), dict(body.get("refused", {}))
        runs[change.operation] = PastRun(change.operation, change.at, first, change.seq, made, refused)
        before = change.seq
    return [run for run in runs.values() if run.operation not in undone]


def _summed(runs: Sequence[PastRun]) -> Counter[str]:
    summed: Counter[str] = Counter()
    for run in runs:
        summed.update(run.refused)
    return summed


def _made(run: PastRun) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in run.made.items()) or "nothing changed"


def _refused(reasons: Counter[str]) -> None:
    if not reasons:
        text("Nothing was refused.", "lm-note", "p")
        return
    most = max(reasons.values())
    with box("div", "lm-rates"):
        for reason, number in reasons.most_common():
            text(_REASONS.get(reason, reason), "lm-wrap")
            meter(number / most, f"{_REASONS.get(reason, reason)}: {number}")
            text(f"{number:,}", "lm-num")


def _kind(change: Change) -> str:
    return str((change.after or change.before or {}).get("kind", ""))


def _journal_line(view: View, change: Change, memory: Memory | None) -> None:
    with box("li"):
        with box("span", "lm-tags"):
            words = {"put": ("add", "good"), "update": ("change", ""), "delete": ("delete", "bad")}
            tag(*words.get(change.action, (change.action, "")))
            kind = memory.kind if memory is not None else _kind(change)
            if kind:
                kind_badge(kind)
        with box("div", "lm-stack"):
            said = (
                memory.content if memory is not None else str((change.after or change.before or {}).get("content", ""))
            )
            if memory is not None:
                link(said[:400] or "(no text)", view.link("/explorer", id=memory.id), "lm-clip-2")
            else:
                text(said or "no longer there", "lm-clip-2")
            if change.action == "update":
                for name, old, new in changed_fields([change]):
                    text(
                        f"{name}: {old[:120]} → {new[:120]}" if old else f"{name}: {new[:160]}", "lm-note lm-wrap", "p"
                    )
        text(change.reason.removeprefix("consolidate: "), "lm-note")
