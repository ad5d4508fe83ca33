"""The numbers of changes, with one writer and with many."""

from __future__ import annotations

import asyncio

import pytest

from longmind.errors import KeyTaken, NotFound, VersionConflict
from longmind.store.base import AddLink, Backend, Delete, Put, RemoveLink, Touch, Update
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    BOB,
    NOON,
    OTHER_AGENT,
    OTHER_TENANT,
    apply,
    feed,
    get,
    journal,
    put,
)
from longmind.testing import memory
from longmind.types import Change, Link

WRITERS = 8
EACH = 5


class Numbering:
    """Every journalled write of a tenant's agent takes the next number, beginning at 1, whoever its user is. There is
    no gap, also not after a failure, and no number is ever seen before a smaller one."""

    async def test_each_change_takes_the_next_number(self, backend: Backend) -> None:
        a, b = memory("a", scope=AGENT), memory("b", scope=ALICE)
        loop = Link(source=a.id, relation="x", target=a.id)
        steps = (
            (Put(a), 1), (Put(b), 2), (Touch((a.id,), NOON), 2), (Update(a.id, {}), 2),
            (Update(a.id, {"content": "A"}), 3), (AddLink(loop), 4), (AddLink(loop), 4),
            (RemoveLink(a.id, "x", a.id), 5), (Delete(a.id), 6), (Delete(b.id, erase=True), 7),
        )  # fmt: skip
        assert await backend.head(AGENT) == (0, 0)
        for write, seq in steps:
            await apply(backend, write)
            assert (await backend.head(AGENT)).seq == seq
        for scope in (ALICE, BOB):
            assert (await backend.head(scope)).seq == 7, "users of an agent share its numbers"
        assert [change.seq for change in await journal(backend)] == list(range(1, 8))

    async def test_agents_are_numbered_apart(self, backend: Backend) -> None:
        for scope, count in ((AGENT, 3), (OTHER_AGENT, 2), (OTHER_TENANT, 1)):
            for _ in range(count):
                await put(backend, scope=scope)
        for scope, count in ((AGENT, 3), (OTHER_AGENT, 2), (OTHER_TENANT, 1)):
            assert [change.seq for change in await journal(backend, scope)] == list(range(1, count + 1))

    async def test_a_failure_takes_no_number(self, backend: Backend) -> None:
        await put(backend)
        for _ in range(3):
            with pytest.raises(NotFound):
                await apply(backend, Put(memory(scope=AGENT)), Delete("no id"))
        await put(backend)
        assert [change.seq for change in await journal(backend)] == [1, 2]

    async def test_a_memory_keeps_the_number_of_its_put(self, backend: Backend) -> None:
        first, second = await put(backend), await put(backend)
        await apply(backend, Update(first.id, {"content": "changed"}))
        assert {row.id: row.seq for row in (await feed(backend)).rows} == {first.id: 1, second.id: 2}

    async def test_many_writers_leave_no_gap(self, backend: Backend) -> None:
        async def write(scope_number: int) -> None:
            scope = (AGENT, ALICE, BOB, OTHER_AGENT)[scope_number % 4]
            for number in range(EACH):
                pair = [Put(memory(f"{scope_number}/{number}", scope=scope)) for _ in range(2)]
                await apply(backend, *pair, scope=scope, operation=f"{scope_number}/{number}")

        await asyncio.gather(*(write(number) for number in range(WRITERS)))
        for scope, writers in ((AGENT, WRITERS * 3 // 4), (OTHER_AGENT, WRITERS // 4)):
            told = await journal(backend, scope)
            assert [change.seq for change in told] == list(range(1, 2 * writers * EACH + 1))
            operations = [change.operation for change in told]
            assert operations[::2] == operations[1::2], "the writes of one batch stand together"

    async def test_no_number_is_seen_before_a_smaller_one(self, backend: Backend) -> None:
        seen: list[Change] = []
        rows: set[str] = set()
        done = asyncio.Event()

        async def read() -> None:
            reached = 0
            while not done.is_set() or reached < WRITERS * EACH:
                seen.extend(await journal(backend, after=len(seen)))
                assert [change.seq for change in seen] == list(range(1, len(seen) + 1))
                news = await feed(backend, after=reached)
                rows.update(row.id for row in news.rows)
                reached = news.head.seq
                assert len(rows) == reached
                await asyncio.sleep(0)

        async def write() -> None:
            async def one() -> None:
                for _ in range(EACH):
                    await put(backend)

            await asyncio.gather(*(one() for _ in range(WRITERS)))
            done.set()

        await asyncio.gather(read(), write())
        assert (await backend.head(AGENT)).seq == len(rows) == WRITERS * EACH

    async def test_of_many_updates_of_one_version_one_wins(self, backend: Backend) -> None:
        old = await put(backend)
        outcomes = await asyncio.gather(
            *(apply(backend, Update(old.id, {"content": f"{n}"}, expected_version=1)) for n in range(10)),
            return_exceptions=True,
        )
        lost = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        assert [type(outcome) for outcome in lost] == [VersionConflict] * 9
        new = await get(backend, old.id)
        assert new is not None
        assert new.version == 2

    async def test_of_many_puts_of_one_key_one_wins(self, backend: Backend) -> None:
        receipts = await asyncio.gather(*(apply(backend, Put(memory(f"{n}", scope=AGENT, key="k"))) for n in range(10)))
        assert sorted(receipt.created for receipt in receipts) == [(False,)] * 9 + [(True,)]
        assert len({receipt.memories[0].id for receipt in receipts}) == 1
        outcomes = await asyncio.gather(
            *(apply(backend, Put(memory(scope=AGENT, key="k2"), existing="fail")) for _ in range(5)),
            return_exceptions=True,
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == [KeyTaken.__name__] * 4 + ["Receipt"]
