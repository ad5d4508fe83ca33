"""Snapshots: what is taken out of a store is independent of it, and a store is opened with it."""

from __future__ import annotations

import pytest

from longmind.errors import NotFound, StoreUnavailable
from longmind.store.base import Batch, Delete, Put, Update
from longmind.store.inmem import InmemBackend
from longmind.testing import START, memory
from longmind.types import Filter, Scope

SCOPE = Scope(agent="assistant")


async def test_later_writes_reach_neither_the_snapshot_nor_its_source() -> None:
    first = await InmemBackend.open()
    new = memory(scope=SCOPE)
    await first.apply(Batch(SCOPE, "1", START, (Put(new),)))
    state = first.snapshot()
    second, third = await InmemBackend.open(state), await InmemBackend.open(state)
    await first.apply(Batch(SCOPE, "2", START, (Delete(new.id),)))
    await second.apply(Batch(SCOPE, "3", START, (Put(memory(scope=SCOPE)),)))
    counts = [len(await backend.matching(SCOPE, Filter())) for backend in (first, second, third)]
    assert counts == [0, 2, 1]
    assert [(await backend.head(SCOPE)).seq for backend in (first, second, third)] == [2, 2, 1]


async def test_a_closed_store_has_no_snapshot() -> None:
    backend = await InmemBackend.open()
    await backend.close()
    with pytest.raises(StoreUnavailable):
        backend.snapshot()


async def test_a_failed_batch_leaves_no_agent_behind() -> None:
    backend = await InmemBackend.open()
    with pytest.raises(NotFound):
        await backend.apply(Batch(SCOPE, "1", START, (Update("nothing", {}),)))
    assert backend.snapshot().agents == {}


async def test_errors_say_what_to_do() -> None:
    backend = await InmemBackend.open()
    with pytest.raises(NotFound) as caught:
        await backend.apply(Batch(SCOPE, "1", START, (Delete("nothing"),)))
    assert caught.value.hint
    assert caught.value.details == {"id": "nothing"}
