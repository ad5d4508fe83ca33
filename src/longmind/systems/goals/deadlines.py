"""Whether a goal is still in time: how long what remains takes, against the time that is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import fmean

from longmind.systems.goals.models import Goal, Plan, PlanStep
from longmind.systems.goals.order import arranged


def usual_seconds(steps: Sequence[PlanStep]) -> float | None:
    """How long a step of this plan takes that does not say so: the mean of those done, else of what others say."""
    done = [
        (step.finished_at - step.started_at).total_seconds()
        for step in steps
        if step.status == "done" and step.started_at is not None and step.finished_at is not None
    ]
    told = [step.seconds for step in steps if step.seconds is not None]
    known = [seconds for seconds in done if seconds > 0] or told
    return fmean(known) if known else None


def remaining_seconds(steps: Sequence[PlanStep], now: datetime) -> tuple[float, tuple[str, ...]] | None:
    """The longest chain of what is left, in seconds, and its steps; None when nobody can say how long a step takes.

    Steps beside each other are taken to be done at the same time, so this is the least it takes.
    """
    usual = usual_seconds(steps)
    longest: dict[str, tuple[float, tuple[str, ...]]] = {}
    for step in arranged(steps):
        before = max((longest[name] for name in step.after), default=(0.0, ()))
        if step.settled:
            longest[step.id] = before
            continue
        needs = step.seconds or usual
        if needs is None:
            return None
        if step.status == "running" and step.started_at is not None:
            needs = max(0.0, needs - (now - step.started_at).total_seconds())
        longest[step.id] = (before[0] + needs, (*before[1], step.id))
    return max(longest.values(), default=(0.0, ()))


def lateness(goal: Goal, plan: Plan, now: datetime, *, half: float, behind: float) -> str | None:
    """Why a goal is at risk of missing its deadline, in a sentence with the figures; None when it is in time."""
    if goal.deadline is None:
        return None
    left = (goal.deadline - now).total_seconds()
    if left < 0:
        return f"The deadline was {span(-left)} ago, and the goal is {goal.progress:.0%} done."
    need = remaining_seconds(plan.steps, now)
    if need is not None and need[0] > left:
        chain = ", ".join(need[1])
        return f"What remains takes about {span(need[0])} ({chain}), and {span(left)} are left to the deadline."
    whole = (goal.deadline - goal.created_at).total_seconds()
    elapsed = 1 - left / whole if whole > 0 else 1.0
    done = max(goal.progress, sum(step.settled for step in plan.steps) / len(plan.steps))
    if need is None and elapsed >= half and done < behind * elapsed:
        return f"{elapsed:.0%} of the time to the deadline is over, and {done:.0%} is done."
    return None


def value_of(step: PlanStep, weights: Mapping[str, float], usual: float | None) -> float:
    """How much a step is worth for the time it takes: the weight of the open criteria it serves, for each second."""
    return sum(weights.get(name, 0.0) for name in step.criteria) / (step.seconds or usual or 1.0)


def span(seconds: float) -> str:
    """A time span as a person says it, in its largest unit."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            number = f"{seconds / size:.1f}".removesuffix(".0")
            return f"{number} {unit}{'' if number == '1' else 's'}"
    number = f"{seconds:.1f}".removesuffix(".0")
    return f"{number} second{'' if number == '1' else 's'}"
