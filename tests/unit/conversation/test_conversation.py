"""Conversations: every message is kept, the window is told whole and what left it in short, and users share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from longmind import Longmind, sync
from longmind.consolidate.model import Point, PromptText, SummaryAnswer
from longmind.conversation import Conversation
from longmind.errors import BudgetSpent, InvalidInput
from longmind.recall.budget import HEAD
from longmind.testing import FakeClock
from longmind.tokens import estimate

TOPICS = (
    "The tent for the trip to the Azores weighs three kilograms and fits into the red rucksack.",
    "My sister Ana will feed the cat while we are away in September.",
    "The ferry from Horta to Pico leaves at eight in the morning every day.",
    "We booked the small white house above the harbour of Velas for six nights.",
)


async def _talk(conversation: Conversation, turns: int) -> None:
    for n in range(turns):
        await conversation.add(
            f"{TOPICS[n % 4]} That was remark number {n}.", role="user" if n % 2 == 0 else "assistant"
        )


async def test_the_same_words_twice_are_two_messages(longmind: Longmind) -> None:
    talk = longmind.agent("a", user="ann").conversation("c1")
    one, other = await talk.add("yes"), await talk.add("yes")
    assert one.id != other.id
    assert [m.content for m in await talk.history()] == ["yes", "yes"]


async def test_with_a_key_a_call_can_be_repeated(longmind: Longmind) -> None:
    talk = longmind.agent("a", user="ann").conversation("c1")
    one = await talk.add("yes", key="m-1")
    assert (await talk.add("yes", key="m-1")).id == one.id
    assert (await longmind.agent("a", user="ann").conversation("c2").add("yes", key="m-1")).id != one.id


async def test_roles_names_and_order_are_kept(longmind: Longmind) -> None:
    talk = longmind.agent("a").conversation("c1")
    await talk.add({"role": "user", "content": "Hello", "name": "Ann"})
    await talk.add("Hello Ann", role="assistant")
    said = await talk.messages()
    assert [(m.role, m.name, m.content) for m in said] == [("user", "Ann", "Hello"), ("assistant", None, "Hello Ann")]
    assert [m.content for m in await talk.history(1)] == ["Hello Ann"]


@pytest.mark.parametrize("bad", ["", "   ", {"role": "king", "content": "x"}, {"content": 3}])
async def test_a_bad_message_is_refused_and_nothing_is_stored(longmind: Longmind, bad: object) -> None:
    talk = longmind.agent("a").conversation("c1")
    with pytest.raises(InvalidInput):
        await talk.add(bad)  # type: ignore[arg-type]
    assert await talk.history() == ()


async def test_bad_ids_and_sizes_are_refused(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    with pytest.raises(InvalidInput):
        mem.conversation("")
    with pytest.raises(InvalidInput):
        mem.conversation("c", window=0)
    talk = mem.conversation("c")
    with pytest.raises(InvalidInput):
        await talk.history(0)
    with pytest.raises(InvalidInput):
        await talk.context(0)


async def test_an_empty_conversation_has_nothing_to_tell(longmind: Longmind) -> None:
    talk = longmind.agent("a").conversation("c1")
    assert (await talk.context(500), await talk.summary(), await talk.messages(), await talk.clear()) == ("", "", [], 0)


async def test_what_left_the_window_is_told_in_its_own_words(longmind: Longmind) -> None:
    talk = longmind.agent("a", user="ann").conversation("c1", window=6)
    await _talk(talk, 6)
    assert await talk.summary() == ""
    await _talk(talk, 14)
    summary = await talk.summary()
    said = "\n".join(m.content for m in await talk.history())
    assert summary
    for one in summary.splitlines():
        assert one.partition(": ")[2] in said


async def test_a_summary_rolls_on_and_tells_of_all_that_left(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    talk = mem.conversation("c1", window=4)
    await _talk(talk, 8)
    await talk.summary()
    (before,) = (await mem.list(kinds=["summary"])).items
    await _talk(talk, 8)
    await talk.summary()
    (after,) = (await mem.list(kinds=["summary"])).items
    assert after.id == before.id
    assert (before.body["told"], after.body["told"]) == (4, 12)
    history = await talk.history()
    assert after.body["until"] == history[11].id


async def test_asking_again_writes_nothing(longmind: Longmind) -> None:
    (await longmind.recaller()).reranker = None  # a text that it had no time to read may take another place next time
    mem = longmind.agent("a", user="ann")
    talk = mem.conversation("c1", window=4)
    await _talk(talk, 12)
    first = await talk.context(800)
    changes = (await mem.stats()).changes
    assert await talk.context(800) == first
    assert (await mem.stats()).changes == changes


async def test_a_summary_that_quotes_something_forgotten_is_made_anew(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    talk = mem.conversation("c1", window=4)
    await talk.add("The secret of the blue door is the number forty seven, and nobody else knows it.")
    await _talk(talk, 9)
    assert "blue door" in await talk.summary()
    secret = (await talk.history())[0]
    await mem.forget(secret.id)
    assert "blue door" not in await talk.summary()


async def test_erasing_a_message_erases_the_summary_that_quotes_it(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    talk = mem.conversation("c1", window=4)
    await talk.add("The secret of the blue door is the number forty seven, and nobody else knows it.")
    await _talk(talk, 9)
    assert "blue door" in await talk.summary()
    await mem.forget((await talk.history())[0].id, erase=True)
    left = [m.content async for m in longmind.store.scan_all(mem.scope)]
    assert not any("blue door" in one for one in left)
    assert "blue door" not in await talk.summary()


async def test_context_holds_its_budget_and_the_last_message(longmind: Longmind) -> None:
    talk = longmind.agent("a", user="ann").conversation("c1", window=6)
    await _talk(talk, 30)
    for tokens in (150, 300, 600, 1_500):
        told = await talk.context(tokens)
        assert told.startswith(HEAD)
        assert "remark number 29" in told
        assert estimate(told) <= tokens
    assert "## Earlier in this conversation" in await talk.context(1_500)


async def test_the_beginning_stays_the_same_from_turn_to_turn(longmind: Longmind) -> None:
    talk = longmind.agent("a", user="ann").conversation("c1", window=20)
    await _talk(talk, 8)
    before = (await talk.context(3_000)).partition("\n\n## From memory")[0]
    await talk.add("And what about the ferry?")
    assert (await talk.context(3_000)).startswith(before)


async def test_conversations_of_one_user_share_what_is_learnt_and_not_with_others(longmind: Longmind) -> None:
    ann, bob = longmind.agent("a", user="ann"), longmind.agent("a", user="bob")
    await ann.conversation("monday").add("My allergy is to hazelnuts, so never put hazelnuts into a cake for me.")
    for mem, knows in ((ann, True), (bob, False)):
        talk = mem.conversation("friday")
        await talk.add("Which cake may I eat with my allergy to hazelnuts?")
        assert ("never put hazelnuts" in await talk.context(800)) is knows


async def test_two_users_may_have_conversations_of_the_same_name(longmind: Longmind) -> None:
    one, other = longmind.agent("a", user="ann").conversation("c"), longmind.agent("a", user="bob").conversation("c")
    await one.add("I am Ann")
    await other.add("I am Bob")
    assert [m.content for m in await one.history()] == ["I am Ann"]
    assert [m.content for m in await other.history()] == ["I am Bob"]


async def test_all_is_back_after_a_restart(tmp_path: Path) -> None:
    url = str(tmp_path / "m.db")
    async with Longmind.open(url, embedder="none") as longmind:
        talk = longmind.agent("a", user="ann").conversation("c1", window=4)
        await _talk(talk, 12)
        told, said = await talk.context(900), await talk.history()
    async with Longmind.open(url, embedder="none") as longmind:
        talk = longmind.agent("a", user="ann").conversation("c1", window=4)
        assert [(m.id, m.content, m.version) for m in await talk.history()] == [
            (m.id, m.content, m.version) for m in said
        ]
        assert await talk.context(900) == told


async def test_many_writers_lose_nothing_and_make_one_summary(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    talks = [mem.conversation("c1", window=4) for _ in range(5)]
    await asyncio.gather(*(_talk(talk, 6) for talk in talks))
    await asyncio.gather(*(talk.summary() for talk in talks))
    assert len(await talks[0].history()) == 30
    assert len((await mem.list(kinds=["summary"])).items) == 1


class FakeSummaryWriter:
    """Tells one sentence that quotes the first text, and one that quotes nothing; the second time it fails."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def summarise(self, texts: Sequence[PromptText]) -> SummaryAnswer:
        self.asked.append([text.content for text in texts])
        if len(self.asked) == 2:
            raise BudgetSpent("The day's budget is used up.")
        quote = " ".join(texts[0].content.split()[:5])
        points = (
            Point(statement="The tent for the trip is light.", quote=quote, text=0),
            Point(statement="The tent is a present of the king.", quote="a present of the king", text=0),
        )
        return SummaryAnswer(points, "scripted", ("summarise@1",))


