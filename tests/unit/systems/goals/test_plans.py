"""Plans as memories: their versions, what they rest on, and how they follow a goal that changes."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import Conflict, InvalidInput
from longmind.systems.goals import Goal, GoalMemory, Plan
from longmind.systems.goals.models import PLAN
from longmind.systems.goals.records import plan_key
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory
from longmind.testing import FakeClock

WANTED = ["A flight is booked", "A hotel is booked"]


async def current(goals: GoalMemory, id: str) -> Plan:
    plan = await goals.plan(id)
    assert plan is not None
    return plan


@pytest.fixture
async def trip(goals: GoalMemory) -> Goal:
    return (await goals.create_goal_with_plan("Travel to Lisbon", WANTED))[0]


async def test_a_new_plan_takes_the_place_of_the_old_one(scoped: ScopedStore, goals: GoalMemory, trip: Goal) -> None:
    first = await current(goals, trip.id)
    second = await goals.plan_for(trip.id, steps=["Take the train"])
    assert (second.number, second.current) == (2, True)
    assert [(plan.id, plan.number, plan.current) for plan in await goals.plans(trip.id)] == [
        (second.id, 2, True),
        (first.id, 1, False),
    ]
    old, new = await scoped.need(first.id, PLAN), await scoped.need(second.id, PLAN)
    assert (old.state, old.key, new.state, new.key) == ("superseded", None, "active", plan_key(trip.id))
    links = {(one.relation, one.target) for one in await scoped.store.links(scoped.scope, [second.id])}
    assert {("achieves", trip.id), ("supersedes", first.id)} <= links


async def test_a_goal_and_its_plan_are_one_write(scoped: ScopedStore, goals: GoalMemory) -> None:
    await goals.create_goal_with_plan("Travel", WANTED)
    journal = await scoped.store.journal(scoped.scope)
    assert {change.action for change in journal} == {"put", "link"}
    assert len({change.operation for change in journal}) == 1


async def test_a_running_step_holds_its_plan(goals: GoalMemory, trip: Goal) -> None:
    await goals.start_step(trip.id, "s1")
    with pytest.raises(Conflict, match="s1 is running"):
        await goals.plan_for(trip.id, how="criteria")
    await goals.skip_step(trip.id, "s1")
    assert (await goals.plan_for(trip.id, how="criteria")).number == 2


async def test_many_plan_at_once_and_one_is_current(scoped: ScopedStore, goals: GoalMemory, trip: Goal) -> None:
    await asyncio.gather(*(goals.plan_for(trip.id, how="criteria") for _ in range(6)))
    numbers = [plan.number for plan in await goals.plans(trip.id)]
    assert numbers == [7, 6, 5, 4, 3, 2, 1]
    assert [plan.number for plan in await goals.plans(trip.id) if plan.current] == [7]


async def test_only_what_is_open_is_planned(goals: GoalMemory, trip: Goal) -> None:
    await goals.complete_step(trip.id, "s1")
    plan = await goals.plan_for(trip.id, how="criteria")
    assert [step.criteria for step in plan.steps] == [("c2",)]
    await goals.create("Get a passport", parent=trip.id)
    await goals.meet(trip.id, "c2", "yes")
    with pytest.raises(Conflict, match="waits for its sub-goals"):
        await goals.plan_for(trip.id)


async def test_new_criteria_get_steps_and_old_ones_lose_theirs(goals: GoalMemory, trip: Goal) -> None:
    await goals.complete_step(trip.id, "s1", "TP123")
    changed = await goals.update(
        trip.id, criteria=["a flight is  booked", "Insurance is bought"], why="Friends have a spare room"
    )
    assert [(one.id, one.met) for one in changed.criteria] == [("c1", True), ("c3", False)]
    plan = await current(goals, trip.id)
    assert plan.number == 2
    assert [(step.id, step.status, step.criteria) for step in plan.steps] == [
        ("s1", "done", ("c1",)),
        ("s3", "pending", ("c3",)),
    ]
    assert "c2 is no longer asked for" in plan.why
    assert "c3 is new: Insurance is bought" in plan.why
    assert plan.why.endswith("Friends have a spare room")
    assert changed.progress == 0.5
    assert (await goals.plans(trip.id))[1].steps[1].criteria == ("c2",)


async def test_steps_in_the_middle_are_left_out_and_the_order_stays(goals: GoalMemory) -> None:
    steps: list[dict[str, Any]] = [
        {"id": "a", "description": "A", "criteria": ["c1"]},
        {"id": "b", "description": "B", "criteria": ["c2"], "after": ["a"]},
        {"id": "c", "description": "C", "criteria": ["c3"], "after": ["b"]},
        {"id": "d", "description": "D", "after": ["b"]},
    ]
    goal, _ = await goals.create_goal_with_plan("Do", ["1", "2", "3"], steps)
    await goals.update(goal.id, criteria=["1", "3"])
    plan = await current(goals, goal.id)
    assert [(step.id, step.after) for step in plan.steps] == [("a", ()), ("c", ("a",)), ("d", ("a",))]


async def test_a_running_step_for_a_criterion_that_is_gone_is_skipped(goals: GoalMemory, trip: Goal) -> None:
    await goals.start_step(trip.id, "s1")
    await goals.start_step(trip.id, "s2")
    await goals.update(trip.id, criteria=["A flight is booked"])
    plan = await current(goals, trip.id)
    assert [(step.id, step.status) for step in plan.steps] == [("s1", "running"), ("s2", "skipped")]
    assert (await goals.complete_step(trip.id, "s1")).goal.status == "achieved"


async def test_a_goal_whose_open_criteria_are_all_dropped_is_achieved(goals: GoalMemory, trip: Goal) -> None:
    await goals.complete_step(trip.id, "s1")
    assert (await goals.update(trip.id, criteria=["A flight is booked"])).status == "achieved"


async def test_a_criterion_that_says_something_else_must_be_met_again(goals: GoalMemory, trip: Goal) -> None:
    await goals.complete_step(trip.id, "s1")
    changed = await goals.update(
        trip.id,
        criteria=[{"id": "c1", "description": "A flight by day is booked"}, {"id": "c2", "description": WANTED[1]}],
    )
    assert [(one.id, one.met) for one in changed.criteria] == [("c1", False), ("c2", False)]
    plan = await current(goals, trip.id)
    assert [(step.id, step.status, step.description) for step in plan.steps] == [
        ("s1", "done", "A flight is booked"),
        ("s2", "pending", "A hotel is booked"),
        ("s3", "pending", "A flight by day is booked"),
    ]


async def test_another_description_renames_what_is_open(goals: GoalMemory) -> None:
    steps = [
        {"description": "Fly to Lisbon", "criteria": ["c1"]},
        {"description": "Stay in Lisbon", "criteria": ["c1"], "tool": "book", "args": {"city": "Lisbon", "nights": 2}},
    ]
    goal, _ = await goals.create_goal_with_plan("Travel to Lisbon in May", ["Back home"], steps)
    await goals.complete_step(goal.id, "s1")
    await goals.update(goal.id, description="Travel to Porto in May")
    plan = await current(goals, goal.id)
    assert [step.description for step in plan.steps] == ["Fly to Lisbon", "Stay in Porto"]
    assert plan.steps[1].args == {"city": "Porto", "nights": 2}
    assert (plan.number, "Travel to Porto in May" in plan.why) == (2, True)


async def test_the_one_criterion_follows_the_description(goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Clean the cellar")
    changed = await goals.update(goal.id, description="Clean the attic")
    assert [(one.id, one.description) for one in changed.criteria] == [("c1", "Clean the attic")]


async def test_a_deadline_makes_a_new_version_and_a_priority_does_not(
    goals: GoalMemory, trip: Goal, clock: FakeClock
) -> None:
    await goals.update(trip.id, priority=0.9, tags=["holiday"], attributes={"who": "Ann"})
    assert (await current(goals, trip.id)).number == 1
    changed = await goals.update(trip.id, deadline=clock.now() + timedelta(days=3))
    assert (changed.priority, changed.tags, changed.attributes) == (0.9, ("holiday",), {"who": "Ann"})
    plan = await current(goals, trip.id)
    assert (plan.number, "the deadline is 2026-01-04" in plan.why) == (2, True)
    same = await goals.update(trip.id, deadline=changed.deadline)
    assert (same.version, (await current(goals, trip.id)).number) == (changed.version, 2)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"description": ""}, "description"),
        ({"criteria": [{"description": "x", "weight": -1}]}, "weight"),
        ({"status": "achieved"}, "verbs"),
        ({"progress": 1.0}, "not changed"),
        ({"priority": "high"}, "priority"),
    ],
)
async def test_a_change_that_cannot_be_is_refused(
    goals: GoalMemory, trip: Goal, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        await goals.update(trip.id, **changes)
    assert await goals.get(trip.id) == trip


async def test_what_was_done_for_a_reopened_criterion_is_planned_again(goals: GoalMemory) -> None:
    steps = [
        {"id": "look", "description": "Look", "criteria": ["c1"], "tool": "look", "args": {"far": True}},
        {"id": "book", "description": "Book", "criteria": ["c1"], "after": ["look"]},
    ]
    goal, _ = await goals.create_goal_with_plan("Travel", ["Booked", "Back"], steps)
    await goals.complete_step(goal.id, "look", 1)
    await goals.complete_step(goal.id, "book", 2)
    reopened = await goals.reopen_criterion(goal.id, "c1", "It was cancelled")
    assert (reopened.criteria[0].met, reopened.criteria[0].evidence, reopened.progress) == (False, (), 0.0)
    plan = await current(goals, goal.id)
    assert [(step.id, step.status, step.after, step.result) for step in plan.steps][2:] == [
        ("look_again", "pending", (), None),
        ("book_again", "pending", ("look_again",), None),
        ("s5", "pending", (), None),
    ]
    assert plan.steps[2].args == {"far": True}
    assert "It was cancelled" in plan.why
    assert await goals.reopen_criterion(goal.id, "c1") == reopened
    for step in ("look_again", "book_again", "s5"):
        await goals.complete_step(goal.id, step)
    assert (await goals.get(goal.id)).status == "achieved"


async def test_a_plan_rests_on_the_facts_that_were_known(scoped: ScopedStore, goals: GoalMemory) -> None:
    semantic = SemanticMemory(scoped)
    known = (await semantic.learn("Ann", "lives in", "Lisbon")).fact
    await semantic.learn("Bob", "likes", "chess")
    goal, plan = await goals.create_goal_with_plan("Visit Ann where she lives", ["Met Ann"])
    assert plan.assumptions == (known.id,)
    await semantic.learn("Ann", "lives in", "Porto")
    record = await scoped.need(plan.id, PLAN)
    assert record.state == "stale"
    assert (await goals.complete_step(goal.id, "s1")).goal.status == "achieved"  # stale is a warning, not an end
