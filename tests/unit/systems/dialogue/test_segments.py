"""Mid-term memory: which segment a page joins, with words and with vectors, on every backend."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import NotFound
from longmind.systems.dialogue import DialogueMemory, DialogueSettings
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock


async def members(dialogue: DialogueMemory) -> list[set[str]]:
    return [{page.id for page in await dialogue.pages(segment)} for segment in await dialogue.segments()]


async def test_pages_on_one_topic_are_one_segment(dialogue: DialogueMemory, talk: Any) -> None:
    garden, trains = await talk("garden", 3), await talk("trains", 3)
    await talk("violin", 7)
    assert sorted(await members(dialogue), key=sorted) == sorted([set(garden), set(trains)], key=sorted)
    by_word = {segment.keywords[0]: segment for segment in await dialogue.segments()}
    assert {"compost", "express"} == set(by_word), "keywords are words as they were written"
    assert by_word["compost"].length == 3
    assert "compost" in by_word["compost"].summary


async def test_a_topic_that_comes_back_joins_its_segment(dialogue: DialogueMemory, talk: Any) -> None:
    first = await talk("garden", 2)
    await talk("trains", 7)
    later = await talk("garden", 2)
    await talk("violin", 7)
    assert {*first, *later} in await members(dialogue)


async def test_the_threshold_is_a_setting(dialogue: DialogueMemory, talk: Any) -> None:
    await dialogue.configure(join=2.0)
    await talk("garden", 4)
    await talk("trains", 7)
    assert sorted(map(len, await members(dialogue))) == [1, 1, 1, 1], "nothing is as alike as that"


async def test_with_vectors_meaning_counts(scoped_stores: Any) -> None:
    dialogue = DialogueMemory(await scoped_stores.open(embedder="static"), DialogueSettings(join=0.4))
    said = (
        "My dog chased a cat across the garden",
        "Puppies and kittens are lovely pets to have",
        "The stock market crashed and investors sold their shares",
    )
    for text in said:
        await dialogue.add(text, "I see", session=text)
    for n in range(7):
        await dialogue.add(f"Filler {n}", "filler", session="filler")
    first, pets, market = await asyncio.gather(*(_segment(dialogue, text) for text in said))
    assert first == pets != market


async def _segment(dialogue: DialogueMemory, text: str) -> str:
    for segment in await dialogue.segments():
        for page in await dialogue.pages(segment):
            if text in page.text:
                return segment.id
    raise AssertionError(text)


async def test_a_segment_is_found_by_search(dialogue: DialogueMemory, scoped: ScopedStore, talk: Any) -> None:
    await talk("garden", 2)
    await talk("trains", 7)
    hits = await scoped.search("compost", kinds=["segment"])
    assert [hit.memory.id for hit in hits] == [segment.id for segment in await dialogue.segments()]


async def test_only_the_present_members_are_told(dialogue: DialogueMemory, scoped: ScopedStore, talk: Any) -> None:
    garden = await talk("garden", 3)
    await talk("trains", 7)
    await scoped.store.delete(scoped.scope, garden[1])
    assert await members(dialogue) == [{garden[0], garden[2]}]


async def test_what_is_no_segment(dialogue: DialogueMemory, scoped: ScopedStore, talk: Any) -> None:
    (id,) = await talk("garden")
    for wrong in (id, scoped.clock.new_id()):
        with pytest.raises(NotFound, match="no segment"):
            await dialogue.segment(wrong)


async def test_erasing_a_page_takes_its_segment_and_the_rest_is_grouped_anew(
    scoped_stores: Any, dialogue: DialogueMemory, talk: Any
) -> None:
    garden = await talk("garden", 3)
    await talk("trains", 7)
    (before,) = await dialogue.segments()
    mem = (await scoped_stores.longmind()).agent(scoped_stores.agent)
    await mem.forget(garden[0], erase=True)
    assert await dialogue.segments() == (), "its summary quoted the page"
    kept = await dialogue.upkeep()
    assert {moved.page for moved in kept.regrouped} == set(garden[1:])
    (after,) = await dialogue.segments()
    assert after.id != before.id
    assert await members(dialogue) == [set(garden[1:])]
    assert (await dialogue.upkeep()).operations == ()


async def test_archived_pages_are_grouped_anew_in_the_archive(
    scoped_stores: Any, dialogue: DialogueMemory, clock: FakeClock, talk: Any
) -> None:
    garden = await talk("garden", 3)
    clock.advance(timedelta(days=40))
    await talk("trains", 7)
    await dialogue.configure(retention_days=30)
    assert len((await dialogue.upkeep()).archived_segments) == 1
    mem = (await scoped_stores.longmind()).agent(scoped_stores.agent)
    await mem.forget(garden[0], erase=True)
    kept = await dialogue.upkeep()
    assert {moved.page for moved in kept.regrouped} == set(garden[1:])
    assert await dialogue.segments() == ()
    (archived,) = await dialogue.segments(archived=True)
    assert {page.id for page in await dialogue.pages(archived)} == set(garden[1:])
