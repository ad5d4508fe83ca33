"""Plans at work: what may start, how steps end, and what follows for criteria and goals."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest

from longmind.errors import Conflict, InvalidInput, NotFound
from longmind.store.base import Put
from longmind.systems.goals import GoalMemory, Plan, PlanStep
from longmind.systems.goals.models import MAX_RESULT
from longmind.systems.procedural import ProceduralMemory, ToolRegistry
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock

NOWHERE = str(uuid.UUID(int=7))
DIAMOND: list[dict[str, Any]] = [
    {"id": "look", "description": "Look for offers"},
    {"id": "fly", "description": "Book a flight", "after": ["look"], "criteria": ["c1"]},
    {"id": "sleep", "description": "Book a hotel", "after": ["look"], "criteria": ["c2"]},
    {"id": "tell", "description": "Tell Ann", "after": ["fly", "sleep"], "criteria": ["c3"]},
]
WANTED = ["A flight is booked", "A hotel is booked", "Ann knows"]


async def changes(scoped: ScopedStore) -> int:
    return (await scoped.store.stats(scoped.scope)).changes


async def names(goals: GoalMemory, id: str) -> list[str]:
    return [step.id for step in await goals.next_steps(id)]


async def current(goals: GoalMemory, id: str) -> Plan:
    plan = await goals.plan(id)
    assert plan is not None
    return plan


async def test_a_plan_is_done_in_the_order_of_its_graph(goals: GoalMemory, clock: FakeClock) -> None:
    goal, plan = await goals.create_goal_with_plan("Travel to Porto", WANTED, DIAMOND)
    assert (plan.number, plan.origin, plan.goal) == (1, "given", goal.id)
    assert await names(goals, goal.id) == ["look"]
    state = await goals.start_step(goal.id, "look", lease_seconds=60)
    assert state.plan is not None
    step = state.plan.steps[0]
    assert (step.status, step.attempts, step.started_at) == ("running", 1, clock.now())
    assert await names(goals, goal.id) == []
    assert (await goals.complete_step(goal.id, "look", ["TAP", "KLM"])).goal.progress == 0
    assert await names(goals, goal.id) == ["fly", "sleep"]
    await goals.start_step(goal.id, "fly")
    await goals.start_step(goal.id, "sleep")
    flown = await goals.complete_step(goal.id, "fly", {"ref": "X1"})
    assert flown.goal.progress == pytest.approx(1 / 3, abs=1e-5)
    criterion = flown.goal.criteria[0]
    assert criterion.met_at == clock.now()
    assert (criterion.evidence[0].step, criterion.evidence[0].note) == ("fly", '{"ref": "X1"}')
    assert await names(goals, goal.id) == []
    await goals.complete_step(goal.id, "sleep", "Room 5")
    ended = await goals.complete_step(goal.id, "tell")
    assert (ended.goal.status, ended.goal.progress) == ("achieved", 1.0)
    assert await names(goals, goal.id) == []


async def test_a_goal_that_is_not_active_has_no_next_steps(goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Travel", status="proposed")
    assert await names(goals, goal.id) == []
    with pytest.raises(Conflict, match="is proposed"):
        await goals.start_step(goal.id, "s1")
    await goals.activate(goal.id)
    await goals.start_step(goal.id, "s1")
    await goals.block(goal.id, "A strike")
    assert (await goals.complete_step(goal.id, "s1")).goal.status == "achieved"  # what runs may end
    bare = await goals.create("No plan")
    assert await names(goals, bare.id) == []
    with pytest.raises(Conflict, match="no plan"):
        await goals.start_step(bare.id, "s1")


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([], "steps"),
        ("Do it", "list"),
        (
            [{"id": "a", "description": "x", "after": ["b"]}, {"id": "b", "description": "y", "after": ["a"]}],
            "wait for",
        ),
        ([{"id": "a", "description": "x", "after": ["a"]}], "wait for"),
        ([{"id": "a", "description": "x", "after": ["z"]}], "not a step"),
        ([{"id": "a", "description": "x"}, {"id": "a", "description": "y"}], "two steps"),
        ([{"id": "a", "description": "x", "criteria": ["c9"]}], "c9"),
        ([{"id": "a", "description": ""}], "description"),
        ([{"id": "a b", "description": "x"}], "id"),
        ([{"description": "x", "tool": "t", "procedure": "p"}], "not both"),
        ([f"step {n}" for n in range(101)], "steps"),
    ],
)
async def test_a_plan_that_cannot_be_is_refused_and_nothing_is_written(
    scoped: ScopedStore, goals: GoalMemory, steps: Any, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        await goals.create_goal_with_plan("Travel", WANTED, steps)
    assert await changes(scoped) == 0
    goal, plan = await goals.create_goal_with_plan("Travel", WANTED, DIAMOND)
    before = await changes(scoped)
    with pytest.raises(InvalidInput, match=said):
        await goals.plan_for(goal.id, steps=steps)
    assert await changes(scoped) == before
    assert await goals.plan(goal.id) == plan


async def test_moves_that_are_not_possible(scoped: ScopedStore, goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Travel", WANTED, DIAMOND)
    before = await changes(scoped)
    for wrong in (
        goals.start_step(goal.id, "fly"),
        goals.complete_step(goal.id, "fly"),
        goals.fail_step(goal.id, "tell", "no"),
        goals.renew_step(goal.id, "look"),
    ):
        with pytest.raises(Conflict):
            await wrong
    with pytest.raises(Conflict, match="comes after fly, sleep, which are open"):
        await goals.complete_step(goal.id, "tell")
    with pytest.raises(NotFound, match="no step nope"):
        await goals.complete_step(goal.id, "nope")
    with pytest.raises(InvalidInput, match="went wrong"):
        await goals.fail_step(goal.id, "look", " ")
    with pytest.raises(InvalidInput, match="lease"):
        await goals.start_step(goal.id, "look", lease_seconds=0)
    with pytest.raises(NotFound, match=NOWHERE):
        await goals.start_step(goal.id, "look", episode=NOWHERE)
    with pytest.raises(NotFound, match=NOWHERE):
        await goals.complete_step(goal.id, "look", evidence=NOWHERE)
    assert await changes(scoped) == before


async def test_completing_twice_is_one_completion(scoped: ScopedStore, goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Travel", ["Booked"], ["Book"])
    done = await goals.complete_step(goal.id, "s1", {"ref": 1, "paid": True})
    before = await changes(scoped)
    assert await goals.complete_step(goal.id, "s1", {"paid": True, "ref": 1}) == done
    assert await goals.complete_step(goal.id, "s1") == done
    with pytest.raises(Conflict, match="another result"):
        await goals.complete_step(goal.id, "s1", {"ref": 1, "paid": 1})
    with pytest.raises(Conflict, match="done already"):
        await goals.fail_step(goal.id, "s1", "no")
    with pytest.raises(Conflict, match="done already"):
        await goals.skip_step(goal.id, "s1")
    assert await changes(scoped) == before


async def test_a_step_of_an_ended_goal_does_not_end(goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Travel", WANTED, DIAMOND)
    await goals.start_step(goal.id, "look")
    await goals.abandon(goal.id, "Ill")
    assert (await current(goals, goal.id)).steps[0].status == "pending"
    for late in (
        goals.complete_step(goal.id, "look"),
        goals.fail_step(goal.id, "look", "x"),
        goals.skip_step(goal.id, "look"),
        goals.map_step(goal.id, "look", "c1"),
        goals.plan_for(goal.id),
        goals.update(goal.id, description="x"),
    ):
        with pytest.raises(Conflict, match="is abandoned"):
            await late
    await goals.reopen(goal.id)
    assert await names(goals, goal.id) == ["look"]


async def test_a_failed_step_says_what_went_wrong_each_time(goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Travel", WANTED, DIAMOND)
    await goals.start_step(goal.id, "look")
    failed = await goals.fail_step(goal.id, "look", "The site is down")
    assert failed.plan is not None
    step = failed.plan.steps[0]
    assert (step.status, step.attempts, step.error, step.errors) == (
        "failed",
        1,
        "The site is down",
        ("The site is down",),
    )
    assert await goals.fail_step(goal.id, "look", "The site is down") == failed
    assert await names(goals, goal.id) == []
    with pytest.raises(Conflict, match="The site is down"):
        await goals.start_step(goal.id, "look")
    assert (await goals.progress(goal.id)).failed == ("look",)
    await goals.complete_step(goal.id, "look", "Done by hand")
    assert await names(goals, goal.id) == ["fly", "sleep"]


async def test_skipping_lets_others_start_and_shows_nothing(goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Travel", WANTED, DIAMOND)
    await goals.skip_step(goal.id, "look", "We know one")
    assert await names(goals, goal.id) == ["fly", "sleep"]
    skipped = await goals.skip_step(goal.id, "fly", "We take the train")
    assert skipped.goal.criteria[0].met is False
    assert await goals.skip_step(goal.id, "fly") == skipped
    with pytest.raises(Conflict, match="was skipped"):
        await goals.complete_step(goal.id, "fly")


async def test_a_criterion_is_met_when_all_that_serves_it_is_settled(goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Bake", ["A cake"], ["Mix", "Bake", "Decorate"])
    plan = await current(goals, goal.id)
    assert [step.after for step in plan.steps] == [(), ("s1",), ("s2",)]
    assert {step.criteria for step in plan.steps} == {("c1",)}
    await goals.complete_step(goal.id, "s1", "mixed")
    half = await goals.complete_step(goal.id, "s2", "baked")
    assert not half.goal.criteria[0].met
    ended = await goals.skip_step(goal.id, "s3", "Plain is fine")
    assert ended.goal.status == "achieved"
    assert [one.note for one in ended.goal.criteria[0].evidence] == ["mixed", "baked"]


async def test_steps_are_mapped_to_criteria(goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Travel", WANTED, [{"description": "Book"}, {"description": "Call"}])
    await goals.complete_step(goal.id, "s1", "booked")
    assert (await goals.get(goal.id)).progress == 0
    plan = await goals.map_step(goal.id, "s1", "c1", "c2")
    assert plan.steps[0].criteria == ("c1", "c2")
    goal = await goals.get(goal.id)
    assert [one.met for one in goal.criteria] == [True, True, False]  # it is done already
    await goals.map_step(goal.id, "s2", "c3")
    assert (await goals.complete_step(goal.id, "s2")).goal.status == "achieved"


async def test_mapping_needs_what_there_is(goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Travel", WANTED, DIAMOND)
    with pytest.raises(NotFound, match="no criterion c9"):
        await goals.map_step(goal.id, "look", "c9")
    with pytest.raises(NotFound, match="no step"):
        await goals.map_step(goal.id, "nope", "c1")
    with pytest.raises(InvalidInput):
        await goals.map_step(goal.id, "look")


async def test_evidence_and_episodes_go_with_a_step(scoped: ScopedStore, goals: GoalMemory) -> None:
    episode, mail = scoped.new("episode", "A day of booking"), scoped.new("message", "Your booking is confirmed.")
    await scoped.write([Put(episode), Put(mail)])
    goal, _ = await goals.create_goal_with_plan("Travel", ["Booked"], ["Book"])
    started = await goals.start_step(goal.id, "s1", episode=episode.id)
    assert started.plan is not None
    assert started.plan.steps[0].episode == episode.id
    done = await goals.complete_step(goal.id, "s1", "ok", evidence=[mail.id, "by mail"])
    evidence = done.goal.criteria[0].evidence
    assert [(one.memory, one.note, one.step) for one in evidence] == [(mail.id, "", "s1"), (None, "by mail", "s1")]
    assert {memory.id for memory in await goals.linked(goal.id, "about")} == {episode.id, mail.id}


@pytest.mark.parametrize("size", [10_000_000])
async def test_a_result_that_is_too_long_is_cut_and_marked(goals: GoalMemory, size: int) -> None:
    goal, _ = await goals.create_goal_with_plan("Fetch", ["a", "b", "c"], [{"description": c} for c in "abc"])
    await goals.complete_step(goal.id, "s1", "é" * size)
    await goals.complete_step(goal.id, "s2", ["x" * 1_000] * (size // 1_000))
    await goals.fail_step(goal.id, "s3", "e" * size)
    plan = await current(goals, goal.id)
    for step in plan.steps[:2]:
        assert len(step.result) <= MAX_RESULT
        assert step.result.endswith("characters more]")
    assert len(plan.steps[2].error) <= MAX_RESULT
    assert len(plan.steps[2].errors[0]) <= 500


async def test_a_result_that_is_no_json_is_told_as_text(goals: GoalMemory) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    given: list[Any] = [object(), Odd(), float("nan"), 2**70, deep, "a\x00b\ud800", (1, {"a": (2,)})]
    steps = [{"description": f"step {n}"} for n in range(len(given))]
    goal, _ = await goals.create_goal_with_plan("Fetch", ["done", "later"], steps)
    for n, value in enumerate(given, start=1):
        await goals.complete_step(goal.id, f"s{n}", value)
    results = [step.result for step in (await current(goals, goal.id)).steps]
    assert results[0].startswith("<object")
    assert results[1] == "<Odd that cannot be shown: RuntimeError>"
    assert results[2:4] == ["nan", str(2**70)]
    assert results[5:] == ["ab?", [1, {"a": [2]}]]


async def test_a_step_whose_runner_is_gone_may_start_again(goals: GoalMemory, clock: FakeClock) -> None:
    steps = [PlanStep(id="go", description="Go", max_attempts=2)]
    goal, _ = await goals.create_goal_with_plan("Go", steps=steps)
    await goals.start_step(goal.id, "go", lease_seconds=60)
    clock.advance(30)
    with pytest.raises(Conflict, match="is running, until"):
        await goals.start_step(goal.id, "go")
    await goals.renew_step(goal.id, "go", lease_seconds=60)
    clock.advance(59)
    assert await names(goals, goal.id) == []
    clock.advance(2)
    assert await names(goals, goal.id) == ["go"]
    again = await goals.start_step(goal.id, "go", lease_seconds=60)
    assert again.plan is not None
    assert (again.plan.steps[0].attempts, len(again.plan.steps[0].errors)) == (2, 1)
    clock.advance(61)
    assert await names(goals, goal.id) == []  # it was tried as often as it may be
    with pytest.raises(Conflict, match="tried 2 times"):
        await goals.start_step(goal.id, "go")


async def test_only_one_of_many_starts_a_step(goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Go")
    tried = await asyncio.gather(*(goals.start_step(goal.id, "s1") for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(one, Conflict) for one in tried) == 4
    assert (await current(goals, goal.id)).steps[0].attempts == 1


async def test_two_writers_complete_different_steps_and_nothing_is_lost(scoped_stores: Any) -> None:
    scoped = await scoped_stores.open()
    other = scoped if scoped_stores.backend == "inmem" else await scoped_stores.another()
    sides = [GoalMemory(one, ProceduralMemory(one, ToolRegistry())) for one in (scoped, other)]
    goals = sides[0]
    top = await goals.create("All", criteria=["All is done"])
    made = []
    for n in range(2):
        wanted = [f"c {n} {m}" for m in range(6)]
        steps = [{"description": text, "criteria": [f"c{m + 1}"]} for m, text in enumerate(wanted)]
        made.append((await goals.create_goal_with_plan(f"Part {n}", wanted, steps, parent=top.id))[0])
    await goals.meet(top.id, "c1", "yes")
    work = [
        sides[(n + m) % 2].complete_step(goal.id, f"s{m + 1}", f"{n} {m}")
        for n, goal in enumerate(made)
        for m in range(6)
    ]
    await asyncio.gather(*work)
    for n, goal in enumerate(made):
        plan = await current(goals, goal.id)
        assert [step.result for step in plan.steps] == [f"{n} {m}" for m in range(6)]
        assert (await goals.get(goal.id)).status == "achieved"
    assert (await goals.get(top.id)).status == "achieved"


async def test_sub_goals_given_up_at_once_do_not_overlook_each_other(goals: GoalMemory) -> None:
    top = await goals.create("Top")
    below = [await goals.create(f"Part {n}", parent=top.id) for n in range(6)]
    await goals.meet(top.id, "c1", "yes")
    await asyncio.gather(*(goals.abandon(goal.id, "no") for goal in below))
    assert (await goals.get(top.id)).status == "achieved"


async def test_a_step_that_is_given_back_counts_as_no_attempt(goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Travel to Porto", WANTED, DIAMOND)
    for _ in range(5):
        await goals.start_step(goal.id, "look")
        given_back = await goals.release_step(goal.id, "look")
        assert given_back.plan is not None
        assert (given_back.plan.steps[0].status, given_back.plan.steps[0].attempts) == ("pending", 0)
    assert await names(goals, goal.id) == ["look"]
    with pytest.raises(Conflict):
        await goals.release_step(goal.id, "look")
