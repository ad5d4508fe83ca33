"""Scans: order, pages and cursors."""

from __future__ import annotations

import base64
import random
from datetime import UTC, datetime, timedelta

import pytest

from longmind.errors import InvalidInput
from longmind.store.base import MAX_PAGE, Backend, Delete, Put, Touch
from longmind.store.conformance.steps import AGENT, ANY, NOON, apply, put, scan_pages
from longmind.testing import memory
from longmind.types import Filter, Memory, Order

ORDERS: tuple[Order, ...] = ("recorded", "occurred", "importance", "accessed")
EARLIEST = datetime(1, 1, 1, tzinfo=UTC)


class Pages:
    """Orders: ``recorded`` by the number of the put, ``occurred`` by when it happened, ``importance``, ``accessed`` by
    the last read (never read sorts as earliest). Ties go by id, in the direction of the order. A cursor is None exactly
    when nothing follows; one that is damaged, or of another order or direction, is ``InvalidInput``."""

    @pytest.mark.parametrize("order", ORDERS)
    @pytest.mark.parametrize("descending", [False, True])
    @pytest.mark.parametrize("limit", [1, 3, 100])
    async def test_pages_neither_overlap_nor_skip(
        self, backend: Backend, order: Order, descending: bool, limit: int
    ) -> None:
        kept = await _fill(backend)

        def place(pair: tuple[int, Memory]) -> tuple[float, str]:
            seq, m = pair
            accessed = m.last_accessed_at
            values = {
                "recorded": float(seq),
                "occurred": m.occurred_at.timestamp(),
                "importance": m.importance,
                "accessed": float("-inf") if accessed is None else accessed.timestamp(),
            }
            return values[order], m.id

        expected = [m.id for _, m in sorted(enumerate(kept), key=place, reverse=descending)]
        assert await scan_pages(backend, order=order, descending=descending, limit=limit) == expected

    async def test_recorded_is_the_default(self, backend: Backend) -> None:
        kept = await _fill(backend)
        assert [m.id for m in (await backend.scan(AGENT, ANY)).items] == [m.id for m in kept]

    async def test_a_page_tells_if_more_follows(self, backend: Backend) -> None:
        for _ in range(4):
            await put(backend)
        for limit, more in ((3, True), (4, False), (5, False)):
            page = await backend.scan(AGENT, ANY, limit=limit)
            assert len(page.items) == min(limit, 4)
            assert (page.cursor is not None) is more
        assert (await backend.scan(AGENT, Filter(ids=()))).cursor is None

    async def test_a_filter_holds_on_every_page(self, backend: Backend) -> None:
        kept = [await put(backend, kind="fact" if n % 3 else "goal") for n in range(9)]
        facts = [m.id for m in kept if m.kind == "fact"]
        assert await scan_pages(backend, order="recorded", where=Filter(kinds=("fact",))) == facts

    async def test_never_read_is_before_the_year_one(self, backend: Backend) -> None:
        first, never = await put(backend), await put(backend)
        await apply(backend, Touch((first.id,), EARLIEST))
        assert await scan_pages(backend, order="accessed", limit=1) == [never.id, first.id]
        assert await scan_pages(backend, order="accessed", limit=1, descending=True) == [first.id, never.id]

    async def test_moments_a_microsecond_apart_are_told_apart(self, backend: Backend) -> None:
        end = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
        steps = [end - timedelta(microseconds=n) for n in (0, 2, 1, 3)]
        kept = {m.occurred_at: m.id for m in [await put(backend, occurred_at=at) for at in steps]}
        assert await scan_pages(backend, order="occurred", limit=1) == [kept[at] for at in sorted(steps)]

    async def test_importances_that_differ_little_are_told_apart(self, backend: Backend) -> None:
        low, high = 0.1, 0.1 + 2**-50
        kept = {value: (await put(backend, importance=value)).id for value in (high, low)}
        assert await scan_pages(backend, order="importance", limit=1) == [kept[low], kept[high]]

    async def test_what_comes_and_goes_between_pages(self, backend: Backend) -> None:
        kept = [await put(backend) for _ in range(4)]
        first = await backend.scan(AGENT, ANY, limit=2)
        await apply(backend, Delete(kept[1].id), Delete(kept[2].id))
        late = await put(backend)
        second = await backend.scan(AGENT, ANY, limit=2, cursor=first.cursor)
        assert [m.id for m in second.items] == [kept[3].id, late.id]

    @pytest.mark.parametrize("order", ORDERS)
    async def test_a_cursor_belongs_to_its_order_and_direction(self, backend: Backend, order: Order) -> None:
        for _ in range(3):
            await put(backend)
        cursor = (await backend.scan(AGENT, ANY, order=order, limit=1)).cursor
        for other in ORDERS:
            for descending in (False, True):
                if (other, descending) != (order, False):
                    with pytest.raises(InvalidInput):
                        await backend.scan(AGENT, ANY, order=other, descending=descending, cursor=cursor)

    async def test_a_damaged_cursor_is_refused(self, backend: Backend) -> None:
        for _ in range(3):
            await put(backend)
        good = (await backend.scan(AGENT, ANY, limit=1)).cursor
        assert good is not None
        forged = [base64.urlsafe_b64encode(text).decode() for text in (b"", b"x", b"[]", b"{}", b"null", b"\xff\xfe")]
        for bad in ("", "x", "🔑", "' OR 1=1 --", "%", good[: len(good) // 2], *forged):
            with pytest.raises(InvalidInput):
                await backend.scan(AGENT, ANY, cursor=bad)

    async def test_the_limit_is_bounded(self, backend: Backend) -> None:
        await put(backend)
        for limit in (-1, 0, MAX_PAGE + 1):
            with pytest.raises(InvalidInput):
                await backend.scan(AGENT, ANY, limit=limit)
        for limit in (1, MAX_PAGE):
            assert len((await backend.scan(AGENT, ANY, limit=limit)).items) == 1


async def _fill(backend: Backend) -> list[Memory]:
    """Memories with many ties, whose ids follow none of the orders, in the order in which they were put."""
    made = [
        memory(
            f"{n}",
            scope=AGENT,
            occurred_at=NOON + timedelta(hours=n % 3),
            importance=(n % 4) / 4,
            last_accessed_at=None if n % 3 == 0 else NOON + timedelta(minutes=n % 2),
        )
        for n in range(11)
    ]
    random.Random(5).shuffle(made)
    await apply(backend, *(Put(m) for m in made))
    return made
