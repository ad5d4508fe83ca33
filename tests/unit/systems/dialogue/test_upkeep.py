"""What leaves mid-term memory, and how it comes back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import ModelError
from longmind.systems.dialogue import DialogueMemory
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock

WORDS = "apple bridge candle dragon engine forest guitar hammer island jungle kettle ladder marble needle".split()


class Shortener:
    """A summariser that counts what it is asked."""

    def __init__(self, answer: str = "In short.") -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def summarise(self, text: str, *, words: int) -> str:
        self.asked.append(text)
        return self.answer


async def separate(dialogue: DialogueMemory, *words: str) -> None:
    """Pages that have nothing in common, each from a session of its own."""
    for word in words:
        await dialogue.add(f"{word} {word}ish", f"{word}like", session=word)


async def words_of(dialogue: DialogueMemory, *, archived: bool = False) -> list[str]:
    return sorted(segment.keywords[0] for segment in await dialogue.segments(archived=archived))


async def test_past_capacity_the_coldest_goes_to_the_archive(dialogue: DialogueMemory, clock: FakeClock) -> None:
    await dialogue.configure(segments=3, window=1)
    for word in WORDS[:4]:
        await separate(dialogue, word)
        clock.advance(60)
    by_word = {segment.keywords[0]: segment for segment in await dialogue.segments()}
    assert set(by_word) == {"apple", "bridge", "candle"}
    await dialogue.visit(by_word["apple"])
    added = await dialogue.add("engine", "engine", session="engine")
    assert added.archived == (by_word["bridge"].id,), "neither the visited one nor the newest"
    assert await words_of(dialogue) == ["apple", "candle", "dragon"]
    (cold,) = await dialogue.segments(archived=True)
    assert cold.archived
    assert [page.state for page in await dialogue.pages(cold)] == ["archived"]


async def test_many_at_once_make_room_too(dialogue: DialogueMemory) -> None:
    await dialogue.configure(segments=3, window=1)
    added = await dialogue.add_many([{"user": word, "reply": word, "session": word} for word in WORDS])
    assert len(await dialogue.segments()) == 3
    assert len(added.archived) == len(WORDS) - 1 - 3
    everywhere = [*await dialogue.segments(), *await dialogue.segments(archived=True)]
    assert sum([len(await dialogue.pages(segment)) for segment in everywhere]) == len(WORDS) - 1


async def test_the_archive_is_searched_on_request(dialogue: DialogueMemory, clock: FakeClock) -> None:
    await dialogue.configure(segments=2, window=1)
    for word in WORDS[:6]:
        await separate(dialogue, word)
        clock.advance(60)
    assert "apple" in await words_of(dialogue, archived=True)
    assert "dragon" in await words_of(dialogue)
    assert not any(hit.segment.archived for hit in (await dialogue.recall("dragon and apple")).mid_term)
    assert any(hit.segment.archived for hit in (await dialogue.recall("dragon and apple", archived=True)).mid_term)
    found = await dialogue.recall("apple", archived=True)
    (hit,) = found.mid_term
    assert hit.segment.archived
    assert [one.page.text for one in hit.pages] == ["apple appleish\napplelike"]


async def test_a_segment_comes_back(dialogue: DialogueMemory, clock: FakeClock) -> None:
    await dialogue.configure(segments=2, window=1)
    for word in WORDS[:4]:
        await separate(dialogue, word)
        clock.advance(60)
    (cold,) = await dialogue.segments(archived=True)
    back = await dialogue.restore(cold)
    assert not back.archived
    assert [page.state for page in await dialogue.pages(back)] == ["active"]
    kept = await dialogue.upkeep()
    assert len(kept.archived_segments) == 1
    assert back.id not in kept.archived_segments, "it was visited just now"


async def test_pages_leave_by_age(dialogue: DialogueMemory, clock: FakeClock, talk: Any) -> None:
    old = await talk("garden", 2)
    clock.advance(timedelta(days=40))
    await talk("trains", 9)
    assert (await dialogue.upkeep()).archived_pages == (), "by default age is no reason"
    await dialogue.configure(retention_days=30)
    kept = await dialogue.upkeep()
    assert set(kept.archived_pages) == set(old)
    assert len(kept.archived_segments) == 1, "a segment without pages goes along"
    assert all(page.segment is not None for page in [await dialogue.page(id) for id in old])
    assert (await dialogue.upkeep()).operations == ()


async def test_unimportant_pages_leave_unless_somebody_read_them(
    dialogue: DialogueMemory, scoped: ScopedStore, clock: FakeClock, talk: Any
) -> None:
    dull = await talk("garden", 2, importance=0.1)
    fine = await talk("garden", 1, importance=0.8)
    await talk("trains", 7)
    await scoped.store.touch(scoped.scope, dull[:1])
    await dialogue.configure(prune_below=0.5)
    assert (await dialogue.upkeep()).archived_pages == (), "not before their time"
    clock.advance(timedelta(days=31))
    assert (await dialogue.upkeep()).archived_pages == tuple(dull[1:])
    assert (await dialogue.page(fine[0])).state == "active"


async def test_a_segment_keeps_its_most_important_pages(dialogue: DialogueMemory, talk: Any) -> None:
    ids = [(await talk("garden", importance=n / 10))[0] for n in (3, 9, 1, 5)]
    await talk("trains", 7)
    await dialogue.configure(segment_pages=2)
    kept = await dialogue.upkeep()
    assert set(kept.archived_pages) == {ids[0], ids[2]}


async def test_upkeep_can_be_undone(scoped_stores: Any, dialogue: DialogueMemory, clock: FakeClock, talk: Any) -> None:
    (old,) = await talk("garden")
    clock.advance(timedelta(days=40))
    await talk("trains", 7)
    await dialogue.configure(retention_days=30)
    kept = await dialogue.upkeep()
    mem = (await scoped_stores.longmind()).agent(scoped_stores.agent)
    for operation in reversed(kept.operations):
        await mem.undo(operation)
    assert (await dialogue.page(old)).state == "active"
    assert len(await dialogue.segments()) == 1


async def test_a_model_may_summarise(scoped: ScopedStore, talk: Any) -> None:
    await talk("garden", 2)
    await talk("trains", 7)
    model = Shortener()
    dialogue = DialogueMemory(scoped, summariser=model)
    kept = await dialogue.upkeep()
    (segment,) = await dialogue.segments()
    assert kept.summarised == (segment.id,)
    assert segment.summary == "In short."
    assert "user: the tomatoes in the greenhouse" in model.asked[0]
    assert (await dialogue.upkeep()).summarised == (), "nothing has grown"
    assert len(model.asked) == 1
    await talk("garden")
    await talk("trains", 7)
    assert segment.id in (await dialogue.upkeep()).summarised
    assert [hit.memory.id for hit in await scoped.search("short", kinds=["segment"])] != []


async def test_a_model_that_says_nothing_is_an_error(dialogue: DialogueMemory, talk: Any) -> None:
    await talk("garden", 8)
    before = await dialogue.segments()
    with pytest.raises(ModelError, match="returned nothing"):
        await dialogue.upkeep(Shortener("  "))
    assert await dialogue.segments() == before


async def test_a_topic_that_nobody_used_for_long_goes_to_the_archive(
    dialogue: DialogueMemory, clock: FakeClock
) -> None:
    await dialogue.configure(window=1)
    await separate(dialogue, *WORDS[:3])
    clock.advance(31 * 86_400)
    assert (await dialogue.upkeep()).archived_segments == (), "the user was away: nothing else was used meanwhile"
    by_word = {segment.keywords[0]: segment for segment in await dialogue.segments()}
    await dialogue.visit(by_word["apple"])
    await separate(dialogue, *WORDS[3:6])
    assert (await dialogue.upkeep()).archived_segments == (by_word["bridge"].id,)
    assert await words_of(dialogue, archived=True) == ["bridge"]
    assert (await dialogue.upkeep()).archived_segments == ()


async def test_a_topic_that_is_due_for_long_term_memory_does_not_go_cold(
    dialogue: DialogueMemory, clock: FakeClock
) -> None:
    await dialogue.configure(window=1)
    await dialogue.add("apple appleish", "applelike", session="apple", importance=0.9)
    await separate(dialogue, "bridge", "candle")
    clock.advance(31 * 86_400)
    await separate(dialogue, *WORDS[3:6])
    await dialogue.upkeep()
    assert await words_of(dialogue, archived=True) == ["bridge"]


async def test_topics_never_go_cold_if_the_agent_says_so(dialogue: DialogueMemory, clock: FakeClock) -> None:
    await dialogue.configure(window=1, cold_days=None)
    await separate(dialogue, *WORDS[:3])
    clock.advance(1_000 * 86_400)
    await separate(dialogue, *WORDS[3:6])
    assert (await dialogue.upkeep()).archived_segments == ()


async def test_what_went_cold_is_found_when_nothing_else_answers(dialogue: DialogueMemory, clock: FakeClock) -> None:
    await dialogue.configure(window=1)
    await dialogue.add("The lighthouse keeper is called Ottilie.", "A fine name.", session="lighthouse")
    await dialogue.add("My harbour berth is number nine.", "Noted.", session="harbour")
    clock.advance(31 * 86_400)
    await dialogue.add("The ferry has a new timetable.", "Since when?", session="ferry")
    await dialogue.add("The bakery sells rye bread.", "Good to know.", session="bakery")
    assert len((await dialogue.upkeep()).archived_segments) == 1
    recalled = await dialogue.recall("What is the lighthouse keeper called?")
    assert recalled.mid_term[0].segment.archived
    assert "Ottilie" in recalled.mid_term[0].pages[0].page.text
    active = await dialogue.recall("Does the ferry have a new timetable?")
    assert not any(topic.segment.archived for topic in active.mid_term)
