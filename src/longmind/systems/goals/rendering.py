"""Render goals, plans and sub-goals as text, as plain data, or as a Mermaid diagram.

Descriptions are data. In text each stays on one line after its mark, so that it cannot imitate another line; in a
diagram it is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from longmind.errors import InvalidInput
from longmind.systems.goals.models import Goal, GoalProgress, GoalState, Plan, PlanStep, order_steps
from longmind.systems.goals.steps import ready_steps, result_note
from longmind.text.quoting import flatten, label
from longmind.types import Json

Format = Literal["text", "dict", "mermaid"]
FORMATS = ("text", "dict", "mermaid")
_MARKS = {"pending": " ", "running": ">", "done": "x", "failed": "!", "skipped": "-"}
_ENDED = {"achieved": "x", "failed": "!", "abandoned": "-"}
_LONGEST = 200
_ERRORS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class GoalTree:
    """A goal with its plan and its sub-goals, recursively."""

    goal: Goal
    plan: Plan | None
    below: tuple[GoalTree, ...] = ()

    def progress(self, now: datetime) -> GoalProgress:
        """How far it has come."""
        steps = self.plan.steps if self.plan else ()
        active = self.goal.status == "active"
        return GoalProgress(
            goal=self.goal.id,
            status=self.goal.status,
            progress=self.goal.progress,
            criteria_met=sum(criterion.met for criterion in self.goal.criteria),
            criteria=len(self.goal.criteria),
            steps_done=sum(step.status == "done" for step in steps),
            steps=len(steps),
            running=tuple(step.id for step in steps if step.status == "running"),
            failed=tuple(step.id for step in steps if step.status == "failed"),
            next=tuple(step.id for step in ready_steps(steps, now)) if active else (),
            sub_goals=tuple(tree.progress(now) for tree in self.below),
        )


def build_tree(root: str, states: Sequence[GoalState]) -> GoalTree:
    """Build the tree of goals below one of them."""
    by_id = {state.goal.id: state for state in states}
    children: dict[str, list[str]] = {}
    for state in states:
        if state.goal.parent is not None and state.goal.id != root:
            children.setdefault(state.goal.parent, []).append(state.goal.id)

    def built(id: str) -> GoalTree:
        return GoalTree(by_id[id].goal, by_id[id].plan, tuple(built(child) for child in children.get(id, ())))

    return built(root)


def render_tree(tree: GoalTree, format: Format, now: datetime) -> str | Json:
    """Render the tree in one of the formats."""
    match format:
        case "text":
            return "\n".join(_lines(tree, 0))
        case "dict":
            return _describe(tree, now)
        case "mermaid":
            return "\n".join(["flowchart TD", *_diagram(tree)])
    raise InvalidInput(f"There is no format {format!r}.", hint=f"There are {', '.join(FORMATS)}.")


def _lines(tree: GoalTree, level: int) -> list[str]:
    goal, indent = tree.goal, "  " * level
    facts = [goal.status, f"{goal.progress:.0%}"]
    facts += [f"due {_minute(goal.deadline)}"] if goal.deadline else []
    facts += [f"ended {_minute(goal.ended_at)}"] if goal.ended_at else []
    lines = [f"{indent}[{_ENDED.get(goal.status, ' ')}] {_line(goal.description)} ({', '.join(facts)})"]
    if goal.why:
        lines.append(f"{indent}    why: {_line(goal.why)}")
    for criterion in goal.criteria:
        met = f" (met {_minute(criterion.met_at)})" if criterion.met_at else ""
        lines.append(
            f"{indent}    {'[x]' if criterion.met else '[ ]'} {criterion.id}: {_line(criterion.description)}{met}"
        )
        for evidence in criterion.evidence:
            shown = " ".join(filter(None, [evidence.note, evidence.memory and f"memory {evidence.memory}"]))
            lines.append(f"{indent}        because: {_line(shown)}")
    if tree.plan is not None:
        why = f": {_line(tree.plan.why)}" if tree.plan.why else ""
        lines.append(f"{indent}    plan {tree.plan.number}, {tree.plan.origin}{why}")
        for step in order_steps(tree.plan.steps):
            lines += _step_lines(step, f"{indent}      ")
    for below in tree.below:
        lines += _lines(below, level + 2)
    return lines


def _step_lines(step: PlanStep, indent: str) -> list[str]:
    notes = [f"after {', '.join(step.after)}"] if step.after else []
    notes += [f"for {', '.join(step.criteria)}"] if step.criteria else []
    notes += [f"by {step.tool or step.procedure}"] if step.tool or step.procedure else []
    notes += [f"attempt {step.attempts}"] if step.attempts > 1 else []
    notes += [f"until {_minute(step.lease_until)}"] if step.lease_until else []
    notes += [f"{step.status} {_minute(step.finished_at)}"] if step.finished_at else []
    suffix = f" ({'; '.join(notes)})" if notes else ""
    lines = [f"{indent}[{_MARKS[step.status]}] {step.id}: {_line(step.description)}{suffix}"]
    if step.status == "done" and step.result is not None:
        lines.append(f"{indent}    result: {_line(result_note(step.result))}")
    errors = step.errors[-_ERRORS_SHOWN:] or ((step.error,) if step.error else ())
    return [*lines, *(f"{indent}    error: {_line(error)}" for error in errors)]


def _describe(tree: GoalTree, now: datetime) -> Json:
    return {
        "goal": tree.goal.model_dump(mode="json"),
        "plan": tree.plan.model_dump(mode="json") if tree.plan else None,
        "next": list(tree.progress(now).next),
        "sub_goals": [_describe(below, now) for below in tree.below],
    }


def _diagram(tree: GoalTree) -> list[str]:
    """Return the diagram lines: the goal as a rounded box, steps as boxes with arrows, sub-goals below."""
    own = f"g{tree.goal.id.replace('-', '')}"
    lines = [f'    {own}(["{_escaped(tree.goal.description)} ({tree.goal.status}, {tree.goal.progress:.0%})"])']
    steps: Sequence[PlanStep] = order_steps(tree.plan.steps) if tree.plan else ()
    needed = {name for step in steps for name in step.after}
    for step in steps:
        lines.append(f'    {own}_{_node(step.id)}["{step.id}: {_escaped(step.description)} [{step.status}]"]')
        lines += [f"    {own}_{_node(name)} --> {own}_{_node(step.id)}" for name in step.after]
        if step.id not in needed:
            lines.append(f"    {own}_{_node(step.id)} --> {own}")
    for below in tree.below:
        lines += _diagram(below)
        lines.append(f"    g{below.goal.id.replace('-', '')} -.-> {own}")
    return lines


def _node(id: str) -> str:
    """Return a step's id as a diagram node name without dashes; different ids stay different."""
    return id.replace("_", "__").replace("-", "_d_")


def _line(text: str) -> str:
    """Return a text as data: bare if it is plain, else in quotation marks."""
    return label(text, _LONGEST, words=_LONGEST)


def _escaped(text: str) -> str:
    """Return a text escaped for a diagram."""
    signs = {"&": "#amp;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;"}
    return "".join(signs.get(sign, sign) for sign in flatten(text, _LONGEST))


def _minute(moment: Any) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
