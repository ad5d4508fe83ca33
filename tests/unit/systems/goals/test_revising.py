"""Revising plans: what is written, within which limits, who wins, and what is learnt from it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import Conflict, Forbidden, ModelUnavailable
from longmind.store.base import Delete
from longmind.systems.configuration import configure
from longmind.systems.goals.memory import GoalMemory
from longmind.systems.goals.models import REVISION, Finding, GoalState, Plan, PlanBody, Revision, Strategy
from longmind.systems.goals.monitor import Monitor
from longmind.systems.goals.planning import Planner
from longmind.systems.goals.policy import experience_record
from longmind.systems.goals.records import GoalRecords
from longmind.systems.goals.revising import REVISING, Reviser, RevisionSettings
from longmind.systems.goals.strategy_selection import ChatProvider
from longmind.systems.procedural import ProceduralMemory, ToolRegistry
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory
from longmind.testing import FakeClock, ScriptedModel
from longmind.types import Filter

TIMEOUT = "Timeout: It did not finish within 60 seconds."
DENIED = "PermissionError: denied"


class World:
    """Goals in a room, with what monitors and revises them."""

    def __init__(
        self, scoped: ScopedStore, *, chat: ChatProvider | None = None, rule: RevisionSettings | None = None
    ) -> None:
        self.scoped = scoped
        self.tools = ToolRegistry()
        self.procedural = ProceduralMemory(scoped, self.tools)
        self.goals = GoalMemory(scoped, self.procedural)
        self.monitor = Monitor(scoped, self.goals.records)
        self.rest: list[Any] = []
        """The plans for the rest that a planner would make, one for each time it is asked."""
        self.reviser = Reviser(
            scoped,
            self.goals.records,
            procedural=self.procedural,
            chat=chat,
            replan=self._plan_rest,
            monitor=self.monitor,
            rule=rule,
        )

    async def _plan_rest(self, state: GoalState, why: str) -> PlanBody | None:
        assert why
        if not self.rest:
            return None
        steps = [{"id": f"n{n}", "description": text} for n, text in enumerate(self.rest.pop(0), start=1)]
        for one in steps:
            one["criteria"] = [criterion.id for criterion in state.goal.criteria]
        return PlanBody.model_validate({"goal": state.goal.id, "steps": steps, "origin": "model"})

    async def goal(self, *steps: Any, **fields: Any) -> str:
        made, _ = await self.goals.create_goal_with_plan("Publish the report", steps=steps or ["Write it"], **fields)
        return made.id

    async def fail(self, goal: str, step: str = "s1", error: str = TIMEOUT) -> Finding:
        await self.goals.start_step(goal, step)
        await self.goals.fail_step(goal, step, error)
        return (await self.monitor.check(goal))[0]

    async def revise(self, goal: str, **how: Any) -> Revision:
        made = await self.reviser.revise(goal, **how)
        assert made is not None
        return made

    async def plan(self, goal: str) -> Plan:
        found = await self.goals.plan(goal)
        assert found is not None
        return found

    async def statuses(self, goal: str) -> dict[str, str]:
        return {step.id: step.status for step in (await self.plan(goal)).steps}

    async def seen(self, finding: Any, strategy: Strategy) -> str:
        return str((await experience_record(self.scoped).read()).of(finding, strategy))


@pytest.fixture
def world(scoped: ScopedStore) -> World:
    return World(scoped)


# -- one revision ---------------------------------------------------------------------------------------------------


async def test_a_new_version_a_record_and_the_count_are_one_batch(world: World) -> None:
    scoped, goal = world.scoped, await world.goal("Write it", "Send it")
    before = await world.plan(goal)
    finding = await world.fail(goal)
    head = (await scoped.store.backend.head(scoped.scope)).seq
    made = await world.revise(goal, finding=finding)
    assert (made.strategy, made.finding, made.step) == ("retry", "failed_step", "s1")
    assert (made.before, made.after, made.worked) == (1, 2, None)
    assert TIMEOUT in made.why
    now = await world.plan(goal)
    assert (now.number, now.id != before.id) == (2, True)
    assert now.why == made.why
    assert await world.statuses(goal) == {"s1": "pending", "s2": "pending"}
    assert (await world.goals.get(goal)).revisions == 1
    changes = await scoped.store.journal(scoped.scope, after=head, limit=1000)
    assert len({change.operation for change in changes}) == 1
    (old,) = [one for one in await world.goals.plans(goal) if one.id == before.id]
    assert (old.steps[0].status, old.current) == ("failed", False), "the version before is kept as it was"
    links = {(link.relation, link.target) for link in await scoped.store.links(scoped.scope, [made.id])}
    assert links == {("about", goal), ("derived_from", before.id), ("about", now.id)}
    assert await world.reviser.revisions(goal) == [made]


async def test_nothing_found_is_nothing_revised(world: World) -> None:
    goal = await world.goal()
    assert await world.reviser.revise(goal) is None
    assert (await world.plan(goal)).number == 1
    assert await world.reviser.revisions(goal) == []


async def test_the_same_finding_again_returns_the_revision_that_answered_it(world: World) -> None:
    goal = await world.goal()
    finding = await world.fail(goal)
    one = await world.revise(goal, finding=finding)
    assert await world.revise(goal, finding=finding) == one
    assert (await world.goals.get(goal)).revisions == 1


async def test_of_many_who_revise_at_once_one_does(world: World) -> None:
    goal = await world.goal()
    finding = await world.fail(goal)
    made = await asyncio.gather(*(world.reviser.revise(goal, finding) for _ in range(8)))
    assert len({one.id for one in made if one}) == 1
    assert (await world.plan(goal)).number == 2
    assert (await world.goals.get(goal)).revisions == 1


async def test_who_reads_the_goal_before_and_the_plan_after_a_revision_gets_that_revision(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal = await world.goal()
    finding = await world.fail(goal)
    before = await world.goals.get(goal)
    made = await world.reviser.revise(goal, finding)
    records, reads = world.reviser._records, 0

    async def own(id: str) -> GoalState:
        nonlocal reads
        reads += 1  # the first is to settle what came before
        found = await GoalRecords.own(records, id)
        return GoalState(goal=before, plan=found.plan) if reads == 2 else found

    monkeypatch.setattr(records, "own", own)
    assert await world.reviser.revise(goal, finding) == made


async def test_a_finding_about_a_plan_that_is_gone_is_refused(world: World) -> None:
    goal = await world.goal()
    finding = await world.fail(goal)
    await world.goals.plan_for(goal, steps=["Do it otherwise"])
    with pytest.raises(Conflict, match="replaced"):
        await world.reviser.revise(goal, finding)


async def test_goals_that_are_over_or_have_no_plan_are_not_revised(world: World) -> None:
    bare = await world.goals.create("Something")
    with pytest.raises(Conflict, match="no plan"):
        await world.reviser.revise(bare.id, strategy="retry")
    goal = await world.goal()
    finding = await world.fail(goal)
    await world.goals.abandon(goal, "No longer wanted.")
    with pytest.raises(Conflict, match="abandoned"):
        await world.reviser.revise(goal, finding)


async def test_a_user_does_not_revise_the_agents_goals(world: World, scoped_stores: Any) -> None:
    goal = await world.goal()
    await world.fail(goal)
    other = World(await scoped_stores.open(user="bob"))
    with pytest.raises(Forbidden):
        await other.reviser.revise(goal)
    mine = await other.goal()
    await other.fail(mine)
    assert (await other.revise(mine)).strategy == "retry"
    found = await other.scoped.store.scan(other.scoped.scope, Filter(kinds=(REVISION,)))
    assert [one.user for one in found.items] == ["bob"]


# -- the strategies, stored -----------------------------------------------------------------------------------------


async def test_another_way_is_found_and_no_way_is_tried_twice(world: World) -> None:
    @world.tools.tool
    async def write_draft(text: str = "") -> str:
        """Write a report draft."""
        return text

    @world.tools.tool
    async def write_fast(text: str = "") -> str:
        """Write a report fast."""
        return text

    call = {"id": "s1", "description": "Write a report", "tool": "write_slowly"}
    goal = await world.goal(call)
    used: list[str | None] = []
    for _ in range(3):
        await world.fail(goal, error=DENIED)
        await world.revise(goal)
        used.append((await world.plan(goal)).steps[0].tool)
    assert sorted(map(str, used[:2])) == ["write_draft", "write_fast"]
    assert (await world.goals.get(goal)).status == "blocked", "there is no third way"
    assert [one.strategy for one in await world.reviser.revisions(goal)] == ["substitute", "substitute", "ask"]


async def test_a_step_is_taken_apart_and_its_pieces_do_what_it_should_have_done(world: World) -> None:
    goal = await world.goal("Write the text and the summary, then send both")
    await world.fail(goal, error=DENIED)
    made = await world.revise(goal)
    assert made.strategy == "decompose"
    assert await world.statuses(goal) == {"s1_1": "pending", "s1_2": "pending", "s1_3": "pending"}
    for step in ("s1_1", "s1_2", "s1_3"):
        assert (await world.goals.get(goal)).status == "active"
        await world.goals.complete_step(goal, step)
    assert (await world.goals.get(goal)).status == "achieved"
    assert [one.worked for one in await world.reviser.evaluate(goal)] == [True]


async def test_a_model_takes_apart_and_what_it_cannot_do_is_told(scoped: ScopedStore) -> None:
    said = {"steps": [{"description": "Open the file."}, {"description": "Read it."}]}
    model = ScriptedModel(said, ModelUnavailable("The model is down."))

    async def chat() -> Any:
        return model.chat()

    world = World(scoped, chat=chat)
    goal = await world.goal("Load it")
    await world.fail(goal, error=DENIED)
    assert (await world.revise(goal)).strategy == "decompose"
    assert [step.description for step in (await world.plan(goal)).steps] == ["Open the file.", "Read it."]
    await world.fail(goal, "s1_1", DENIED)
    last = await world.revise(goal, finding=(await world.monitor.check(goal))[0])
    assert ("The model is down." in last.why and last.strategy == "reorder") or last.strategy == "ask"


async def test_the_rest_is_planned_anew_when_what_it_rests_on_changed(world: World, clock: FakeClock) -> None:
    semantic = SemanticMemory(world.scoped)
    fact = (await semantic.learn("Alice", "lives in", "Porto")).fact
    keeps = (await semantic.learn("Alice", "speaks", "French")).fact
    goal = await world.goal("Write to Porto", "Wait")
    await world.goals.complete_step(goal, "s1")
    records = world.goals.records
    state = await records.need(goal)
    assert state.plan is not None
    body = PlanBody(goal=goal, steps=state.plan.steps, assumptions=(fact.id, keeps.id))
    await world.scoped.write(records.replace_plan(state.goal, state.plan, body))
    clock.advance(60)
    await semantic.learn("Alice", "lives in", "Berlin")
    world.rest = [["Write to Berlin"]]
    made = await world.revise(goal)
    assert (made.finding, made.strategy, made.before, made.after) == ("broken_assumption", "replan", 2, 3)
    now = await world.plan(goal)
    assert [(step.id, step.status) for step in now.steps] == [("s1", "done"), ("n1", "pending")]
    assert now.origin == "model"
    assert now.assumptions == ()
    assert await world.monitor.check(goal) == ()


async def test_a_plan_whose_assumption_was_deleted_can_still_be_revised(world: World) -> None:
    fact = (await SemanticMemory(world.scoped).learn("Alice", "lives in", "Porto")).fact
    goal = await world.goal("Write to Porto")
    state = await world.goals.records.need(goal)
    assert state.plan is not None
    body = PlanBody(goal=goal, steps=state.plan.steps, assumptions=(fact.id,))
    await world.scoped.write(world.goals.records.replace_plan(state.goal, state.plan, body))
    await world.scoped.write([Delete(fact.id)])
    world.rest = [["Write to Porto"]]
    assert (await world.revise(goal)).strategy == "replan"
    assert (await world.plan(goal)).assumptions == ()
    assert await world.monitor.check(goal) == ()


async def test_a_plan_is_not_made_that_was_there_before(world: World) -> None:
    goal = await world.goal("Write it")
    await world.fail(goal, error=DENIED)
    world.rest = [["Dictate it"]]
    assert (await world.revise(goal)).strategy == "replan"
    await world.fail(goal, "n1", DENIED)
    world.rest = [["Write it"]]
    made = await world.revise(goal)
    assert made.strategy == "ask", "back to the first plan would be a circle"


async def test_the_rest_is_planned_in_another_way_than_the_one_that_failed(world: World) -> None:
    @world.tools.tool
    async def publish() -> None:
        """Make it public."""

    call = {"name": "go", "use": "publish"}
    await world.procedural.store({"name": "publish_report", "purpose": "Publish the report", "steps": [call]})
    goal, plan = await world.goals.create_goal_with_plan("Publish the report", ["It is online", "Ann was told"])
    assert (plan.origin, plan.steps[0].procedure) == ("procedure", "publish_report")
    records = world.goals.records
    planner = Planner(world.scoped, records, world.procedural)
    reviser = Reviser(world.scoped, records, replan=planner.replan, monitor=world.monitor)
    await world.fail(goal.id, error=DENIED)
    made = await reviser.revise(goal.id, strategy="replan")
    assert made is not None
    now = await world.plan(goal.id)
    assert (now.origin, [step.procedure for step in now.steps]) == ("criteria", [None, None])
    await world.fail(goal.id, now.steps[0].id, DENIED)
    again = await reviser.revise(goal.id)
    assert again is not None
    assert again.strategy == "reorder", "planning would only lead back to one of the two"


async def test_a_goal_at_risk_is_answered_once_and_not_stopped(world: World, clock: FakeClock) -> None:
    small = {"id": "small", "description": "Small", "criteria": ["c1"], "seconds": 300}
    great = {"id": "great", "description": "Great", "criteria": ["c2"], "seconds": 400}
    criteria = [{"id": "c1", "description": "One", "weight": 1}, {"id": "c2", "description": "Two", "weight": 9}]
    deadline = world.scoped.now() + timedelta(seconds=390)
    goal = await world.goal(small, great, criteria=criteria, deadline=deadline)
    made = await world.revise(goal)
    assert (made.finding, made.strategy) == ("deadline_risk", "reorder")
    assert [step.id for step in (await world.plan(goal)).steps] == ["great", "small"]
    assert await world.reviser.revise(goal) is None, "what was done about it stands"
    assert (await world.goals.get(goal)).status == "active"
    clock.set(deadline + timedelta(seconds=1))
    asked = await world.revise(goal)
    assert (asked.finding, asked.strategy) == ("deadline_risk", "ask")
    assert [one.worked for one in await world.reviser.revisions(goal)] == [False, None]


async def test_a_goal_at_risk_with_no_better_order_goes_on(world: World) -> None:
    only = {"id": "a", "description": "All of it", "seconds": 5000}
    goal = await world.goal(only, deadline=world.scoped.now() + timedelta(seconds=10))
    assert [one.kind for one in await world.monitor.check(goal)] == ["deadline_risk"]
    assert await world.reviser.revise(goal) is None
    assert (await world.goals.get(goal)).status == "active"


# -- asking and giving up -------------------------------------------------------------------------------------------


async def test_a_person_is_asked_helps_and_the_step_is_tried_again(world: World) -> None:
    goal = await world.goal()
    await world.fail(goal, error=DENIED)
    asked = await world.revise(goal)
    assert (asked.strategy, asked.after) == ("ask", None)
    stands = await world.goals.get(goal)
    assert stands.status == "blocked"
    assert DENIED in stands.why
    assert "needed" in stands.why
    assert await world.reviser.revise(goal) is None, "it waits"
    await world.goals.unblock(goal)
    again = await world.revise(goal)
    assert (again.strategy, (await world.statuses(goal))["s1"]) == ("retry", "pending")
    await world.goals.complete_step(goal, "s1")
    await world.reviser.evaluate(goal)
    assert [one.worked for one in await world.reviser.revisions(goal)] == [True, True]
    assert (await world.goals.get(goal)).status == "achieved"


async def test_asking_helped_if_the_step_is_done_then_and_not_if_it_has_to_be_asked_again(world: World) -> None:
    goal = await world.goal("Write it", "Send it")
    for done in (False, True):
        await world.fail(goal, error=DENIED)
        assert (await world.revise(goal)).strategy == "ask"
        await world.goals.unblock(goal)
        assert (await world.revise(goal)).strategy == "retry"
        if done:
            await world.goals.complete_step(goal, "s1")
    await world.reviser.evaluate(goal)
    await world.reviser.evaluate(goal)
    assert [one.worked for one in await world.reviser.revisions(goal)] == [False, False, True, True]


async def test_at_the_limit_a_person_is_asked_and_after_that_the_goal_fails(scoped: ScopedStore) -> None:
    world = World(scoped, rule=RevisionSettings(max_revisions=2, max_same=20))
    goal = await world.goal()
    child = await world.goals.create("A part of it", parent=goal)
    strategies: list[str] = []
    for _ in range(4):
        await world.fail(goal, error=TIMEOUT)
        strategies.append((await world.revise(goal)).strategy)
        if (await world.goals.get(goal)).status == "blocked":
            await world.goals.unblock(goal)
            await world.goals.plan_for(goal, steps=["Write it once more"])  # a person plans anew, and it fails again
    assert strategies == ["retry", "retry", "ask", "abandon"]
    ended = await world.goals.get(goal)
    assert ended.status == "failed"
    assert "allowed: 2" in ended.why
    assert TIMEOUT in ended.why
    assert (await world.goals.get(child.id)).status == "abandoned"
    with pytest.raises(Conflict):
        await world.reviser.revise(goal, strategy="retry")


async def test_the_same_strategy_is_not_tried_for_the_same_step_for_ever(world: World) -> None:
    goal = await world.goal()
    for _ in range(3):
        await world.fail(goal, error=TIMEOUT)
        await world.revise(goal)
    assert [one.strategy for one in await world.reviser.revisions(goal)] == ["retry", "retry", "ask"]
    assert "retry (failed again)" in (await world.goals.get(goal)).why


async def test_limits_are_the_agents_own(world: World) -> None:
    await configure(world.scoped, REVISING, RevisionSettings(), {"max_revisions": 1})
    goal = await world.goal()
    for _ in range(2):
        await world.fail(goal)
        await world.revise(goal)
    assert (await world.goals.get(goal)).status == "blocked"


# -- what a caller asks for -----------------------------------------------------------------------------------------


async def test_a_strategy_that_is_named_is_carried_out_or_refused(world: World) -> None:
    goal = await world.goal()
    await world.fail(goal)
    with pytest.raises(Conflict, match="substitute is not possible"):
        await world.reviser.revise(goal, strategy="substitute")
    made = await world.revise(goal, strategy="retry", why="The network is back.")
    assert made.strategy == "retry"
    assert made.why.startswith("The network is back.")
    gone = await world.revise(goal, strategy="abandon", why="Nobody wants it.")
    ended = await world.goals.get(goal)
    assert (gone.worked, ended.status) == (False, "abandoned")
    assert ended.why.startswith("Nobody wants it.")


async def test_a_blocked_goal_goes_on_with_the_plan_that_somebody_asks_for(world: World) -> None:
    goal = await world.goal()
    await world.fail(goal, error=DENIED)
    await world.revise(goal)
    world.rest = [["Do it by hand"]]
    made = await world.revise(goal, strategy="replan", why="Do it by hand.")
    stands = await world.goals.get(goal)
    assert (stands.status, stands.why, made.after) == ("active", "", 2)


async def test_a_reason_without_a_finding_plans_anew_and_teaches_nothing(world: World) -> None:
    goal = await world.goal()
    world.rest = [["Write it shorter"]]
    made = await world.revise(goal, why="It must be shorter.")
    assert (made.strategy, made.finding) == ("replan", "broken_assumption")
    await world.goals.complete_step(goal, "n1")
    assert [one.worked for one in await world.reviser.evaluate(goal)] == [True]
    assert await world.seen("broken_assumption", "replan") == "0 of 0"


# -- learning -------------------------------------------------------------------------------------------------------


async def test_an_outcome_is_counted_once(world: World) -> None:
    goal = await world.goal()
    await world.fail(goal)
    await world.revise(goal)
    assert await world.reviser.evaluate(goal) == [], "nobody can say yet"
    await world.goals.complete_step(goal, "s1")
    told = await asyncio.gather(*(world.reviser.evaluate(goal) for _ in range(6)))
    assert sum(map(len, told)) == 1
    assert await world.reviser.evaluate(goal) == []
    assert await world.seen("failed_step", "retry") == "1 of 1"


async def test_failing_again_is_counted_before_the_next_choice(world: World) -> None:
    goal = await world.goal()
    await world.fail(goal)
    await world.revise(goal)
    await world.fail(goal)
    await world.revise(goal)
    assert [one.worked for one in await world.reviser.revisions(goal)] == [False, None]
    assert await world.seen("failed_step", "retry") == "0 of 1"


async def test_a_step_whose_runner_is_lost_again_was_not_helped_by_trying_again(world: World, clock: FakeClock) -> None:
    goal = await world.goal({"id": "a", "description": "Run it", "max_attempts": 1})
    for _ in range(2):
        await world.goals.start_step(goal, "a", lease_seconds=60)
        clock.advance(61)
        made = await world.revise(goal)
        assert (made.finding, made.strategy) == ("stall", "retry")
    await world.reviser.evaluate(goal)
    assert [one.worked for one in await world.reviser.revisions(goal)] == [False, None]
    assert await world.seen("stall", "retry") == "0 of 1"


async def test_when_the_goal_is_reached_what_was_open_is_taken_to_have_worked(world: World) -> None:
    goal = await world.goal("Write it", "Send it")
    await world.fail(goal)
    await world.revise(goal)
    world.rest = [["Dictate it"]]
    await world.revise(goal, strategy="replan", why="Rather so.")
    await world.goals.complete_step(goal, "n1")
    await world.reviser.evaluate(goal)
    assert [one.worked for one in await world.reviser.revisions(goal)] == [True, True]


async def test_what_was_learnt_outlives_the_process_and_serves_every_user(world: World, scoped_stores: Any) -> None:
    goal = await world.goal()
    for _ in range(2):
        await world.fail(goal)
        await world.revise(goal)
    other = World(await scoped_stores.restart(user="bob"))
    assert await other.seen("failed_step", "retry") == "0 of 1"
    assert [one.worked for one in await other.reviser.revisions(goal)] == [False, None]


@pytest.mark.parametrize("right", ["retry", "replan"])
async def test_goals_pursued_one_after_another_come_to_use_what_works(scoped: ScopedStore, right: Strategy) -> None:
    """The whole way, stored: of goals that fail at first, the later ones are mended at once by what works."""
    world = World(scoped)
    first: list[Strategy] = []
    for n in range(24):
        goal = await world.goal(f"Write part {n}")
        await world.fail(goal)
        world.rest = [[f"Dictate part {n}"]] * 5
        first.append((await world.revise(goal)).strategy)
        await mend(world, goal, right)
    assert first[-12:].count(right) >= 10


async def mend(world: World, goal: str, right: Strategy) -> None:
    """Go on until the goal is reached or stopped: only after the right strategy does a step succeed."""
    while (await world.goals.get(goal)).status == "active":
        last = (await world.reviser.revisions(goal))[-1]
        (step,) = [step.id for step in await world.goals.next_steps(goal)]
        if last.strategy == right:
            await world.goals.complete_step(goal, step)
        else:
            await world.fail(goal, step)
            await world.reviser.revise(goal)
    await world.reviser.evaluate(goal)
