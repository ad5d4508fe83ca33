"""Monitor active plans for failures, repeated failures, stalls, deadline risk, loops and broken assumptions.

``findings`` is a pure function of a goal, its plan, the facts it assumes and the time. Each problem is reported once,
the gravest first: for a step that failed often and always in the same way, only the loop is reported.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Annotated

from pydantic import Field

from longmind.systems.configuration import configuration
from longmind.systems.goals.fingerprints import (
    call_fingerprint,
    error_fingerprint,
    plan_fingerprint,
    result_fingerprint,
)
from longmind.systems.goals.models import Finding, FindingKind, Goal, GoalState, Plan, PlanStep, order_steps
from longmind.systems.goals.records import GoalRecords, PlanFingerprint, RevisionHistory
from longmind.systems.goals.steps import ready_steps
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Memory, Model, Unit

MONITORING = "goal monitoring"
GRAVEST: tuple[FindingKind, ...] = (
    "broken_assumption",
    "loop",
    "repeated_failure",
    "failed_step",
    "stall",
    "deadline_risk",
)
"""The order in which findings are answered: broken assumptions of the plan before problems of its steps."""
_Seconds = Annotated[float, Field(gt=0, le=86_400 * 365, allow_inf_nan=False)]


class MonitorSettings(Model):
    """The thresholds from which something counts as a problem."""

    every_seconds: _Seconds = 900.0
    """How often the consolidation service and the worker check the active plans, at most."""
    failures: Annotated[int, Field(ge=1, le=20)] = 3
    """The number of failures of one step, or of steps failing in the same way, that makes a repeated failure."""
    stall_seconds: _Seconds = 3_600.0
    """How long nothing may happen although a step could start."""
    stall_factor: Annotated[float, Field(ge=1, le=1_000)] = 3.0
    """How many times its estimated duration a running step may take."""
    loop_calls: Annotated[int, Field(ge=2, le=100)] = 4
    """How many times the same call with the same outcome makes a loop."""
    deadline_share: Unit = 0.5
    """The share of the time to the deadline after which progress is compared with it, if no step has an estimate."""
    deadline_behind: Unit = 0.5
    """The part of that share that must be done by then."""


def findings(
    goal: Goal,
    plan: Plan,
    facts: Mapping[str, Memory],
    now: datetime,
    rule: MonitorSettings,
    *,
    earlier: Sequence[PlanFingerprint] = (),
    waits: bool = False,
) -> list[Finding]:
    """Return what is wrong with an active plan, the gravest first.

    ``facts`` holds those of its assumptions that exist, by id; ``earlier`` what the versions before it said; ``waits``
    says that sub-goals are open, so that having no step left is no stall.
    """
    if goal.status != "active":
        return []

    def finding(kind: FindingKind, detail: str, step: str | None = None, evidence: Sequence[str] = ()) -> Finding:
        return Finding(
            kind=kind, goal=goal.id, plan=plan.id, step=step, detail=detail, evidence=tuple(evidence), at=now
        )

    results: list[Finding] = []
    if broken := _broken(plan, facts, now):
        results.append(finding("broken_assumption", " ".join(broken.values()), evidence=[*broken]))
    if again := _returned(plan, earlier):
        results.append(finding("loop", again))
    results += [finding(kind, detail, step) for kind, detail, step in _failures(plan, rule)]
    if stalled := _stall(goal, plan, now, rule, waits):
        results.append(finding("stall", stalled[0], stalled[1]))
    late = describe_lateness(goal, plan, now, half=rule.deadline_share, behind=rule.deadline_behind)
    if late is not None:
        results.append(finding("deadline_risk", late))
    return sorted(results, key=lambda item: GRAVEST.index(item.kind))


class Monitor:
    """Checks the active plans of a scope. It never writes."""

    def __init__(self, scoped: ScopedStore, records: GoalRecords, rule: MonitorSettings | None = None) -> None:
        self._scoped = scoped
        self._records = records
        self._rule = rule or MonitorSettings()
        self._history = RevisionHistory(scoped)

    async def check(self, goal: str | None = None) -> tuple[Finding, ...]:
        """Return the findings for one goal's plan, or for every active plan, in a few queries."""
        if goal is not None:
            state = await self._records.need(goal)
            parents = {child.parent for child in await self._records.children([goal]) if child.open}
            return await self._check([state], parents)
        return await self.check_states(await self._records.every(open=True))

    async def check_states(self, states: Sequence[GoalState]) -> tuple[Finding, ...]:
        """Return the findings for all open goals, which were already read."""
        return await self._check(states, {each.goal.parent for each in states})

    async def check_state(self, state: GoalState) -> tuple[Finding, ...]:
        """Return the findings for a goal that was already read."""
        parents = {child.parent for child in await self._records.children([state.goal.id]) if child.open}
        return await self._check([state], parents)

    async def _check(self, states: Sequence[GoalState], parents: set[str | None]) -> tuple[Finding, ...]:
        active = [
            (state.goal, state.plan) for state in states if state.goal.status == "active" and state.plan is not None
        ]
        if not active:
            return ()
        rule = await configuration(self._scoped, MONITORING, self._rule)
        facts = await self._facts(plan for _, plan in active)
        earlier = await self._history.fingerprints([goal for goal, _ in active])
        now = self._scoped.now()
        return tuple(
            state
            for goal, plan in active
            for state in findings(
                goal, plan, facts, now, rule, earlier=earlier.get(goal.id, ()), waits=goal.id in parents
            )
        )

    async def _facts(self, plans: Iterator[Plan]) -> dict[str, Memory]:
        ids = [id for plan in plans for id in plan.assumptions]
        return {memory.id: memory for memory in await self._scoped.store.get_all(self._scoped.scope, ids)}


