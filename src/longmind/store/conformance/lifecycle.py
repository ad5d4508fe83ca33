"""Opening, closing, opening again; and the protocols themselves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from longmind.errors import StoreUnavailable
from longmind.store.base import Backend, Checkable, Delete, Put, ReembedBackend, Touch, Update
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    ANY,
    BOB,
    NOON,
    OTHER_TENANT,
    SMALL,
    Reopen,
    apply,
    feed,
    journal,
    link,
    links,
    put,
    unit_vector,
    update,
    with_space,
)
from longmind.testing import memory


class Lifecycle:
    """After ``close`` every method is ``StoreUnavailable``, and a second ``close`` is harmless. What was acknowledged
    is there when the store is opened again, numbers and operation ids included."""

    @pytest.fixture
    def reopen(self) -> Reopen | None:
        """How to close a backend and open the same store again; None if nothing outlives a close."""
        return None

    async def test_it_is_a_backend(self, backend: Backend) -> None:
        assert isinstance(backend, Backend)

    async def test_a_closed_store_says_so(self, backend: Backend) -> None:
        kept = await put(backend)
        await backend.close()
        await backend.close()
        calls: list[Callable[[], Awaitable[Any]]] = [
            lambda: apply(backend, Put(memory(scope=AGENT))),
            lambda: apply(backend),
            lambda: backend.get(AGENT, [kept.id]),
            lambda: backend.scan(AGENT, ANY),
            lambda: links(backend, kept.id),
            lambda: backend.journal(AGENT),
            lambda: backend.stats(AGENT),
            lambda: backend.head(AGENT),
            lambda: feed(backend),
            lambda: backend.matching(AGENT, ANY),
            lambda: backend.scopes(),
            lambda: backend.space(),
        ]
        for call in calls:
            with pytest.raises(StoreUnavailable):
                await call()
        if isinstance(backend, ReembedBackend):
            with pytest.raises(StoreUnavailable):
                await backend.declare_space(SMALL)

    async def test_nothing_is_lost_by_closing(self, backend: Backend, reopen: Reopen | None) -> None:
        if reopen is None:
            pytest.skip("nothing outlives a close of this backend")
        await _fill(backend)
        before = await _everything(backend)
        again = await reopen(backend)
        try:
            assert await _everything(again) == before
            receipt = await apply(again, Put(memory("once", scope=AGENT, key="k")), operation="op", idempotent=True)
            assert receipt.replayed
            new = await put(again)
            assert (await feed(again)).rows[-1].id == new.id
            assert (await again.head(AGENT)).seq == (await journal(again))[-1].seq
        finally:
            await again.close()

    async def test_a_sound_store_has_no_faults(self, backend: Backend) -> None:
        if not isinstance(backend, Checkable):
            pytest.skip("this backend is no Checkable")
        assert await backend.check() == []
        await _fill(backend)
        assert await backend.check() == []


async def _fill(backend: Backend) -> None:
    """Some of everything."""
    await with_space(backend)
    a, b, c = [await put(backend, f"{s.user}", scope=s, vector=unit_vector(1, 2, 3, 4)) for s in (AGENT, ALICE, BOB)]
    await put(backend, "elsewhere", scope=OTHER_TENANT, tags=("t",), metadata={"a": [1]})
    await link(backend, a, "x", b, weight=0.5)
    await update(backend, b.id, content="changed", tags=("u",))
    await apply(backend, Touch((a.id,), NOON, 1.0))
    await apply(backend, Put(memory("once", scope=AGENT, key="k")), operation="op", idempotent=True)
    await apply(backend, Update(a.id, {"state": "archived"}), Delete(c.id, erase=True))


async def _everything(backend: Backend) -> list[object]:
    told: list[object] = [await backend.space(), sorted(await backend.scopes(), key=str)]
    for scope in (AGENT, ALICE, OTHER_TENANT):
        ids = sorted(await backend.matching(scope, ANY))
        told += [await backend.head(scope), await backend.get(scope, ids), await journal(backend, scope)]
        told += [await links(backend, *ids, scope=scope), await feed(backend, scope), await backend.stats(scope)]
    return told
