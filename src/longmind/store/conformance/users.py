"""Users of one agent: each sees their own memories and those without a user."""

from __future__ import annotations

import pytest

from longmind.errors import Forbidden, NotFound
from longmind.store.base import AddLink, Backend, Delete, Put, Touch, Update
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    ANY,
    BOB,
    NOBODY,
    NOON,
    apply,
    feed,
    journal,
    link,
    links,
    put,
    unit_vector,
    update,
    with_space,
)
from longmind.testing import memory
from longmind.types import Link, Memory, Scope

STRANGER = Scope(tenant="acme", agent="assistant", user="Alice")


class Users:
    """A scope with a user sees and changes that user's memories and those without a user, by every method; a scope
    without one sees only those without a user, and one of all users sees all. A journal line belongs to the user of its
    memory; a line about a link to the user at its source, or else at its target. Users share the agent's numbers, so a
    user's journal may skip some."""

    async def test_every_read_keeps_to_the_user(self, backend: Backend) -> None:
        everyones, hers, his = await _fill(backend)
        all_ids = [everyones.id, hers.id, his.id]
        views = {
            AGENT: [everyones, hers, his],
            NOBODY: [everyones],
            ALICE: [everyones, hers],
            BOB: [everyones, his],
            STRANGER: [everyones],
        }
        for scope, seen in views.items():
            ids = [m.id for m in seen]
            assert await backend.get(scope, all_ids) == seen
            assert list((await backend.scan(scope, ANY)).items) == seen
            assert await backend.matching(scope, ANY) == set(ids)
            assert [row.id for row in (await feed(backend, scope)).rows] == ids
            assert [c.memory_id for c in await journal(backend, scope)] == ids
            stats = await backend.stats(scope)
            assert (stats.memories, stats.changes, stats.vectors) == (len(seen), len(seen), len(seen))
            assert sum(stats.by_kind.values()) == sum(stats.by_state.values()) == len(seen)
            assert (await backend.head(scope)).seq == 3

    async def test_a_user_cannot_change_what_is_anothers(self, backend: Backend) -> None:
        everyones, hers, his = await _fill(backend)
        for write in (
            Update(his.id, {"content": "x"}),
            Delete(his.id),
            Delete(his.id, erase=True),
            AddLink(Link(source=hers.id, relation="x", target=his.id)),
            AddLink(Link(source=his.id, relation="x", target=everyones.id)),
        ):
            for scope in (ALICE, NOBODY):
                with pytest.raises(NotFound):
                    await apply(backend, write, scope=scope)
        assert await backend.get(BOB, [his.id]) == [his]

    async def test_a_scope_without_a_user_stores_and_counts_nothing_of_a_users(self, backend: Backend) -> None:
        _, _, his = await _fill(backend)
        with pytest.raises(Forbidden):
            await apply(backend, Put(memory("his", scope=BOB)), scope=NOBODY)
        await apply(backend, Touch((his.id,), NOON), scope=NOBODY)
        assert await backend.get(BOB, [his.id]) == [his]
        await apply(backend, Put(memory("his too", scope=BOB)), Update(his.id, {"content": "his now"}), scope=AGENT)
        assert [m.content for m in await backend.get(BOB, [his.id])] == ["his now"]

    async def test_a_user_may_change_what_is_everyones(self, backend: Backend) -> None:
        everyones, hers, _ = await _fill(backend)
        await update(backend, everyones.id, ALICE, content="told by alice")
        await link(backend, everyones, "x", hers, scope=ALICE)
        (told,) = await backend.get(BOB, [everyones.id])
        assert (told.content, told.version) == ("told by alice", 2)
        assert [c.action for c in await journal(backend, BOB, after=3)] == ["update"]

    async def test_journal_lines_of_links_belong_to_the_user_at_the_source_or_else_at_the_target(
        self, backend: Backend
    ) -> None:
        everyones, hers, his = await _fill(backend)
        await link(backend, everyones, "for all", everyones)
        await link(backend, everyones, "to her", hers)
        await link(backend, his, "from him", everyones)
        await link(backend, hers, "across", his)
        for scope, seen in (
            (AGENT, ["for all", "to her", "from him", "across"]),
            (NOBODY, ["for all"]),
            (ALICE, ["for all", "to her", "across"]),
            (BOB, ["for all", "from him"]),
        ):
            assert [c.link.relation for c in await journal(backend, scope, after=3) if c.link] == seen

    async def test_deleting_what_is_everyones_unlinks_what_one_does_not_see(self, backend: Backend) -> None:
        everyones, hers, his = await _fill(backend)
        await link(backend, everyones, "x", hers)
        await link(backend, his, "x", everyones)
        await apply(backend, Delete(everyones.id), scope=ALICE)
        assert await links(backend, everyones.id, hers.id, his.id) == []
        for scope, seen in (
            (NOBODY, ["delete"]),
            (ALICE, ["unlink", "delete"]),
            (BOB, ["unlink", "delete"]),
            (AGENT, ["unlink", "unlink", "delete"]),
        ):
            assert [c.action for c in await journal(backend, scope, after=5)] == seen

    async def test_an_id_that_passes_from_one_user_to_another(self, backend: Backend) -> None:
        hers = await put(backend, "hers", scope=ALICE)
        await apply(backend, Delete(hers.id), scope=ALICE)
        his = await put(backend, "his", scope=BOB, id=hers.id)
        assert [c.action for c in await journal(backend, ALICE)] == ["put", "delete"]
        assert (await journal(backend, ALICE))[0].after == hers.model_dump(mode="json")
        assert [c.after for c in await journal(backend, BOB)] == [his.model_dump(mode="json")]
        assert (await feed(backend, ALICE, after=1)).gone == [hers.id]
        told = await feed(backend, BOB, after=1)
        assert ([row.id for row in told.rows], told.gone) == ([his.id], [])

    async def test_a_feed_tells_only_what_the_user_sees(self, backend: Backend) -> None:
        everyones, hers, his = await _fill(backend)
        await update(backend, his.id, content="new")
        await apply(backend, Delete(hers.id))
        for scope, rows, gone in (
            (NOBODY, [], []),
            (ALICE, [], [hers.id]),
            (BOB, [his.id], []),
            (AGENT, [his.id], [hers.id]),
        ):
            told = await feed(backend, scope, after=3)
            assert ([row.id for row in told.rows], told.gone, told.head.seq) == (rows, gone, 5)
        assert {row.id for row in (await feed(backend, ALICE, after=0)).rows} == {everyones.id}


async def _fill(backend: Backend) -> list[Memory]:
    """A memory of no user, one of alice's, one of bob's; each with a vector."""
    await with_space(backend)
    vector = unit_vector(1, 2, 3, 4)
    return [
        await put(backend, str(scope.user), scope=scope, vector=vector, recorded_at=NOON)
        for scope in (NOBODY, ALICE, BOB)
    ]