def why_invalid(fact: Memory | None, now: datetime) -> str | None:
    """Return why a fact can no longer be assumed; None if it holds.

    An archived fact still holds; a retracted one does not.
    """
    if fact is None:
        return "is gone"
    if fact.body.get("retracted_at") is not None:
        return "was taken back"
    if fact.state in ("stale", "superseded", "quarantined"):
        return f"is {fact.state}"
    if fact.valid_to is not None and fact.valid_to <= now:
        return f"ended {duration_text((now - fact.valid_to).total_seconds())} ago"
    return None


def _broken(plan: Plan, facts: Mapping[str, Memory], now: datetime) -> dict[str, str]:
    """Return a sentence for each assumption that no longer holds, by fact id."""
    reasons: dict[str, str] = {}
    for id in dict.fromkeys(plan.assumptions):
        fact = facts.get(id)
        why = why_invalid(fact, now)
        if why is not None:
            reasons[id] = f"The plan assumes {id if fact is None else repr(fact.content[:200])}, which {why}."
    return reasons


def _returned(plan: Plan, earlier: Sequence[PlanFingerprint]) -> str | None:
    """Return a sentence if the plan equals an earlier version that was revised; otherwise None."""
    now = plan_fingerprint(plan.steps)
    before = [version for version in earlier if version.number < plan.number]
    while before and before[-1].print == now:
        before.pop()
    same = next((version.number for version in reversed(before) if version.print == now), None)
    if same is None:
        return None
    return f"Version {plan.number} of the plan says the same as version {same}, from which it was changed before."


def _failures(plan: Plan, rule: MonitorSettings) -> Iterator[tuple[FindingKind, str, str]]:
    """Yield the gravest problem of each failed step, and pending calls that keep giving the same result."""
    outcomes = _outcomes(plan.steps)
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for step in plan.steps:
        if step.errors or step.error:
            alike[error_fingerprint(_last(step))].append(step.id)
    for step in plan.steps:
        call = call_fingerprint(step)
        if step.status == "failed":
            yield _failure(step, outcomes[call, "error", error_fingerprint(_last(step))], alike, rule)
        elif step.status == "pending":
            times = max((n for (of, kind, _), n in outcomes.items() if of == call and kind == "result"), default=0)
            if times >= rule.loop_calls:
                what = step.tool or step.procedure or step.description
                detail = f"{what} gave the same result {times} times with the same arguments, and {step.id} asks again."
                yield "loop", detail, step.id


def _failure(
    step: PlanStep, times: int, alike: Mapping[str, list[str]], rule: MonitorSettings
) -> tuple[FindingKind, str, str]:
    error = _last(step) or "no reason was given"
    failures = max(len(step.errors), 1)
    if times >= rule.loop_calls:
        return (
            "loop",
            f"The same call failed {times} times in the same way, the last time in {step.id}: {error}",
            step.id,
        )
    if failures >= rule.failures:
        return "repeated_failure", f"The step {step.id} failed {failures} times, the last time with: {error}", step.id
    others = alike.get(error_fingerprint(_last(step)), [])
    if len(others) >= rule.failures:
        return "repeated_failure", f"{len(others)} steps ({', '.join(others)}) failed in the same way: {error}", step.id
    many = "once" if failures == 1 else f"{failures} times"
    return "failed_step", f"The step {step.id} failed {many}: {error}", step.id


