"""Procedures: what the agent can do, how each version of it fared, and its runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from longmind.console.parts.dialogs import ask
from longmind.console.parts.diffs import side_by_side
from longmind.console.parts.elements import attributes, box, button, text
from longmind.console.parts.figures import interval, plural
from longmind.console.parts.kinds import kind_colour, tag
from longmind.console.parts.messages import empty, say
from longmind.console.parts.panels import panel, title
from longmind.console.parts.procedure_runs import ask_to_run, run_columns
from longmind.console.parts.tables import PagedTable
from longmind.console.parts.times import ago, time_ago
from longmind.console.view import View
from longmind.systems.procedural import (
    Decision,
    Procedure,
    ProcedureStatistics,
    Step,
    SuccessCounts,
    Version,
    VersionStatistics,
    credible_interval,
    dump_procedure,
    judge,
)

_PATH = "/procedures"
_MOST = 100
_RUNS = 10
_MASS = 0.9
FIRST = """\
memory = longmind.agent("assistant")
memory.procedural.store({
    "name": "greet",
    "purpose": "Greet a guest.",
    "steps": [{"name": "say", "use": "send_message", "args": {"text": "Hello!"}}],
})"""


async def build(view: View) -> None:
    """Build the page."""
    title("Procedures", "What this agent knows how to do, how well each version of it worked, and what it ran.")
    listed = await view.memory.procedural.list(limit=_MOST)
    if not listed.items:
        empty(
            "No procedures yet",
            "Store one from a program, or pursue goals: what worked several times becomes a procedure when the agent "
            "consolidates.",
            FIRST,
        )
        return
    named = view.query.get("procedure")
    newest = max(listed.items, key=lambda version: version.made_at)
    chosen = next((version for version in listed.items if named in (version.id, version.name)), newest)
    with box("div", "lm-choose"):
        with panel("All", plural(len(listed.items), "procedure") + (" and more" if listed.cursor else ""), ""):
            _choices(view, listed.items, chosen)
        await ProcedureDetail(view, chosen.id).show()


def _choices(view: View, versions: Sequence[Version], chosen: Version) -> None:
    with attributes(box("nav", "lm-choices"), aria_label="All procedures"):
        for version in versions:
            with attributes(box("a"), href=view.link(_PATH, procedure=version.id)) as anchor:
                if version.id == chosen.id:
                    attributes(anchor, aria_current="true")
                text(version.name, "lm-strong lm-wrap")
                with box("span", "lm-note"):
                    text(version.procedure.category, "")
                    text(f"version {version.number}", "lm-num")


class ProcedureDetail:
    """One procedure. It is built again after each change."""

    def __init__(self, view: View, id: str) -> None:
        self._view = view
        self._id = id
        self._procedural = view.memory.procedural
        self._place = box("div", "lm-stack")
        self._compared: tuple[int, int] | None = None

    async def show(self) -> None:
        """Read the procedure and show it."""
        version, versions, statistics, decisions = await asyncio.gather(
            self._procedural.retrieve(self._id),
            self._procedural.versions(self._id),
            self._procedural.statistics(self._id),
            self._procedural.decisions(self._id),
        )
        self._place.clear()
        with self._place:
            self._head(version)
            with panel("Steps", plural(len(version.procedure.steps), "step")):
                flow(version.procedure)
            with panel("Success by version", f"the band holds the true rate with {_MASS:.0%} probability"):
                _rates(statistics)
            if statistics.trial is not None:
                self._trial(statistics)
            with panel("Versions", "what changed from one to another"):
                self._versions(versions, statistics.trial.candidate if statistics.trial else None)
            with panel("Runs", "newest first"):
                await self._runs()
            if decisions:
                with panel("Decisions", "about versions, newest first"):
                    self._decisions(decisions)

    def _head(self, version: Version) -> None:
        with panel(version.name, f"version {version.number}"):
            text(version.procedure.purpose, "lm-text", "p")
            if version.why:
                text(f"Why this version: {version.why}", "lm-note lm-wrap", "p")
            if self._view.may_write:
                with box("div", "lm-actions-row"):
                    button(
                        "Run",
                        lambda: ask_to_run(self._procedural, version, self.show),
                        look="primary",
                        icon="play_arrow",
                    )
                    if version.parent is not None:
                        button("Roll back", lambda: self._ask_rollback(version.parent), icon="undo")

    def _ask_rollback(self, number: int | None) -> None:
        async def roll_back(why: str) -> None:
            restored = await self._procedural.rollback(self._id, number, why=why)
            say(f"Version {restored.number} is in use.")
            await self.show()

        ask(
            f"Use version {number} again?",
            "Why (optional)",
            "Roll back",
            roll_back,
            note="The version in use now is kept. A trial that is under way ends.",
        )

    def _trial(self, statistics: ProcedureStatistics) -> None:
        trial = statistics.trial
        assert trial is not None
        judged = judge(trial.base_counts, trial.candidate_counts, trial.rule)
        with panel("On trial", f"began {ago(trial.started_at)}"), box("div", "lm-stack"):
            text(
                f"Version {trial.candidate} gets {trial.rule.share:.0%} of the runs, against version {trial.base}.",
                "",
                "p",
            )
            with box("div", "lm-rates"):
                _rate(f"Version {trial.candidate}, on trial", trial.candidate_counts, kind_colour("decision"))
                _rate(f"Version {trial.base}, in use", trial.base_counts, kind_colour("procedure"))
            text(judged.why, "lm-note lm-wrap", "p")
            if self._view.may_write:
                with box("div", "lm-actions-row"):
                    button("Use it now", lambda: self._end_trial("promote"))
                    button("End the trial", lambda: self._end_trial("withdraw"))

    def _end_trial(self, how: str) -> None:
        async def end(why: str) -> None:
            decision = await getattr(self._procedural, how)(self._id, why=why)
            say(f"Version {decision.candidate if how == 'promote' else decision.base} is in use.")
            await self.show()

        heading = "Use the version on trial?" if how == "promote" else "End the trial and keep the version in use?"
        ask(heading, "Why (optional)", "Use it" if how == "promote" else "End the trial", end)

    def _versions(self, versions: Sequence[Version], on_trial: int | None) -> None:
        by_number = {version.number: version for version in versions}
        with box("ul", "lm-feed lm-versions"):
            for version in versions:
                with box("li"):
                    with box("span", "lm-tags"):
                        text(f"Version {version.number}", "lm-strong lm-num")
                        if version.current:
                            tag("in use", "good")
                        if version.number == on_trial:
                            tag("on trial", "warn")
                        for label in version.labels:
                            tag(label)
                    text(version.why or "no reason was given", "lm-wrap")
                    with box("span", "lm-tags"):
                        time_ago(version.made_at)
                        if self._view.may_write and not version.current and version.number != on_trial:
                            button("Use again", partial(self._ask_rollback, version.number))
        if len(versions) < 2:
            text("There is one version. Store a changed one, or let the agent improve it, to compare.", "lm-note", "p")
            return
        compared = self._compared or (versions[1].number, versions[0].number)

        def compare() -> None:
            self._compared = (before.value, after.value)
            place.clear()
            with place:
                _difference(by_number[before.value], by_number[after.value])

        options = {number: f"Version {number}" for number in sorted(by_number)}
        with box("div", "lm-row lm-compare"):
            before = _number_choice("Compare", options, compared[0], compare)
            after = _number_choice("with", options, compared[1], compare)
        place = box("div", "lm-stack")
        compare()

    async def _runs(self) -> None:
        table = PagedTable(
            run_columns(self._procedural, self.show, may_write=self._view.may_write),
            lambda cursor: self._procedural.runs(self._id, limit=_RUNS, cursor=cursor),
            label="Runs",
            on_empty=lambda: text("It has not run yet.", "lm-note", "p"),
        )
        await table.refresh()

    def _decisions(self, decisions: Sequence[Decision]) -> None:
        looks = {"promoted": "good", "rejected": "bad"}

        async def undo(decision: Decision) -> None:
            await self._procedural.undo(decision.id)
            say("The decision is taken back.")
            await self.show()

        with box("ul", "lm-feed lm-versions"):
            for decision in decisions:
                with box("li"):
                    with box("span", "lm-tags"):
                        tag(decision.action, looks.get(decision.action, ""))
                        text(f"version {decision.candidate}", "lm-num")
                        if decision.undone:
                            tag("undone")
                    text(decision.why or "no reason was given", "lm-wrap")
                    with box("span", "lm-tags"):
                        time_ago(decision.at)
                        if self._view.may_write and not decision.undone and decision is decisions[0]:
                            button("Undo", partial(undo, decision))


def _number_choice(label: str, options: dict[int, str], value: int, on_change: Callable[[], None]) -> ui.select:
    chooser = ui.select(options, value=value, on_change=on_change).props("outlined dense options-dense")
    attributes(chooser.classes("lm-pick"), prefix=label, aria_label=f"{label} version")
    return chooser


def _difference(before: Version, after: Version) -> None:
    old, new = (json.dumps(dump_procedure(v.procedure), indent=2, ensure_ascii=False) for v in (before, after))
    if old == new:
        text("These versions are the same.", "lm-note", "p")
        return
    side_by_side(old.splitlines(), new.splitlines(), (f"Version {before.number}", f"Version {after.number}"))


def _rates(statistics: ProcedureStatistics) -> None:
    with box("div", "lm-rates"):
        for version in statistics.versions:
            counts = SuccessCounts(successes=version.successes, failures=version.failures)
            name = f"Version {version.number}" + (", in use" if version.current else "")
            _rate(name, counts, kind_colour("procedure"), _pace(version))
        with box("div", "lm-scale"):
            for mark in ("0 %", "50 %", "100 %"):
                text(mark, "")


def _rate(name: str, counts: SuccessCounts, colour: str, more: str = "") -> None:
    text(name, "lm-num")
    if not counts.runs:
        interval(0, 0, None, f"{name}: no runs yet", colour)
        text("no runs yet", "lm-note")
        return
    low, high = credible_interval(counts, _MASS)
    observed = counts.successes / counts.runs
    said = f"{counts} succeeded"
    interval(low, high, observed, f"{name}: {said}; between {low:.0%} and {high:.0%}", colour)
    text(f"{said}{more}", "lm-note lm-num")


def _pace(version: VersionStatistics) -> str:
    return "" if version.mean_seconds is None else f", {version.mean_seconds:.1f} s"


def flow(procedure: Procedure) -> None:
    """Show the steps of a procedure in their order, with what steers each."""
    with box("ol", "lm-flow"):
        for number, step in enumerate(procedure.steps, 1):
            with box("li"):
                text(f"{number}. {step.name}", "lm-strong lm-wrap")
                text(step.use or f"procedure {step.procedure}", "lm-mono lm-wrap")
                _steering(step)


def _steering(step: Step) -> None:
    if step.args:
        text(json.dumps(step.args, ensure_ascii=False), "lm-note lm-clip-3")
    with box("div", "lm-tags"):
        if step.needs_approval:
            tag("needs approval", "warn")
        if step.when is not None:
            tag(f"if {_condition(step.when.model_dump(mode='json', exclude_none=True))}")
        if step.for_each is not None:
            tag(f"for each {step.for_each}" if isinstance(step.for_each, str) else f"for {len(step.for_each)} items")
        if step.retry.attempts > 1:
            tag(f"up to {step.retry.attempts} attempts")
        if step.on_error != "stop":
            tag(f"on error {step.on_error}")
        if step.compensate is not None:
            tag(f"undone by {step.compensate.use}")


def _condition(condition: dict[str, Any]) -> str:
    for name, joint in (("all", " and "), ("any", " or "), ("none", " nor ")):
        if name in condition:
            said = joint.join(_condition(inner) for inner in condition[name])
            return f"neither {said}" if name == "none" else said
    return " ".join(str(condition[part]) for part in ("left", "op", "right") if part in condition)
