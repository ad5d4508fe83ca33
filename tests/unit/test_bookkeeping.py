"""Bookkeeping is in what recall, context and list return only if it is asked for."""

from __future__ import annotations

import pytest

from longmind import Conflict, Longmind
from longmind.kinds import ON_REQUEST, UNSEARCHED


async def test_recall_leaves_out_bookkeeping_unless_it_is_asked_for(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    said = await mem.remember("The kettle whistles.")
    put = [mem.scoped.new(kind, f"The kettle whistles as {kind}.") for kind in ON_REQUEST]
    for memory in put:
        await longmind.store.put(mem.scope, memory)
    assert [hit.memory.id for hit in await mem.recall("kettle whistles", k=50)] == [said.id]
    assert "whistles as" not in await mem.context("the kettle whistles")
    assert [memory.id for memory in (await mem.list()).items] == [said.id]
    for memory in put:
        expected = [] if memory.kind in UNSEARCHED else [memory.id]  # what is in no view is never recalled
        hits = await mem.recall("kettle whistles", kinds=[memory.kind])
        assert [hit.memory.id for hit in hits] == expected
        hits = await mem.recall("kettle whistles", where={"ids": [memory.id]})
        assert [hit.memory.id for hit in hits] == expected


async def test_undo_says_what_it_removed_restored_and_changed_back(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    stored = await mem.remember("The kettle whistles.")
    await mem.update(stored.id, importance=0.9, tags=("kitchen",))
    put, update = await mem.history(stored.id)
    undone = await mem.undo(update.operation)
    assert [(c.action, c.memory_id, c.fields, c.content) for c in undone.changes] == [
        ("changed", stored.id, ("importance", "tags"), "The kettle whistles.")
    ]
    undone = await mem.undo(put.operation)
    assert undone.undone == put.operation
    assert [(c.action, c.memory_id, c.kind, c.content) for c in undone.changes] == [
        ("removed", stored.id, "message", "The kettle whistles.")
    ]
    again = await mem.undo(undone.operation)
    assert again.ids("restored") == (stored.id,)
    assert again.ids("removed") == ()


async def test_an_operation_id_that_two_users_chose_is_undone_as_one_of_them(longmind: Longmind) -> None:
    ann, ben, everybody = (
        longmind.agent("a", user="ann"),
        longmind.agent("a", user="ben"),
        longmind.agent("a", all_users=True),
    )
    kept = await ann.remember("Ann likes tea.", operation="import-1")
    await ben.remember("Ben likes coffee.", operation="import-1")
    with pytest.raises(Conflict, match="ann, ben"):
        await everybody.undo("import-1")
    await ben.undo("import-1")
    assert [memory.id for memory in (await everybody.list()).items] == [kept.id]


async def test_all_users_undo_what_was_one_operation(longmind: Longmind) -> None:
    everybody = longmind.agent("a", all_users=True)
    for user in ("ann", "ben"):
        await longmind.agent("a", user=user).remember(f"{user} likes tea.")
    forgotten = await everybody.forget(where={"kinds": ["message"]})
    assert len((await everybody.undo(forgotten.operation or "")).ids("restored")) == 2


async def test_a_fact_is_found_though_nothing_that_was_said_has_its_words(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    fact = (await mem.semantic.learn("Ann", "lives in", "Lisbon")).fact
    await mem.working.put("plan", "Call the hotel")
    assert (await mem.recall("Lisbon"))[0].memory.id == fact.id
