"""The plan of a batch, without a database: what must be loaded, and what comes out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from longmind.errors import KeyTaken, NotFound
from longmind.store.base import AddLink, Batch, Delete, Put, RemoveLink, Touch, Update, Write
from longmind.store.plan import Snapshot, StoredLink, StoredMemory, WritePlan, plan_batch, required
from longmind.testing import memory
from longmind.types import Link, Memory, Scope

SCOPE = Scope(agent="assistant")
AT = datetime(2026, 1, 1, tzinfo=UTC)


def batch(*writes: Write) -> Batch:
    return Batch(SCOPE, "op", AT, writes)


def snapshot(*memories: Memory, links: tuple[Link, ...] = ()) -> Snapshot:
    rows = {record.id: StoredMemory(record, seq) for seq, record in enumerate(memories, 1)}
    return Snapshot(9, None, rows, {(k.source, k.relation, k.target): StoredLink(k, None) for k in links})


def actions(plan: WritePlan) -> list[tuple[int, str, str]]:
    return [(line.seq, line.action, line.memory_id) for line in plan.lines]


def test_what_a_batch_names_is_required() -> None:
    a, b = memory("a", key="k1"), memory("b")
    link = Link(source=a.id, relation="next", target=b.id)
    needs = required(batch(Put(a), Update(b.id, {"key": "k2"}), Delete(b.id), AddLink(link), Touch(("t",), AT)))
    assert needs.ids == [a.id, b.id, b.id, a.id, b.id, "t"]
    assert needs.keys == ["k1", "k2"]
    assert needs.links == [(a.id, "next", b.id)]
    assert needs.deleted == [b.id]


def test_a_plan_tells_the_difference_and_leaves_the_snapshot_alone() -> None:
    kept, old, new = memory("kept"), memory("old"), memory("new", body={"turns": (1, 2)})
    link = Link(source=kept.id, relation="next", target=old.id)
    before = snapshot(kept, old, links=(link,))
    plan = plan_batch(batch(Update(kept.id, {"content": "changed"}), Delete(old.id), Put(new)), before)
    assert plan.removed() == [old.id]
    assert plan.removed_links() == [(kept.id, "next", old.id)]
    assert [(row.memory.content, row.memory.version, row.seq, row.reindex) for row in plan.updated()] == [
        ("changed", 2, 1, True)
    ]
    assert [(row.memory.body, row.seq) for row in plan.inserted()] == [({"turns": [1, 2]}, 13)]
    assert list(plan.dropped_vectors) == [kept.id, old.id]
    assert actions(plan) == [
        (10, "update", kept.id),
        (11, "unlink", kept.id),
        (12, "delete", old.id),
        (13, "put", new.id),
    ]
    assert [line.before for line in plan.lines[:1]] == [{"content": "kept"}]
    assert plan.receipt().created == (True, True)
    assert set(before.rows) == {kept.id, old.id}
    assert before.rows[kept.id].memory.content == "kept"


def test_a_batch_sees_its_own_writes() -> None:
    a, b = memory("a", key="k"), memory("b")
    link = Link(source=a.id, relation="next", target=b.id)
    writes = (Put(a), Put(b), AddLink(link), RemoveLink(a.id, "next", b.id), Update(a.id, {"key": None}))
    plan = plan_batch(batch(*writes, Update(b.id, {"key": "k"})), snapshot())
    assert [row.memory.key for row in plan.inserted()] == [None, "k"]
    assert not plan.changed_links()
    assert [action for _, action, _ in actions(plan)] == ["put", "put", "link", "unlink", "update", "update"]


def test_erasing_clears_the_lines_of_the_same_batch() -> None:
    a = memory("secret")
    plan = plan_batch(batch(Update(a.id, {"content": "more secret"}), Delete(a.id, erase=True)), snapshot(a))
    assert list(plan.cleared.ids) == [a.id]
    assert [(line.action, line.before) for line in plan.lines] == [("update", None), ("erase", None)]


def test_reads_are_counted_without_a_line_or_new_terms() -> None:
    a = memory("a")
    plan = plan_batch(batch(Touch((a.id, a.id, "gone"), AT, 0.5)), snapshot(a))
    assert [(row.memory.access_count, row.memory.interaction, row.reindex) for row in plan.updated()] == [
        (1, 0.5, False)
    ]
    assert plan.lines == []


def test_a_batch_is_refused_by_what_is_there() -> None:
    held = memory("held", key="k")
    assert plan_batch(batch(Put(memory("other", key="k"))), snapshot(held)).receipt().memories == (held,)
    with pytest.raises(KeyTaken):
        plan_batch(batch(Put(memory("other", key="k"), existing="fail")), snapshot(held))
    with pytest.raises(NotFound):
        plan_batch(batch(Update(memory("never stored").id, {"content": "x"})), snapshot(held))
