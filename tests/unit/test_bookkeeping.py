"""Bookkeeping is in what recall, context and list return only if it is asked for."""

from __future__ import annotations

from longmind import Longmind
from longmind.kinds import ON_REQUEST


async def test_recall_leaves_out_bookkeeping_unless_it_is_asked_for(rc: Longmind) -> None:
    mem = rc.agent("a")
    said = await mem.remember("The kettle whistles.")
    put = [mem.scoped.new(kind, f"The kettle whistles as {kind}.") for kind in ON_REQUEST]
    for memory in put:
        await rc.store.put(mem.scope, memory)
    assert [hit.memory.id for hit in await mem.recall("kettle whistles", k=50)] == [said.id]
    assert "whistles as" not in await mem.context("the kettle whistles")
    assert [memory.id for memory in (await mem.list()).items] == [said.id]
    for memory in put:
        hits = await mem.recall("kettle whistles", kinds=[memory.kind])
        assert [hit.memory.id for hit in hits] == [memory.id]
        hits = await mem.recall("kettle whistles", where={"ids": [memory.id]})
        assert [hit.memory.id for hit in hits] == [memory.id]


async def test_undo_says_what_it_removed_restored_and_changed_back(rc: Longmind) -> None:
    mem = rc.agent("a")
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
