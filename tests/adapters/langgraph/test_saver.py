"""``LongmindSaver`` against LangGraph's own conformance suite, and with real graphs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import BASE_CAPABILITIES, EXTENDED_CAPABILITIES
from langgraph.checkpoint.conformance.test_utils import generate_checkpoint, generate_config, generate_metadata
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from longmind import Longmind
from longmind.adapters.langgraph import LongmindSaver
from longmind.errors import Forbidden, InvalidInput
from longmind.sync import Longmind as BlockingLongmind

SUITE = "langgraph-checkpoint-conformance"


async def conform(
    name: str, open_store: Callable[[], Longmind], record_property: Callable[[str, object], None]
) -> None:
    """Run the suite with a fresh saver for each group, and report its cases."""

    @checkpointer_test(name=name)
    async def fresh() -> AsyncIterator[BaseCheckpointSaver[str]]:
        async with open_store() as longmind:
            yield LongmindSaver(longmind, agent="graph")

    report = await validate(fresh)
    results = report.results
    record_property("suite", f"{SUITE} ({name})")
    record_property("passed", sum(result.tests_passed for result in results.values()))
    record_property("failed", sum(result.tests_failed for result in results.values()))
    failures = {group: result.failures for group, result in results.items() if result.failures}
    assert failures == {}
    assert report.passed_all()
    assert {group for group, result in results.items() if result.passed} == {
        capability.value for capability in BASE_CAPABILITIES | EXTENDED_CAPABILITIES
    }


async def test_the_suite_passes_on_a_file(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    stores = iter(range(100))
    await conform("file", lambda: Longmind.open(str(tmp_path / f"{next(stores)}.db")), record_property)


async def test_the_suite_passes_in_memory(record_property: Callable[[str, object], None]) -> None:
    await conform("memory", lambda: Longmind.open("memory:"), record_property)


async def test_the_suite_passes_over_a_server(server: str, record_property: Callable[[str, object], None]) -> None:
    await conform("server", lambda: Longmind.open(server), record_property)


class Blocking(BaseCheckpointSaver[str]):
    """Passes the asynchronous calls of the suite to the blocking methods of a saver."""

    def __init__(self, saver: LongmindSaver) -> None:
        super().__init__()
        self.saver = saver


def _twin(name: str) -> Callable[..., Awaitable[Any]]:
    async def call(self: Blocking, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.saver, name)(*args, **kwargs)

    return call


for _name in ("get_tuple", "put", "put_writes", "delete_thread", "delete_for_runs", "copy_thread", "prune"):
    setattr(Blocking, f"a{_name}", _twin(_name))


async def _alist(self: Blocking, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
    for item in self.saver.list(*args, **kwargs):
        yield item


Blocking.alist = _alist  # type: ignore[method-assign]


async def test_the_suite_passes_with_the_blocking_methods(record_property: Callable[[str, object], None]) -> None:
    @checkpointer_test(name="blocking")
    async def fresh() -> AsyncIterator[BaseCheckpointSaver[str]]:
        with BlockingLongmind.open("memory:") as longmind:
            yield Blocking(LongmindSaver(longmind, agent="graph"))

    report = await validate(fresh)
    record_property("suite", f"{SUITE} (blocking)")
    record_property("passed", sum(result.tests_passed for result in report.results.values()))
    record_property("failed", sum(result.tests_failed for result in report.results.values()))
    assert report.passed_all()


class State(TypedDict):
    words: Annotated[list[str], add]
    name: str


def graph(saver: BaseCheckpointSaver[str]) -> Any:
    def greet(state: State) -> dict[str, Any]:
        return {"words": [f"hello {state.get('name') or 'nobody'}"]}

    def ask(state: State) -> dict[str, Any]:
        return {"name": interrupt("your name?")}

    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_node("greet", greet)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "greet")
    builder.add_edge("greet", END)
    return builder.compile(checkpointer=saver)


def on(thread: str, **more: Any) -> Any:
    return {"configurable": {"thread_id": thread, **more}}


async def test_a_graph_goes_on_after_the_store_was_closed(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    async with Longmind.open(url) as longmind:
        await graph(LongmindSaver(longmind)).ainvoke({"words": ["first"]}, on("t"))
    async with Longmind.open(url) as longmind:
        again = graph(LongmindSaver(longmind))
        assert await again.ainvoke(Command(resume="Ada"), on("t")) == {"words": ["first", "hello Ada"], "name": "Ada"}
        history = [state.values.get("words") async for state in again.aget_state_history(on("t"))]
        assert history[0] == ["first", "hello Ada"]
        assert (await again.aget_state(on("other"))).values == {}


def test_a_graph_runs_without_an_event_loop(tmp_path: Path) -> None:
    with BlockingLongmind.open(str(tmp_path / "memory.db")) as longmind:
        compiled = graph(LongmindSaver(longmind))
        compiled.invoke({"words": []}, on("t"))
        assert compiled.invoke(Command(resume="Ada"), on("t"))["words"] == ["hello Ada"]
        assert asyncio.run(compiled.aget_state(on("t"))).values["name"] == "Ada"
        earlier = list(compiled.get_state_history(on("t")))
        forked = compiled.update_state(earlier[1].config, {"name": "Bob"})
        assert compiled.get_state(forked).values["name"] == "Bob"


async def test_checkpoints_are_not_recalled_and_go_with_their_user(longmind: Longmind) -> None:
    compiled = graph(LongmindSaver(longmind, agent="a", user_key="user_id"))
    config = on("t", user_id="alice")
    await compiled.ainvoke({"words": ["the heron nests behind the mill"]}, config)
    alice = longmind.agent("a", user="alice")
    assert await alice.recall("heron") == []
    assert (await alice.list()).items == ()
    assert (await compiled.aget_state(config)).values["words"] == ["the heron nests behind the mill"]
    assert (await compiled.aget_state(on("t", user_id="bob"))).values == {}
    assert (await compiled.aget_state(on("t"))).values == {}
    await longmind.erase_user("alice")
    assert (await compiled.aget_state(config)).values == {}


async def test_a_saver_of_one_user_is_walled(longmind: Longmind) -> None:
    saver = LongmindSaver(longmind, agent="a", user="alice", user_key="user_id")
    with pytest.raises(Forbidden):
        await saver.aget_tuple(on("t", user_id="bob"))
    with pytest.raises(InvalidInput, match="thread"):
        await saver.aget_tuple({"configurable": {}})


async def test_deleting_a_thread_is_for_its_own_user_only(longmind: Longmind) -> None:
    saver = LongmindSaver(longmind, agent="a", user_key="user_id")
    for user in ("alice", "bob"):
        await graph(saver).ainvoke({"words": [user]}, on("t", user_id=user))
    await saver.adelete_thread("t")
    await saver.of_user("alice").adelete_thread("t")
    assert await saver.aget_tuple(on("t", user_id="alice")) is None
    assert await saver.aget_tuple(on("t", user_id="bob")) is not None


async def test_an_erased_thread_leaves_nothing_in_the_journal(longmind: Longmind) -> None:
    saver = LongmindSaver(longmind, agent="a")
    await graph(saver).ainvoke({"words": ["zebra"]}, on("t"))
    await saver.adelete_thread("t")
    assert (await longmind.agent("a").state.list()).items == ()
    assert (await longmind.agent("a").stats()).memories == 0


async def test_an_unchanged_channel_is_stored_once(longmind: Longmind) -> None:
    saver = LongmindSaver(longmind, agent="a")
    config = generate_config("t")
    for step in range(5):
        checkpoint = generate_checkpoint(channel_values={"big": ["x" * 5_000]}, channel_versions={"big": "1"})
        config = await saver.aput(config, checkpoint, generate_metadata(step=step), {"big": "1"} if step == 0 else {})
    assert len((await longmind.agent("a").state.list(("channel",))).items) == 1
    found = [item async for item in saver.alist(generate_config("t"))]
    assert [item.checkpoint["channel_values"]["big"] for item in found] == [["x" * 5_000]] * 5


async def test_the_latest_is_the_latest_id_even_if_many_come_in_one_moment(longmind: Longmind) -> None:
    saver = LongmindSaver(longmind, agent="a")
    stamp = uuid6(clock_seq=0)
    ids = [f"{str(stamp)[:19]}-{n:04x}-000000000000" for n in (0x8001, 0x8005, 0x8003, 0x8004, 0x8002)]
    for id in ids:
        await saver.aput(generate_config("t"), generate_checkpoint(checkpoint_id=id), generate_metadata(), {})
    latest = await saver.aget_tuple(generate_config("t"))
    assert latest is not None
    assert latest.checkpoint["id"] == max(ids)
    assert [item.checkpoint["id"] async for item in saver.alist(generate_config("t"))] == sorted(ids, reverse=True)


def joined(state: list[str], writes: list[list[str]]) -> list[str]:
    return state + [word for written in writes for word in written]


class Deltas(TypedDict):
    words: Annotated[list[str], DeltaChannel(joined, snapshot_frequency=100)]


async def test_pruning_keeps_what_a_delta_channel_is_rebuilt_from(longmind: Longmind) -> None:
    saver = LongmindSaver(longmind, agent="a")
    builder = StateGraph(Deltas)
    builder.add_node("speak", lambda state: {"words": [f"word {len(state['words'])}"]})
    builder.add_edge(START, "speak")
    builder.add_edge("speak", END)
    compiled = builder.compile(checkpointer=saver)
    for n in range(3):
        await compiled.ainvoke({"words": [f"input {n}"]}, on("t"))
    before = (await compiled.aget_state(on("t"))).values
    assert len(before["words"]) == 6
    await saver.aprune(["t"])
    assert (await compiled.aget_state(on("t"))).values == before


async def test_what_a_thread_is_called_does_not_matter(longmind: Longmind) -> None:
    saver = LongmindSaver(longmind, agent="a")
    names = [" spaces ", "x" * 500, "a/b", "#", "línea", "t\nu"]
    for name in names:
        await saver.aput(generate_config(name), generate_checkpoint(), generate_metadata(), {})
    found = [item.config["configurable"]["thread_id"] async for item in saver.alist(None)]
    assert sorted(found) == sorted(names)
    for name in names:
        stored = await saver.aget_tuple(generate_config(name))
        assert stored is not None
        assert stored.config["configurable"]["thread_id"] == name


async def test_what_the_adapter_costs(measure_cost: Any, tmp_path: Path) -> None:
    """Beside the adapter: the same checkpoint, serialised already, as one value of ``mem.state``."""
    async with Longmind.open(str(tmp_path / "memory.db")) as longmind:
        saver, state = LongmindSaver(longmind, agent="a"), longmind.agent("b").state
        values = {"messages": [{"role": "user", "content": "word " * 50}] * 10}
        body = saver._threads()._dump(values)

        async def through_adapter(number: int) -> None:
            checkpoint = generate_checkpoint(channel_values=values, channel_versions={"messages": f"{number}"})
            await saver.aput(generate_config("t"), checkpoint, generate_metadata(), {"messages": f"{number}"})

        async def direct(number: int) -> None:
            await state.put(("checkpoint", "t", ""), str(number), {"checkpoint": body}, session="t")

        await measure_cost("saver: put a checkpoint", through_adapter, direct)
        config = generate_config("t")
        await measure_cost(
            "saver: get the latest",
            lambda n: saver.aget_tuple(config),
            lambda n: state.list(("checkpoint", "t", ""), session="t", order="updated", descending=True, limit=1),
        )
