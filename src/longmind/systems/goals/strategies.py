"""The revision strategies. Pure functions from a plan to a changed plan, or None where a strategy is not possible.

What a strategy needs (alternative tools, the parts of a step, a new plan for the rest) is passed to it. No strategy
changes a step that is done or skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from longmind.systems.goals.adaptation import reset_step, unused_id
from longmind.systems.goals.decomposition import StepPart
from longmind.systems.goals.fingerprints import error_fingerprint, error_outlook, step_fingerprint
from longmind.systems.goals.models import MAX_STEPS, Finding, Goal, Plan, PlanBody, PlanStep, order_steps
from longmind.systems.goals.monitor import usual_seconds, value_of
from longmind.types import Json

_STEM = 44
"""Characters of a step's id that are kept in ids derived from it; an id has at most 50."""
_KEPT_ERRORS = 20


@dataclass(frozen=True, slots=True)
class Proposal:
    """A changed plan: its steps, which of them decide whether it worked, and the change in words."""

    steps: tuple[PlanStep, ...]
    watched: tuple[str, ...]
    why: str
    replaced: str = ""
    rest: PlanBody | None = None
    """The new plan for the rest, with its origin and assumptions, after replanning."""
    prompt: str = ""
    """The prompt and its version, for steps that a model proposed."""


def retry(plan: Plan, finding: Finding, *, answered: bool = False) -> Proposal | None:
    """Retry the step with a new budget of attempts, if its error may pass.

    ``answered``: a person dealt with the problem, so any error may be gone.
    """
    step = _concerned(plan, finding)
    if step is None or finding.kind == "deadline_risk" or (finding.kind == "loop" and step.status != "failed"):
        return None
    if step.status == "failed" and not answered and not _may_pass(step):
        return None
    errors = step.errors
    if step.status == "running":
        errors = (*errors, "It did not come to an end.")[-_KEPT_ERRORS:]
    return Proposal(_with(plan.steps, reset_step(step, errors=errors)), (step.id,), f"{step.id} is tried again.")


def substitute(
    plan: Plan, finding: Finding, candidates: Sequence[Alternative], failed: Collection[str] = ()
) -> Proposal | None:
    """Give the step another procedure or tool, never one that failed for it before (``failed``, by label)."""
    step = _concerned(plan, finding)
    if step is None:
        return None
    out = {*failed, label_of(step)}
    chosen = next((candidate for candidate in candidates if candidate.label not in out), None)
    if chosen is None:
        return None
    tool, procedure = (None, chosen.name) if chosen.procedure else (chosen.name, None)
    changed = reset_step(step, tool=tool, procedure=procedure, args=dict(chosen.args))  # the errors were another call's
    used = label_of(step)
    why = f"{step.id} uses {chosen.label.replace(':', ' ')}" + (
        f" in place of {used.replace(':', ' ')}." if used else "."
    )
    return Proposal(_with(plan.steps, changed), (step.id,), why, replaced=used)


def decompose(plan: Plan, finding: Finding, parts: Sequence[StepPart]) -> Proposal | None:
    """Replace the step by smaller ones. Later steps depend on the last of them."""
    step = _concerned(plan, finding)
    if step is None or len(parts) < 2 or len(plan.steps) - 1 + len(parts) > MAX_STEPS:
        return None
    taken = {one.id for one in plan.steps}
    names: list[str] = []
    for n in range(1, len(parts) + 1):
        names.append(unused_id(f"{step.id[:_STEM]}_{n}", taken))
        taken.add(names[-1])
    pieces = _pieces(step, parts, names)
    leaves = [one.id for one in pieces if not any(one.id in other.after for other in pieces)]
    steps: list[PlanStep] = []
    for one in plan.steps:
        if one.id == step.id:
            steps += pieces
        elif step.id in one.after:
            after = [name for old in one.after for name in (leaves if old == step.id else [old])]
            steps.append(one.model_copy(update={"after": tuple(dict.fromkeys(after))}))
        else:
            steps.append(one)
    why = f"{step.id} is done in {len(pieces)} smaller steps: {', '.join(names)}."
    return Proposal(tuple(steps), tuple(names), why, prompt=parts[0].prompt)


def reorder(goal: Goal, plan: Plan, finding: Finding) -> Proposal | None:
    """Move a failed step behind the steps that can run now; at deadline risk, put the most valuable steps first."""
    step = _concerned(plan, finding)
    if finding.kind == "deadline_risk":
        return _most_valuable_first(goal, plan)
    if step is None or step.status == "running":
        return None
    waiting = {step.id} | {other.id for other in _descendants(plan.steps, step.id)}
    free = [other for other in plan.steps if other.status in ("pending", "running") and other.id not in waiting]
    last = [other.id for other in free if not any(other.id in later_step.after for later_step in free)]
    if not free or set(last) <= set(step.after):
        return None
    later = again(step, after=tuple(dict.fromkeys((*step.after, *last))))
    order = [other for other in plan.steps if other.id not in waiting]
    order += [later if other.id == step.id else other for other in plan.steps if other.id in waiting]
    moved = ", ".join(other.id for other in free)
    return Proposal(tuple(order), (step.id,), f"{step.id} is tried again after {moved}.")


