"""Names of frameworks as names of Longmind."""

import asyncio
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmind import Longmind, Scope
from longmind.adapters.access import MemoryAccess
from longmind.adapters.scope import AdapterScope, name_of
from longmind.errors import Forbidden, InvalidInput
from longmind.sync import Longmind as BlockingLongmind


def test_a_usable_id_stays_as_it_is() -> None:
    assert name_of("thread-1", "thread_id") == "thread-1"
    assert name_of(7, "thread_id") == "7"


@pytest.mark.parametrize("id", ["", None, 1.5, object()])
def test_no_id_is_refused(id: object) -> None:
    with pytest.raises(InvalidInput, match="thread_id"):
        name_of(id, "thread_id")


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=300), min_size=2, max_size=20, unique=True))
def test_every_id_becomes_a_name_and_different_ids_stay_different(ids: list[str]) -> None:
    names = [name_of(id, "thread_id") for id in ids]
    assert len(set(names)) == len(ids)
    for name in names:
        assert Scope(agent=name).agent == name


def test_a_hash_of_ours_is_not_taken_for_an_id_that_looks_like_one() -> None:
    hashed = name_of(" spaces ", "thread_id")
    assert hashed.startswith("#")
    assert name_of(hashed, "thread_id") != hashed


def test_the_adapters_own_user_is_a_wall() -> None:
    scope = AdapterScope("support", "alice")
    assert scope.user_name() == "alice"
    assert scope.user_name("alice") == "alice"
    with pytest.raises(Forbidden):
        scope.user_name("bob")


def test_without_a_user_of_its_own_the_frameworks_counts() -> None:
    assert AdapterScope("support").user_name("bob") == "bob"
    assert AdapterScope("support").user_name() is None


def test_the_agent_is_the_adapters_or_the_application_or_the_default() -> None:
    assert AdapterScope("support").agent_name("shop") == "support"
    assert AdapterScope().agent_name("shop") == "shop"
    assert AdapterScope().agent_name() == "assistant"


async def test_only_an_open_store_is_taken() -> None:
    with pytest.raises(InvalidInput, match="open store"):
        MemoryAccess("memory:")  # type: ignore[arg-type]


async def test_an_agent_that_cannot_be_is_refused_when_the_adapter_is_made() -> None:
    async with Longmind.open("memory:") as longmind:
        with pytest.raises(InvalidInput):
            MemoryAccess(longmind, agent="@shared")


async def test_blocking_calls_come_from_other_threads_and_not_from_the_stores_own_loop() -> None:
    async with Longmind.open("memory:") as longmind:
        access = MemoryAccess(longmind, agent="a", user="alice")
        memory = access.memory()
        stored = await asyncio.to_thread(lambda: access.wait(memory.remember("I live in Porto.")))
        assert (await access.run(memory.get(stored.id))) == stored
        with pytest.raises(InvalidInput, match="event loop"):
            access.wait(memory.stats())


def test_a_blocking_store_serves_every_loop_and_every_thread(tmp_path: Path) -> None:
    with BlockingLongmind.open(str(tmp_path / "memory.db")) as longmind:
        access = MemoryAccess(longmind, agent="a")
        texts = []

        def on_a_loop_of_its_own(text: str) -> None:
            texts.append(asyncio.run(access.run(access.memory().remember(text))).content)

        threads = [threading.Thread(target=on_a_loop_of_its_own, args=(f"Text {n}.",)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(texts) == ["Text 0.", "Text 1.", "Text 2."]
        assert access.wait(access.memory().stats()).memories == 3


async def test_the_memory_of_one_user() -> None:
    async with Longmind.open("memory:") as longmind:
        access = MemoryAccess(longmind, agent="a")
        alice = access.of_user("alice")
        assert alice.memory().scope == Scope(agent="a", user="alice")
        assert access.memory().scope == Scope(agent="a")
        with pytest.raises(Forbidden):
            alice.of_user("bob")
