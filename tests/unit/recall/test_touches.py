"""Reads are counted in the background, in batches, and none is lost."""

from __future__ import annotations

from typing import Any

import pytest

from longmind.errors import StoreUnavailable
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
