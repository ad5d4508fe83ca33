"""The same batch twice is one change."""

from __future__ import annotations

import asyncio

import pytest

from longmind.errors import InvalidInput, NotFound, OperationMismatch
from longmind.store.base import AddLink, Backend, Delete, Put, Touch, Update
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    BOB,
    NOBODY,
    NOON,
    OTHER_AGENT,
    actions,
    apply,
    feed,
    get,
    put,
    update,
)
from longmind.testing import memory
from longmind.types import Link, Scope


class Idempotence:
    """An idempotent batch is remembered by its operation id within its tenant, agent and user. Sent again it changes
    nothing and answers with the records of the first time as they are now, one entry for each Put and Update whose
    record still exists, none of them ``created``. Other writes under the same id are ``OperationMismatch``. A batch
    that failed is not remembered, and one that is not idempotent neither reads nor writes what is remembered."""

    async def test_a_retry_changes_nothing(self, backend: Backend) -> None:
        old = await put(backend, "old")
        first = memory("first", scope=AGENT)
        retried = memory("first", scope=AGENT)
        for new, replayed in ((first, False), (retried, True), (first, True)):
            writes = (Put(new), Update(old.id, {"content": "changed"}, 1), Touch((old.id,), NOON))
            receipt = await apply(backend, *writes, operation="op", idempotent=True)
            assert receipt.replayed is replayed
            assert [m.id for m in receipt.memories] == [first.id, old.id]
            assert receipt.created == ((False, False) if replayed else (True, True))
            assert receipt.operation == "op"
        assert await actions(backend) == ["put", "put", "update"]
        assert await get(backend, retried.id) is None
        touched = await get(backend, old.id)
        assert touched is not None
        assert touched.access_count == 1

    async def test_a_retry_tells_the_records_as_they_are_now(self, backend: Backend) -> None:
        new, gone = memory("new", scope=AGENT), memory("gone", scope=AGENT)
        await apply(backend, Put(gone), Put(new), operation="op", idempotent=True)
        changed = await update(backend, new.id, importance=0.9)
        await apply(backend, Delete(gone.id))
        receipt = await apply(backend, Put(gone), Put(new), operation="op", idempotent=True)
        assert (receipt.memories, receipt.created, receipt.replayed) == ((changed,), (False,), True)

    async def test_a_retry_does_not_repeat_a_delete_or_a_link(self, backend: Backend) -> None:
        a, b = await put(backend), await put(backend)
        writes = (AddLink(Link(source=a.id, relation="x", target=a.id)), Delete(b.id))
        for replayed in (False, True):
            receipt = await apply(backend, *writes, operation="op", idempotent=True)
            assert (receipt.replayed, receipt.memories) == (replayed, ())
        assert await actions(backend) == ["put", "put", "link", "delete"]

    async def test_a_retry_tells_a_record_as_often_as_it_was_written(self, backend: Backend) -> None:
        new = memory("new", scope=AGENT)
        writes = (Put(new), Update(new.id, {"content": "changed"}))
        first = await apply(backend, *writes, operation="op", idempotent=True)
        again = await apply(backend, *writes, operation="op", idempotent=True)
        assert [m.content for m in first.memories] == ["new", "changed"]
        assert [m.content for m in again.memories] == ["changed", "changed"]

    async def test_a_key_that_was_taken_is_told_again(self, backend: Backend) -> None:
        holder = await put(backend, key="k")
        for _ in range(2):
            receipt = await apply(backend, Put(memory("x", scope=AGENT, key="k")), operation="op", idempotent=True)
            assert (receipt.memories, receipt.created) == ((holder,), (False,))

    async def test_another_change_under_the_same_id_is_a_mismatch(self, backend: Backend) -> None:
        await apply(backend, Put(memory("one", scope=AGENT)), operation="op", idempotent=True)
        with pytest.raises(OperationMismatch):
            await apply(backend, Put(memory("two", scope=AGENT)), operation="op", idempotent=True)
        with pytest.raises(OperationMismatch):
            await apply(backend, operation="op", idempotent=True)
        assert await actions(backend) == ["put"]

    async def test_operation_ids_belong_to_an_agent_and_a_user(self, backend: Backend) -> None:
        scopes = (NOBODY, ALICE, BOB, OTHER_AGENT, Scope(tenant="globex", agent="assistant"))
        for replayed in (False, True):
            for scope in scopes:
                new = memory(f"{scope.tenant} {scope.user}", scope=scope)
                receipt = await apply(backend, Put(new), scope=scope, operation="op", idempotent=True)
                assert receipt.replayed is replayed
                assert [m.content for m in receipt.memories] == [new.content]

    async def test_a_batch_that_failed_is_not_remembered(self, backend: Backend) -> None:
        good = memory("good", scope=AGENT)
        with pytest.raises(NotFound):
            await apply(backend, Put(good), Delete("no id"), operation="op", idempotent=True)
        receipt = await apply(backend, Put(good), operation="op", idempotent=True)
        assert (receipt.created, receipt.replayed) == ((True,), False)
        with pytest.raises(InvalidInput):
            await apply(backend, Update(good.id, {"id": "x"}), operation="other", idempotent=True)

    async def test_without_asking_nothing_is_remembered(self, backend: Backend) -> None:
        for text in ("one", "two", "two"):
            receipt = await apply(backend, Put(memory(text, scope=AGENT)), operation="op")
            assert (receipt.created, receipt.replayed) == ((True,), False)
        receipt = await apply(backend, Put(memory("three", scope=AGENT)), operation="op", idempotent=True)
        assert receipt.created == (True,)
        receipt = await apply(backend, Put(memory("four", scope=AGENT)), operation="op")
        assert receipt.created == (True,)
        assert await actions(backend, operation="op") == ["put"] * 5

    async def test_retries_at_once_make_one_change(self, backend: Backend) -> None:
        receipts = await asyncio.gather(
            *(apply(backend, Put(memory("x", scope=AGENT)), operation="op", idempotent=True) for _ in range(10))
        )
        assert sorted(receipt.replayed for receipt in receipts) == [False] + [True] * 9
        assert len({receipt.memories[0].id for receipt in receipts}) == 1
        assert len((await feed(backend)).rows) == 1

    async def test_an_empty_batch_can_be_replayed(self, backend: Backend) -> None:
        assert not (await apply(backend, operation="op", idempotent=True)).replayed
        assert (await apply(backend, operation="op", idempotent=True)).replayed
