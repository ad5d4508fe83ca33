"""In a conversation every turn is stored, and what is delivered twice is stored once; on every backend."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from longmind import Longmind, Message
from longmind.errors import OperationMismatch
from longmind.perceive.turns import delivered_before

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def user(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **fields}


def assistant(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **fields}


ASKED = [turn for n in (1, 2, 3) for turn in (assistant(f"Question {n}?"), user("Yes."))]


async def said(longmind: Longmind, session: str = "s") -> list[str]:
    history = await longmind.agent("a", user="ann").conversation(session).history()
    return [memory.content for memory in history]


def texts(turns: list[dict[str, Any]]) -> list[str]:
    return [turn["content"] for turn in turns]


@pytest.mark.parametrize("day", [None, DAY])
async def test_a_reply_that_was_given_before_is_another_turn(longmind: Longmind, day: datetime | None) -> None:
    mem = longmind.agent("a", user="ann")
    stored = [await mem.remember(turn, session="s", occurred_at=day) for turn in ASKED]
    assert len({memory.id for memory in stored}) == 6
    assert await said(longmind) == texts(ASKED)


async def test_one_who_says_the_same_twice_in_a_row_said_it_twice(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    for _ in range(3):
        await mem.remember("Yes.", session="s")
    assert await said(longmind) == ["Yes."] * 3


async def test_a_list_of_one_turn_is_a_turn(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    for text in ("Hello.", "Yes.", "Yes.", "Yes."):
        await mem.remember([user(text)], session="s")
    assert await said(longmind) == ["Hello.", "Yes.", "Yes.", "Yes."]


async def test_a_history_that_is_sent_again_and_again_adds_what_is_new(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    for length in range(1, 7):
        for _ in range(2):
            stored = await mem.remember(ASKED[:length], session="s")
            assert [memory.content for memory in stored] == texts(ASKED[:length])
    assert await said(longmind) == texts(ASKED)


async def test_the_last_messages_sent_with_each_call_add_what_is_new(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    told = [user(f"Number {n}.") for n in range(9)]
    for end in range(1, 10):
        await mem.remember(told[max(0, end - 4) : end], session="s")
    assert await said(longmind) == texts(told)


async def test_turns_come_alone_and_then_as_a_history(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    for turn in ASKED[:3]:
        await mem.remember(turn, session="s")
    await mem.conversation("s").add(Message(**ASKED[3]))
    await mem.remember(ASKED, session="s")
    assert await said(longmind) == texts(ASKED)


async def test_pages_that_share_a_reply_are_all_stored(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    for start in (0, 2, 4):
        await mem.remember(ASKED[start : start + 2], session="s", occurred_at=DAY)
    assert await said(longmind) == texts(ASKED)


async def test_an_id_makes_two_deliveries_one_wherever_they_stand(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    turns = [user("Yes.", id="m1"), assistant("Sure?"), user("Yes.", id="m2")]
    for turn in [*turns, turns[0], turns[2]]:
        await mem.remember(turn, session="s")
    await mem.remember([turns[2], turns[0], turns[0]], session="s")
    await mem.remember("Yes.", session="s", metadata={"id": "m2"})
    assert await said(longmind) == ["Yes.", "Sure?", "Yes."]


async def test_an_id_of_the_call_names_no_single_turn(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    await mem.remember([user("Yes."), assistant("Sure?"), user("Yes.")], session="s", metadata={"id": "import"})
    assert await said(longmind) == ["Yes.", "Sure?", "Yes."]


async def test_a_time_that_is_a_turns_own_makes_two_deliveries_one(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    turns = [user("Yes.", occurred_at=DAY.replace(minute=n)) for n in range(3)]
    for turn in [*turns, turns[0], turns[2]]:
        await mem.remember(turn, session="s")
    await mem.remember(turns, session="s")
    assert len(await said(longmind)) == 3


async def test_an_operation_makes_two_deliveries_one_whatever_was_said_since(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    first = await mem.remember("Yes.", session="s", operation="one")
    listed = await mem.remember(ASKED[:2], session="s", operation="two")
    await mem.remember("And now?", session="s")
    other = await mem.remember("Yes.", session="s", operation="three")
    assert await mem.remember("Yes.", session="s", operation="one") == first
    assert await mem.remember(ASKED[:2], session="s", operation="two") == listed
    assert await said(longmind) == ["Yes.", *texts(ASKED[:2]), "And now?", "Yes."]
    assert other.id != first.id
    with pytest.raises(OperationMismatch):
        await mem.remember("No.", session="s", operation="one")


async def test_a_history_with_an_operation_for_each_call_adds_what_is_new(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    for length in (2, 4, 6):
        for _ in range(2):
            await mem.remember(ASKED[:length], session="s", operation=f"call {length}")
    assert await said(longmind) == texts(ASKED)


async def test_the_instructions_before_a_window_are_stored_once(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    rules = {"role": "system", "content": "Be brief."}
    told = [user(f"Number {n}.") for n in range(30)]
    for end in range(2, 31, 2):
        await mem.remember([rules, *told[max(0, end - 4) : end]], session="s")
    assert await said(longmind) == ["Be brief.", *texts(told)]


async def test_a_turn_that_was_forgotten_or_changed_does_not_bring_back_the_rest(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    told = [user(f"Number {n}.") for n in range(12)]
    stored = await mem.remember(told[:10], session="s")
    await mem.forget(stored[4].id)
    await mem.update(stored[6].id, content="Number six.")
    for end in (11, 12):
        await mem.remember(told[:end], session="s")
    contents = await said(longmind)
    assert len(contents) == len(set(contents)) == 13  # the forgotten and the former text were told again, once


async def test_a_conversation_delivered_twice_at_once_is_one(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    await asyncio.gather(*(mem.remember(ASKED, session="s") for _ in range(3)))
    assert await said(longmind) == texts(ASKED)


async def test_users_and_sessions_are_apart(longmind: Longmind) -> None:
    for name in ("ann", "bob", None):
        for session in ("s", "t"):
            stored = await longmind.agent("a", user=name).remember(ASKED, session=session)
            assert [(m.user, m.session) for m in stored] == [(name, session)] * 6


async def test_without_a_session_the_same_text_is_one_memory(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    first = await mem.remember("I like tea.")
    assert (await mem.remember("I like tea.")).id == first.id
    assert [m.id for m in await mem.remember([user("I like tea.")])] == [first.id]


async def test_an_experience_keeps_its_turns(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    for n in range(3):
        experience = {"title": f"Talk {n}", "messages": ASKED[2 * n : 2 * n + 2], "session": "s"}
        await mem.manager.store_experience(experience)
    assert await said(longmind) == texts(ASKED)


@pytest.mark.parametrize(
    ("delivered", "stored", "known"),
    [
        ("", "", ""),
        ("ab", "", "--"),
        ("abc", "ab", "01-"),
        ("ab", "ab", "01"),
        ("bcd", "abc", "12-"),
        ("aab", "aa", "01-"),
        ("aaa", "xaa", "12-"),
        ("abab", "ababab", "2345"),
        ("cd", "ab", "--"),
        ("ab", "abc", "--"),
        ("abcdefg", "abdef", "01-234-"),
        ("abxdefg", "abcdef", "01-345-"),
    ],
)
def test_where_a_delivery_stands(delivered: str, stored: str, known: str) -> None:
    found = delivered_before([("u", c) for c in delivered], [("u", c) for c in stored])
    assert "".join("-" if n is None else str(n) for n in found) == known
