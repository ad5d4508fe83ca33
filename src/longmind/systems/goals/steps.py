"""The steps of a plan: which may start, how each changes its status, and what is stored of its result.

Pure functions from a plan to its steps after the change. A tool may return ten megabytes, or something that is not
JSON: the plan keeps the beginning and says how much is missing, so that a result never prevents a step from being done.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from longmind.errors import Conflict, InvalidInput, NotFound
from longmind.systems.goals.models import MAX_RESULT, Goal, Plan, PlanStep, order_steps
from longmind.systems.procedural import json_equal, to_plain_json
from longmind.systems.scoped_store import validated

if TYPE_CHECKING:
    from longmind.systems.goals.models import PlanStep

LEASE_SECONDS = 300.0
_MAX_LEASE = 86_400.0 * 7
_KEPT_ERRORS = 20
_LOST = "Whoever ran it did not come back in time."
Steps = tuple[PlanStep, ...]
_MARK = " … [{} characters more]"


def ready_steps(steps: Sequence[PlanStep], now: datetime) -> list[PlanStep]:
    """Return the steps that may start now, in plan order: all dependencies are finished and nobody is running them.

    A step whose lease expired may start again, unless its attempts are used up.
    """
    is_finished = {step.id for step in steps if step.is_finished}
    return [
        step for step in steps if is_finished.issuperset(step.after) and (step.status == "pending" or _left(step, now))
    ]


def waiting_for(step: PlanStep, steps: Sequence[PlanStep]) -> list[str]:
    """Return the ids of the steps that must be done or skipped before this one."""
    finished = {other.id for other in steps if other.is_finished}
    return [name for name in step.after if name not in finished]


def without_steps(steps: Iterable[PlanStep], dropped: Collection[str]) -> list[PlanStep]:
    """Return the steps without the dropped ones. A dependency on a dropped step becomes one on its dependencies."""
    everything = list(steps)
    instead: dict[str, tuple[str, ...]] = {}
    for step in order_steps(everything):
        after = tuple(dict.fromkeys(name for before in step.after for name in instead[before]))
        instead[step.id] = after if step.id in dropped else (step.id,)
    kept = [step for step in everything if step.id not in dropped]
    return [
        step.model_copy(update={"after": tuple(dict.fromkeys(name for old in step.after for name in instead[old]))})
        for step in kept
    ]


def _left(step: PlanStep, now: datetime) -> bool:
    """Whether the lease of a running step expired and it has attempts left."""
    expired = step.status == "running" and (step.lease_until is None or step.lease_until <= now)
    return expired and step.attempts < step.max_attempts


def find_step(plan: Plan, id: str) -> PlanStep:
    """Return a step of a plan; ``NotFound`` names the steps there are."""
    step = plan.step(id)
    if step is None:
        known = ", ".join(known_step.id for known_step in plan.steps)
        raise NotFound(f"The plan {plan.number} has no step {id}.", hint=f"Its steps are {known}.", step=id)
    return step


def start_step(
    goal: Goal, plan: Plan, id: str, now: datetime, *, lease_seconds: float = LEASE_SECONDS, episode: str | None = None
) -> Steps:
    """Return the steps with one of them running, until it ends or its lease expires."""
    step = find_step(plan, id)
    if goal.status != "active":
        raise Conflict(f"The goal is {goal.status}, so no step of it can start.", hint="Activate it first.", step=id)
    if all(other.id != id for other in ready_steps(plan.steps, now)):
        raise Conflict(*_why_not(step, plan, now), step=id)
    lost = step.status == "running"
    changes: dict[str, Any] = {
        "status": "running",
        "attempts": step.attempts + 1,
        "started_at": now,
        "finished_at": None,
        "lease_until": _until(now, lease_seconds),
        "error": "",
        "episode": episode or step.episode,
        "errors": _with_error(step, _LOST) if lost else step.errors,
    }
    return _replaced(plan.steps, step, changes)


def renew_lease(plan: Plan, id: str, now: datetime, lease_seconds: float) -> Steps:
    """Return the steps with the lease of a running one extended."""
    step = find_step(plan, id)
    if step.status != "running":
        raise Conflict(f"The step {id} is {step.status}, so it has no lease to renew.", step=id)
    return _replaced(plan.steps, step, {"lease_until": _until(now, lease_seconds)})


def release_step(plan: Plan, id: str) -> Steps:
    """Return the steps with a running one pending again. The attempt does not count: the step was not the reason."""
    step = find_step(plan, id)
    if step.status != "running":
        raise Conflict(f"The step {id} is {step.status}, so it cannot be given back.", step=id)
    return _replaced(
        plan.steps, step, {"status": "pending", "attempts": max(0, step.attempts - 1), "lease_until": None}
    )


def complete_step(plan: Plan, id: str, result: Any, now: datetime) -> Steps | None:
    """Return the steps with one of them done; None if it was done before with the same result."""
    step = find_step(plan, id)
    kept = truncate_value(result)
    if step.status == "done":
        if result is None or json_equal(kept, step.result):
            return None
        raise Conflict(f"The step {id} is done already, with another result.", hint="Read the plan.", step=id)
    if step.status == "skipped":
        raise Conflict(f"The step {id} was skipped.", hint="Make a new plan to do it after all.", step=id)
    _may_end(step, plan)
    changes: dict[str, Any] = {
        "status": "done",
        "attempts": max(step.attempts, 1) if step.status == "running" else step.attempts + 1,
        "result": kept,
        "error": "",
        "started_at": step.started_at or now,
        "finished_at": now,
        "lease_until": None,
    }
    return _replaced(plan.steps, step, changes)


def fail_step(plan: Plan, id: str, error: str, now: datetime) -> Steps | None:
    """Return the steps with one of them failed; None if it failed before with the same error."""
    step = find_step(plan, id)
    message = truncate_text(error.strip(), MAX_RESULT)
    if not message:
        raise InvalidInput(f"Say what went wrong with the step {id}.")
    if step.status == "failed" and step.error == message:
        return None
    if step.is_finished:
        raise Conflict(f"The step {id} is {step.status} already.", hint="Only an open step can fail.", step=id)
    _may_end(step, plan)
    changes: dict[str, Any] = {
        "status": "failed",
        "attempts": max(step.attempts, 1) if step.status == "running" else step.attempts + 1,
        "error": message,
        "errors": _with_error(step, message),
        "started_at": step.started_at or now,
        "finished_at": now,
        "lease_until": None,
    }
    return _replaced(plan.steps, step, changes)


def skip_step(plan: Plan, id: str, why: str, now: datetime) -> Steps | None:
    """Return the steps with one of them skipped, so that later steps need not wait; None if it was skipped before."""
    step = find_step(plan, id)
    if step.status == "skipped":
        return None
    if step.status == "done":
        raise Conflict(f"The step {id} is done already.", step=id)
    changes = {"status": "skipped", "error": truncate_text(why, MAX_RESULT), "finished_at": now, "lease_until": None}
    return _replaced(plan.steps, step, changes)


def halt_running(steps: Sequence[PlanStep]) -> Steps | None:
    """Return the steps with running ones pending again, for a goal that ended; None if none was running."""
    if all(step.status != "running" for step in steps):
        return None
    back = {"status": "pending", "lease_until": None}
    return tuple(_changed(step, back) if step.status == "running" else step for step in steps)


def _may_end(step: PlanStep, plan: Plan) -> None:
    missing = waiting_for(step, plan.steps)
    if missing:
        raise Conflict(
            f"The step {step.id} comes after {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} open.",
            hint="Complete or skip these first.",
            step=step.id,
            waiting_for=missing,
        )


def _why_not(step: PlanStep, plan: Plan, now: datetime) -> tuple[str]:
    """Return why a step cannot start."""
    missing = waiting_for(step, plan.steps)
    if missing:
        return (f"The step {step.id} comes after {', '.join(missing)}, which must be done or skipped before.",)
    if step.status == "running" and step.lease_until is not None and step.lease_until > now:
        return (f"The step {step.id} is running, until {step.lease_until.isoformat()} at least.",)
    if step.status == "running":
        return (
            f"The step {step.id} was tried {step.attempts} times and nobody came back; fail it or revise the plan.",
        )
    if step.status == "failed":
        return (f"The step {step.id} failed: {step.error[:200]} Revise the plan to try it again.",)
    return (f"The step {step.id} is {step.status} already.",)


def _until(now: datetime, seconds: float) -> datetime:
    if not 0 < seconds <= _MAX_LEASE:
        raise InvalidInput(f"A lease lasts more than 0 and at most {_MAX_LEASE:g} seconds, not {seconds}.")
    return now + timedelta(seconds=seconds)


def _with_error(step: PlanStep, error: str) -> tuple[str, ...]:
    return (*step.errors, truncate_text(error, 500))[-_KEPT_ERRORS:]


def _replaced(steps: Sequence[PlanStep], step: PlanStep, changes: dict[str, Any]) -> Steps:
    new = _changed(step, changes)
    return tuple(new if other.id == step.id else other for other in steps)


def _changed(step: PlanStep, changes: dict[str, Any]) -> PlanStep:
    return validated(PlanStep, {**step.model_dump(), **changes})


def truncate_value(value: Any, limit: int = MAX_RESULT) -> Any:
    """Return the value if it is short plain JSON, otherwise the beginning of its text, marked as cut."""
    if isinstance(value, str):
        return truncate_text(value, limit)
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    try:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False)
        if len(text) <= limit:
            nested = to_plain_json({"step": {"result": {"value": json.loads(text)}}}, "A result")
            return nested["step"]["result"]["value"]
    except (TypeError, ValueError, RecursionError, InvalidInput):
        return truncate_text(_describe(plain), limit)
    return truncate_text(text, limit)


def truncate_text(text: str, limit: int = MAX_RESULT) -> str:
    """Return a storable text of at most this length. A mark at its end counts the characters cut off."""
    if len(text) > limit:
        kept = limit - len(_MARK.format(len(text)))
        text = text[:kept] + _MARK.format(len(text) - kept)
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def result_note(result: Any) -> str:
    """Return a result as a note for evidence."""
    if result is None:
        return ""
    return truncate_text(result if isinstance(result, str) else json.dumps(result, ensure_ascii=False), 500)


def _describe(value: Any) -> str:
    """Return an object as text, even if its ``repr`` fails: a tool may return anything."""
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"
