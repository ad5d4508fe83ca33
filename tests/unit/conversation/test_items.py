"""A conversation in a framework's form: each item exactly and once, in order, and what was said is remembered."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longmind import ConversationItem, Longmind, Message
from longmind.errors import InvalidInput

CALL = ConversationItem(payload={"type": "function_call", "name": "weather", "arguments": '{"city": "Oslo"}'})


def said(text: str, role: str = "user") -> ConversationItem:
    return ConversationItem(payload={"role": role, "of": "framework"}, message=Message(role=role, content=text))  # type: ignore[arg-type]


@pytest.fixture(params=["memory:", "file"])
async def longmind(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Longmind]:
    url = str(tmp_path / "memory.db") if request.param == "file" else request.param
    async with Longmind.open(url) as opened:
        yield opened


async def test_items_come_back_exactly_and_in_order(longmind: Longmind) -> None:
    conversation = longmind.agent("a", user="alice").conversation("s")
    given = [said("Is it cold in Oslo?"), CALL, said("Yes.", "assistant"), said("Yes.", "assistant")]
    await conversation.append(given[:1])
    await conversation.append(given[1:])
    items = await conversation.items()
    assert [item.payload for item in items] == [item.payload for item in given]
    assert [item.message.content if item.message else None for item in items] == [
        "Is it cold in Oslo?",
        None,
        "Yes.",
        "Yes.",
    ]
    assert await conversation.items(2) == items[2:]


async def test_what_was_said_is_remembered_once_and_calls_are_not_recalled(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.conversation("s").append([said("Is it cold in Oslo?"), CALL])
    assert [hit.memory.content for hit in await mem.recall("Oslo weather")] == ["Is it cold in Oslo?"]
    assert [memory.kind for memory in (await mem.list()).items] == ["message"]
    assert len(await mem.conversation("s").history()) == 1


async def test_a_blank_message_is_kept_as_an_item_that_says_nothing(longmind: Longmind) -> None:
    conversation = longmind.agent("a").conversation("s")
    await conversation.append([said("Is it cold in Oslo?"), said("  ", "assistant"), said("Hello?")])
    items = await conversation.items()
    assert [(item.payload or {})["role"] for item in items] == ["user", "assistant", "user"]
    assert [item.message.content if item.message else None for item in items] == ["Is it cold in Oslo?", None, "Hello?"]


async def test_messages_that_were_added_otherwise_are_items_without_a_payload(longmind: Longmind) -> None:
    conversation = longmind.agent("a").conversation("s")
    await conversation.add("Hello.")
    await conversation.append([CALL])
    first, second = await conversation.items()
    assert first.payload is None
    assert first.message is not None
    assert first.message.content == "Hello."
    assert second.message is None


async def test_pop_removes_the_last_and_clear_all(longmind: Longmind) -> None:
    conversation = longmind.agent("a").conversation("s")
    assert await conversation.pop() is None
    await conversation.append([said("One."), CALL])
    popped = await conversation.pop()
    assert popped is not None
    assert popped.payload == CALL.payload
    await conversation.append([CALL])
    assert await conversation.clear() == 1
    assert await conversation.items() == ()


async def test_forgetting_a_message_takes_it_out_of_the_items(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    (stored, _) = await mem.conversation("s").append([said("My secret is a zebra."), CALL])
    await mem.forget(stored.id, erase=True)
    assert [item.payload for item in await mem.conversation("s").items()] == [CALL.payload]


async def test_items_are_of_one_user_and_one_session(longmind: Longmind) -> None:
    await longmind.agent("a", user="alice").conversation("s").append([said("Of Alice."), CALL])
    await longmind.agent("a").conversation("s").append([CALL])
    assert await longmind.agent("a", user="bob").conversation("s").items() == ()
    assert await longmind.agent("a", user="alice").conversation("t").items() == ()
    assert len(await longmind.agent("a").conversation("s").items()) == 1
    assert len(await longmind.agent("a", user="alice").conversation("s").items()) == 2


async def test_a_repeated_operation_stores_once(longmind: Longmind) -> None:
    conversation = longmind.agent("a").conversation("s")
    await conversation.append([said("Once."), CALL], operation="turn-1")
    await conversation.append([said("Once."), CALL], operation="turn-1")
    assert len(await conversation.items()) == 2


async def test_a_limit_of_nothing_is_refused(longmind: Longmind) -> None:
    with pytest.raises(InvalidInput):
        await longmind.agent("a").conversation("s").items(0)