async def test_a_model_may_tell_it_and_one_that_fails_is_replaced_by_rules(
    longmind: Longmind, caplog: pytest.LogCaptureFixture
) -> None:
    mem, summary_writer = longmind.agent("a", user="ann"), FakeSummaryWriter()

    async def find() -> FakeSummaryWriter:
        return summary_writer

    talk = Conversation(mem.scoped, "c1", mem.recall, window=4, summary_writer=find)
    await _talk(talk, 8)
    assert await talk.summary() == "The tent for the trip is light."
    await _talk(talk, 4)
    assert "remark number" in await talk.summary()
    assert "budget" in caplog.text
    assert summary_writer.asked[1][0] == "The tent for the trip is light."
    assert len(summary_writer.asked[1]) == 5


async def test_clearing_forgets_messages_and_summary(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    talk = mem.conversation("c1", window=4)
    await _talk(talk, 9)
    await talk.summary()
    assert await talk.clear() == 9
    assert (await mem.stats()).memories == 0


def test_the_blocking_face_has_it_too(tmp_path: Path) -> None:
    with sync.Longmind.open(str(tmp_path / "m.db"), embedder="none", clock=FakeClock()) as longmind:
        talk = longmind.agent("a").conversation("c1")
        talk.add("hello")
        assert [m.content for m in talk.history()] == ["hello"]


async def test_without_a_user_a_conversation_is_not_that_of_users(longmind: Longmind) -> None:
    agent, ann, bob = longmind.agent("a"), longmind.agent("a", user="ann"), longmind.agent("a", user="bob")
    await _talk(ann.conversation("c", window=4), 12)
    own = agent.conversation("c", window=4)
    await own.add("The agent speaks to nobody in particular.")
    assert [m.content for m in await own.history(2)] == ["The agent speaks to nobody in particular."]
    assert await own.summary() == ""
    assert (await bob.list(where={"kinds": ["summary"]})).items == (), "what Ann said is told to nobody else"
    assert await own.clear() == 1
    assert len(await ann.conversation("c").history()) == 12


@pytest.mark.parametrize("edited", ["", "One line only.", "a\n\nb", "\n", "a\x0bb"])
async def test_a_summary_that_was_edited_by_hand_is_made_anew(longmind: Longmind, edited: str) -> None:
    mem = longmind.agent("a", user="ann")
    talk = mem.conversation("c1", window=2)
    await _talk(talk, 8)
    assert len((await talk.summary()).splitlines()) > 2
    record = (await mem.list(kinds=["summary"])).items[0]
    await mem.update(record.id, content=edited)
    await _talk(talk, 4)
    assert len((await talk.summary()).splitlines()) > 2


async def test_a_context_is_filled_as_that_of_the_agent_is() -> None:
    async with Longmind.open("memory:", embedder="static") as longmind:
        mem = longmind.agent("assistant", user="ana")
        notes = [
            f"Note {n}: the harbour café in town {n} has blue chairs and opens at {n % 12 + 1}." for n in range(60)
        ]
        await mem.remember(["I'm allergic to latex.", *notes], session="before")
        talk = mem.conversation("now")
        await talk.add("What would be a nice afternoon?")
        text = await talk.context(400)
        assert "allergic to latex" in text
        assert text.index("allergic to latex") < text.index("nice afternoon") < text.index("blue chairs")
        assert 340 <= estimate(text) <= 400
        assert text.count("nice afternoon") == 1


async def test_what_stands_is_told_once_if_it_was_said_in_the_window() -> None:
    async with Longmind.open("memory:", embedder="static") as longmind:
        talk = longmind.agent("assistant", user="ana").conversation("now")
        await talk.add("I'm allergic to latex.")
        await talk.add("Which gloves should I buy?")
        assert (await talk.context(400)).count("allergic to latex") == 1


async def test_a_long_conversation_keeps_its_last_messages_and_what_stands() -> None:
    async with Longmind.open("memory:", embedder="static") as longmind:
        talk = longmind.agent("assistant", user="ana").conversation("now")
        await talk.add("I'm allergic to latex.")
        for n in range(40):
            await talk.add(f"Step {n}: the valve at junction {n} was opened and the pressure noted.")
        text = await talk.context(400)
        assert "allergic to latex" in text
        assert "Step 39" in text
        assert estimate(text) <= 400
