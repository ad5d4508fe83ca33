"""Links between memories."""

from __future__ import annotations

from datetime import timedelta

import pytest

from longmind.errors import NotFound
from longmind.store.base import AddLink, Backend, RemoveLink
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    BOB,
    NOON,
    OTHER_AGENT,
    UNKNOWN_ID,
    actions,
    apply,
    journal,
    link,
    links,
    put,
)
from longmind.types import Link


class Links:
    """Both ends of a link must be in the scope that makes it. The same source, relation and target again replaces; an
    identical one is no change. Links come heaviest first, then by source, relation and target, compared by code
    point, each once however many of its ends were asked for. A user sees a link only if she sees both its ends."""

    async def test_a_link_is_stored_as_given(self, backend: Backend) -> None:
        a, b = await put(backend), await put(backend)
        given = await link(
            backend,
            a,
            "is 'the' \"best\" %; -- of",
            b,
            weight=0.1,
            valid_from=NOON,
            valid_to=NOON + timedelta(1),
            metadata={"why": ["x", None, 1.5]},
        )
        assert await links(backend, a.id) == [given]

    async def test_directions(self, backend: Backend) -> None:
        a, b, c = [await put(backend) for _ in range(3)]
        ab, bc, aa = await link(backend, a, "x", b), await link(backend, b, "x", c), await link(backend, a, "self", a)
        assert await links(backend, b.id, direction="out") == [bc]
        assert await links(backend, b.id, direction="in") == [ab]
        assert await links(backend, b.id) == [ab, bc]
        for direction in ("out", "in", "both"):
            assert (await links(backend, a.id, direction=direction)).count(aa) == 1
        assert await links(backend, a.id, b.id, c.id, b.id, UNKNOWN_ID, "no id") == [aa, ab, bc]
        assert await links(backend) == []

    async def test_heaviest_first_then_by_name(self, backend: Backend) -> None:
        a, b, c = [await put(backend) for _ in range(3)]
        for source, relation, target, weight in (
            (b, "x", a, 1.0), (a, "é", b, 1.0), (a, "b", c, 1.0), (a, "b", b, 1.0), (a, "B", c, 1.0),
            (c, "x", a, 9.0), (a, "light", b, 0.0), (a, "😀", b, 1.0), (a, "z", b, 1.0), (a, "\uffee", b, 1.0),
        ):  # fmt: skip
            await link(backend, source, relation, target, weight=weight)
        told = [(e.source, e.relation, e.target) for e in await links(backend, a.id)]
        assert told == [
            (c.id, "x", a.id),
            *((a.id, relation, target.id) for relation, target in (("B", c), ("b", b), ("b", c), ("z", b), ("é", b))),
            *((a.id, relation, b.id) for relation in ("\uffee", "😀")),
            (b.id, "x", a.id),
            (a.id, "light", b.id),
        ]
        for limit in (1, 3, 10):
            assert [(e.source, e.relation, e.target) for e in await links(backend, a.id, limit=limit)] == told[:limit]

    async def test_one_relation(self, backend: Backend) -> None:
        a, b = await put(backend), await put(backend)
        for relation in ("next", "Next", "nex%", "part_of"):
            await link(backend, a, relation, b)
        for relation in ("next", "Next", "nex%", "part_of"):
            assert [e.relation for e in await links(backend, a.id, relation=relation)] == [relation]
        assert await links(backend, a.id, relation="nothing") == []

    async def test_the_same_link_again_replaces(self, backend: Backend) -> None:
        a, b = await put(backend), await put(backend)
        old = await link(backend, a, "x", b, metadata={"n": 1})
        new = await link(backend, a, "x", b, weight=0.5, metadata={"n": 2})
        assert await links(backend, a.id) == [new]
        last = (await journal(backend))[-1]
        assert (last.action, last.link) == ("link", new)
        assert (last.before, last.after) == (old.model_dump(mode="json"), new.model_dump(mode="json"))

    async def test_an_identical_link_is_no_change(self, backend: Backend) -> None:
        a, b = await put(backend), await put(backend)
        for _ in range(2):
            await link(backend, a, "x", b, weight=0.3, valid_from=NOON, metadata={"n": 1})
        assert await actions(backend) == ["put", "put", "link"]
        await link(backend, a, "x", b, weight=0.3, valid_from=NOON, metadata={"n": True})
        assert await actions(backend) == ["put", "put", "link", "link"]

    async def test_both_ends_must_be_in_scope(self, backend: Backend) -> None:
        mine, hers = await put(backend), await put(backend, scope=ALICE)
        theirs = await put(backend, scope=OTHER_AGENT)
        for scope, far in ((AGENT, UNKNOWN_ID), (AGENT, theirs.id), (BOB, hers.id), (OTHER_AGENT, mine.id)):
            for source, target in ((mine.id, far), (far, mine.id), (far, far)):
                with pytest.raises(NotFound):
                    await apply(backend, AddLink(Link(source=source, relation="x", target=target)), scope=scope)
        assert (await backend.stats(AGENT)).links == 0

    async def test_removing(self, backend: Backend) -> None:
        a, b = await put(backend), await put(backend)
        gone, kept = await link(backend, a, "x", b), await link(backend, b, "x", a)
        await apply(backend, RemoveLink(a.id, "x", b.id))
        assert await links(backend, a.id) == [kept]
        last = (await journal(backend))[-1]
        assert (last.action, last.memory_id, last.link) == ("unlink", a.id, gone)
        assert (last.before, last.after) == (gone.model_dump(mode="json"), None)

    async def test_a_missing_link_cannot_be_removed(self, backend: Backend) -> None:
        a, b = await put(backend), await put(backend)
        await link(backend, a, "x", b)
        for source, relation, target in (
            (b.id, "x", a.id),
            (a.id, "y", b.id),
            (a.id, "x", UNKNOWN_ID),
            ("?", "x", b.id),
        ):
            with pytest.raises(NotFound):
                await apply(backend, RemoveLink(source, relation, target))
        with pytest.raises(NotFound):
            await apply(backend, RemoveLink(a.id, "x", b.id), scope=OTHER_AGENT)
        assert len(await links(backend, a.id)) == 1

    async def test_a_user_needs_to_see_both_ends(self, backend: Backend) -> None:
        everyones, hers, his = await put(backend), await put(backend, scope=ALICE), await put(backend, scope=BOB)
        shared = await link(backend, everyones, "to alice", hers)
        across = await link(backend, hers, "to bob", his)
        seen = {ALICE: [shared], BOB: [], AGENT: [shared, across]}
        ids = (everyones.id, hers.id, his.id)
        for scope, expected in seen.items():
            assert sorted(await links(backend, *ids, scope=scope), key=lambda e: e.relation) == sorted(
                expected, key=lambda e: e.relation
            )
            assert (await backend.stats(scope)).links == len(expected)
        with pytest.raises(NotFound):
            await apply(backend, RemoveLink(hers.id, "to bob", his.id), scope=ALICE)
        with pytest.raises(NotFound):
            await apply(backend, RemoveLink(everyones.id, "to alice", hers.id), scope=BOB)
        await apply(backend, RemoveLink(everyones.id, "to alice", hers.id), scope=ALICE)

    async def test_links_of_a_batch_see_its_memories(self, backend: Backend) -> None:
        a = await put(backend)
        given = Link(source=a.id, relation="x", target=a.id)
        await apply(backend, AddLink(given), RemoveLink(a.id, "x", a.id), AddLink(given))
        assert await actions(backend) == ["put", "link", "unlink", "link"]
