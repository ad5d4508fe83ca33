"""Goals: made, found, moved from status to status, met by evidence, and their progress flowing up."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import Conflict, Forbidden, InvalidInput, NotFound
from longmind.store.base import Put, Write
from longmind.systems.goals import Criterion, GoalMemory
from longmind.systems.goals.models import GOAL, Goal
from longmind.systems.goals.transaction import GoalTransaction
from longmind.systems.procedural import ProceduralMemory, ToolRegistry
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock
from longmind.types import Filter

NOWHERE = str(uuid.UUID(int=7))


def on(scoped: ScopedStore) -> GoalMemory:
    return GoalMemory(scoped, ProceduralMemory(scoped, ToolRegistry()))


async def stored(scoped: ScopedStore) -> int:
    """How many changes the journal tells: nothing was written if it stays the same."""
    return (await scoped.store.stats(scoped.scope)).changes


async def test_a_goal_without_criteria_has_its_description_as_one(goals: GoalMemory) -> None:
    goal = await goals.create("  Learn to swim  ", priority=0.9, tags=["sport"], attributes={"pool": "east"})
    assert goal.description == "Learn to swim"
    assert [(one.id, one.description, one.met) for one in goal.criteria] == [("c1", "Learn to swim", False)]
    assert (goal.status, goal.progress, goal.tags, goal.attributes) == ("active", 0.0, ("sport",), {"pool": "east"})
    assert await goals.get(goal.id) == goal


async def test_criteria_are_given_as_texts_or_in_full(goals: GoalMemory) -> None:
    given: list[Any] = [
        "It runs",
        {"id": "fast", "description": "It is fast", "weight": 3},
        Criterion(id="c1", description="It is small"),
    ]
    goal = await goals.create("Build it", criteria=given)
    assert [(one.id, one.weight) for one in goal.criteria] == [("c2", 1.0), ("fast", 3.0), ("c1", 1.0)]
    assert (await goals.meet(goal.id, "fast", "measured")).progress == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"description": " "}, "description"),
        ({"description": "x" * 2_001}, "description"),
        ({"description": "x", "priority": 2}, "priority"),
        ({"description": "x", "status": "achieved"}, "cannot begin"),
        ({"description": "x", "status": "sleeping"}, "status must be one of"),
        ({"description": "x", "criteria": "one text"}, "list"),
        ({"description": "x", "criteria": [""]}, "description"),
        (
            {"description": "x", "criteria": [{"id": "a", "description": "1"}, {"id": "a", "description": "2"}]},
            "same id",
        ),
        ({"description": "x", "criteria": [f"{n}" for n in range(51)]}, "criteria"),
        ({"description": "x", "attributes": {"a": object()}}, "attributes"),
        ({"description": "x\x00"}, "NUL"),
    ],
)
async def test_what_is_not_a_goal_is_refused_and_nothing_is_written(
    scoped: ScopedStore, goals: GoalMemory, told: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        await goals.create(**told)
    assert await stored(scoped) == 0


async def test_a_goal_that_is_not_there(goals: GoalMemory) -> None:
    for ask in (
        goals.get,
        goals.plan,
        goals.plans,
        goals.next_steps,
        goals.progress,
        goals.render,
        goals.activate,
    ):
        with pytest.raises(NotFound, match="no goal"):
            await ask(NOWHERE)  # type: ignore[operator]
    with pytest.raises(NotFound):
        await goals.create("x", parent=NOWHERE)
    with pytest.raises(NotFound):
        await goals.get("nonsense")


async def test_goals_are_listed_by_status_and_parent_and_searched(goals: GoalMemory, clock: FakeClock) -> None:
    made = []
    for text in ("Paint the fence", "Repair the roof", "Sell the car"):
        made.append(await goals.create(text))
        clock.advance(1)
    child = await goals.create("Buy white paint", parent=made[0].id, status="proposed")
    await goals.abandon(made[2].id, "We need it")
    assert [one.id for one in (await goals.list()).items] == [child.id, *(goal.id for goal in reversed(made))]
    assert {one.id for one in (await goals.list(open=True)).items} == {made[0].id, made[1].id, child.id}
    assert [one.id for one in (await goals.list(status="abandoned")).items] == [made[2].id]
    assert [one.id for one in (await goals.list(parent=made[0].id)).items] == [child.id]
    first = await goals.list(limit=3)
    rest = await goals.list(limit=3, cursor=first.cursor)
    assert len({one.id for one in (*first.items, *rest.items)}) == 4
    assert (await goals.search("who fixes the roof?", 1))[0].goal.id == made[1].id


async def test_a_status_moves_along_allowed_ways_only(goals: GoalMemory) -> None:
    goal = await goals.create("Sing", status="proposed")
    with pytest.raises(Conflict, match="cannot become active"):
        await goals.unblock(goal.id)
    assert (await goals.activate(goal.id)).status == "active"
    assert (await goals.activate(goal.id)).version == (await goals.get(goal.id)).version
    blocked = await goals.block(goal.id, "No voice")
    assert (blocked.status, blocked.why) == ("blocked", "No voice")
    with pytest.raises(InvalidInput):
        await goals.block(goal.id, " ")
    assert (await goals.unblock(goal.id)).why == ""
    ended = await goals.fail(goal.id, "Too old")
    assert (ended.status, ended.why, ended.ended_at is not None) == ("failed", "Too old", True)
    for move in (goals.abandon(goal.id, "x"), goals.block(goal.id, "x"), goals.activate(goal.id)):
        with pytest.raises(Conflict, match="is failed"):
            await move
    again = await goals.reopen(goal.id)
    assert (again.status, again.why, again.ended_at) == ("active", "", None)
    with pytest.raises(Conflict, match="has not ended"):
        await goals.reopen(goal.id)


async def test_a_goal_is_achieved_by_its_criteria_and_not_by_saying_so(goals: GoalMemory, clock: FakeClock) -> None:
    goal = await goals.create("Move house", criteria=["The lease is signed", "The boxes are packed"])
    with pytest.raises(Conflict, match=r"c1 \(The lease is signed\), c2"):
        await goals.achieve(goal.id)
    at = clock.advance(60)
    half = await goals.meet(goal.id, "c1", "Seen by the notary")
    assert (half.status, half.progress) == ("active", 0.5)
    assert half.criteria[0].met_at == at
    assert half.criteria[0].evidence[0].note == "Seen by the notary"
    with pytest.raises(Conflict, match="c2"):
        await goals.achieve(goal.id)
    whole = await goals.meet(goal.id, "c2", "Counted")
    assert (whole.status, whole.progress, whole.ended_at) == ("achieved", 1.0, at)
    assert await goals.achieve(goal.id) == whole
    with pytest.raises(Conflict, match="is achieved"):
        await goals.meet(goal.id, "c2", "again")
    with pytest.raises(InvalidInput, match="no longer met"):
        await goals.reopen(goal.id)
    again = await goals.reopen(goal.id, "c2", why="The movers lost a box")
    assert (again.status, again.progress) == ("active", 0.5)


async def test_evidence_is_a_memory_of_this_scope(scoped: ScopedStore, goals: GoalMemory) -> None:
    seen = scoped.new("message", "The lease was signed on Monday.")
    await scoped.write([Put(seen)])
    goal = await goals.create("Sign", criteria=["Signed"])
    before = await stored(scoped)
    with pytest.raises(NotFound, match=NOWHERE):
        await goals.meet(goal.id, "c1", NOWHERE)
    with pytest.raises(NotFound, match="no criterion c9"):
        await goals.meet(goal.id, "c9", "x")
    for nothing in (None, [], ""):
        with pytest.raises(InvalidInput):
            await goals.meet(goal.id, "c1", nothing)
    assert await stored(scoped) == before
    met = await goals.meet(goal.id, "c1", [seen.id, "and I was there"])
    assert [(one.memory, one.note) for one in met.criteria[0].evidence] == [
        (seen.id, ""),
        (None, "and I was there"),
    ]
    assert [memory.id for memory in await goals.linked(goal.id, "about")] == [seen.id]


async def test_memories_are_linked_to_a_goal(scoped: ScopedStore, goals: GoalMemory) -> None:
    episode = scoped.new("episode", "A rehearsal")
    await scoped.write([Put(episode)])
    goal, plan = await goals.create_goal_with_plan("Give a concert")
    await goals.link(goal.id, episode.id)
    assert {memory.id for memory in await goals.linked(goal.id)} == {episode.id, plan.id}
    with pytest.raises(InvalidInput, match="relation must be one of"):
        await goals.link(goal.id, episode.id, "likes")  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        await goals.link(goal.id, NOWHERE)


async def test_progress_flows_up_at_any_remove(goals: GoalMemory) -> None:
    top = await goals.create("Open a shop", criteria=["It is open"])
    middle = await goals.create("Find a place", parent=top.id, criteria=["Rented"])
    leaf = await goals.create("See three places", parent=middle.id, criteria=["1", "2", "3"])
    assert (await goals.get(top.id)).progress == 0
    await goals.meet(leaf.id, "c1", "seen")
    assert (await goals.get(middle.id)).progress == pytest.approx((1 / 3) / 2, abs=1e-5)
    assert (await goals.get(top.id)).progress == pytest.approx((1 / 3) / 4, abs=1e-5)
    await goals.meet(top.id, "c1", "The sign is up")
    assert (await goals.get(top.id)).status == "active"  # a sub-goal is open
    with pytest.raises(Conflict, match="sub-goal"):
        await goals.achieve(top.id)
    await goals.meet(middle.id, "c1", "The lease")
    for id in ("c2", "c3"):
        await goals.meet(leaf.id, id, "seen")
    assert [(await goals.get(goal.id)).status for goal in (leaf, middle, top)] == ["achieved"] * 3
    tree = await goals.progress(top.id)
    assert tree.sub_goals[0].sub_goals[0].goal == leaf.id
    assert (tree.progress, tree.sub_goals[0].criteria_met) == (1.0, 1)


async def test_reopening_a_sub_goal_reopens_what_it_had_achieved(goals: GoalMemory) -> None:
    top = await goals.create("Travel", criteria=["Back home"])
    child = await goals.create("Pack", parent=top.id)
    await goals.meet(child.id, "c1", "Packed")
    assert (await goals.meet(top.id, "c1", "Home")).status == "achieved"
    await goals.reopen(child.id, "c1", why="The bag is lost")
    again = await goals.get(top.id)
    assert (again.status, again.ended_at, again.progress) == ("active", None, 0.5)


async def test_giving_up_ends_what_is_below(goals: GoalMemory) -> None:
    top = await goals.create("Build a boat")
    middle = await goals.create("Buy wood", parent=top.id)
    leaf, _ = await goals.create_goal_with_plan("Ask prices", parent=middle.id)
    done = await goals.create("Draw it", parent=top.id)
    await goals.meet(done.id, "c1", "drawn")
    await goals.start_step(leaf.id, "s1")
    await goals.abandon(top.id, "No time")
    assert [(await goals.get(goal.id)).status for goal in (top, middle, leaf, done)] == [
        "abandoned",
        "abandoned",
        "abandoned",
        "achieved",
    ]
    plan = await goals.plan(leaf.id)
    assert plan is not None
    assert plan.steps[0].status == "pending"  # nothing runs for a goal that ended
    with pytest.raises(Conflict, match="Reopen that one first"):
        await goals.reopen(leaf.id)
    with pytest.raises(Conflict, match="no new sub-goal"):
        await goals.create("Paint it", parent=top.id)
    assert (await goals.get(leaf.id)).status == "abandoned"


async def test_a_sub_goal_that_is_given_up_is_no_longer_in_the_way(goals: GoalMemory) -> None:
    top = await goals.create("Cook", criteria=["Dinner is ready"])
    side = await goals.create("Bake bread", parent=top.id)
    assert (await goals.meet(top.id, "c1", "On the table")).status == "active"
    await goals.abandon(side.id, "We have bread")
    assert (await goals.get(top.id)).status == "achieved"


async def test_parents_make_a_tree(goals: GoalMemory) -> None:
    top = await goals.create("A")
    middle = await goals.create("B", parent=top.id)
    leaf = await goals.create("C", parent=middle.id)
    with pytest.raises(InvalidInput, match="part of itself"):
        await goals.update(top.id, parent=leaf.id)
    with pytest.raises(InvalidInput, match="part of itself"):
        await goals.update(top.id, parent=top.id)
    moved = await goals.update(leaf.id, parent=top.id)
    assert moved.parent == top.id
    await goals.meet(leaf.id, "c1", "done")
    assert (await goals.get(middle.id)).progress == 0
    assert (await goals.get(top.id)).progress == pytest.approx(1 / 3, abs=1e-5)
    free = await goals.create("D", parent=middle.id)
    assert (await goals.update(free.id, parent=None)).parent is None
    assert {one.goal for one in (await goals.progress(top.id)).sub_goals} == {middle.id, leaf.id}
    below = top.id
    for n in range(30):
        below = (await goals.create(f"level {n}", parent=below)).id
    deepest = await goals.create("level 31", parent=below)
    with pytest.raises(InvalidInput, match="levels"):
        await goals.create("level 32", parent=deepest.id)


async def test_a_goal_whose_parent_was_forgotten_still_moves(scoped: ScopedStore, goals: GoalMemory) -> None:
    top = await goals.create("A")
    child = await goals.create("B", parent=top.id)
    await scoped.store.delete(scoped.scope, top.id)
    assert (await goals.meet(child.id, "c1", "yes")).status == "achieved"
    again = await goals.reopen(child.id, "c1")
    assert (await goals.update(again.id, parent=None)).parent is None


async def test_a_deadline_in_the_past_is_taken(goals: GoalMemory, clock: FakeClock) -> None:
    late = clock.now() - timedelta(days=1)
    goal = await goals.create("File taxes", deadline=late)
    assert goal.deadline == late
    assert "due 2025-12-31" in await goals.render(goal.id)


async def test_users_do_not_touch_each_others_goals(scoped_stores: Any) -> None:
    agents = on(await scoped_stores.open(all_users=True))
    alices, bobs = [on(await scoped_stores.open(user=user)) for user in ("alice", "bob")]
    shared = await agents.create("Keep the shop tidy")
    hers = await alices.create("Learn the piano")
    assert hers.user == "alice"
    for verb in (bobs.get, bobs.plan, bobs.progress, bobs.plan_for):
        with pytest.raises(NotFound):
            await verb(hers.id)
    assert [goal.id for goal in (await bobs.list()).items] == [shared.id]
    with pytest.raises(Forbidden, match="belongs to the agent"):
        await alices.meet(shared.id, "c1", "tidy")
    with pytest.raises(Forbidden):
        await alices.create("Sweep", parent=shared.id)
    # the agent sees and may change all; what it makes for a user's goal is that user's
    plan = await agents.plan_for(hers.id)
    assert await alices.plan(hers.id) == plan
    child = await agents.create("Buy a piano", parent=hers.id)
    assert child.user == "alice"
    with pytest.raises(InvalidInput, match="same user"):
        await agents.update(child.id, parent=shared.id)


async def test_everything_is_back_after_a_restart(scoped_stores: Any, clock: FakeClock) -> None:
    goals = on(await scoped_stores.open())
    goal, _ = await goals.create_goal_with_plan(
        "Write a book", ["Chapters are written", "It is printed"], deadline=clock.now() + timedelta(days=30)
    )
    child = await goals.create("Find a printer", parent=goal.id)
    await goals.start_step(goal.id, "s1")
    await goals.complete_step(goal.id, "s1", {"chapters": 12})
    await goals.fail_step(goal.id, "s2", "No paper")
    await goals.update(goal.id, deadline=None, why="No hurry")
    told = [await goals.render(goal.id, "dict"), await goals.plans(goal.id), await goals.progress(goal.id)]
    again = on(await scoped_stores.restart())
    assert [await again.render(goal.id, "dict"), await again.plans(goal.id), await again.progress(goal.id)] == told
    assert (await again.get(child.id)).parent == goal.id


async def test_every_reads_all_with_their_plans_in_few_queries(scoped: ScopedStore, goals: GoalMemory) -> None:
    made = [await goals.create_goal_with_plan(f"Goal {n}") for n in range(5)]
    bare = await goals.create("No plan")
    await goals.abandon(made[0][0].id, "no")
    calls: list[Filter] = []
    scan = scoped.store.backend.scan

    async def counted(scope: Any, where: Filter, **order: Any) -> Any:
        calls.append(where)
        return await scan(scope, where, **order)

    scoped.store.backend.scan = counted  # type: ignore[method-assign]
    try:
        states = await goals.records.every()
        ended = await goals.records.every(open=False)
    finally:
        scoped.store.backend.scan = scan  # type: ignore[method-assign]
    assert {one.goal.id: one.plan and one.plan.id for one in states} == {
        **{goal.id: plan.id for goal, plan in made[1:]},
        bare.id: None,
    }
    assert [one.goal.id for one in ended] == [made[0][0].id]
    assert len(calls) == 4
    assert len((await scoped.page(GOAL)).items) == 6


async def test_an_achieved_goal_no_longer_says_what_it_waited_for(goals: GoalMemory) -> None:
    goal, _ = await goals.create_goal_with_plan("Paint the door", steps=["Choose a colour"])
    await goals.block(goal.id, "Somebody must choose.")
    await goals.complete_step(goal.id, "s1", "Red")
    ended = await goals.get(goal.id)
    assert (ended.status, ended.why) == ("achieved", "")


async def test_a_goal_that_fails_for_what_blocked_it_says_why(goals: GoalMemory) -> None:
    goal = await goals.create("Sing")
    await goals.block(goal.id, "No voice")
    assert (await goals.fail(goal.id, "No voice")).why == "No voice"


async def test_a_goal_is_not_moved_under_one_that_is_given_up_meanwhile(
    goals: GoalMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, other = await goals.create("Build a shed"), await goals.create("Buy wood")
    moved = GoalTransaction.moved

    async def overtaken(self: GoalTransaction, goal: Goal, parent: str | None) -> Sequence[Write]:
        links = await moved(self, goal, parent)
        monkeypatch.setattr(GoalTransaction, "moved", moved)
        await goals.fail(top.id, "No room")
        return links

    monkeypatch.setattr(GoalTransaction, "moved", overtaken)
    with pytest.raises(Conflict):
        await goals.update(other.id, parent=top.id)
    assert (await goals.get(other.id)).parent is None
