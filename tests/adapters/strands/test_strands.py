"""The store in a real ``MemoryManager`` and a real agent of Strands, with a model of ours that calls its tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from strands import Agent
from strands.memory import MemoryManager
from strands.memory.types import AddMessagesContext, _has_method
from strands.models import Model

from longmind import InvalidInput, Longmind
from longmind.adapters.strands import LongmindMemoryStore
from longmind.sync import Longmind as BlockingLongmind


def turn(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"text": text}]}


CHAT = [turn("user", "I live in Lisbon."), turn("assistant", "Noted."), turn("user", "I like tea.")]


class ScriptedModel(Model):
    """Says what it is told to say, and keeps what it was asked."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.asked: list[Any] = []

    def update_config(self, **config: Any) -> None: ...

    def get_config(self) -> Any:
        return {"model_id": "scripted"}

    async def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError
        yield

    async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        self.asked.append(messages)
        reply = self.replies.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(reply, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": reply}}}
        else:
            name, arguments = reply
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": "t1"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": arguments}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(reply, str) else "tool_use"}}


async def test_the_store_has_what_a_manager_looks_for(longmind: Longmind) -> None:
    store = LongmindMemoryStore(longmind, user="alice")
    assert all(_has_method(store, name) for name in ("search", "add", "add_messages"))
    MemoryManager(stores=[store], add_tool_config=True)
    with pytest.raises(InvalidInput):
        LongmindMemoryStore(longmind, max_search_results=0)


async def test_what_is_added_is_found(longmind: Longmind) -> None:
    store = LongmindMemoryStore(longmind, user="alice")
    first = await store.add("Nora lives in Lisbon.", {"topic": "home"})
    assert await store.add("Nora lives in Lisbon.") == first, "extraction may deliver it twice"
    await store.add("Tea is ready.")
    found = await store.search("Where does Nora live?", {"max_search_results": 1})
    assert [entry.content for entry in found] == ["Nora lives in Lisbon."]
    assert found[0].metadata is not None
    assert found[0].metadata["topic"] == "home"
    assert found[0].metadata["id"] == first["id"]
    assert 0 < found[0].metadata["score"] <= 1
    assert await store.search("  ") == []
    with pytest.raises(InvalidInput):
        await store.search("x", {"max_search_results": 0})
    with pytest.raises(InvalidInput, match="not writable"):
        await LongmindMemoryStore(longmind, writable=False).add("x")


async def test_messages_that_are_delivered_again_are_stored_once(longmind: Longmind) -> None:
    store = LongmindMemoryStore(longmind, user="alice", session="s1")
    tool = {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "SECRET"}]}}]}
    first = await store.add_messages([*CHAT, tool], AddMessagesContext(sequence_numbers=[0, 1, 2, 3]))
    assert await store.add_messages([*CHAT, tool], AddMessagesContext(sequence_numbers=[0, 1, 2, 3])) == first
    await store.add_messages([turn("assistant", "Tea it is.")])
    mem = longmind.agent("assistant", user="alice")
    page = await mem.list(descending=False)
    assert [(memory.source.role, memory.content) for memory in page.items] == [
        *[("user", "I live in Lisbon."), ("assistant", "Noted."), ("user", "I like tea.")],
        ("assistant", "Tea it is."),
    ]
    assert {memory.session for memory in page.items} == {"s1"}
    assert await store.add_messages([tool]) == {"ids": []}


async def test_users_are_apart(longmind: Longmind) -> None:
    await LongmindMemoryStore(longmind, user="alice").add("Nora lives in Lisbon.")
    assert await LongmindMemoryStore(longmind, user="bob").search("Nora") == []


async def test_an_agent_gets_memories_and_uses_the_tools(longmind: Longmind) -> None:
    store = LongmindMemoryStore(longmind, user="alice")
    await store.add("Nora lives in Lisbon.")
    model = ScriptedModel(
        ("search_memory", '{"query": "Nora"}'),
        ("add_memory", '{"entries": ["Nora likes tea."]}'),
        "She lives in Lisbon.",
    )
    agent = Agent(
        model=model, memory_manager=MemoryManager(stores=[store], add_tool_config=True), callback_handler=None
    )
    result = await agent.invoke_async("Where does Nora live?")
    assert "She lives in Lisbon." in str(result)
    assert "Nora lives in Lisbon." in str(model.asked[0]), "injected before the call"
    assert "Nora lives in Lisbon." in str(model.asked[1][-1]), "the result of the tool"
    contents = [memory.content for memory in (await longmind.agent("assistant", user="alice").list()).items]
    assert sorted(contents) == ["Nora likes tea.", "Nora lives in Lisbon."], "what was injected is not stored again"


def test_a_blocking_agent_works_with_a_blocking_store() -> None:
    with BlockingLongmind.open("memory:") as longmind:
        store = LongmindMemoryStore(longmind, user="alice")
        longmind.agent("assistant", user="alice").remember("Nora lives in Lisbon.")
        for _ in range(2):  # each call has an event loop of its own
            model = ScriptedModel("In Lisbon.")
            agent = Agent(model=model, memory_manager=MemoryManager(stores=[store]), callback_handler=None)
            assert "In Lisbon." in str(agent("Where does Nora live?"))
            assert "Nora lives in Lisbon." in str(model.asked[0])


async def test_extraction_hands_over_the_raw_messages(longmind: Longmind) -> None:
    from strands.memory import ExtractionConfig, InvocationTrigger

    store = LongmindMemoryStore(
        longmind, user="alice", session="s1", extraction=ExtractionConfig(trigger=InvocationTrigger())
    )
    manager = MemoryManager(stores=[store])
    agent = Agent(model=ScriptedModel("Noted."), memory_manager=manager, callback_handler=None)
    await agent.invoke_async("I live in Lisbon.")
    await manager.flush()
    contents = [memory.content for memory in (await longmind.agent("assistant", user="alice").list()).items]
    assert sorted(contents) == ["I live in Lisbon.", "Noted."]


async def test_the_cost_of_a_call(longmind: Longmind, measure_cost: Callable[..., Awaitable[None]]) -> None:
    store, mem = LongmindMemoryStore(longmind, agent="adapter", user="alice"), longmind.agent("direct", user="alice")
    await measure_cost("add", lambda n: store.add(f"Tea number {n}."), lambda n: mem.remember(f"Tea number {n}."))
    await measure_cost("search", lambda n: store.search(f"tea {n}"), lambda n: mem.recall(f"tea {n}", 10))
