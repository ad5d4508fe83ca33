"""Re-embedding a store in small steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from longmind.errors import ModelMismatch
from longmind.store.base import Batch, Put, Space, Update
from longmind.store.postgres import PostgresBackend
from longmind.testing import memory
from longmind.types import Scope

OLD, NEW = Space("old", 4), Space("new", 6)
MakeBatch = Callable[..., Batch]


def vector(length: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.full(length, length**-0.5, np.float32)


async def test_missing_vectors_are_found_wherever_the_last_step_ended(
    backend: PostgresBackend, batch: MakeBatch
) -> None:
    """Steps go on where the last one ended, and still find what was added behind them."""
    await backend.declare_space(OLD)
    late, early = Scope(agent="zoe"), Scope(agent="adam")
    ids: set[str] = set()
    for _ in range(7):
        kept = memory(scope=late)
        ids.add(kept.id)
        await backend.apply(batch(late, Put(kept, vector(4))))
    await backend.begin_space(NEW)
    step = await backend.missing_vectors(NEW, 3)
    assert await backend.put_vectors(NEW, [(s, i, c, vector(6)) for s, i, c in step]) == 3
    behind = memory(scope=early)
    await backend.apply(batch(early, Put(behind, vector(4))))
    ids.add(behind.id)
    found = {id for _, id, _ in step}
    while step := await backend.missing_vectors(NEW, 3):
        found |= {id for _, id, _ in step}
        await backend.put_vectors(NEW, [(s, i, c, vector(6)) for s, i, c in step])
    assert found == ids
    await backend.activate_space(NEW)
    assert (await backend.stats(early)).vectors == 1


async def test_asking_twice_without_storing_tells_the_same(backend: PostgresBackend, batch: MakeBatch) -> None:
    await backend.declare_space(OLD)
    scope = Scope(agent="assistant")
    await backend.apply(batch(scope, *(Put(memory(scope=scope), vector(4)) for _ in range(5))))
    await backend.begin_space(NEW)
    asked = [await backend.missing_vectors(NEW, 4) for _ in range(3)]
    assert [len(rows) for rows in asked] == [4, 4, 4]
    assert len({id for rows in asked for _, id, _ in rows}) == 5


async def test_a_vector_of_an_old_text_is_not_stored(backend: PostgresBackend, batch: MakeBatch) -> None:
    await backend.declare_space(OLD)
    scope = Scope(agent="assistant")
    kept = memory("before", scope=scope)
    await backend.apply(batch(scope, Put(kept, vector(4))))
    await backend.begin_space(NEW)
    ((found_scope, id, content),) = await backend.missing_vectors(NEW, 10)
    await backend.apply(batch(scope, Update(kept.id, {"content": "after"}, vector=vector(4))))
    assert await backend.put_vectors(NEW, [(found_scope, id, content, vector(6))]) == 0
    with pytest.raises(ModelMismatch, match="1 memories"):
        await backend.activate_space(NEW)


async def test_a_batch_may_say_which_space_its_vectors_are_of(backend: PostgresBackend) -> None:
    await backend.declare_space(OLD)
    scope = Scope(agent="assistant")

    def of(space: str, idempotent: bool, with_vector: bool = True) -> Batch:
        kept = memory(scope=scope)
        put = Put(kept, vector(4) if with_vector else None)
        return Batch(scope, kept.id, kept.recorded_at, (put,), idempotent=idempotent, space=space)

    for idempotent in (True, False):
        await backend.apply(of("old", idempotent))
        with pytest.raises(ModelMismatch, match="old is active"):
            await backend.apply(of("new", idempotent))
        with pytest.raises(ModelMismatch, match="old is active"):
            await backend.apply(of("new", idempotent, with_vector=False))
        await backend.apply(of("old", idempotent, with_vector=False))
    stats = await backend.stats(scope)
    assert (stats.memories, stats.vectors) == (4, 2)
