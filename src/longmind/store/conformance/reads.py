"""Reads by id, and counts."""

from __future__ import annotations

from longmind.store.base import Backend, Delete
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    ANY,
    OTHER_AGENT,
    OTHER_TENANT,
    UNKNOWN_ID,
    apply,
    link,
    put,
    unit_vector,
    update,
    with_space,
)
from longmind.types import MAX_FILTER_VALUES, Filter, Scope

MANY = 40_000
"""More ids than any database takes as separate parameters of one statement."""


class Reads:
    """``get`` keeps the order asked for and tells each memory once, whatever its state. ``stats`` counts what the
    scope sees. ``scopes`` lists the tenants and agents that hold a memory now."""

    async def test_get_keeps_the_order_and_tells_each_once(self, backend: Backend) -> None:
        a, b, c = [await put(backend, text) for text in "abc"]
        assert await backend.get(AGENT, [c.id, UNKNOWN_ID, a.id, c.id, b.id, a.id]) == [c, a, b]
        assert await backend.get(AGENT, []) == []
        assert await backend.get(OTHER_AGENT, [a.id]) == []

    async def test_get_reads_every_state(self, backend: Backend) -> None:
        kept = [await put(backend, state=s) for s in ("active", "archived", "superseded", "stale", "quarantined")]
        assert await backend.get(AGENT, [m.id for m in kept]) == kept

    async def test_as_many_ids_as_one_likes(self, backend: Backend) -> None:
        first, last = await put(backend), await put(backend)
        ids = [first.id, *(f"{n:08x}-0000-7000-8000-000000000000" for n in range(MANY)), last.id]
        assert await backend.get(AGENT, ids) == [first, last]
        allowed = (first.id, *ids[2 - MAX_FILTER_VALUES : -1], last.id)
        assert await backend.matching(AGENT, Filter(ids=allowed)) == {first.id, last.id}
        loop = await link(backend, last, "x", last)
        assert await backend.links(AGENT, ids, relation=None, direction="both", limit=10) == [loop]

    async def test_a_write_is_seen_by_the_next_read(self, backend: Backend) -> None:
        for number in range(1, 6):
            new = await put(backend, tags=("t",))
            assert await backend.get(AGENT, [new.id]) == [new]
            assert len(await backend.matching(AGENT, Filter(tags_all=("t",)))) == number
            assert (await backend.stats(AGENT)).memories == number

    async def test_stats_of_nothing(self, backend: Backend) -> None:
        stats = await backend.stats(AGENT)
        assert (stats.memories, stats.links, stats.changes, stats.vectors) == (0, 0, 0, 0)
        assert (dict(stats.by_kind), dict(stats.by_state)) == ({}, {})

    async def test_stats(self, backend: Backend) -> None:
        await with_space(backend)
        a = await put(backend, kind="fact", vector=unit_vector(1, 0, 0, 0))
        b = await put(backend, kind="fact", state="archived")
        c = await put(backend, kind="goal", vector=unit_vector(0, 1, 0, 0))
        await put(backend, scope=OTHER_AGENT, kind="plan", vector=unit_vector(0, 1, 0, 0))
        await link(backend, a, "x", b)
        await link(backend, b, "x", c)
        await update(backend, a.id, importance=0.1)
        await apply(backend, Delete(c.id))
        stats = await backend.stats(AGENT)
        assert (stats.memories, stats.links, stats.changes, stats.vectors) == (2, 1, 8, 1)
        assert (dict(stats.by_kind), dict(stats.by_state)) == ({"fact": 2}, {"active": 1, "archived": 1})

    async def test_scopes_are_those_that_hold_a_memory(self, backend: Backend) -> None:
        assert await backend.scopes() == []
        gone = await put(backend, scope=OTHER_TENANT)
        for scope in (ALICE, AGENT, OTHER_AGENT, OTHER_TENANT):
            await put(backend, scope=scope)
        told = await backend.scopes()
        assert len(told) == 3
        assert {*told} == {AGENT, OTHER_AGENT, OTHER_TENANT}
        (left,) = await backend.matching(OTHER_TENANT, Filter()) - {gone.id}
        await apply(backend, Delete(gone.id), Delete(left, erase=True), scope=OTHER_TENANT)
        assert {*await backend.scopes()} == {AGENT, OTHER_AGENT}

    async def test_a_scope_never_written_is_empty(self, backend: Backend) -> None:
        nowhere = Scope(tenant="nowhere", agent="nobody")
        assert await backend.get(nowhere, [UNKNOWN_ID]) == []
        assert (await backend.scan(nowhere, ANY)).items == ()
        assert await backend.journal(nowhere) == []
        assert await backend.head(nowhere) == (0, 0)
        assert await backend.matching(nowhere, ANY) == set()
