"""What monitoring finds, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from longmind.store.base import Delete
from longmind.systems.configuration import configure
from longmind.systems.goals.fingerprints import plan_fingerprint
from longmind.systems.goals.models import Criterion, Finding, Goal, Plan, PlanBody, PlanStep
from longmind.systems.goals.monitor import MONITORING, Monitor, MonitorSettings, findings
from longmind.systems.goals.progress import ProgressPropagation
from longmind.systems.goals.records import GoalRecords, PlanFingerprint
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory
from longmind.testing import START, FakeClock, memory
from longmind.types import Memory

ID = "0197f9a0-0000-7000-8000-00000000000{}"
RULE = MonitorSettings()
HOUR = timedelta(hours=1)


def goal(**fields: Any) -> Goal:
    told: dict[str, Any] = {"description": "Publish the report", "criteria": (_criterion("c1"),), "created_at": START}
    return Goal(**({"id": ID.format(1), "version": 1} | told | fields))


def plan(*steps: PlanStep, **fields: Any) -> Plan:
    told: dict[str, Any] = {"id": ID.format(2), "version": 1, "made_at": START, "goal": ID.format(1)}
    return Plan(steps=steps, **(told | fields))


def step(id: str, status: str = "pending", **fields: Any) -> PlanStep:
    if status == "failed" and "errors" not in fields:
        fields["errors"] = (fields.setdefault("error", "It broke."),)
    return PlanStep.model_validate({"id": id, "description": f"Do {id}.", "status": status, **fields})


def _criterion(id: str, **fields: Any) -> Criterion:
    return Criterion(id=id, description=f"Criterion {id}.", **fields)


def seen(
    of: Plan,
    *,
    of_goal: Goal | None = None,
    now: datetime = START,
    facts: Sequence[Memory] = (),
    rule: MonitorSettings = RULE,
    **known: Any,
) -> list[tuple[str, str | None]]:
    return [(one.kind, one.step) for one in found(of, of_goal=of_goal, now=now, facts=facts, rule=rule, **known)]


def found(
    of: Plan,
    *,
    of_goal: Goal | None = None,
    now: datetime = START,
    facts: Sequence[Memory] = (),
    rule: MonitorSettings = RULE,
    **known: Any,
) -> list[Finding]:
    return findings(of_goal or goal(), of, {fact.id: fact for fact in facts}, now, rule, **known)


# -- failure --------------------------------------------------------------------------------------------------------


def test_a_plan_on_its_way_has_no_findings() -> None:
    lease = START + HOUR
    going = plan(step("a", "done", result=1), step("b", "running", started_at=START, lease_until=lease), step("c"))
    assert seen(going) == []


def test_a_failed_step_is_told_with_its_error() -> None:
    (one,) = found(plan(step("a", "failed", error="The disk is full."), step("b", after=("a",))))
    assert (one.kind, one.step) == ("failed_step", "a")
    assert "once" in one.detail
    assert "The disk is full." in one.detail


def test_a_step_that_failed_often_is_a_repeated_failure_and_not_told_twice() -> None:
    assert seen(plan(step("a", "failed", errors=("x", "y", "z")))) == [("repeated_failure", "a")]
    assert seen(plan(step("a", "failed", errors=("x", "y")))) == [("failed_step", "a")]


def test_the_same_error_in_several_steps_is_a_repeated_failure() -> None:
    steps = [step(id, "failed", error=f"Error {n}: no such host") for n, id in enumerate("abc")]
    assert seen(plan(*steps)) == [("repeated_failure", id) for id in "abc"]
    steps[1] = step("b", "failed", error="Something else")
    assert {kind for kind, _ in seen(plan(*steps))} == {"failed_step"}


def test_a_step_that_was_reset_is_given_its_chance() -> None:
    assert seen(plan(step("a", errors=("x", "x", "x", "x", "x")))) == []


# -- loops ----------------------------------------------------------------------------------------------------------


def test_the_same_call_failing_in_the_same_way_is_a_loop() -> None:
    errors = tuple(f"Answer {n}: not ready" for n in range(4))
    (one,) = found(plan(step("a", "failed", tool="fetch", args={"x": 1}, errors=errors)))
    assert (one.kind, one.step) == ("loop", "a")
    assert "4 times" in one.detail
    other = plan(step("a", "failed", tool="fetch", args={"x": 1}, errors=(*errors[:3], "Now it is ready, but empty")))
    assert seen(other) == [("repeated_failure", "a")]


def test_the_same_result_again_and_again_is_a_loop_if_it_goes_on() -> None:
    call: dict[str, Any] = {"tool": "poll", "args": {"job": 7}}
    done = [step(f"d{n}", "done", result="not yet", **call) for n in range(4)]
    assert seen(plan(*done, step("next", **call))) == [("loop", "next")]
    assert seen(plan(*done, step("next", tool="poll", args={"job": 8}))) == []
    assert seen(plan(*done[:3], step("next", **call))) == []
    changing = [step(f"d{n}", "done", result=n, **call) for n in range(4)]
    assert seen(plan(*changing, step("next", **call))) == []


def test_returning_to_an_earlier_version_is_a_loop_but_trying_again_is_not() -> None:
    one, other = (step("a", tool="x"),), (step("a", tool="y"),)
    now = plan(*one, number=3)
    went_round = [PlanFingerprint(1, plan_fingerprint(one)), PlanFingerprint(2, plan_fingerprint(other))]
    (told,) = found(now, earlier=went_round)
    assert told.kind == "loop"
    assert told.step is None
    assert "Version 3" in told.detail
    assert "version 1" in told.detail
    assert (
        seen(now, earlier=[PlanFingerprint(1, plan_fingerprint(one)), PlanFingerprint(2, plan_fingerprint(one))]) == []
    )
    assert seen(now, earlier=[PlanFingerprint(1, plan_fingerprint(other))]) == []


# -- stalls ---------------------------------------------------------------------------------------------------------


def test_nothing_moving_is_a_stall_after_the_time_allowed() -> None:
    idle = plan(step("a", "done", started_at=START, finished_at=START + HOUR), step("b", after=("a",)), step("c"))
    assert seen(idle, now=START + 2 * HOUR) == []
    (one,) = found(idle, now=START + 4.5 * HOUR)
    assert (one.kind, one.step) == ("stall", "b")
    assert "3.5 hours" in one.detail
    assert "b, c" in one.detail
    assert seen(idle, now=START + 4.5 * HOUR, rule=MonitorSettings(stall_seconds=86_400)) == []


def test_a_new_version_of_the_plan_counts_as_movement() -> None:
    assert seen(plan(step("a"), made_at=START + 3 * HOUR), now=START + 3.5 * HOUR) == []


def test_a_running_step_stalls_when_its_lease_is_over() -> None:
    running = plan(step("a", "running", started_at=START, lease_until=START + HOUR), step("b"))
    assert seen(running, now=START + HOUR) == []
    assert seen(running, now=START + HOUR + timedelta(seconds=1)) == [("stall", "a")]


def test_a_running_step_without_a_lease_stalls_by_what_was_expected() -> None:
    running = plan(step("a", "running", started_at=START, seconds=60))
    assert seen(running, now=START + timedelta(seconds=180)) == []
    (one,) = found(running, now=START + timedelta(seconds=181))
    assert one.kind == "stall"
    assert "3 minutes are allowed" in one.detail
    assert seen(plan(step("a", "running", started_at=START)), now=START + timedelta(seconds=181)) == []


def test_a_plan_that_is_over_with_criteria_open_is_a_stall_unless_sub_goals_are_open() -> None:
    over = plan(step("a", "done"), step("b", "skipped"))
    (one,) = found(over)
    assert (one.kind, one.step) == ("stall", None)
    assert "c1 is not met" in one.detail
    assert seen(over, waits=True) == []
    assert seen(over, of_goal=goal(criteria=(_criterion("c1", met_at=START),))) == []


def test_what_waits_for_a_failed_step_is_not_a_stall_of_its_own() -> None:
    stuck = plan(step("a", "failed"), step("b", after=("a",)))
    assert seen(stuck, now=START + 10 * HOUR) == [("failed_step", "a")]


# -- deadlines ------------------------------------------------------------------------------------------------------


def test_the_longest_chain_is_held_against_the_time_left() -> None:
    steps = (step("a", seconds=1800), step("b", seconds=2400, after=("a",)), step("c", seconds=3000))
    assert seen(plan(*steps), of_goal=goal(deadline=START + timedelta(seconds=4200))) == []
    (one,) = found(plan(*steps), of_goal=goal(deadline=START + timedelta(seconds=4199)))
    assert one.kind == "deadline_risk"
    assert one.step is None
    assert "1.2 hours (a, b)" in one.detail


def test_what_steps_take_is_learnt_from_those_that_are_done() -> None:
    done = step("a", "done", started_at=START, finished_at=START + timedelta(minutes=10))
    rest = (step("b"), step("c", after=("b",)))
    late = goal(deadline=START + timedelta(minutes=29))
    assert seen(plan(done, *rest), of_goal=late, now=START + timedelta(minutes=10)) == [("deadline_risk", None)]
    in_time = goal(deadline=START + timedelta(minutes=31))
    assert seen(plan(done, *rest), of_goal=in_time, now=START + timedelta(minutes=10)) == []


def test_a_running_step_has_part_of_its_time_behind_it() -> None:
    running = plan(step("a", "running", seconds=600, started_at=START, lease_until=START + HOUR))
    due = goal(deadline=START + timedelta(seconds=610))
    assert seen(running, of_goal=due, now=START + timedelta(seconds=300)) == []


def test_without_any_time_told_progress_is_held_against_the_time_gone() -> None:
    due = goal(deadline=START + 4 * HOUR)
    slow = plan(step("a"), step("b"), step("c"), step("d"), made_at=START + 2 * HOUR)
    assert seen(slow, of_goal=due, now=START + 1.9 * HOUR) == []
    (one,) = found(slow, of_goal=due, now=START + 2 * HOUR)
    assert one.kind == "deadline_risk"
    assert "50%" in one.detail
    assert "0% is done" in one.detail
    half = plan(step("a", "done"), step("b", "done"), step("c"), step("d"), made_at=START + 2 * HOUR)
    assert seen(half, of_goal=due, now=START + 2.5 * HOUR) == []


def test_a_deadline_that_is_over_is_always_told() -> None:
    due = goal(deadline=START - 2 * HOUR, progress=0.5)
    (one,) = found(plan(step("a", seconds=1)), of_goal=due)
    assert one.kind == "deadline_risk"
    assert "2 hours ago" in one.detail
    assert "50% done" in one.detail


# -- assumptions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": "stale"}, "is stale"),
        ({"state": "superseded"}, "is superseded"),
        ({"state": "quarantined"}, "is quarantined"),
        ({"state": "archived", "body": {"retracted_at": "2026-01-01T00:00:00Z"}}, "was taken back"),
        ({"valid_to": START - 2 * HOUR}, "ended 2 hours ago"),
    ],
)
def test_a_fact_that_no_longer_holds_breaks_the_plan(fields: dict[str, Any], said: str) -> None:
    fact = memory("Alice lives in Porto.", kind="fact", **fields)
    (one,) = found(plan(step("a"), assumptions=(fact.id,)), facts=[fact])
    assert (one.kind, one.evidence) == ("broken_assumption", (fact.id,))
    assert "Alice lives in Porto." in one.detail
    assert said in one.detail


def test_a_fact_that_is_gone_breaks_the_plan_and_one_that_holds_does_not() -> None:
    holds = memory("It is so.", kind="fact", valid_to=START + HOUR)
    unused = memory("It was so for long.", kind="fact", state="archived")
    gone = ID.format(9)
    assert seen(plan(step("a"), assumptions=(holds.id, unused.id)), facts=[holds, unused]) == []
    (one,) = found(plan(step("a"), assumptions=(holds.id, gone)), facts=[holds])
    assert one.evidence == (gone,)
    assert "is gone" in one.detail


# -- all together ---------------------------------------------------------------------------------------------------


def test_the_gravest_comes_first() -> None:
    bad = plan(
        step("a", "failed"),
        step("b", "failed", errors=("x", "y", "z")),
        step("c", "failed", tool="t", errors=("q",) * 4),
        step("d", "running", started_at=START, lease_until=START),
        assumptions=(ID.format(9),),
    )
    told = seen(bad, of_goal=goal(deadline=START), now=START + HOUR)
    kinds = ["broken_assumption", "loop", "repeated_failure", "failed_step", "stall", "deadline_risk"]
    assert [kind for kind, _ in told] == kinds


@pytest.mark.parametrize("status", ["proposed", "blocked", "achieved", "failed", "abandoned"])
def test_only_active_goals_are_watched(status: str) -> None:
    assert seen(plan(step("a", "failed")), of_goal=goal(status=status)) == []


async def stored(scoped: ScopedStore, *steps: PlanStep, facts: Sequence[str] = (), **fields: Any) -> Goal:
    """A goal with a plan, stored."""
    records = GoalRecords(scoped)
    made = goal(id=scoped.clock.new_id(), created_at=scoped.now(), **fields)
    told = PlanBody(goal=made.id, steps=steps, assumptions=tuple(facts))
    await scoped.write([*records.insert_goal(made), *records.replace_plan(made, None, told)])
    return made


async def test_every_active_plan_is_looked_at_and_nothing_is_written(scoped: ScopedStore, clock: FakeClock) -> None:
    semantic = SemanticMemory(scoped)
    fact = (await semantic.learn("Alice", "lives in", "Porto")).fact
    broken = await stored(scoped, step("a"), facts=[fact.id])
    failed = await stored(scoped, step("a", "failed"))
    await stored(scoped, step("a", "failed"), status="blocked")
    fine = await stored(scoped, step("a"))
    clock.advance(60)
    await semantic.learn("Alice", "lives in", "Berlin")
    head = await scoped.store.backend.head(scoped.scope)
    monitor = Monitor(scoped, GoalRecords(scoped))
    told = {(one.goal, one.kind) for one in await monitor.check()}
    assert told == {(broken.id, "broken_assumption"), (failed.id, "failed_step")}
    assert [one.kind for one in await monitor.check(failed.id)] == ["failed_step"]
    assert await monitor.check(fine.id) == ()
    assert await scoped.store.backend.head(scoped.scope) == head


async def test_a_fact_that_was_deleted_is_told(scoped: ScopedStore) -> None:
    fact = (await SemanticMemory(scoped).learn("Alice", "lives in", "Porto")).fact
    made = await stored(scoped, step("a"), facts=[fact.id])
    await scoped.write([Delete(fact.id)])
    assert [one.kind for one in await Monitor(scoped, GoalRecords(scoped)).check(made.id)] == ["broken_assumption"]


async def test_an_open_sub_goal_is_waited_for(scoped: ScopedStore) -> None:
    made = await stored(scoped, step("a", "done"))
    records, monitor = GoalRecords(scoped), Monitor(scoped, GoalRecords(scoped))
    assert [one.kind for one in await monitor.check(made.id)] == ["stall"]
    child = await stored(scoped, step("a"), parent=made.id)
    assert await monitor.check(made.id) == () == await monitor.check()
    propagation = ProgressPropagation(records, scoped.now())
    propagation.change(await records.need(child.id), status="abandoned")
    await scoped.write(await propagation.writes())
    assert [one.kind for one in await monitor.check()] == ["stall"]


async def test_the_rule_is_the_agents_own(scoped: ScopedStore, clock: FakeClock) -> None:
    await stored(scoped, step("a"))
    clock.advance(HOUR * 2)
    monitor = Monitor(scoped, GoalRecords(scoped))
    assert [one.kind for one in await monitor.check()] == ["stall"]
    await configure(scoped, MONITORING, MonitorSettings(), {"stall_seconds": 86_400})
    assert await monitor.check() == ()


async def test_a_hundred_plans_take_as_many_queries_as_one(
    scoped: ScopedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    semantic, backend = SemanticMemory(scoped), scoped.store.backend
    calls: list[str] = []
    for name in ("get", "scan", "links"):
        real = getattr(backend, name)

        def counted(*args: Any, _real: Any = real, _name: str = name, **options: Any) -> Any:
            calls.append(_name)
            return _real(*args, **options)

        monkeypatch.setattr(backend, name, counted, raising=True)
    spent: list[int] = []
    for n in (1, 99):
        for one in range(n):
            fact = (await semantic.learn(f"thing {n} {one}", "is", "so")).fact
            await stored(scoped, step("a", "failed"), facts=[fact.id])
        calls.clear()
        assert len(await Monitor(scoped, GoalRecords(scoped)).check()) == (1 if n == 1 else 100)
        spent.append(len(calls))
    assert spent[0] == spent[1] <= 6
