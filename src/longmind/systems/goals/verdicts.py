"""Whether a revision worked: a function of the revision, what came after it, and how the goal stands now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from longmind.systems.goals.history import RevisionBody
from longmind.systems.goals.models import Goal, Plan, Standing


def verdict(one: RevisionBody, later: Sequence[RevisionBody], standing: Standing, now: datetime) -> bool | None:
    """True when what it changed was then done, False when it failed again, None while nobody can say.

    An answer to a deadline at risk worked if the goal was achieved in time. Asking a person worked if what was then
    done about the step did, or the goal was achieved; not if the same had to be asked again.
    """
    goal = standing.goal
    if one.finding == "deadline_risk":
        return _in_time(goal, now) if not _again(one, later) else False
    if goal.status == "achieved":
        return True
    if not goal.open:
        return False
    if one.strategy == "ask":
        return _helped(one, later)
    if _again(one, later):
        return False
    return None if standing.plan is None else _watched(one, standing.plan)


def _helped(one: RevisionBody, later: Sequence[RevisionBody]) -> bool | None:
    about = [other for other in later if other.step == one.step]
    if any(other.worked for other in about):
        return True
    return False if any(other.strategy == "ask" for other in about) else None


def _again(one: RevisionBody, later: Sequence[RevisionBody]) -> bool:
    """Whether the same trouble, or trouble with what was put in its place, had to be answered once more."""
    concerned = {*one.watched, *([one.step] if one.step else [])}
    return any(
        (other.step is not None and other.step in concerned and other.finding != "deadline_risk")
        or (other.step is None and one.step is None and other.finding == one.finding)
        for other in later
    )


def _watched(one: RevisionBody, plan: Plan) -> bool | None:
    steps = [step for name in one.watched if (step := plan.step(name)) is not None]
    if any(step.status == "failed" for step in steps):
        return False
    whole = bool(steps) and len(steps) == len(one.watched) and all(step.settled for step in steps)
    return True if whole and any(step.status == "done" for step in steps) else None


def _in_time(goal: Goal, now: datetime) -> bool | None:
    if goal.status == "achieved":
        return goal.deadline is None or goal.ended_at is None or goal.ended_at <= goal.deadline
    if not goal.open or (goal.deadline is not None and now > goal.deadline):
        return False
    return None