def _outcomes(steps: Sequence[PlanStep]) -> Counter[tuple[str, str, str]]:
    """Count how often each call ended with each outcome."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for step in steps:
        call = call_fingerprint(step)
        counts.update((call, "error", error_fingerprint(error)) for error in step.errors or filter(None, [step.error]))
        if step.status == "done" and step.result is not None:
            counts[call, "result", result_fingerprint(step.result)] += 1
    return counts


def _stall(goal: Goal, plan: Plan, now: datetime, rule: MonitorSettings, waits: bool) -> tuple[str, str | None] | None:
    """Return what is stalled, in a sentence, and the step it concerns."""
    for step in plan.steps:
        if step.status == "running" and (detail := _hangs(step, plan, now, rule)):
            return detail, step.id
    if any(step.status == "running" for step in plan.steps):
        return None
    able = ready_steps(plan.steps, now)
    unmet = [criterion.id for criterion in goal.criteria if not criterion.met]
    if not able:
        if waits or not unmet or any(step.status == "failed" for step in plan.steps):
            return None
        done = f"All {len(plan.steps)} steps of the plan are over"
        return f"{done}, and {', '.join(unmet)} {'is' if len(unmet) == 1 else 'are'} not met.", None
    moved = max(_moments(plan))
    idle = (now - moved).total_seconds()
    if idle <= rule.stall_seconds:
        return None
    could = ", ".join(step.id for step in able)
    allowed = duration_text(rule.stall_seconds)
    return f"Nothing moved for {duration_text(idle)} (allowed: {allowed}), and {could} could start.", able[0].id


def _hangs(step: PlanStep, plan: Plan, now: datetime, rule: MonitorSettings) -> str | None:
    started = step.started_at or plan.made_at
    if step.lease_until is not None:
        if step.lease_until >= now:
            return None
        over = duration_text((now - step.lease_until).total_seconds())
        return f"Whoever ran {step.id} has not been heard of since {over}: its lease is over."
    allowed = rule.stall_seconds if step.seconds is None else rule.stall_factor * step.seconds
    runs = (now - started).total_seconds()
    return (
        f"The step {step.id} runs for {duration_text(runs)}, and {duration_text(allowed)} are allowed."
        if runs > allowed
        else None
    )


def _moments(plan: Plan) -> Iterator[datetime]:
    yield plan.made_at
    for step in plan.steps:
        yield from filter(None, (step.started_at, step.finished_at))


def _last(step: PlanStep) -> str:
    return step.errors[-1] if step.errors else step.error


def usual_seconds(steps: Sequence[PlanStep]) -> float | None:
    """Return the assumed duration of a step without an estimate: the mean of finished steps, else of estimates."""
    done = [
        (step.finished_at - step.started_at).total_seconds()
        for step in steps
        if step.status == "done" and step.started_at is not None and step.finished_at is not None
    ]
    estimates = [step.seconds for step in steps if step.seconds is not None]
    known = [seconds for seconds in done if seconds > 0] or estimates
    return fmean(known) if known else None


def remaining_seconds(steps: Sequence[PlanStep], now: datetime) -> tuple[float, tuple[str, ...]] | None:
    """Return the duration of the longest chain of open steps, and its steps; None if no duration is known.

    Parallel steps are assumed to run at the same time, so this is a lower bound.
    """
    usual = usual_seconds(steps)
    longest: dict[str, tuple[float, tuple[str, ...]]] = {}
    for step in order_steps(steps):
        before = max((longest[name] for name in step.after), default=(0.0, ()))
        if step.is_finished:
            longest[step.id] = before
            continue
        needs = step.seconds or usual
        if needs is None:
            return None
        if step.status == "running" and step.started_at is not None:
            needs = max(0.0, needs - (now - step.started_at).total_seconds())
        longest[step.id] = (before[0] + needs, (*before[1], step.id))
    return max(longest.values(), default=(0.0, ()))


def describe_lateness(goal: Goal, plan: Plan, now: datetime, *, half: float, behind: float) -> str | None:
    """Return why a goal may miss its deadline, in a sentence with the figures; None if it is in time."""
    if goal.deadline is None:
        return None
    left = (goal.deadline - now).total_seconds()
    if left < 0:
        return f"The deadline was {duration_text(-left)} ago, and the goal is {goal.progress:.0%} done."
    need = remaining_seconds(plan.steps, now)
    if need is not None and need[0] > left:
        chain = ", ".join(need[1])
        takes = duration_text(need[0])
        return f"What remains takes about {takes} ({chain}), and {duration_text(left)} are left to the deadline."
    whole = (goal.deadline - goal.created_at).total_seconds()
    elapsed = 1 - left / whole if whole > 0 else 1.0
    done = max(goal.progress, sum(step.is_finished for step in plan.steps) / len(plan.steps))
    if need is None and elapsed >= half and done < behind * elapsed:
        return f"{elapsed:.0%} of the time to the deadline is over, and {done:.0%} is done."
    return None


def value_of(step: PlanStep, weights: Mapping[str, float], usual: float | None) -> float:
    """Return the value of a step per second: the weight of the open criteria it serves over its duration."""
    return sum(weights.get(name, 0.0) for name in step.criteria) / (step.seconds or usual or 1.0)


def duration_text(seconds: float) -> str:
    """Return a duration as text, in its largest unit."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            number = f"{seconds / size:.1f}".removesuffix(".0")
            return f"{number} {unit}{'' if number == '1' else 's'}"
    number = f"{seconds:.1f}".removesuffix(".0")
    return f"{number} second{'' if number == '1' else 's'}"
