"""Storing, finding, versions, differences, rolling back, labels, deleting."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from longmind.errors import Conflict, Forbidden, InvalidInput, NotFound
from longmind.systems.procedural import ProceduralMemory, Procedure
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter


def trip(n: int = 0, **fields: Any) -> dict[str, Any]:
    step = {"name": "say", "use": "echo", "args": {"value": n}}
    return {"name": "trip", "purpose": "Plan a trip.", "category": "travel", "steps": [step], **fields}


async def stored(procedures: ProceduralMemory, upto: int) -> None:
    for n in range(1, upto + 1):
        await procedures.store(trip(n), why=f"change {n}")


async def test_the_same_definition_again_is_no_new_version(procedures: ProceduralMemory) -> None:
    one = await procedures.store(trip(1), why="first")
    two = await procedures.store(Procedure.model_validate(trip(1)))
    assert (one.number, one.why, one.current, one.parent) == (1, "first", True, None)
    assert two == one
    three = await procedures.store(trip(2))
    assert (three.number, three.id, three.parent) == (2, one.id, 1)
    assert (await procedures.store(trip(True))).number == 3, "true is not 1"


async def test_a_number_that_looks_like_true_is_a_difference(procedures: ProceduralMemory) -> None:
    await procedures.store(trip(1))
    await procedures.store(trip(True))
    assert (await procedures.execute("trip")).result is True


async def test_five_versions_are_kept_and_any_is_restored_by_number_or_index(
    procedures: ProceduralMemory, scoped: ScopedStore
) -> None:
    await stored(procedures, 7)
    assert [v.number for v in await procedures.versions("trip")] == [7, 6, 5, 4, 3]
    with pytest.raises(NotFound, match="Kept are 3, 4, 5, 6, 7"):
        await procedures.retrieve("trip", 2)
    for number in (3, 4, 5, 6, 7):
        back = await procedures.rollback("trip", number)
        assert (back.number, back.current) == (number, True)
        assert (await procedures.execute("trip")).result == number
    for index, number in enumerate((7, 6, 5, 4, 3)):
        assert (await procedures.rollback("trip", index=index)).number == number
    assert (await procedures.rollback("trip", 5)).why == "change 5"
    after = await procedures.store(trip(8))
    assert (after.number, after.parent) == (8, 5), "numbers are never given twice"
    assert (await procedures.rollback("trip")).number == 5
    with pytest.raises(NotFound, match="no index 5"):
        await procedures.rollback("trip", index=5)
    with pytest.raises(NotFound):
        await procedures.rollback("trip", 99)
    left = (await scoped.page("procedure", where=Filter(states=("archived",)))).items
    assert len([m for m in left if "@" in (m.key or "")]) == 5


async def test_how_many_are_kept_can_be_said(scoped: ScopedStore, desk: Any) -> None:
    procedures = desk.memory(scoped, versions_kept=2)
    await stored(procedures, 4)
    assert [v.number for v in await procedures.versions("trip")] == [4, 3]
    with pytest.raises(InvalidInput):
        desk.memory(scoped, versions_kept=0)


async def test_a_labelled_version_stays(procedures: ProceduralMemory) -> None:
    await stored(procedures, 2)
    assert (await procedures.tag("trip", "stable", 1)).number == 2
    await procedures.tag("trip", "good")
    for n in range(3, 9):
        await procedures.store(trip(n))
    assert [v.number for v in await procedures.versions("trip")] == [8, 7, 6, 2, 1]
    assert (await procedures.retrieve("trip", "stable")).labels == ("stable",)
    assert (await procedures.rollback("trip", "stable")).number == 1
    await procedures.untag("trip", "stable")
    with pytest.raises(NotFound, match="Labels are: good"):
        await procedures.rollback("trip", "stable")
    with pytest.raises(NotFound):
        await procedures.tag("trip", "stable", 44)
    for bad in ("", "12", " "):
        with pytest.raises(InvalidInput):
            await procedures.tag("trip", bad)


async def test_a_version_that_a_run_still_needs_stays(procedures: ProceduralMemory) -> None:
    waits = {"name": "say", "use": "echo", "args": {"value": "old"}, "needs_approval": True}
    await procedures.store(trip(steps=[waits]))
    run = await procedures.execute("trip")
    await stored(procedures, 7)
    assert 1 in [v.number for v in await procedures.versions("trip")]
    assert (await procedures.approve(run.id)).result == "old"
    await procedures.store(trip(8))
    assert [v.number for v in await procedures.versions("trip")] == [9, 8, 7, 6, 5]


async def test_differences_are_told_field_by_field(procedures: ProceduralMemory) -> None:
    await procedures.store(trip(1))
    with pytest.raises(InvalidInput, match="is the first"):
        await procedures.diff("trip")
    extra = {"name": "extra", "use": "echo", "args": {"value": "x"}}
    first = {"name": "say", "use": "echo", "args": {"value": 2}, "timeout": 5}
    await procedures.store(trip(steps=[extra, first], purpose="Plan a better trip."))
    diff = await procedures.diff("trip")
    assert (diff.before, diff.after) == (1, 2)
    assert {(d.path, d.kind) for d in diff.differences} == {
        ("purpose", "changed"),
        ("steps.say.args.value", "changed"),
        ("steps.say.timeout", "added"),
        ("steps.extra", "added"),
    }
    assert "~ purpose: 'Plan a trip.' -> 'Plan a better trip.'" in str(diff)
    assert "no difference" in str(await procedures.diff("trip", 2, 2))
    back = await procedures.diff("trip", 2, 1)
    assert ("steps.extra", "removed") in {(d.path, d.kind) for d in back.differences}
    await procedures.store(trip(steps=[first, extra], purpose="Plan a better trip."))
    assert [d.kind for d in (await procedures.diff("trip")).differences] == ["reordered"]


async def test_procedures_are_listed_searched_and_found_by_id(procedures: ProceduralMemory) -> None:
    await stored(procedures, 3)
    for name, category in (("invoice", "money"), ("refund", "money")):
        step = {"name": "say", "use": "echo", "args": {"value": name}}
        told = {"name": name, "purpose": f"Write {name} letters to customers.", "category": category, "steps": [step]}
        await procedures.store(told)
    assert [v.name for v in (await procedures.list()).items] == ["trip", "invoice", "refund"]
    assert [v.name for v in (await procedures.list("money")).items] == ["invoice", "refund"]
    page = await procedures.list(limit=2)
    assert [v.name for v in (await procedures.list(limit=2, cursor=page.cursor)).items] == ["refund"]
    found = await procedures.search("plan my next trip")
    assert [(f.version.name, f.version.number) for f in found][:1] == [("trip", 3)]
    assert [f.version.name for f in await procedures.search("letters", category="travel")] == []
    one = await procedures.retrieve("invoice")
    assert await procedures.retrieve(one.id) == one
    with pytest.raises(NotFound, match="no procedure nothing"):
        await procedures.retrieve("nothing")


async def test_a_new_purpose_is_what_search_reads(procedures: ProceduralMemory) -> None:
    await procedures.store(trip(1))
    await procedures.store(trip(1, purpose="Organise zeppelins."))
    assert [f.version.name for f in await procedures.search("zeppelins")] == ["trip"]
    await procedures.rollback("trip")
    assert await procedures.search("zeppelins") == []


async def test_two_that_store_at_once_make_two_versions(procedures: ProceduralMemory) -> None:
    made = await asyncio.gather(*(procedures.store(trip(n)) for n in range(5)))
    assert sorted(v.number for v in made) == [1, 2, 3, 4, 5]
    kept = await procedures.versions("trip")
    assert {v.procedure.steps[0].args["value"] for v in kept} == set(range(5))


async def test_a_store_that_expects_another_version_is_refused(procedures: ProceduralMemory) -> None:
    await procedures.store(trip(1), expected=0)
    await procedures.store(trip(2), expected=1)
    with pytest.raises(Conflict, match="Version 2 of trip is in use"):
        await procedures.store(trip(3), expected=1)


async def test_deleting_removes_everything_but_the_runs(procedures: ProceduralMemory, scoped: ScopedStore) -> None:
    await stored(procedures, 3)
    run = await procedures.execute("trip")
    await procedures.delete("trip")
    assert (await scoped.page("procedure", where=Filter(states=None))).items == ()
    assert (await procedures.run(run.id)).status == "succeeded"
    with pytest.raises(NotFound):
        await procedures.delete("trip")
    assert (await procedures.store(trip(9))).number == 1


async def test_a_procedure_with_an_unfinished_run_is_not_deleted(procedures: ProceduralMemory) -> None:
    waits = {"name": "say", "use": "echo", "args": {"value": 1}, "needs_approval": True}
    await procedures.store(trip(steps=[waits]))
    run = await procedures.execute("trip")
    with pytest.raises(Conflict, match="is not finished"):
        await procedures.delete("trip")
    await procedures.cancel(run.id)
    await procedures.delete("trip")


async def test_clearing_removes_a_category_or_all(procedures: ProceduralMemory) -> None:
    await procedures.store(trip(1))
    await procedures.store(trip(1, name="other", category="money"))
    assert await procedures.clear("money") == 1
    assert [v.name for v in (await procedures.list()).items] == ["trip"]
    assert await procedures.clear() == 1
    assert await procedures.clear() == 0


async def test_a_user_has_versions_of_their_own_and_does_not_change_the_agents(scoped_stores: Any, desk: Any) -> None:
    agent, alice = desk.memory(await scoped_stores.open()), desk.memory(await scoped_stores.open(user="alice"))
    bob = desk.memory(await scoped_stores.open(user="bob"))
    await agent.store(trip(1))
    assert (await alice.execute("trip")).result == 1
    for change in (
        alice.rollback("trip", 1),
        alice.delete("trip"),
        alice.tag("trip", "mine"),
        alice.propose("trip", {}),
    ):
        with pytest.raises(Forbidden):
            await change
    mine = await alice.store(trip(2))
    assert mine.number == 1
    assert (await alice.execute("trip")).result == 2
    assert (await bob.execute("trip")).result == 1
    assert (await agent.execute("trip")).result == 1
    assert (await alice.statistics("trip")).version(1).runs == 1
    assert (await bob.statistics("trip")).version(1).runs == 3
    assert await bob.clear() == 0
    assert await alice.clear() == 1
    assert (await alice.execute("trip")).result == 1


async def test_everything_is_there_after_a_restart(scoped_stores: Any, desk: Any) -> None:
    before = desk.memory(await scoped_stores.open())
    await stored(before, 3)
    await before.execute("trip")
    after = desk.memory(await scoped_stores.restart())
    assert [v.number for v in await after.versions("trip")] == [3, 2, 1]
    assert (await after.statistics("trip")).version(3).successes == 1
    assert [f.version.name for f in await after.search("plan a trip")] == ["trip"]


async def test_what_it_was_made_from_is_linked(procedures: ProceduralMemory, scoped: ScopedStore) -> None:
    from longmind.store.base import Put

    episode = scoped.new("episode", "What happened.")
    await scoped.write([Put(episode)])
    made = await procedures.store(trip(1), derived_from=[episode.id])
    (link,) = await scoped.store.links(scoped.scope, [made.id], relation="derived_from")
    assert link.target == episode.id


async def test_erasing_leaves_nothing_behind(scoped_stores: Any, desk: Any) -> None:
    scoped = await scoped_stores.open()
    mem = (await scoped_stores.longmind()).agent(scoped_stores.agent)
    procedures = desk.memory(scoped)
    await stored(procedures, 2)
    await procedures.propose("trip", {"purpose": "Plan another trip."})
    run = await procedures.execute("trip")
    await mem.forget(run.id, erase=True)
    assert (await scoped.page("step")).items == ()
    await mem.forget((await procedures.retrieve("trip")).id, erase=True)
    assert (await scoped.store.stats(scoped.scope)).memories == 0


async def test_a_changed_copy_is_checked_like_a_new_definition(procedures: ProceduralMemory) -> None:
    made = (await procedures.store(trip(1))).procedure
    broken = made.model_copy(update={"returns": "{{ steps.nothing }}"})
    with pytest.raises(InvalidInput, match=r"steps\.nothing"):
        await procedures.store(broken)
    with pytest.raises(InvalidInput, match=r"steps\.nothing"):
        await procedures.check(broken)
