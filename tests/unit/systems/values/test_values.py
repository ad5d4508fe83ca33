"""Exact values by namespace and key: read back as they were, by prefix, in transactions, and found by recall."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmind import ConversationItem, Longmind, Message, ValueName, ValueWrite
from longmind.errors import InvalidInput, VersionConflict
from longmind.systems.values.paths import below, path_of
from longmind.testing import FakeClock

HOME = ("users", "alice")


@pytest.fixture(params=["memory:", "file"])
async def longmind(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Longmind]:
    url = str(tmp_path / "memory.db") if request.param == "file" else request.param
    async with Longmind.open(url) as opened:
        yield opened


async def test_a_value_is_read_back_exactly(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    value = {"role": "user", "content": "not a message", "nested": [{"x": None}, 1.5, True, 2**62], "": ""}
    stored = await mem.values.put(HOME, "settings", value)
    assert stored.value == value
    assert await mem.values.get(HOME, "settings") == stored
    assert await mem.values.get(("users",), "settings") is None
    assert (await mem.values.put(HOME, "empty", {})).value == {}


async def test_values_are_found_by_recall_and_state_is_not(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.values.put(("facts",), "k", {"note": "The heron nests behind the mill."})
    await mem.values.put(("facts",), "silent", {"note": "The heron is silent."}, text="")
    await mem.state.put(("facts",), "k", {"note": "The heron is a checkpoint."})
    assert [hit.memory.body["note"] for hit in await mem.recall("heron mill")] == ["The heron nests behind the mill."]
    (hit,) = await mem.values.search("heron mill", prefix=("facts",))
    assert hit.value.key == "k"
    assert await mem.values.search("heron mill", prefix=("other",)) == []
    assert [memory.kind for memory in (await mem.list()).items] == ["record", "record"]


async def test_state_costs_search_nothing(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember("The heron nests behind the mill.")
    await mem.recall("heron")
    for n in range(20):
        await mem.state.put(("t",), str(n), {"n": n}, session="s")
    assert len(await mem.recall("heron")) == 1
    assert (await mem.store.view(mem.scope)).rows == 1
    assert (await mem.stats()).memories == 21


async def test_a_rewrite_grows_the_version_and_keeps_when_it_was_created(longmind: Longmind) -> None:
    values = longmind.agent("a").values
    first = await values.put(HOME, "k", {"n": 1})
    second = await values.put(HOME, "k", {"n": 2})
    assert (second.version, second.created_at, second.id) == (first.version + 1, first.created_at, first.id)
    assert second.updated_at >= first.updated_at
    assert [hit.value.value for hit in await values.search("n 2")] == [{"n": 2}]


async def test_compare_and_set(longmind: Longmind) -> None:
    values = longmind.agent("a").values
    first = await values.put(HOME, "k", {"n": 1}, expected_version=0)
    with pytest.raises(VersionConflict):
        await values.put(HOME, "k", {"n": 2}, expected_version=0)
    with pytest.raises(VersionConflict):
        await values.delete(HOME, "k", expected_version=first.version + 1)
    await values.put(HOME, "k", {"n": 3}, expected_version=first.version)
    assert await values.delete(HOME, "k", expected_version=first.version + 1)
    assert not await values.delete(HOME, "k")


async def test_writes_of_one_call_happen_together_or_not_at_all(longmind: Longmind) -> None:
    state = longmind.agent("a").state
    await state.put(("t",), "a", {"n": 1})
    good = ValueWrite(namespace=("t",), key="b", value={"n": 2})
    with pytest.raises(VersionConflict):
        await state.write([good, ValueWrite(namespace=("t",), key="a", value={}, expected_version=7)])
    assert await state.get(("t",), "b") is None
    kept, made, gone = await state.write(
        [
            ValueWrite(namespace=("t",), key="a", value={"n": 9}, keep=True),
            good,
            ValueWrite(namespace=("t",), key="c", value=None),
        ]
    )
    assert kept is not None
    assert kept.value == {"n": 1}
    assert made is not None
    assert gone is None
    names = [ValueName(namespace=("t",), key=key) for key in "bxa"]
    assert [value and value.value for value in await state.read(names)] == [{"n": 2}, None, {"n": 1}]


async def test_of_two_writes_of_one_name_the_later_is_made(longmind: Longmind) -> None:
    state = longmind.agent("a").state
    await state.write([ValueWrite(namespace=("t",), key="a", value={"n": n}) for n in (1, 2)])
    assert [value.value for value in (await state.list()).items] == [{"n": 2}]


async def test_values_of_another_user_or_agent_do_not_exist(longmind: Longmind) -> None:
    await longmind.agent("a", user="alice").values.put(HOME, "k", {"whose": "alice"})
    await longmind.agent("a").values.put(HOME, "k", {"whose": "nobody"})
    assert await longmind.agent("a", user="bob").values.get(HOME, "k") is None
    assert (await longmind.agent("b", user="alice").values.list()).items == ()
    (own,) = (await longmind.agent("a", user="alice").values.list()).items
    assert own.value == {"whose": "alice"}
    (unowned,) = (await longmind.agent("a").values.list()).items
    assert unowned.value == {"whose": "nobody"}
    await longmind.agent("a", user="bob").values.clear(("users",))
    assert await longmind.agent("a", user="alice").values.get(HOME, "k") == own


async def test_pages_and_namespaces_by_prefix(longmind: Longmind) -> None:
    values = longmind.agent("a").values
    spaces = [("a",), ("a", "b"), ("a", "b/c"), ("a0",), ("a%",), ("", "x")]
    for space in spaces:
        for key in "xy":
            await values.put(space, key, {"at": list(space)})
    assert await values.namespaces() == sorted(spaces)
    assert await values.namespaces(("a",)) == [("a",), ("a", "b"), ("a", "b/c")]
    assert await values.namespaces(limit=2, offset=1) == sorted(spaces)[1:3]
    first = await values.list(("a",), limit=4)
    rest = await values.list(("a",), limit=4, cursor=first.cursor)
    assert len(first.items) == 4
    assert [value.namespace for value in (*first.items, *rest.items)] == [s for s in spaces[:3] for _ in "xy"]


async def test_a_listing_is_ordered_by_the_stated_moment(longmind: Longmind) -> None:
    state = longmind.agent("a").state
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for n in (2, 0, 1):
        await state.put(("t",), str(n), {"n": n}, at=start + timedelta(days=n), session="s")
    await state.put(("t",), "other", {"n": 7})
    page = await state.list(("t",), session="s", order="updated", descending=True)
    assert [value.value["n"] for value in page.items] == [2, 1, 0]


async def test_clear_removes_what_it_names_and_never_everything(longmind: Longmind) -> None:
    state = longmind.agent("a").state
    await state.put(("a",), "k", {"secret": "zebra"}, session="s")
    await state.put(("a", "b"), "k", {}, session="s")
    await state.put(("c",), "k", {}, session="t")
    with pytest.raises(InvalidInput):
        await state.clear()
    id = (await state.list(("a",))).items[0].id
    assert await state.clear(("a",), session="t") == 0
    assert await state.clear(session="s", erase=True) == 2
    assert [value.namespace for value in (await state.list()).items] == [("c",)]
    assert "zebra" not in str(await longmind.agent("a").history(id))


async def test_an_expired_value_is_gone_and_its_name_is_free() -> None:
    clock = FakeClock()
    async with Longmind.open("memory:", clock=clock) as longmind:
        values = longmind.agent("a").values
        await values.put(HOME, "k", {"n": 1}, expires_at=timedelta(minutes=5))
        clock.advance(600)
        assert await values.get(HOME, "k") is None
        assert (await values.list()).items == ()
        assert (await values.put(HOME, "k", {"n": 2}, expected_version=0)).value == {"n": 2}
        with pytest.raises(InvalidInput, match="too far away"):
            await values.put(HOME, "k", {"n": 3}, expires_at=timedelta(days=3_000_000))


async def test_values_survive_an_export_and_go_with_their_user(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.values.put(HOME, "k", {"n": 1})
    await mem.state.put(HOME, "k", {"n": 2})
    lines = [line async for line in longmind.export()]
    async with Longmind.open("memory:") as other:
        await other.load(lines)
        copied = other.agent("a", user="alice")
        assert (await copied.values.get(HOME, "k")) == await mem.values.get(HOME, "k")
        assert (await copied.state.get(HOME, "k")) == await mem.state.get(HOME, "k")
    await longmind.erase_user("alice")
    assert await mem.values.get(HOME, "k") is None
    assert await mem.state.get(HOME, "k") is None


async def test_a_namespace_is_no_text_and_values_are_plain_json(longmind: Longmind) -> None:
    values = longmind.agent("a").values
    with pytest.raises(InvalidInput, match="namespace"):
        await values.put("users", "k", {})
    with pytest.raises(InvalidInput):
        await values.put(HOME, "k", {"x": float("nan")})
    with pytest.raises(InvalidInput):
        await values.put(("a\0",), "k", {})


_LABELS = st.lists(st.text(alphabet="ab/%0. ", max_size=3), max_size=3).map(tuple)


@settings(deadline=None)
@given(_LABELS, _LABELS)
def test_a_path_is_below_another_exactly_if_its_labels_begin_with_them(
    namespace: tuple[str], prefix: tuple[str]
) -> None:
    bounds = below(prefix)
    path = path_of(namespace)
    inside = path >= str(bounds.gte) and (bounds.lt is None or path < str(bounds.lt))
    assert inside == (namespace[: len(prefix)] == prefix)


async def test_the_same_on_postgresql(postgres_store_url: str) -> None:
    async with Longmind.open(postgres_store_url) as longmind:
        mem = longmind.agent("a", user="alice")
        spaces = [("a",), ("a", "b"), ("a", "b/c"), ("a0",)]
        for n, space in enumerate(spaces):
            await mem.values.put(space, "k", {"n": n, "text": "ä\n"}, session="s")
        assert await mem.values.namespaces(("a",)) == spaces[:3]
        assert [value.value["n"] for value in (await mem.values.list(("a",), descending=True)).items] == [2, 1, 0]
        stored = await mem.values.get(("a", "b"), "k")
        assert stored is not None
        assert stored.value == {"n": 1, "text": "ä\n"}
        with pytest.raises(VersionConflict):
            await mem.values.put(("a", "b"), "k", {}, expected_version=stored.version + 1)
        assert await longmind.agent("a").values.get(("a", "b"), "k") is None
        assert await mem.values.clear(session="s") == 4
        item = ConversationItem(payload={"call": 1})
        await mem.conversation("s").append([item, ConversationItem(payload={}, message=Message(content="Hello."))])
        assert [stored.payload for stored in await mem.conversation("s").items()] == [{"call": 1}, {}]


async def test_a_value_with_a_ttl_lasts_that_long_after_each_refresh() -> None:
    clock = FakeClock()
    async with Longmind.open("memory:", clock=clock) as longmind:
        values = longmind.agent("a", user="alice").values
        name = ValueName(namespace=HOME, key="k")
        stored = await values.put(HOME, "k", {"n": 1}, ttl=timedelta(hours=1))
        await values.put(HOME, "once", {"n": 1}, expires_at=timedelta(hours=1))
        assert (stored.ttl, stored.expires_at) == (timedelta(hours=1), clock.now() + timedelta(hours=1))
        clock.advance(timedelta(minutes=40))
        assert await values.refresh([name, ValueName(namespace=HOME, key="once")]) == 1
        clock.advance(timedelta(minutes=40))
        kept = await values.get(HOME, "k")
        assert kept is not None
        assert (kept.value, kept.updated_at) == ({"n": 1}, stored.updated_at)
        assert await values.get(HOME, "once") is None
        clock.advance(timedelta(minutes=30))
        assert await values.get(HOME, "k") is None
        assert await values.refresh([name]) == 0
        assert await values.get(HOME, "k") is None


async def test_a_refresh_that_would_change_little_writes_nothing() -> None:
    clock = FakeClock()
    async with Longmind.open("memory:", clock=clock) as longmind:
        values = longmind.agent("a").values
        stored = await values.put(HOME, "k", {"n": 1}, ttl=timedelta(minutes=100))
        clock.advance(timedelta(seconds=59))
        assert await values.refresh([ValueName(namespace=HOME, key="k")]) == 1
        assert await values.get(HOME, "k") == stored
        clock.advance(timedelta(seconds=1))
        assert await values.refresh([ValueName(namespace=HOME, key="k")]) == 1
        changed = await values.get(HOME, "k")
        assert changed is not None
        assert changed.expires_at == clock.now() + timedelta(minutes=100)


async def test_a_rewrite_without_a_ttl_lasts(longmind: Longmind) -> None:
    values = longmind.agent("a").values
    await values.put(HOME, "k", {"n": 1}, ttl=timedelta(hours=1))
    rewritten = await values.put(HOME, "k", {"n": 2})
    assert (rewritten.ttl, rewritten.expires_at) == (None, None)
    again = await values.put(HOME, "k", {"n": 3}, ttl=timedelta(days=1))
    assert again.ttl == timedelta(days=1)
    assert (await values.list()).items == (again,)


async def test_expired_values_are_swept_and_others_stay() -> None:
    clock = FakeClock()
    async with Longmind.open("memory:", clock=clock) as longmind:
        values = longmind.agent("a", user="alice").values
        other = longmind.agent("a", user="bob").values
        for memory in (values, other):
            await memory.put(HOME, "short", {}, ttl=timedelta(minutes=1))
            await memory.put(HOME, "long", {}, ttl=timedelta(days=1))
            await memory.put(HOME, "lasting", {})
        clock.advance(timedelta(minutes=2))
        assert await values.clear(expired=True) == 1
        assert await values.clear(expired=True) == 0
        assert [value.key for value in (await values.list()).items] == ["long", "lasting"]
        assert await other.clear(("elsewhere",), expired=True) == 0
        assert await other.clear(expired=True) == 1


async def test_a_ttl_is_positive_and_may_begin_with_another_end(longmind: Longmind) -> None:
    values = longmind.agent("a").values
    stored = await values.put(HOME, "k", {}, ttl=timedelta(hours=1), expires_at=timedelta(minutes=5))
    assert stored.expires_at is not None
    assert stored.expires_at < stored.created_at + timedelta(minutes=30)
    assert await values.refresh([ValueName(namespace=HOME, key="k")]) == 1
    refreshed = await values.get(HOME, "k")
    assert refreshed is not None
    assert refreshed.expires_at is not None
    assert refreshed.expires_at >= stored.created_at + timedelta(hours=1)
    with pytest.raises(InvalidInput):
        await values.put(HOME, "k", {}, ttl=timedelta(0))
