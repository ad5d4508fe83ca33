"""The views in memory: of which space their vectors are, and what an older release of Longmind has stored."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest

from longmind.store.base import Feed, Put, Space
from longmind.store.inmem import InmemBackend
from longmind.store.search import views as views_module
from longmind.store.search.ranking import by_text
from longmind.store.search.views import Views
from longmind.store.store import Store
from longmind.testing import FakeClock, memory
from longmind.text.index_terms import ANALYSIS_VERSION
from longmind.types import Filter, Memory, Scope

SCOPE = Scope(agent="a")
SPACE = Space("one/4", 4)


class Older(InmemBackend):
    """A backend whose rows an older release has analysed: other terms, marked with another version."""

    old: frozenset[str] = frozenset()
    asked: int = 0

    async def feed(self, scope: Scope, after: int) -> AsyncIterator[Feed]:
        async for feed in super().feed(scope, after):
            for row in feed.rows:
                if row.id in self.old:
                    row.terms = bytes([ANALYSIS_VERSION - 1]) + (1).to_bytes(4, "little") + b"\x01\x02\x03\x04\x01"
            yield feed

    async def get(self, scope: Scope, ids: list[str]) -> list[Memory]:  # type: ignore[override]
        self.asked += len(ids)
        return await super().get(scope, ids)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    backend = await Older.open()
    await backend.declare_space(SPACE)
    opened = Store(backend, FakeClock())
    yield opened
    await opened.close()


async def put(store: Store, *texts: str) -> list[Memory]:
    made = [memory(text, scope=SCOPE, clock=store.clock) for text in texts]
    vector = np.array([1, 0, 0, 0], np.float32)
    await store.apply(SCOPE, [Put(one, vector) for one in made])
    return made


async def test_a_view_knows_of_which_space_its_vectors_are(store: Store) -> None:
    await put(store, "red house")
    backend, other = store.backend, Space("other/4", 4)
    assert isinstance(backend, InmemBackend)
    assert (await store.view(SCOPE)).space == "one/4"
    await backend.begin_space(other)
    missing = await backend.missing_vectors(other, 10)
    vector = np.array([0, 1, 0, 0], np.float32)
    await backend.put_vectors(other, [(scope, id, text, vector) for scope, id, text in missing])
    assert (await store.view(SCOPE)).space == "one/4"
    await backend.activate_space(other)
    view = await store.view(SCOPE)
    assert (view.space, view.vectors.scores(vector).tolist()) == ("other/4", [1.0])


async def test_rows_of_an_older_release_are_analysed_anew(store: Store) -> None:
    old, new = await put(store, "the red houses", "a green boat")
    backend = store.backend
    assert isinstance(backend, Older)
    backend.old = frozenset({old.id})
    views = Views(backend, 10**9)
    view = await views.fresh(SCOPE)
    assert [hit.id for hit in by_text(view, "house", 5, Filter(), None)] == [old.id]
    assert [hit.id for hit in by_text(view, "boats", 5, Filter(), None)] == [new.id]
    assert backend.asked == 1, "only what is outdated is read"
    await views.fresh(SCOPE)
    assert backend.asked == 1, "and only once a view"


async def test_an_outdated_row_that_changes_is_read_again(store: Store) -> None:
    (old,) = await put(store, "the red houses")
    backend = store.backend
    assert isinstance(backend, Older)
    backend.old = frozenset({old.id})
    await store.view(SCOPE)
    await store.update(SCOPE, old.id, {"content": "two blue boats"})
    view = await store.view(SCOPE)
    assert by_text(view, "house", 5, Filter(), None) == []
    assert [hit.id for hit in by_text(view, "boat", 5, Filter(), None)] == [old.id]
    await store.delete(SCOPE, old.id)
    assert (await store.view(SCOPE)).living == 0


async def test_only_the_views_that_were_used_last_keep_their_vectors_in_single_precision(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    scopes = [Scope(agent=f"agent {number}") for number in range(4)]
    query = np.array([1, 0, 0, 0], np.float32)
    for scope in scopes:
        await store.apply(scope, [Put(memory("red house", scope=scope, clock=store.clock), query)])
    views = Views(store.backend, 2**20)
    widened = (await views.fresh(scopes[0])).vectors
    widened.scores(query)
    monkeypatch.setattr(views_module, "WIDENED", 2 * widened.widened_bytes)
    for scope in scopes[1:]:
        (await views.fresh(scope)).vectors.scores(query)
    last = await views.fresh(scopes[3])
    kept = [view.vectors.widened_bytes > 0 for view in views._views.values()]
    assert kept == [False, False, True, True]
    assert last.vectors.scores(query).tolist() == [1.0]
    assert (await views.fresh(scopes[0])).vectors.scores(query).tolist() == [1.0]


async def test_a_view_that_is_larger_than_all_may_be_is_not_driven_out_by_small_ones(store: Store) -> None:
    """A recall asks for the view of the agent and for that of the shared memory, again and again."""
    large, small, other = (Scope(agent=name) for name in ("large", "small", "other"))
    vector = np.array([1, 0, 0, 0], np.float32)
    for scope, count in ((large, 400), (small, 1), (other, 400)):
        memories = [memory(f"Number {n}.", scope=scope, clock=store.clock) for n in range(count)]
        await store.apply(scope, [Put(stored, vector) for stored in memories])
    views = Views(store.backend, 60_000)
    first = await views.fresh(large)
    assert first.nbytes > 60_000
    beside = await views.fresh(small)
    assert await views.fresh(large) is first
    assert await views.fresh(small) is beside
    await views.fresh(other)
    assert list(views._views) == [small, other], "of two that are too large the one used last stays"
