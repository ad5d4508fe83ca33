"""``LongmindMemory`` with AutoGen's real assistant agent and model contexts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken, Image
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import BufferedChatCompletionContext
from autogen_core.models import AssistantMessage, SystemMessage, UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient
from PIL import Image as Picture
from tests.adapters.conftest import BOTH

from longmind import Longmind
from longmind.adapters.autogen import LongmindMemory

_agents = iter(range(1_000))


def text(content: str, **metadata: Any) -> MemoryContent:
    return MemoryContent(content=content, mime_type=MemoryMimeType.TEXT, metadata=metadata or None)


@BOTH
async def test_what_is_added_is_found(longmind: Longmind) -> None:
    memory = LongmindMemory(longmind, agent=f"a {next(_agents)}", user="alice")
    await memory.add(text("Alice prefers tea.", topic="drinks"))
    await memory.add(text("Her dog Rex hates rain."))
    (best, *_) = (await memory.query("What does she drink? Tea?")).results
    assert best.content == "Alice prefers tea."
    assert best.mime_type == "text/plain"
    assert best.metadata is not None
    assert best.metadata["topic"] == "drinks"
    assert 0 < best.metadata["score"] <= 1
    assert len((await memory.query(text("tea or rain"), k=1)).results) == 1


@BOTH
async def test_everything_else_comes_back_exactly(longmind: Longmind) -> None:
    memory = LongmindMemory(longmind, agent=f"a {next(_agents)}")
    picture = Image(Picture.new("RGB", (2, 2), "red"))
    await memory.add(MemoryContent(content={"city": "Porto", "rooms": 3}, mime_type=MemoryMimeType.JSON))
    await memory.add(
        MemoryContent(content=b"\x00\x01", mime_type="application/octet-stream", metadata={"about": "a heron"})
    )
    await memory.add(MemoryContent(content=picture, mime_type=MemoryMimeType.IMAGE, metadata={"about": "a zebra"}))
    assert (await memory.query("Porto")).results[0].content == {"city": "Porto", "rooms": 3}
    assert (await memory.query("heron")).results[0].content == b"\x00\x01"
    found = (await memory.query("zebra")).results[0]
    assert isinstance(found.content, Image)
    assert found.content.to_base64() == picture.to_base64()
    assert found.mime_type == "image/*"


async def test_the_same_again_is_stored_once(longmind: Longmind) -> None:
    memory = LongmindMemory(longmind, agent="a")
    for _ in range(2):
        await memory.add(text("Alice prefers tea."))
        await memory.add(MemoryContent(content={"city": "Porto"}, mime_type=MemoryMimeType.JSON))
    assert (await longmind.agent("a").stats()).memories == 2


@BOTH
async def test_clear_forgets_what_was_added_under_this_name_only(longmind: Longmind) -> None:
    agent = f"a {next(_agents)}"
    memory, other = LongmindMemory(longmind, agent=agent), LongmindMemory(longmind, agent=agent, name="other")
    mem = longmind.agent(agent)
    await mem.remember("The office is in Porto.")
    await memory.add(text("Alice prefers tea."))
    await memory.add(MemoryContent(content={"city": "Lisbon"}, mime_type=MemoryMimeType.JSON))
    await other.add(text("Bob prefers coffee."))
    await memory.clear()
    left = {memory.content for memory in (await mem.list()).items}
    assert left == {"The office is in Porto.", "Bob prefers coffee."}
    await memory.close()
    assert (await other.query("coffee")).results


async def test_clear_leaves_what_belongs_to_no_user(longmind: Longmind) -> None:
    await LongmindMemory(longmind, agent="a").add(text("For everybody."))
    await LongmindMemory(longmind, agent="a", user="alice").clear()
    assert (await longmind.agent("a").stats()).memories == 1


async def test_another_user_finds_nothing(longmind: Longmind) -> None:
    await LongmindMemory(longmind, agent="a", user="alice").add(text("Alice prefers tea."))
    assert (await LongmindMemory(longmind, agent="a", user="bob").query("tea")).results == []


async def test_the_context_gets_what_matters_once_and_quoted(longmind: Longmind) -> None:
    memory = LongmindMemory(longmind, agent="a", user="alice")
    await memory.add(text("Alice prefers tea."))
    context = BufferedChatCompletionContext(buffer_size=20)
    assert (await memory.update_context(context)).memories.results == []
    await context.add_message(UserMessage(content="What does Alice drink?", source="user"))
    for _ in range(2):
        result = await memory.update_context(context)
        assert len(result.memories.results) == 1
    added = [message for message in await context.get_messages() if isinstance(message, SystemMessage)]
    assert len(added) == 1
    assert "Alice prefers tea." in added[0].content


async def test_a_session_is_remembered_once_and_never_what_was_recalled(longmind: Longmind) -> None:
    memory = LongmindMemory(longmind, agent="a", user="alice", session="s1")
    mem = longmind.agent("a", user="alice")
    await mem.remember("Alice lives in Porto.")
    context = BufferedChatCompletionContext(buffer_size=20)
    for said in ("Where does Alice live?", "And what is the weather in Porto?"):
        await context.add_message(UserMessage(content=said, source="user"))
        await memory.update_context(context)
        await memory.update_context(context)
        await context.add_message(AssistantMessage(content=f"Answer to: {said}", source="helper"))
    history = [memory.content for memory in await mem.conversation("s1").history()]
    assert history == [
        "Where does Alice live?",
        "Answer to: Where does Alice live?",
        "And what is the weather in Porto?",
    ]


async def test_an_assistant_uses_it(longmind: Longmind) -> None:
    memory = LongmindMemory(longmind, agent="helper", user="alice")
    await memory.add(text("Alice prefers tea."))
    client = ReplayChatCompletionClient(["She prefers tea."])
    agent = AssistantAgent("helper", model_client=client, memory=[memory])
    result = await agent.run(task="What does Alice drink?")
    assert result.messages[-1].content == "She prefers tea."
    asked = client.create_calls[0]["messages"]
    assert any("Alice prefers tea." in str(message.content) for message in asked)
    assert any(message.type == "MemoryQueryEvent" for message in result.messages)


async def test_a_cancelled_query_ends(longmind: Longmind) -> None:
    token = CancellationToken()
    token.cancel()
    with pytest.raises(asyncio.CancelledError):
        await LongmindMemory(longmind).query("tea", token)


async def test_what_the_adapter_costs(measure_cost: Callable[..., Any], tmp_path: Path) -> None:
    async with Longmind.open(str(tmp_path / "memory.db")) as opened:
        memory, direct = LongmindMemory(opened, agent="a"), opened.agent("b")
        await measure_cost(
            "add a text", lambda n: memory.add(text(f"The number {n}.")), lambda n: direct.remember(f"The number {n}.")
        )
        await measure_cost("query", lambda n: memory.query(f"number {n}"), lambda n: direct.recall(f"number {n}", 10))
