"""Goals: what the agent wants, the plan for each, what shows that it is reached, and why plans changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from nicegui import ui

from longmind.console.parts.dialogs import ask
from longmind.console.parts.elements import attributes, box, button, link, text
from longmind.console.parts.figures import meter, plural
from longmind.console.parts.kinds import tag
from longmind.console.parts.messages import empty, say
from longmind.console.parts.panels import panel, title
from longmind.console.parts.plans import STEP_LOOKS, plan_graph
from longmind.console.parts.times import ago, date_of, time_ago
from longmind.console.view import View
from longmind.systems.goals import Criterion, Finding, Goal, GoalState, Plan, PlanStep, Revision, ready_steps

_PATH = "/goals"
_MOST = 200
_POLL_SECONDS = 3.0
_LOOKS = {"achieved": "good", "blocked": "warn", "failed": "bad"}
_FINDINGS = {
    "failed_step": "a step failed",
    "repeated_failure": "it failed again and again",
    "stall": "nothing moved",
    "deadline_risk": "the deadline is at risk",
    "loop": "it went in circles",
    "broken_assumption": "an assumption no longer holds",
}
FIRST = """\
memory = longmind.agent("assistant", "alice")
memory.goals.create_goal_with_plan(
    "Move to Lisbon",
    criteria=["A flat is rented"],
    steps=["Find a flat", "Sign the contract"],
)"""


async def build(view: View) -> None:
    """Build the page."""
    title("Goals", "What this agent pursues, how far each goal has come, and why its plan is as it is.")
    listed = await view.memory.goals.list(limit=_MOST)
    if not listed.items:
        empty(
            "No goals yet",
            "Create one from a program, over REST, or with longmind goal. Its plan appears here and follows the work.",
            FIRST,
        )
        return
    by_id = {goal.id: goal for goal in listed.items}
    first = next((goal for goal in listed.items if goal.open), listed.items[0])
    chosen = by_id.get(view.query.get("goal", ""), first)
    with box("div", "lm-choose"):
        with panel("All", plural(len(by_id), "goal") + (" and more" if listed.cursor else ""), ""):
            _tree(view, listed.items, chosen)
        await GoalDetail(view, chosen.id).show()


def _tree(view: View, goals: Sequence[Goal], chosen: Goal) -> None:
    known = {goal.id for goal in goals}
    children: dict[str | None, list[Goal]] = {}
    for goal in goals:
        children.setdefault(goal.parent if goal.parent in known else None, []).append(goal)

    def level(parent: str | None) -> None:
        for goal in sorted(children.get(parent, ()), key=lambda goal: not goal.open):
            with attributes(box("a"), href=view.link(_PATH, goal=goal.id)) as anchor:
                if goal.id == chosen.id:
                    attributes(anchor, aria_current="true")
                text(goal.description, "lm-clip-2")
                with box("span", "lm-note"):
                    text(goal.status, "")
                    text(f"{goal.progress:.0%}", "lm-num")
                meter(goal.progress, f"{goal.progress:.0%} done")
            if goal.id in children:
                with box("div", "lm-inner"):
                    level(goal.id)

    with attributes(box("nav", "lm-choices"), aria_label="All goals"):
        level(None)


class GoalDetail:
    """One goal. It is built again after each change, whoever made it."""

    def __init__(self, view: View, id: str) -> None:
        self._view = view
        self._id = id
        self._goals = view.memory.goals
        self._place = box("div", "lm-stack")
        self._shown: tuple[int, int] | None = None
        self._timer = ui.timer(_POLL_SECONDS, self._follow, immediate=False)

    async def show(self) -> None:
        """Read the goal and show it."""
        state, revisions, plans, findings = await asyncio.gather(
            self._goals.state(self._id),
            self._goals.revisions(self._id),
            self._goals.plans(self._id),
            self._goals.monitor(self._id) if self._view.may_write else _none(),
        )
        self._shown = _version(state)
        self._place.clear()
        with self._place:
            self._head(state)
            self._findings(findings)
            with panel("Plan", _plan_note(state.plan)):
                self._plan(state)
            with panel("Criteria", "the goal is achieved when all are met"):
                self._criteria(state.goal)
            if revisions:
                with panel("Revisions", "why the plan changed, newest first"):
                    _revisions(revisions)
            if len(plans) > 1:
                with panel("Earlier plans", plural(len(plans) - 1, "plan")):
                    _plans(plans)

    async def _follow(self) -> None:
        """Show the goal again when it changed; not while a dialog is open over it."""
        state = await self._goals.state(self._id)
        if _version(state) != self._shown:
            await self.show()

    async def _done(self, message: str) -> None:
        say(message)
        await self.show()

    def _head(self, state: GoalState) -> None:
        goal = state.goal
        with panel(goal.description, ""), box("div", "lm-stack"):
            with box("div", "lm-tags"):
                tag(goal.status, _LOOKS.get(goal.status, ""))
                tag(f"priority {goal.priority:.1f}")
                if goal.user:
                    tag(f"of {goal.user}")
                for name in goal.tags:
                    tag(name)
                if goal.deadline is not None:
                    text("due", "lm-note")
                    date_of(goal.deadline)
            if goal.why:
                text(goal.why, "lm-text", "p")
            with box("div"):
                with box("div", "lm-slider-head"):
                    text("Progress", "")
                    text(f"{goal.progress:.0%}", "lm-num")
                meter(goal.progress, f"{goal.progress:.0%} done")
            if self._view.may_write:
                self._actions(goal)

    def _actions(self, goal: Goal) -> None:
        with box("div", "lm-actions-row"):
            if goal.status == "proposed":
                button("Activate", partial(self._do, self._goals.activate, "The goal is active."), look="primary")
            if goal.status == "blocked":
                button("Unblock", partial(self._do, self._goals.unblock, "The goal is active."), look="primary")
            if goal.status in ("proposed", "active"):
                button("Block", partial(self._why, "What does it wait for?", self._goals.block, "Block"))
            if goal.open:
                button("Abandon", partial(self._why, "Why is it no longer wanted?", self._goals.abandon, "Abandon"))
            elif goal.status != "achieved":
                button("Reopen", partial(self._do, self._goals.reopen, "The goal is open again."))

    async def _do(self, act: Callable[..., Any], message: str) -> None:
        await act(self._id)
        await self._done(message)

    def _why(self, question: str, act: Callable[..., Any], action: str) -> None:
        async def answered(why: str) -> None:
            goal = await act(self._id, why)
            await self._done(f"The goal is {goal.status}.")

        ask(question, "Reason", action, answered, required=True)

    def _findings(self, findings: Sequence[Finding]) -> None:
        if not findings:
            return
        with panel("Problems", "that monitoring sees in the plan"):
            with box("ul", "lm-feed lm-versions"):
                for finding in findings:
                    with box("li"):
                        tag(_FINDINGS[finding.kind], "bad")
                        text(finding.detail, "lm-wrap")
                        text(finding.step or "", "lm-note")
            if self._view.may_write:
                with box("div", "lm-actions-row"):
                    button("Revise the plan", self._revise, look="primary")

    async def _revise(self) -> None:
        revision = await self._goals.revise(self._id)
        await self._done("There is nothing to revise." if revision is None else f"Revised: {revision.why}")

    def _plan(self, state: GoalState) -> None:
        if state.plan is None:
            text("There is no plan yet.", "lm-note", "p")
            if self._view.may_write and state.goal.open:
                with box("div", "lm-actions-row"):
                    button("Plan it", partial(self._do, self._goals.plan_for, "The goal has a plan."), look="primary")
            return
        ready = {step.id for step in ready_steps(state.plan.steps, datetime.now(UTC))}
        plan_graph(state.plan.steps, lambda step: _status(step, step.id in ready))
        at_work = [step for step in state.plan.steps if step.status in ("running", "failed") or step.id in ready]
        if at_work and state.goal.open:
            with box("ul", "lm-feed lm-versions lm-after-plan"):
                for step in at_work:
                    self._step(step, state.goal)

    def _step(self, step: PlanStep, goal: Goal) -> None:
        with box("li"):
            tag(_word(step, True), STEP_LOOKS.get(step.status, ""))
            with box("div"):
                text(step.description, "lm-wrap")
                if step.error:
                    text(step.error, "lm-note lm-clip-3", "p")
                if step.tool or step.procedure:
                    text(step.tool or f"procedure {step.procedure}", "lm-mono lm-wrap", "p")
            with box("span", "lm-tags"):
                if self._view.may_write and goal.status == "active":
                    if step.status == "pending":
                        button("Start", partial(self._step_starts, step))
                    if step.status != "failed":
                        button("Done", partial(self._step_ends, step, "complete"), look="primary")
                        button("Failed", partial(self._step_ends, step, "fail"))
                    button("Skip", partial(self._step_ends, step, "skip"))

    async def _step_starts(self, step: PlanStep) -> None:
        await self._goals.start_step(self._id, step.id)
        await self._done("The step is running.")

    def _step_ends(self, step: PlanStep, how: str) -> None:
        async def answered(said: str) -> None:
            if how == "complete":
                if step.status == "pending":
                    await self._goals.start_step(self._id, step.id)
                await self._goals.complete_step(self._id, step.id, said or None)
            elif how == "fail":
                if step.status == "pending":
                    await self._goals.start_step(self._id, step.id)
                await self._goals.fail_step(self._id, step.id, said)
            else:
                await self._goals.skip_step(self._id, step.id, said)
            await self._done({"complete": "The step is done.", "fail": "The step failed."}.get(how, "It is skipped."))

        questions = {
            "complete": ("What came of it?", "Result", "Done"),
            "fail": ("What went wrong?", "Error", "Failed"),
            "skip": ("Why is it not needed?", "Reason", "Skip"),
        }
        heading, label, action = questions[how]
        ask(heading, label, action, answered, note=step.description, required=how == "fail")

    def _criteria(self, goal: Goal) -> None:
        with box("ul", "lm-feed lm-versions"):
            for criterion in goal.criteria:
                with box("li"):
                    tag("met" if criterion.met else "open", "good" if criterion.met else "")
                    with box("div", "lm-stack"):
                        text(criterion.description, "lm-wrap")
                        self._evidence(criterion)
                    with box("span", "lm-tags"):
                        if criterion.met_at is not None:
                            time_ago(criterion.met_at)
                        if self._view.may_write and not criterion.met and goal.open:
                            button("Met", partial(self._meet, criterion))
                        elif self._view.may_write and criterion.met and goal.status not in ("failed", "abandoned"):
                            button("Not met", partial(self._unmeet, criterion))

    def _evidence(self, criterion: Criterion) -> None:
        for evidence in criterion.evidence:
            with box("div", "lm-source"):
                if evidence.note:
                    text(evidence.note, "lm-clip-3")
                with box("div", "lm-tags"):
                    if evidence.step:
                        text(f"by step {evidence.step}", "lm-note")
                    text(ago(evidence.at), "lm-note")
                    if evidence.memory:
                        link("the memory that shows it", self._view.link("/explorer", id=evidence.memory))

    def _meet(self, criterion: Criterion) -> None:
        async def answered(evidence: str) -> None:
            await self._goals.meet(self._id, criterion.id, evidence)
            await self._done("The criterion is met.")

        note = criterion.description
        ask(
            "What shows that it is met?",
            "Evidence: a note, or the id of a memory",
            "Met",
            answered,
            note=note,
            required=True,
        )

    def _unmeet(self, criterion: Criterion) -> None:
        async def answered(why: str) -> None:
            await self._goals.reopen_criterion(self._id, criterion.id, why=why)
            await self._done("The criterion is open again.")

        note = "The steps that were done for it are planned again."
        ask("Why is it not met any more?", "Reason", "Not met", answered, note=note, required=True)


async def _none() -> tuple[Finding, ...]:
    return ()


def _version(state: GoalState) -> tuple[int, int]:
    return state.goal.version, state.plan.version if state.plan else 0


def _plan_note(plan: Plan | None) -> str:
    origins: Mapping[str, str] = {
        "given": "as it was given",
        "procedure": "from a procedure",
        "past": "from a plan that worked before",
        "model": "by the language model",
        "criteria": "from the criteria",
    }
    return "" if plan is None else f"number {plan.number}, {origins[plan.origin]}"


def _word(step: PlanStep, ready: bool) -> str:
    return "ready" if step.status == "pending" and ready else step.status


def _status(step: PlanStep, ready: bool) -> None:
    with box("span", "lm-tags"):
        tag(_word(step, ready), STEP_LOOKS.get(step.status, ""))
        if step.attempts > 1:
            text(f"{step.attempts} attempts", "lm-note")


def _revisions(revisions: Sequence[Revision]) -> None:
    with box("ul", "lm-feed lm-versions"):
        for revision in reversed(revisions):
            with box("li"):
                with box("span", "lm-tags"):
                    tag(revision.strategy)
                    if revision.worked is not None:
                        tag("worked" if revision.worked else "did not work", "good" if revision.worked else "bad")
                with box("div", "lm-stack"):
                    text(revision.why, "lm-wrap")
                    plans = f"plan {revision.before}" + (
                        f" became {revision.after}" if revision.after else " was stopped"
                    )
                    text(f"{_FINDINGS[revision.finding]}; {plans}", "lm-note", "p")
                time_ago(revision.at)


def _plans(plans: Sequence[Plan]) -> None:
    with box("ul", "lm-feed lm-versions"):
        for plan in plans:
            if plan.current:
                continue
            with box("li"):
                text(f"Plan {plan.number}", "lm-strong lm-num")
                with box("div", "lm-stack"):
                    if plan.why:
                        text(plan.why, "lm-wrap")
                    text(
                        " → ".join(f"{step.description} ({step.status})" for step in plan.steps), "lm-note lm-wrap", "p"
                    )
                time_ago(plan.made_at)
