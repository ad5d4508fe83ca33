"""The memory and the block with LlamaIndex's real chat engine and ``Memory``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer, Memory

from longmind import Longmind
from longmind.adapters.llama_index import LongmindMemory, LongmindMemoryBlock
from longmind.sync import Longmind as BlockingLongmind

PICTURE = ImageBlock(url="https://example.com/a.png")
MESSAGES = [
    ChatMessage(role="user", content="Is it cold in Oslo?"),
    ChatMessage(role="assistant", content="Yes.", additional_kwargs={"tool_calls": [{"id": "c1"}]}),
    ChatMessage(role="tool", content="minus four", additional_kwargs={"tool_call_id": "c1"}),
    ChatMessage(role="user", blocks=[TextBlock(text="What is this?"), PICTURE, TextBlock(text="Be short.")]),
    ChatMessage(role="system", content="Be kind."),
]


@pytest.fixture(scope="module")
def blocking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingLongmind]:
    with BlockingLongmind.open(str(tmp_path_factory.mktemp("store") / "memory.db")) as longmind:
        yield longmind


_numbers = iter(range(10_000))
LISTS = st.lists(st.sampled_from(MESSAGES), max_size=4)
STEPS = st.lists(
    st.tuples(st.just("put"), st.sampled_from(MESSAGES))
    | st.tuples(st.sampled_from(["put_messages", "set"]), LISTS)
    | st.tuples(st.just("reset"), st.none()),
    max_size=10,
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS, st.booleans())
def test_random_calls_agree_with_the_buffer_of_llama_index(
    blocking: BlockingLongmind, steps: list[tuple[str, Any]], asynchronous: bool
) -> None:
    ours = LongmindMemory.from_defaults(
        longmind=blocking, session_id=f"s {next(_numbers)}", user="alice", context_tokens=0
    )
    theirs = ChatMemoryBuffer.from_defaults(token_limit=30_000)
    for method, argument in steps:
        arguments = () if argument is None else (argument,)
        getattr(theirs, method)(*arguments)
        if asynchronous:
            asyncio.run(getattr(ours, f"a{method}")(*arguments))
        else:
            getattr(ours, method)(*arguments)
        assert ours.get_all() == theirs.get_all()
    assert ours.get() == ours.get_all() == asyncio.run(ours.aget_all())


async def test_the_messages_are_the_same_over_a_server(remote: Longmind) -> None:
    memory = LongmindMemory.from_defaults(longmind=remote, session_id="over a server", context_tokens=0)
    await memory.aput_messages(MESSAGES)
    assert await memory.aget_all() == MESSAGES
    await memory.aset(MESSAGES[:2])
    assert await memory.aget() == MESSAGES[:2]
    await memory.areset()
    assert await memory.aget_all() == []


async def test_get_adds_what_matters_and_it_is_never_stored(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember("Alice lives in Porto, by the river.")
    memory = LongmindMemory.from_defaults(longmind=longmind, session_id="s1", agent="a", user="alice")
    await memory.aput(ChatMessage(role="user", content="Where does Alice live?"))
    for input in (None, "Where does Alice live?"):
        added, asked = await memory.aget(input)
        assert added.role.value == "system"
        assert "Alice lives in Porto, by the river." in (added.content or "")
        assert asked.content == "Where does Alice live?"
    await memory.aset([*await memory.aget(), ChatMessage(role="assistant", content="In Porto.")])
    assert [message.content for message in await memory.aget_all()] == ["Where does Alice live?", "In Porto."]
    assert (await mem.stats()).memories == 3


async def test_the_limit_keeps_the_last_messages(longmind: Longmind) -> None:
    memory = LongmindMemory.from_defaults(longmind=longmind, session_id="s1", token_limit=60, context_tokens=0)
    for n in range(20):
        await memory.aput(ChatMessage(role="user", content=f"This is message number {n} of many."))
        await memory.aput(ChatMessage(role="assistant", content=f"This is answer number {n} of many."))
    kept = await memory.aget()
    assert 0 < len(kept) < 10
    assert kept[0].role.value == "user"
    assert kept[-1].content == "This is answer number 19 of many."
    assert len(await memory.aget_all()) == 40


def test_a_chat_engine_remembers_across_conversations(tmp_path: Path) -> None:
    with BlockingLongmind.open(str(tmp_path / "memory.db")) as longmind:
        first = LongmindMemory.from_defaults(longmind=longmind, session_id="s1", user="alice")
        SimpleChatEngine.from_defaults(llm=MockLLM(), memory=first).chat("I live in Porto, by the river.")
        second = LongmindMemory.from_defaults(longmind=longmind, session_id="s2", user="alice")
        answer = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=second).chat("Where do I live? By the river?")
        assert "I live in Porto, by the river." in str(answer)  # the mock repeats its prompt
        assert [message.role.value for message in second.get_all()] == ["user", "assistant"]


async def test_the_block_remembers_what_leaves_the_short_term_memory(longmind: Longmind) -> None:
    block = LongmindMemoryBlock.of(longmind, agent="a", user="alice", priority=1)
    memory = Memory.from_defaults(
        session_id="s1",
        token_limit=400,
        token_flush_size=20,
        chat_history_token_ratio=0.1,
        memory_blocks=[block],
        tokenizer_fn=str.split,
    )
    await memory.aput(ChatMessage(role="user", content="I live in Porto, by the river."))
    await memory.aput(ChatMessage(role="assistant", content="That is a beautiful place to live."))
    for n in range(8):
        await memory.aput(ChatMessage(role="user", content=f"Now tell me of number {n}."))
        await memory.aput(ChatMessage(role="assistant", content=f"There is nothing to tell of {n}."))
    mem = longmind.agent("a", user="alice")
    assert (await mem.recall("Porto, by the river"))[0].memory.content == "I live in Porto, by the river."
    assert (await mem.conversation("s1").history(1))[0].session == "s1"
    messages = await memory.aget(input="Where do I live?")
    assert "I live in Porto, by the river." in str(messages[0].content)


async def test_the_block_stores_each_turn_once_and_another_user_gets_nothing(longmind: Longmind) -> None:
    block = LongmindMemoryBlock.of(longmind, agent="a", user="alice")
    turns = [ChatMessage(role="user", content="I live in Porto."), ChatMessage(role="assistant", content="Noted.")]
    for _ in range(2):
        await block.aput(turns, session_id="s1")
    assert (await longmind.agent("a", user="alice").stats()).memories == 2
    other = LongmindMemoryBlock.of(longmind, agent="a", user="bob")
    assert await other.aget([ChatMessage(role="user", content="Where do I live?")]) == ""
    assert await block.aget([]) == ""


async def test_the_block_is_truncated_from_the_end(longmind: Longmind) -> None:
    block = LongmindMemoryBlock.of(longmind)
    text = "# Head\n- one two three\n- four five six\n\n## Other\n- seven eight nine"
    shorter = await block.atruncate(text, 3)
    assert shorter == "# Head\n- one two three\n- four five six"
    assert await block.atruncate(text, 1_000) is None


async def test_what_the_adapter_costs(measure_cost: Callable[..., Any], tmp_path: Path) -> None:
    async with Longmind.open(str(tmp_path / "memory.db")) as opened:
        memory = LongmindMemory.from_defaults(longmind=opened, session_id="s", agent="a")
        direct = opened.agent("b")
        conversation = direct.conversation("s", window=50)
        await measure_cost(
            "put a message",
            lambda n: memory.aput(ChatMessage(role="user", content=f"The number {n}.")),
            lambda n: conversation.add(f"The number {n}."),
        )

        memory.token_limit = 1_500

        async def read(number: int) -> None:
            said = await conversation.messages(500)
            await direct.context(f"number {number}", 1_000, conversation=said)

        await measure_cost("get with a context", lambda n: memory.aget(f"number {n}"), read)
