"""The journal: who changed what, when and why, and what it was before and after."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import InvalidInput
from longmind.store.base import AddLink, Backend, Delete, Put, Touch, Update
from longmind.store.conformance.steps import (
    AGENT,
    NOON,
    OTHER_AGENT,
    apply,
    journal,
    link,
    put,
    update,
)
from longmind.testing import memory
from longmind.types import Link


class Journal:
    """One line for each change, in order of its number, with the batch's operation, time, actor and reason. A line
    about a link belongs to the link's source. ``after`` leaves out the numbers up to it; filters come before the
    limit. Operation, actor and reason are plain texts: NUL and lone surrogates are ``InvalidInput``."""

    async def test_who_when_and_why(self, backend: Backend) -> None:
        new = memory(scope=AGENT)
        at = NOON + timedelta(days=5, microseconds=7)
        await apply(backend, Put(new), at=at, operation="op", actor='o\'neil "%"', reason="because; --")
        (change,) = await journal(backend)
        assert (change.seq, change.operation, change.at, change.actor, change.reason) == (
            1, "op", at, "o'neil \"%\"", "because; --",
        )  # fmt: skip
        assert (change.action, change.memory_id, change.before, change.link) == ("put", new.id, None, None)
        assert change.after == new.model_dump(mode="json")

    async def test_a_moment_without_a_zone_is_in_utc(self, backend: Backend) -> None:
        new = memory(scope=AGENT)
        await apply(backend, Put(new), Touch((new.id,), NOON.replace(tzinfo=None)), at=NOON.replace(tzinfo=None))
        assert [change.at for change in await journal(backend)] == [NOON]
        assert [m.last_accessed_at for m in await backend.get(AGENT, [new.id])] == [NOON]

    @pytest.mark.parametrize("name", ["operation", "actor", "reason"])
    @pytest.mark.parametrize("text", ["a\x00b", "\ud800"], ids=ascii)
    async def test_texts_that_no_database_stores_are_refused(self, backend: Backend, name: str, text: str) -> None:
        given: dict[str, Any] = {name: text}
        for idempotent in (False, True):
            with pytest.raises(InvalidInput):
                await apply(backend, Put(memory(scope=AGENT)), idempotent=idempotent, **given)
        assert (await backend.head(AGENT)).seq == 0

    async def test_lines_of_one_batch(self, backend: Backend) -> None:
        a, b = memory("a", scope=AGENT), memory("b", scope=AGENT)
        await apply(
            backend,
            Put(a),
            Put(b),
            AddLink(Link(source=b.id, relation="x", target=a.id)),
            Update(a.id, {"content": "c"}),
            operation="op",
        )
        told = [(change.seq, change.action, change.memory_id) for change in await journal(backend)]
        assert told == [(1, "put", a.id), (2, "put", b.id), (3, "link", b.id), (4, "update", a.id)]

    async def test_after_and_limit(self, backend: Backend) -> None:
        for _ in range(5):
            await put(backend)
        assert [c.seq for c in await journal(backend, after=2)] == [3, 4, 5]
        assert [c.seq for c in await journal(backend, after=1, limit=2)] == [2, 3]
        assert await journal(backend, after=5) == []
        assert await journal(backend, after=99) == []

    async def test_of_one_memory_or_one_operation(self, backend: Backend) -> None:
        a, b = await put(backend, "a"), await put(backend, "b")
        await apply(backend, Update(a.id, {"content": "A"}), Update(b.id, {"content": "B"}), operation="op")
        await link(backend, a, "x", b)
        await apply(backend, Delete(b.id))
        assert [c.action for c in await journal(backend, memory_id=a.id)] == ["put", "update", "link", "unlink"]
        assert [c.action for c in await journal(backend, memory_id=b.id)] == ["put", "update", "delete"]
        assert [c.seq for c in await journal(backend, operation="op")] == [3, 4]
        assert [c.seq for c in await journal(backend, operation="op", memory_id=b.id, limit=1)] == [4]
        assert [c.seq for c in await journal(backend, memory_id=a.id, after=1, limit=1)] == [3]
        assert await journal(backend, memory_id="' OR 1=1 --") == []
        assert await journal(backend, operation="nothing") == []
        assert await journal(backend, OTHER_AGENT, memory_id=a.id) == []


class DerivedJournal:
    """``after`` is derived, not kept: what an update left is what the next line of that memory remembers, or the record
    now; it tells only the fields that changed. What a put left is the whole record, in the version it had, with the
    counters of reads as they are now (or were when it was deleted), since those are not journalled. A deleted record
    left nothing. The derivation never crosses a delete into a later life of the same id."""

    async def test_a_chain_of_updates(self, backend: Backend) -> None:
        first = await put(backend, "one", tags=("a",), importance=0.5, metadata={"n": 1})
        await update(backend, first.id, content="two", importance=0.6)
        await update(backend, first.id, tags=("b", "c"), occurred_at=NOON)
        await update(backend, first.id, content="three", metadata={"n": {"deep": [True]}})
        put_line, *updates = await journal(backend)
        assert put_line.after == first.model_dump(mode="json")
        assert [(change.before, change.after) for change in updates] == [
            ({"content": "one", "importance": 0.5}, {"content": "two", "importance": 0.6}),
            (
                {"tags": ["a"], "occurred_at": first.model_dump(mode="json")["occurred_at"]},
                {"tags": ["b", "c"], "occurred_at": "2026-01-01T12:00:00Z"},
            ),
            (
                {"content": "two", "metadata": {"n": 1}},
                {"content": "three", "metadata": {"n": {"deep": [True]}}},
            ),
        ]

    async def test_a_page_looks_beyond_its_end(self, backend: Backend) -> None:
        first = await put(backend, "one")
        for text in ("two", "three", "four"):
            await update(backend, first.id, content=text)
        assert (await journal(backend, limit=1))[0].after == first.model_dump(mode="json")
        (second,) = await journal(backend, after=1, limit=1)
        assert (second.before, second.after) == ({"content": "one"}, {"content": "two"})

    async def test_values_that_come_and_go(self, backend: Backend) -> None:
        first = await put(backend, session="s")
        await update(backend, first.id, session=None, valid_to=NOON)
        await update(backend, first.id, session="t", valid_to=None)
        _, gone, back = await journal(backend)
        assert gone.before == {"session": "s", "valid_to": None}
        assert gone.after == back.before == {"session": None, "valid_to": "2026-01-01T12:00:00Z"}
        assert back.after == {"session": "t", "valid_to": None}

    async def test_two_updates_in_one_batch(self, backend: Backend) -> None:
        first = await put(backend, "one")
        await apply(backend, Update(first.id, {"content": "two"}), Update(first.id, {"content": "three"}))
        assert [c.after for c in await journal(backend, after=1)] == [{"content": "two"}, {"content": "three"}]

    async def test_of_a_deleted_memory(self, backend: Backend) -> None:
        first = await put(backend, "one")
        second = await update(backend, first.id, content="two")
        await apply(backend, Delete(first.id))
        put_line, update_line, delete_line = await journal(backend)
        assert put_line.after == first.model_dump(mode="json")
        assert update_line.after == {"content": "two"}
        assert (delete_line.before, delete_line.after) == (second.model_dump(mode="json"), None)

    async def test_lives_of_one_id_stay_apart(self, backend: Backend) -> None:
        first = await put(backend, "first life", metadata={"life": 1})
        await apply(backend, Delete(first.id))
        second = await put(backend, "second life", id=first.id, version=5)
        await update(backend, first.id, metadata={"life": 2})
        lines = await journal(backend)
        assert [c.action for c in lines] == ["put", "delete", "put", "update"]
        assert lines[0].after == lines[1].before == first.model_dump(mode="json")
        assert lines[2].after == second.model_dump(mode="json")

    async def test_counters_are_told_as_they_are_now(self, backend: Backend) -> None:
        first = await put(backend)
        await apply(backend, Touch((first.id,), NOON, 0.5))
        await update(backend, first.id, content="two")
        put_line, _ = await journal(backend)
        counted = {"access_count": 1, "last_accessed_at": "2026-01-01T12:00:00Z", "interaction": 0.5}
        assert put_line.after == first.model_dump(mode="json") | counted
        await apply(backend, Touch((first.id,), NOON, 0.5))
        await apply(backend, Delete(first.id))
        await put(backend, id=first.id)
        assert (await journal(backend))[0].after == put_line.after | {"access_count": 2, "interaction": 1.0}

    async def test_history_before_an_erase_is_gone_and_other_memories_keep_theirs(self, backend: Backend) -> None:
        kept, gone = await put(backend, "kept"), await put(backend, "gone")
        for text in ("2", "3"):
            await apply(
                backend, Update(kept.id, {"content": f"kept {text}"}), Update(gone.id, {"content": f"gone {text}"})
            )
        await apply(backend, Delete(gone.id, erase=True))
        assert {(c.before is None, c.after is None) for c in await journal(backend, memory_id=gone.id)} == {
            (True, True)
        }
        told = await journal(backend, memory_id=kept.id)
        assert told[0].after == kept.model_dump(mode="json")
        assert [c.after for c in told[1:]] == [{"content": "kept 2"}, {"content": "kept 3"}]
