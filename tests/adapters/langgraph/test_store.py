"""``LongmindStore`` does what LangGraph's ``InMemoryStore`` does, by random operations, and remembers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from longmind import Longmind
from longmind.adapters.langgraph import LongmindStore
from longmind.sync import Longmind as BlockingLongmind

LABELS = st.sampled_from(["a", "b", "a/b", "%", "ä"])
NAMESPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
PREFIXES = st.lists(LABELS, max_size=2).map(tuple)
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["x", "y", "heron"])
NESTED = st.dictionaries(st.just("k"), SCALARS)
VALUES = st.dictionaries(st.sampled_from(["n", "text", "role"]), SCALARS | st.lists(SCALARS, max_size=2) | NESTED)
NUMBERS = st.builds(lambda op, n: {op: n}, st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), st.integers(-3, 3))
EQUALS = st.builds(lambda op, value: {op: value}, st.sampled_from(["$eq", "$ne"]), SCALARS)
FILTERS = st.none() | st.fixed_dictionaries({}, optional={"text": SCALARS | EQUALS, "role": SCALARS | NESTED})
PATHS = st.lists(LABELS | st.just("*"), min_size=1, max_size=2).map(tuple)
CONDITIONS = st.lists(st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), PATHS), max_size=2).map(tuple)
TTLS = st.sampled_from([None, 600.0])
"""The reference ignores them: test_ttl.py has one that does not."""
PUTS = st.builds(PutOp, NAMESPACES, st.sampled_from(["k", "l", ""]), st.none() | VALUES, ttl=TTLS)
GETS = st.builds(GetOp, NAMESPACES, st.sampled_from(["k", "l", ""]))
SEARCHES = st.builds(
    SearchOp, PREFIXES, FILTERS, limit=st.integers(1, 50), offset=st.integers(0, 3), query=st.none() | st.just("heron")
)
LISTINGS = st.builds(
    ListNamespacesOp, CONDITIONS, st.none() | st.integers(1, 3), limit=st.integers(1, 20), offset=st.integers(0, 2)
)
BATCHES = st.lists(st.lists(PUTS | PUTS | GETS | SEARCHES | LISTINGS, min_size=1, max_size=4), min_size=1, max_size=12)
SLOW = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


def reference_batch(reference: InMemoryStore, ops: list[Any]) -> list[Any]:
    """Run operations. The reference also lists an empty namespace, and one that was merely read from: not here."""
    reference._data = type(reference._data)(dict, {space: items for space, items in reference._data.items() if items})
    listings = iter(reference.batch([op for op in ops if isinstance(op, ListNamespacesOp)]))
    results = reference.batch(ops)
    return [
        next(listings) if isinstance(op, ListNamespacesOp) else result for op, result in zip(ops, results, strict=True)
    ]


def comparable(op: Any, result: Any, everything: list[Any]) -> Any:
    """Return what both must agree on. The order of a search is a store's own, so a page is known by its size."""
    if isinstance(op, SearchOp):
        found = {(item.namespace, item.key): item.value for item in result}
        assert len(found) == len(result)
        if len(everything) <= op.limit and op.offset == 0:
            return found
        return len(found)
    if isinstance(result, Item):
        return (result.namespace, result.key, result.value)
    return result


def compare(ops: list[Any], wanted: list[Any], found: list[Any]) -> None:
    for op, expected, result in zip(ops, wanted, found, strict=True):
        assert comparable(op, result, expected) == comparable(op, expected, expected), op


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as started:
        yield started


@pytest.fixture(scope="module", params=["memory", "server"])
def asynchronous(request: pytest.FixtureRequest, runner: asyncio.Runner) -> Iterator[Longmind]:
    opened = Longmind.open("memory:" if request.param == "memory" else request.getfixturevalue("server"))
    yield runner.run(opened.__aenter__())
    runner.run(opened.close())


@pytest.fixture(scope="module")
def blocking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingLongmind]:
    with BlockingLongmind.open(str(tmp_path_factory.mktemp("store") / "memory.db")) as longmind:
        yield longmind


_numbers = iter(range(10_000))


@SLOW
@given(BATCHES)
def test_random_batches_agree_with_the_reference(
    runner: asyncio.Runner, asynchronous: Longmind, batches: list[list[Any]]
) -> None:
    async def run() -> None:
        reference, store = InMemoryStore(), LongmindStore(asynchronous, agent=f"agent {next(_numbers)}", user="alice")
        for ops in batches:
            compare(ops, reference_batch(reference, ops), await store.abatch(ops))

    runner.run(run())


