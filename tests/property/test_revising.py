"""Pursuing a goal in a hostile world always ends, and nothing is lost on the way.

Steps fail at random or always, runners vanish, the planner has no idea or a bad one, people help or do not. Who
goes on (next steps, complete or fail, look, revise) comes to an end within a bound: achieved, failed or blocked.
``HYPOTHESIS_PROFILE=thorough`` runs many more examples.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.property.conftest import Host, few

from longmind.errors import InvalidInput
from longmind.systems.goals.memory import GoalMemory
from longmind.systems.goals.models import MAX_STEPS, Goal, GoalState, Plan, PlanBody, PlanStep, order_steps
from longmind.systems.goals.monitor import Monitor
from longmind.systems.goals.revising import Reviser, RevisionSettings
from longmind.systems.procedural import ProceduralMemory, ToolRegistry
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock

CALM = few(10)
ERRORS = (
    "Timeout: It did not finish within 60 seconds.",
    "HTTP 503",
    "PermissionError: denied",
    "No function is registered as x.",
    "It broke.",
    "The answer was 17.",
)
TEXTS = ("Write the text and the summary, then send both", "Collect the data; clean it", "Wait", "Send a note to Ann")


@dataclass
class World:
    """What the plan is carried out in. All that happens follows from the seed."""

    seed: int
    fails: float
    """How likely a step is to fail."""
    vanishes: float
    """How likely whoever runs a step is never heard of again."""
    planner: str
    helpers: int
    """How often a person lets a blocked goal go on."""
    max_revisions: int
    random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def steps(self, most: int = 5) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for n in range(1, self.random.randint(1, most) + 1):
            after = [one["id"] for one in made if self.random.random() < 0.4]
            told = {"id": f"s{n}", "description": self.random.choice(TEXTS) + f" {n}", "after": after}
            serves = self.random.sample(["c1", "c2"], self.random.randint(0, 2))
            more: dict[str, Any] = {"criteria": serves, "max_attempts": self.random.randint(1, 3)}
            if self.random.random() < 0.3:
                more["tool"] = self.random.choice(["send_note", "send_letter", "not_registered"])
            if self.random.random() < 0.3:
                more["seconds"] = self.random.choice([1, 600, 90_000])
            made.append(told | more)
        return made

    async def replan(self, state: GoalState, why: str) -> PlanBody | None:
        if self.planner == "none":
            return None
        if self.planner == "broken" or self.random.random() < 0.2:
            raise InvalidInput("The planner is confused.")
        told = self.steps()
        if self.planner == "stubborn" and state.plan is not None:
            left = [step for step in state.plan.steps if not step.is_finished]
            names = {step.id for step in left}
            told = [
                {"id": s.id, "description": s.description, "criteria": s.criteria, "tool": s.tool}
                | {"after": [name for name in s.after if name in names]}
                for s in left
            ] or told
        return PlanBody.model_validate({"goal": state.goal.id, "steps": told})


WORLDS = st.builds(
    World,
    seed=st.integers(0, 2**32),
    fails=st.sampled_from([0.1, 0.5, 0.9, 1.0]),
    vanishes=st.sampled_from([0.0, 0.3, 1.0]),
    planner=st.sampled_from(["none", "broken", "stubborn", "random"]),
    helpers=st.integers(0, 4),
    max_revisions=st.integers(1, 10),
)


def tools() -> ToolRegistry:
    registry = ToolRegistry()

    @registry.tool
    async def send_note() -> None:
        """Send a note."""

    @registry.tool
    async def send_letter() -> None:
        """Send a letter to somebody."""

    return registry


class Pursuit:
    """Goes on with one goal until it ends, is blocked with nobody to help, or the bound is reached."""

    def __init__(self, scoped: ScopedStore, clock: FakeClock, world: World) -> None:
        self.clock = clock
        self.world = world
        self.procedural = ProceduralMemory(scoped, tools())
        self.goals = GoalMemory(scoped, self.procedural)
        self.monitor = Monitor(scoped, self.goals.records)
        rule = RevisionSettings(max_revisions=world.max_revisions)
        self.reviser = Reviser(
            scoped,
            self.goals.records,
            procedural=self.procedural,
            replan=world.replan,
            monitor=self.monitor,
            rule=rule,
        )

    async def run(self) -> tuple[Goal, int]:
        deadline = self.clock.now() + timedelta(days=self.world.random.choice([1, 1000]))
        made, _ = await self.goals.create_goal_with_plan(
            "Tell Ann", ["She knows", "She answered"], self.world.steps(), deadline=deadline
        )
        bound, turns, helpers = self.bound, 0, self.world.helpers
        while turns <= bound:
            turns += 1
            goal = await self.goals.get(made.id)
            if goal.status == "blocked" and helpers:
                helpers -= 1
                await self.goals.unblock(goal.id)
            elif goal.status != "active":
                await self.reviser.evaluate(goal.id)
                return await self.goals.get(goal.id), turns
            else:
                await self.turn(goal.id)
        raise AssertionError(f"it did not end within {bound} turns")

    @property
    def bound(self) -> int:
        """For each revision as many turns as the longest chain of steps and their attempts can take here."""
        return (self.world.max_revisions + 3) * 20

    async def turn(self, goal: str) -> None:
        able = await self.goals.next_steps(goal)
        for step in able:
            if (await self.goals.get(goal)).status == "active":
                await self.attempt(goal, step)
        self.clock.advance(1)
        before = (await self.goals.get(goal)).revisions
        made = await self.reviser.revise(goal) if (await self.goals.get(goal)).open else None
        assert (await self.goals.get(goal)).revisions == before + (made is not None)
        if not able and made is None:
            self.clock.advance(3_601)

    async def attempt(self, goal: str, step: PlanStep) -> None:
        strategy_rng = self.world.random
        await self.goals.start_step(goal, step.id, lease_seconds=60)
        if strategy_rng.random() < self.world.vanishes:
            self.clock.advance(61)
        elif strategy_rng.random() < self.world.fails:
            await self.goals.fail_step(goal, step.id, strategy_rng.choice(ERRORS))
        else:
            await self.goals.complete_step(goal, step.id, strategy_rng.choice([None, "ok", {"n": 1}]))


@given(world=WORLDS)
@CALM
def test_pursuing_a_goal_ends_with_every_version_kept(host: Host, world: World) -> None:
    async def check() -> None:
        pursuit = Pursuit(host.scoped(), host.clock, world)
        goal, _ = await pursuit.run()
        assert goal.status in ("achieved", "failed", "blocked")
        versions = sorted(await pursuit.goals.plans(goal.id), key=lambda plan: plan.number)
        revisions = await pursuit.reviser.revisions(goal.id)
        assert len(revisions) == goal.revisions <= world.max_revisions + 2
        assert [plan.number for plan in versions] == [*range(1, len(versions) + 1)], "no version is lost"
        assert [plan.current for plan in versions] == [False] * (len(versions) - 1) + [True]
        assert sum(one.after is not None for one in revisions) == len(versions) - 1
        assert [one.after for one in revisions if one.after] == [*range(2, len(versions) + 1)]
        for before, after in itertools.pairwise(versions):
            holds(before, after)
        order_steps(versions[-1].steps)
        assert (goal.status == "achieved") == all(criterion.met for criterion in goal.criteria)
        if not goal.open:
            assert all(step.status != "running" for step in versions[-1].steps)
            assert all(one.worked is not None for one in revisions), "of a goal that ended everything is known"
        if goal.status == "blocked":
            assert goal.why
            assert revisions[-1].strategy == "ask"
        if goal.status == "failed":
            assert goal.why
            assert revisions[-1].strategy == "abandon"

    host.runner.run(check())


def holds(before: Plan, after: Plan) -> None:
    """What is done stays done, with its result; a plan stays within its bounds and starts with nothing half failed."""
    assert len(after.steps) <= MAX_STEPS
    now = {step.id: step for step in after.steps}
    for step in before.steps:
        if step.is_finished:
            assert now[step.id].status == step.status
            assert now[step.id].result == step.result
    for step in after.steps:
        if step.status in ("running", "done"):
            assert all(now[name].is_finished for name in step.after), "a step starts when all before it are done"
