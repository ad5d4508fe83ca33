"""Touches: reads are counted."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from longmind.store.base import Backend, Touch
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    BOB,
    NOON,
    OTHER_AGENT,
    UNKNOWN_ID,
    actions,
    apply,
    feed,
    get,
    put,
)


class Touches:
    """A touch adds one read, however often an id is named in it, and its interaction; it remembers when. It takes no
    number, makes no version and no journal line, and passes over ids that are not in the scope."""

    async def test_reads_are_counted(self, backend: Backend) -> None:
        one, two, three = [await put(backend) for _ in range(3)]
        await apply(backend, Touch((one.id, two.id, one.id), NOON, 0.5))
        await apply(backend, Touch((one.id,), NOON + timedelta(seconds=1), 0.25))
        stored = await backend.get(AGENT, [one.id, two.id, three.id])
        told = [(m.access_count, m.last_accessed_at, m.interaction) for m in stored]
        assert told == [(2, NOON + timedelta(seconds=1), 0.75), (1, NOON, 0.5), (0, None, 0.0)]

    async def test_a_touch_is_no_change(self, backend: Backend) -> None:
        old = await put(backend)
        before = await feed(backend)
        receipt = await apply(backend, Touch((old.id,), NOON))
        assert (receipt.memories, receipt.created) == ((), ())
        assert await feed(backend) == before
        assert await actions(backend) == ["put"]
        new = await get(backend, old.id)
        assert new is not None
        assert (new.version, new.content_hash()) == (1, old.content_hash())

    async def test_what_is_not_in_scope_is_passed_over(self, backend: Backend) -> None:
        hers, everyones = await put(backend, scope=ALICE), await put(backend)
        await apply(backend, Touch((UNKNOWN_ID, "no id", hers.id, everyones.id), NOON), scope=BOB)
        await apply(backend, Touch((hers.id,), NOON), scope=OTHER_AGENT)
        assert [m.access_count for m in await backend.get(AGENT, [hers.id, everyones.id])] == [0, 1]

    async def test_touches_at_once_are_all_counted(self, backend: Backend) -> None:
        old = await put(backend)
        await asyncio.gather(*(apply(backend, Touch((old.id,), NOON, 1.0)) for _ in range(20)))
        new = await get(backend, old.id)
        assert new is not None
        assert (new.access_count, new.interaction) == (20, 20.0)
