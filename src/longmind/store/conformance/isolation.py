"""Isolation: nothing outside the scope is read or written."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from longmind.errors import InvalidInput, NotFound
from longmind.store.base import AddLink, Backend, Delete, RemoveLink, Touch, Update, Write
from longmind.store.conformance.steps import (
    AGENT,
    ANY,
    NOON,
    OTHER_AGENT,
    OTHER_TENANT,
    apply,
    feed,
    get,
    journal,
    link,
    links,
    put,
    unit_vector,
    with_space,
)
from longmind.types import Filter, Link, Memory, Scope

STRANGERS = (
    OTHER_AGENT,
    OTHER_TENANT,
    Scope(tenant="acme", agent="Assistant"),
    Scope(tenant="acme", agent="assistan_"),
    Scope(tenant="acme", agent="%"),
    Scope(tenant="%", agent="assistant"),
    Scope(tenant="acme' OR '1'='1", agent="assistant"),
    Scope(tenant="acmeassistant", agent="assistant"),
    Scope(tenant="assistant", agent="acme"),
)
HOSTILE = (
    "", " ", "%", "_", "*", "' OR '1'='1", "'; DROP TABLE memories; --", "\x00", "a\x00b", "\ud800", "😀", "NULL",
    "x" * 10_000,
)  # fmt: skip


class Isolation:
    """Tenant and agent are a wall for every method. The same id on both sides of it is two memories."""

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_no_read_crosses(self, backend: Backend, stranger: Scope) -> None:
        kept, _ = await _fill(backend)
        ids = [m.id for m in kept]
        assert await backend.get(stranger, ids) == []
        assert (await backend.scan(stranger, ANY)).items == ()
        assert (await backend.scan(stranger, Filter(ids=tuple(ids), states=None))).items == ()
        assert await links(backend, *ids, scope=stranger) == []
        assert await journal(backend, stranger) == []
        assert await journal(backend, stranger, memory_id=ids[0]) == []
        assert await journal(backend, stranger, operation="op") == []
        stats = await backend.stats(stranger)
        assert (stats.memories, stats.links, stats.changes, stats.vectors) == (0, 0, 0, 0)
        assert (await backend.head(stranger)).seq == 0
        for after in (0, 1):
            told = await feed(backend, stranger, after)
            assert (told.rows, told.gone) == ([], [])
        assert await backend.matching(stranger, ANY) == set()
        assert await backend.matching(stranger, Filter(ids=tuple(ids), states=None)) == set()

    @pytest.mark.parametrize("stranger", [OTHER_AGENT, OTHER_TENANT], ids=str)
    async def test_no_write_crosses(self, backend: Backend, stranger: Scope) -> None:
        (a, b), edge = await _fill(backend)
        own = await put(backend, scope=stranger)
        before = await _everything(backend)
        attempts: tuple[Write, ...] = (
            Update(a.id, {"content": "theirs"}),
            Delete(a.id),
            Delete(a.id, erase=True),
            AddLink(Link(source=a.id, relation="y", target=b.id)),
            AddLink(Link(source=own.id, relation="y", target=b.id)),
            AddLink(Link(source=a.id, relation="y", target=own.id)),
            RemoveLink(edge.source, edge.relation, edge.target),
        )
        for write in attempts:
            with pytest.raises(NotFound):
                await apply(backend, write, scope=stranger)
        await apply(backend, Touch((a.id, b.id), NOON, 1.0), scope=stranger)
        assert await _everything(backend) == before

    async def test_twins_live_apart(self, backend: Backend) -> None:
        await with_space(backend)
        mine = await put(backend, "mine", vector=unit_vector(1, 0, 0, 0))
        theirs = await put(backend, "theirs", scope=OTHER_AGENT, id=mine.id, vector=unit_vector(0, 1, 0, 0))
        await link(backend, mine, "x", mine, weight=1)
        await link(backend, theirs, "x", theirs, weight=2, scope=OTHER_AGENT)
        await apply(backend, Update(mine.id, {"content": "changed"}))
        await apply(backend, Touch((mine.id,), NOON))
        assert await get(backend, mine.id, OTHER_AGENT) == theirs
        assert [e.weight for e in await links(backend, mine.id, scope=OTHER_AGENT)] == [2]
        assert [c.action for c in await journal(backend, OTHER_AGENT)] == ["put", "link"]
        assert [row.vector is None for row in (await feed(backend)).rows] == [True]
        assert [row.vector is None for row in (await feed(backend, OTHER_AGENT)).rows] == [False]
        await apply(backend, Delete(mine.id, erase=True))
        assert await get(backend, theirs.id, OTHER_AGENT) == theirs
        assert (await journal(backend, OTHER_AGENT))[0].after == theirs.model_dump(mode="json")
        assert len(await links(backend, theirs.id, scope=OTHER_AGENT)) == 1


class HostileInput:
    """Ids and filter values may be any string. What cannot exist is not found; it is no way around the scope and no
    reason to fail otherwise."""

    @pytest.mark.parametrize("text", HOSTILE, ids=ascii)
    async def test_reads_with_hostile_ids(self, backend: Backend, text: str) -> None:
        kept = await put(backend)
        assert await backend.get(AGENT, [text, kept.id]) == [kept]
        assert await links(backend, text) == []
        assert await journal(backend, memory_id=text) == []
        assert await journal(backend, operation=text) == []
        assert await backend.matching(AGENT, Filter(ids=(text,))) == set()
        assert (await backend.scan(AGENT, Filter(ids=(text,)))).items == ()

    @pytest.mark.parametrize("text", HOSTILE, ids=ascii)
    async def test_writes_with_hostile_ids(self, backend: Backend, text: str) -> None:
        kept = await put(backend)
        loop = await link(backend, kept, "x", kept)
        for write in (
            Update(text, {"content": "x"}),
            Delete(text),
            Delete(text, erase=True),
            RemoveLink(text, "x", kept.id),
            RemoveLink(kept.id, "x", text),
            RemoveLink(kept.id, text, kept.id),
        ):
            with pytest.raises(NotFound):
                await apply(backend, write)
        await apply(backend, Touch((text,), NOON))
        assert await backend.get(AGENT, [kept.id]) == [kept]
        assert await links(backend, kept.id) == [loop]

    @pytest.mark.parametrize("text", HOSTILE, ids=ascii)
    async def test_hostile_metadata(self, backend: Backend, text: str) -> None:
        await put(backend, metadata={"a": "b"})
        assert await backend.matching(AGENT, Filter(metadata={"a": text})) == set()
        assert await backend.matching(AGENT, Filter(metadata={text: "b"})) == set()
        assert (await backend.scan(AGENT, Filter(metadata={text: text}))).items == ()

    @pytest.mark.parametrize("text", HOSTILE, ids=ascii)
    async def test_a_hostile_relation_reads_nothing(self, backend: Backend, text: str) -> None:
        kept = await put(backend)
        await link(backend, kept, "x", kept)
        assert await links(backend, kept.id, relation=text) == []

    @pytest.mark.parametrize("text", HOSTILE, ids=ascii)
    async def test_a_hostile_cursor_is_refused(self, backend: Backend, text: str) -> None:
        await put(backend)
        with pytest.raises(InvalidInput):
            await backend.scan(AGENT, ANY, cursor=text)


async def _fill(backend: Backend) -> tuple[list[Memory], Link]:
    await with_space(backend)
    kept = [await put(backend, "secret", key=f"k{n}", vector=unit_vector(1, n, 0, 0)) for n in range(2)]
    edge = await link(backend, kept[0], "x", kept[1])
    await apply(backend, Update(kept[0].id, {"tags": ("t",)}), operation="op")
    return await backend.get(AGENT, [m.id for m in kept]), edge


async def _everything(backend: Backend) -> Iterable[object]:
    ids = await backend.matching(AGENT, ANY)
    return (
        await backend.get(AGENT, sorted(ids)),
        await links(backend, *ids),
        await journal(backend),
        await feed(backend),
        await backend.stats(AGENT),
    )
