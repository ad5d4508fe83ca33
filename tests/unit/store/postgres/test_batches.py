"""Batches and feeds of any size: what is split into several statements or chunks comes out the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from longmind.store.base import AddLink, Batch, Delete, Feed, Put, Space, Update
from longmind.store.postgres import PostgresBackend, feed, flush
from longmind.testing import memory
from longmind.types import Filter, Link, Memory, Scope

SCOPE = Scope(agent="assistant")
ANY = Filter(states=None)
MakeBatch = Callable[..., Batch]


async def whole(backend: PostgresBackend, after: int) -> tuple[Feed, int]:
    """A feed in one piece, and how many chunks it came in."""
    chunks = [chunk async for chunk in backend.feed(SCOPE, after)]
    assert len({chunk.head for chunk in chunks}) == 1
    rows = [row for chunk in chunks for row in chunk.rows]
    return Feed(chunks[0].head, rows, [id for chunk in chunks for id in chunk.gone]), len(chunks)


async def test_a_long_list_of_changes_is_read_in_chunks(
    backend: PostgresBackend, batch: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    await backend.declare_space(Space("small", 4))
    kept = [memory(f"number {n}", scope=SCOPE) for n in range(12)]
    await backend.apply(batch(SCOPE, *(Put(m, np.full(4, 0.5, np.float32)) for m in kept)))
    await backend.apply(batch(SCOPE, Update(kept[3].id, {"content": "new"}), Delete(kept[4].id), Delete(kept[5].id)))
    in_one, chunks = await whole(backend, 1)
    assert chunks == 1
    assert sorted(in_one.gone) == sorted([kept[4].id, kept[5].id])
    assert len(in_one.rows) == 9
    monkeypatch.setattr(feed, "SMALL", 5)
    monkeypatch.setattr(feed, "CHUNK", 4)
    assert await whole(backend, 1) == (in_one, 3)
    everything, chunks = await whole(backend, 0)
    assert ([row.id for row in everything.rows], chunks) == ([m.id for m in kept if m not in kept[4:6]], 3)


@pytest.mark.parametrize("limit", ["MAX_ROWS", "MAX_CHARACTERS"])
async def test_a_large_batch_is_split_into_statements_but_stays_one_change(
    backend: PostgresBackend, batch: MakeBatch, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(flush, limit, 3 if limit == "MAX_ROWS" else 30)
    await backend.declare_space(Space("small", 4))
    kept = [memory(f"number {n:04}", scope=SCOPE) for n in range(10)]
    links = [AddLink(Link(source=a.id, relation="next", target=b.id)) for a, b in itertools.pairwise(kept)]
    puts = [Put(m, np.full(4, 0.5, np.float32)) for m in kept]
    receipt = await backend.apply(batch(SCOPE, *puts))
    assert receipt.memories == tuple(kept)
    await backend.apply(batch(SCOPE, *links))
    await backend.apply(batch(SCOPE, *(Update(m.id, {"content": f"changed {m.content}"}) for m in kept)))
    found = (await backend.scan(SCOPE, ANY)).items
    assert [m.content for m in found] == [f"changed {m.content}" for m in kept]
    assert [c.seq for c in await backend.journal(SCOPE)] == list(range(1, 30))
    await backend.apply(batch(SCOPE, *(Delete(m.id) for m in kept)))
    stats = await backend.stats(SCOPE)
    assert (stats.memories, stats.links, stats.changes) == (0, 0, 48)
    assert await backend.check() == []


async def test_a_memory_may_go_and_come_back_in_one_batch(backend: PostgresBackend, batch: MakeBatch) -> None:
    old: Memory = memory("old", scope=SCOPE, key="k")
    await backend.apply(batch(SCOPE, Put(old)))
    new = old.model_copy(update={"content": "new"})
    passing = memory("passing", scope=SCOPE)
    await backend.apply(batch(SCOPE, Put(passing), Delete(old.id), Put(new), Delete(passing.id)))
    assert (await backend.scan(SCOPE, ANY)).items == (new,)
    changes = await backend.journal(SCOPE)
    assert [(c.seq, c.action) for c in changes] == [(1, "put"), (2, "put"), (3, "delete"), (4, "put"), (5, "delete")]
    assert [c.after and c.after["content"] for c in changes] == ["old", "passing", None, "new", None]
    assert await backend.check() == []


async def test_json_comes_back_as_it_was_written(backend: PostgresBackend, batch: MakeBatch) -> None:
    """Numbers keep their kind: what a database's own JSON would make of 1e16 or -0.0 does not reach the caller."""
    body = {"big": 1e16, "small": 5e-324, "minus": -0.0, "whole": 2**63 - 1, "one": 1.0, "z": 1, "a": [True, None]}
    kept = memory(scope=SCOPE, body=body, metadata={"b": 1.0, "a": 1})
    await backend.apply(batch(SCOPE, Put(kept)))
    (found,) = await backend.get(SCOPE, [kept.id])
    assert found.model_dump_json() == kept.model_dump_json()
    assert found.content_hash() == kept.content_hash()
