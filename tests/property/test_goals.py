"""Goals under random use: whatever is done in whatever order, the invariants of the design hold.

``HYPOTHESIS_PROFILE=thorough`` runs many more examples; with ``CI`` set the examples are the same every time.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.conftest import Host, few

from longmind.errors import Conflict, InvalidInput, NotFound
from longmind.systems.goals import Goal, GoalMemory, Plan
from longmind.systems.goals.models import OPEN, order_steps
from longmind.systems.procedural import ProceduralMemory, ToolRegistry
from longmind.testing import FakeClock

CALM = few(15)

WHICH = st.integers(0, 5)
OPERATION = st.one_of(
    st.tuples(st.just("create"), WHICH, st.integers(0, 3)),
    st.tuples(st.sampled_from(["start", "complete", "complete", "fail", "skip"]), WHICH, st.integers(0, 4)),
    st.tuples(st.sampled_from(["meet", "meet", "reopen_criterion", "drop", "add", "map"]), WHICH, st.integers(0, 3)),
    st.tuples(st.sampled_from(["block", "unblock", "fail_goal", "abandon", "reopen"]), WHICH, st.integers(0, 3)),
    st.tuples(st.sampled_from(["move", "plan", "wait", "deadline"]), WHICH, WHICH),
)
Operation = tuple[str, int, int]


def goals_of(host: Host) -> GoalMemory:
    scoped = host.scoped()
    return GoalMemory(scoped, ProceduralMemory(scoped, ToolRegistry()))


@dataclass
class World:
    """The goals of one example, and every plan that was ever current."""

    goals: GoalMemory
    clock: FakeClock
    ids: list[str] = field(default_factory=list)
    plans: dict[str, set[int]] = field(default_factory=dict)

    async def create(self, parent: str | None, criteria: int) -> None:
        wanted = [f"{len(self.ids)} {n}" for n in range(criteria + 1)]
        steps: list[dict[str, Any]] = [
            {"id": f"s{n}", "description": text, "criteria": [f"c{n + 1}"], "after": [f"s{n - 1}"] if n % 2 else []}
            for n, text in enumerate(wanted)
        ]
        made, _ = await self.goals.create_goal_with_plan(f"goal {len(self.ids)}", wanted, steps, parent=parent)
        self.ids.append(made.id)

    async def apply(self, operation: Operation) -> None:
        """Do it; what is refused must leave everything as it was, which the invariants then see."""
        kind, which, value = operation
        id = self.ids[which % len(self.ids)]
        goal, plan = await self.goals.get(id), await self.goals.plan(id)
        assert plan is not None
        step = plan.steps[value % len(plan.steps)].id
        criterion = goal.criteria[value % len(goal.criteria)].id
        with suppress(Conflict, InvalidInput, NotFound):
            await self._done(kind, goal, step, criterion, value)

    async def _done(self, kind: str, goal: Goal, step: str, criterion: str, value: int) -> None:
        goals, id = self.goals, goal.id
        match kind:
            case "create":
                await self.create(id if value else None, value)
            case "start":
                await goals.start_step(id, step, lease_seconds=60)
            case "complete":
                await goals.complete_step(id, step, value)
            case "fail":
                await goals.fail_step(id, step, "no")
            case "skip":
                await goals.skip_step(id, step, "no need")
            case "meet":
                await goals.meet(id, criterion, "seen")
            case "reopen_criterion":
                await goals.reopen_criterion(id, criterion)
            case "drop":
                await goals.update(id, criteria=[one for one in goal.criteria if one.id != criterion])
            case "add":
                await goals.update(id, criteria=[*goal.criteria, f"more {value}"])
            case "map":
                await goals.map_step(id, step, criterion)
            case "block":
                await goals.block(id, "wait")
            case "unblock":
                await goals.unblock(id)
            case "fail_goal":
                await goals.fail(id, "no way")
            case "abandon":
                await goals.abandon(id, "not wanted")
            case "reopen":
                await goals.reopen(id, *([criterion] if value % 2 else []))
            case "move":
                await goals.update(id, parent=self.ids[value % len(self.ids)] if value else None)
            case "plan":
                await goals.plan_for(id, how="criteria")
            case "deadline":
                await goals.update(id, deadline=self.clock.now())
            case _:
                self.clock.advance(61)

    async def check(self) -> None:
        states = {one.goal.id: one for one in await self.goals.records.every(open=None)}
        assert sorted(states) == sorted(self.ids)
        for id, state in states.items():
            below = [other.goal for other in states.values() if other.goal.parent == id]
            assert sorted(goal.id for goal in below) == sorted(
                goal.id for goal in await self.goals.records.children([id])
            )
            check_goal(state.goal, below)
            assert state.plan is not None
            check_plan(state.goal, state.plan)
            await self._check_next(state.goal, state.plan)
            await self._check_history(state.goal, state.plan)

    async def _check_next(self, goal: Goal, plan: Plan) -> None:
        finished = {step.id for step in plan.steps if step.is_finished}
        ready = await self.goals.next_steps(goal.id)
        assert goal.status == "active" or not ready
        for step in ready:
            assert finished.issuperset(step.after)
            assert step.status == "pending" or (step.lease_until is not None and step.lease_until <= self.clock.now())

    async def _check_history(self, goal: Goal, plan: Plan) -> None:
        """No version is ever lost, and the newest is the current one."""
        seen = self.plans.setdefault(goal.id, set())
        seen.add(plan.number)
        history = await self.goals.plans(goal.id)
        numbers = [version.number for version in history]
        assert numbers == list(range(max(numbers), 0, -1))
        assert seen <= set(numbers)
        assert [version.number for version in history if version.current] == [max(numbers)] == [plan.number]


def check_goal(goal: Goal, below: list[Goal]) -> None:
    """Progress is what the criteria and the sub-goals come to, and a goal is achieved exactly when nothing is left."""
    whole = all(one.met for one in goal.criteria) and not any(child.open for child in below)
    if goal.status not in ("failed", "abandoned"):
        assert (goal.status == "achieved") == whole
    counted = [child for child in below if child.status not in ("failed", "abandoned")]
    weight = sum(one.weight for one in goal.criteria) + len(counted)
    done = sum(one.weight for one in goal.criteria if one.met) + sum(child.progress for child in counted)
    assert goal.progress == pytest.approx(1.0 if whole else done / weight, abs=2e-6)
    assert (goal.progress == 1.0) == whole
    assert goal.open == (goal.ended_at is None)
    assert all(bool(one.evidence) for one in goal.criteria if one.met)
    if goal.status not in OPEN:
        assert not any(child.open for child in below)


def check_plan(goal: Goal, plan: Plan) -> None:
    assert {step.id for step in order_steps(plan.steps)} == {step.id for step in plan.steps}
    known = {one.id for one in goal.criteria}
    for step in plan.steps:
        assert known.issuperset(step.criteria)
        assert (step.lease_until is not None) == (step.status == "running")
        assert step.attempts or step.status not in ("done", "failed", "running")
    if not goal.open:
        assert all(step.status != "running" for step in plan.steps)


@CALM
@given(operations=st.lists(OPERATION, min_size=3, max_size=20))
def test_the_invariants_hold_whatever_is_done(host: Host, operations: list[Operation]) -> None:
    async def work() -> None:
        world = World(goals_of(host), host.clock)
        await world.create(None, 1)
        await world.create(world.ids[0], 0)
        await world.check()
        for operation in operations:
            await world.apply(operation)
            await world.check()

    host.runner.run(work())


@CALM
@given(rounds=st.lists(st.lists(OPERATION, min_size=2, max_size=4), min_size=1, max_size=5))
def test_the_invariants_hold_when_several_work_at_once(host: Host, rounds: list[list[Operation]]) -> None:
    async def work() -> None:
        world = World(goals_of(host), host.clock)
        await world.create(None, 1)
        await world.create(world.ids[0], 1)
        await world.create(world.ids[0], 1)
        for together in rounds:
            await asyncio.gather(*(world.apply(operation) for operation in together))
            await world.check()

    host.runner.run(work())