@SLOW
@given(BATCHES)
def test_random_batches_agree_when_they_block_on_a_file(blocking: BlockingLongmind, batches: list[list[Any]]) -> None:
    reference, store = InMemoryStore(), LongmindStore(blocking, agent=f"agent {next(_numbers)}")
    for ops in batches:
        compare(ops, reference_batch(reference, ops), store.batch(ops))


@SLOW
@given(st.lists(st.integers(-3, 3), max_size=8), NUMBERS)
def test_comparisons_agree_with_the_reference(
    blocking: BlockingLongmind, numbers: list[int], condition: dict[str, int]
) -> None:
    reference, store = InMemoryStore(), LongmindStore(blocking, agent=f"agent {next(_numbers)}")
    puts: list[Any] = [PutOp(("n",), str(i), {"n": number}) for i, number in enumerate(numbers)]
    search: list[Any] = [SearchOp(("n",), {"n": condition}, limit=50)]
    for ops in (puts, search):
        compare(ops, reference.batch(ops), store.batch(ops))


async def test_the_friendly_methods(longmind: Longmind) -> None:
    store = LongmindStore(longmind, agent="a", user="alice")
    await store.aput(("memories", "alice"), "home", {"text": "Alice lives in Porto, by the river."})
    await store.aput(("memories", "alice"), "pet", {"text": "Her dog Rex hates rain."})
    item = await store.aget(("memories", "alice"), "home")
    assert item is not None
    assert item.value == {"text": "Alice lives in Porto, by the river."}
    found = await store.asearch(("memories",), query="where does she live?", limit=1)
    assert [item.key for item in found] == ["home"]
    assert found[0].score is not None
    assert await store.alist_namespaces(prefix=("memories",), max_depth=1) == [("memories",)]
    await store.adelete(("memories", "alice"), "pet")
    assert await store.aget(("memories", "alice"), "pet") is None


async def test_what_is_put_is_recalled_and_once(longmind: Longmind) -> None:
    store = LongmindStore(longmind, agent="a", user="alice")
    for _ in range(2):
        await store.aput(("memories",), "home", {"text": "Alice lives in Porto."})
    mem = longmind.agent("a", user="alice")
    assert [hit.memory.body for hit in await mem.recall("Porto")] == [{"text": "Alice lives in Porto."}]
    assert (await mem.stats()).memories == 1


async def test_what_is_not_indexed_is_not_found_by_a_query(longmind: Longmind) -> None:
    store = LongmindStore(longmind, agent="a", fields=["text"])
    await store.aput(("m",), "hidden", {"text": "the heron"}, index=False)
    await store.aput(("m",), "other", {"text": "nothing", "note": "the heron"})
    await store.aput(("m",), "chosen", {"text": "nothing", "note": "the heron"}, index=["note"])
    found = await store.asearch(("m",), query="heron")
    assert found[0].key == "chosen"
    assert [item.key for item in found if item.score is None] == ["hidden"]


async def test_another_user_and_agent_see_nothing(longmind: Longmind) -> None:
    await LongmindStore(longmind, agent="a", user="alice").aput(("m",), "k", {"n": 1})
    for other in (LongmindStore(longmind, agent="a", user="bob"), LongmindStore(longmind, agent="b", user="alice")):
        assert await other.aget(("m",), "k") is None
        assert await other.asearch(()) == []
        assert await other.alist_namespaces() == []


async def test_a_label_with_a_point_is_refused(longmind: Longmind) -> None:
    store = LongmindStore(longmind)
    with pytest.raises(InvalidNamespaceError):
        await store.aput(("a.b",), "k", {})
    with pytest.raises(InvalidNamespaceError):
        await store.abatch([GetOp(("a.b",), "k")])


def test_items_are_there_after_the_store_was_closed(tmp_path: Path) -> None:
    for value in (None, {"n": 1}):
        with BlockingLongmind.open(str(tmp_path / "memory.db")) as longmind:
            store = LongmindStore(longmind)
            item = store.get(("m",), "k")
            assert (item and item.value) == value
            store.put(("m",), "k", {"n": 1})


async def test_what_the_adapter_costs(measure_cost: Callable[..., Any], tmp_path: Path) -> None:
    async with Longmind.open(str(tmp_path / "memory.db")) as longmind:
        store, values = LongmindStore(longmind, agent="a"), longmind.agent("b").values

        await measure_cost(
            "store: put an item",
            lambda n: store.aput(("m",), str(n), {"text": f"The number {n}."}),
            lambda n: values.put(("m",), str(n), {"text": f"The number {n}."}),
        )
        await measure_cost(
            "store: get an item", lambda n: store.aget(("m",), str(n)), lambda n: values.get(("m",), str(n))
        )
        await measure_cost(
            "store: search",
            lambda n: store.asearch(("m",), query=f"number {n}"),
            lambda n: values.search(f"number {n}", prefix=("m",)),
        )
