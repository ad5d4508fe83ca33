"""Reads are counted in the background, in batches, and none is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from longmind.errors import StoreUnavailable
from longmind.recall import touches as module
from longmind.recall.touches import Touches
from longmind.store.base import Batch, Receipt


async def test_many_reads_are_counted_and_in_few_batches(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await world.add("red house")
    batches: list[int] = []
    apply = world.store.backend.apply

    async def counting(batch: Batch) -> Receipt:
        batches.append(len(batch.writes))
        return await apply(batch)

    monkeypatch.setattr(world.store.backend, "apply", counting)
    touches = Touches(world.store)
    for _ in range(50):
        touches.add(world.scope, [made.id], world.clock.now())
    touches.add(world.scope, [], world.clock.now())
    await touches.flush()
    assert (await world.store.get(world.scope, made.id)).access_count == 50
    assert sum(batches) == 50
    assert len(batches) <= 3


async def test_a_failed_write_is_told_and_kept_for_the_next(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await world.add("red house")
    apply = world.store.backend.apply

    async def failing(batch: Batch) -> Receipt:
        raise StoreUnavailable("away")

    touches = Touches(world.store)
    with monkeypatch.context() as patched:
        patched.setattr(world.store.backend, "apply", failing)
        touches.add(world.scope, [made.id], world.clock.now())
        with pytest.raises(StoreUnavailable):
            await touches.flush()
    monkeypatch.setattr(world.store.backend, "apply", apply)
    await touches.flush()
    assert (await world.store.get(world.scope, made.id)).access_count == 1


async def test_reads_that_come_while_others_are_written_wait_for_the_next_pause(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await world.add("red house")
    touches, batches, apply = Touches(world.store), list[int](), world.store.backend.apply
    written = asyncio.Event()

    async def recalling(batch: Batch) -> Receipt:
        batches.append(len(batch.writes))
        if len(batches) == 1:
            monkeypatch.setattr(module, "PAUSE", 3_600.0)
            touches.add(world.scope, [made.id], world.clock.now())
            touches.add(world.scope, [made.id], world.clock.now())
        receipt: Receipt = await apply(batch)
        written.set()
        return receipt

    monkeypatch.setattr(world.store.backend, "apply", recalling)
    monkeypatch.setattr(module, "PAUSE", 0.0)
    touches.add(world.scope, [made.id], world.clock.now())
    await written.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert batches == [1]
    await touches.flush()
    assert batches == [1, 2]
    assert (await world.store.get(world.scope, made.id)).access_count == 3


async def test_reads_are_written_early_when_very_many_wait(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await world.add("red house")
    monkeypatch.setattr(module, "MAX_WAITING", 10)
    touches, written, apply = Touches(world.store), asyncio.Event(), world.store.backend.apply

    async def noting(batch: Batch) -> Receipt:
        receipt: Receipt = await apply(batch)
        written.set()
        return receipt

    monkeypatch.setattr(world.store.backend, "apply", noting)
    for _ in range(10):
        touches.add(world.scope, [made.id], world.clock.now())
    await written.wait()
    assert (await world.store.get(world.scope, made.id)).access_count == 10


async def test_the_reads_of_many_scopes_are_written_together(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await world.add("red house")
    scopes = [world.scope.of_user(f"user {number}") for number in range(5)]
    touches, under_way, most, apply = Touches(world.store), 0, 0, world.store.backend.apply

    async def counting(batch: Batch) -> Receipt:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        receipt: Receipt = await apply(batch)
        under_way -= 1
        return receipt

    monkeypatch.setattr(world.store.backend, "apply", counting)
    for scope in scopes:
        touches.add(scope, [made.id], world.clock.now())
    await touches.flush()
    assert most == 5
    assert (await world.store.get(world.scope, made.id)).access_count == 5