def replan(plan: Plan, finding: Finding, rest: PlanBody | None) -> Proposal | None:
    """Keep finished steps and replace the rest by a new plan. None if the new plan equals the old one.

    After a broken assumption it may be equal: the new plan no longer has that assumption.
    """
    if rest is None:
        return None
    kept = [
        open_step
        for open_step in plan.steps
        if open_step.is_finished or (open_step.status == "running" and open_step.id != finding.step)
    ]
    open_before = sorted(step_fingerprint(open_step) for open_step in plan.steps if open_step not in kept)
    if finding.kind != "broken_assumption" and sorted(map(step_fingerprint, rest.steps)) == open_before:
        return None
    if len(kept) + len(rest.steps) > MAX_STEPS:
        return None
    staying = {open_step.id for open_step in kept}
    steps = [
        open_step.model_copy(update={"after": tuple(n for n in open_step.after if n in staying)}) for open_step in kept
    ]
    taken, names = set(staying), dict[str, str]()
    for open_step in rest.steps:
        names[open_step.id] = unused_id(open_step.id[:_STEM], taken)
        taken.add(names[open_step.id])
    for open_step in rest.steps:
        after = tuple(dict.fromkeys(names.get(name, name) for name in open_step.after))
        if not taken.issuperset(after):
            return None
        steps.append(reset_step(open_step, id=names[open_step.id], after=after))
    why = f"{len(kept)} steps stay, the rest is planned anew: {', '.join(names.values())}."
    return Proposal(tuple(steps), tuple(names.values()), why, rest=rest)


def question(goal: Goal, plan: Plan, finding: Finding, tried: Sequence[str]) -> str:
    """Return the question to a person when nothing else is left."""
    step = _concerned(plan, finding)
    what = f" The step is: {step.description}" if step is not None else ""
    so_far = f" Tried so far: {', '.join(tried)}." if tried else ""
    return (
        f"{finding.detail}{what}{so_far} What is needed: remove what is in the way, change the plan, or drop the goal "
        f"({goal.description})."
    )[:4_000]


def give_up_reason(finding: Finding, tried: Sequence[str], reason: str) -> str:
    """Return why a goal is given up."""
    so_far = f" Tried: {', '.join(tried)}." if tried else ""
    return f"{reason} {finding.detail}{so_far}"[:4_000]


def again(step: PlanStep, **changes: Any) -> PlanStep:
    """Return a step as if it had never started, but with its errors."""
    return reset_step(step, errors=step.errors, **changes)


def _may_pass(step: PlanStep) -> bool:
    """Whether a retry makes sense. An unclear error is retried unless the last two are the same."""
    errors = step.errors or (step.error,)
    prospect = error_outlook(errors[-1])
    if prospect == "unknown":
        return len(errors) < 2 or error_fingerprint(errors[-1]) != error_fingerprint(errors[-2])
    return prospect == "passing"


def _concerned(plan: Plan, finding: Finding) -> PlanStep | None:
    step = plan.step(finding.step) if finding.step else None
    return None if step is None or step.is_finished else step


def _with(steps: Iterable[PlanStep], changed: PlanStep) -> tuple[PlanStep, ...]:
    return tuple(changed if step.id == changed.id else step for step in steps)


def _pieces(step: PlanStep, parts: Sequence[StepPart], names: Sequence[str]) -> list[PlanStep]:
    """Return the parts as steps. They serve the criteria of the step, which are met when all parts are done."""
    return [
        PlanStep(
            id=names[n],
            description=part.description,
            after=tuple(names[place] for place in part.after) or step.after,
            criteria=step.criteria if part.criteria is None else part.criteria,
            tool=part.tool,
            procedure=part.procedure,
            args=dict(part.args),
            expected=part.expected,
            max_attempts=step.max_attempts,
            seconds=step.seconds / len(parts) if step.seconds else None,
        )
        for n, part in enumerate(parts)
    ]


def _descendants(steps: Sequence[PlanStep], name: str) -> list[PlanStep]:
    """Return the steps that depend on a step, directly or indirectly."""
    reached = {name}
    later: list[PlanStep] = []
    for step in order_steps(steps):
        if reached.intersection(step.after):
            reached.add(step.id)
            later.append(step)
    return later


def _most_valuable_first(goal: Goal, plan: Plan) -> Proposal | None:
    weights = {criterion.id: criterion.weight for criterion in goal.criteria if not criterion.met}
    usual = usual_seconds(plan.steps)
    value = {step.id: value_of(step, weights, usual) for step in plan.steps}
    for step in reversed(order_steps(plan.steps)):
        for name in step.after:
            value[name] = max(value[name], value[step.id])
    place = {step.id: n for n, step in enumerate(plan.steps)}
    open_steps = {step.id: step for step in plan.steps if not step.is_finished}
    order = [step for step in plan.steps if step.is_finished]
    while open_steps:
        able = [step for step in open_steps.values() if not open_steps.keys() & set(step.after)]
        best = min(able, key=lambda step: (-value[step.id], place[step.id]))
        order.append(open_steps.pop(best.id))
    before = [step.id for step in plan.steps if not step.is_finished]
    after = [step.id for step in order if not step.is_finished]
    if before == after:
        return None
    return Proposal(tuple(order), tuple(after[:1]), f"What counts most comes first: {', '.join(after)}.")


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another tool or procedure that a step could use."""

    name: str
    args: Json = field(default_factory=dict)
    procedure: bool = False
    fit: float = 1.0

    @property
    def label(self) -> str:
        return f"{'procedure' if self.procedure else 'tool'}:{self.name}"


def label_of(step: PlanStep) -> str:
    """Return what a step uses, as ``tool:send`` or ``procedure:send_report``; empty if it uses neither."""
    if step.tool is not None:
        return f"tool:{step.tool}"
    return f"procedure:{step.procedure}" if step.procedure is not None else ""
