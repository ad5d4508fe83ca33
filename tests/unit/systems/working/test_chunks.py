"""Chunks: related items share a slot, and are kept."""

from __future__ import annotations

from typing import Any

from longmind.systems.scoped_store import ScopedStore
from longmind.systems.working import WorkingMemory
from longmind.systems.working.entities import entities

LISBON = {
    "hotel": "We sleep in Lisbon near the river",
    "food": "There is good fish in Lisbon",
    "tram": "Take the yellow tram in Lisbon",
}
OTHERS = {"tax": "File the return by spring", "dog": "Rex needs a walk", "code": "The parser fails on commas"}


async def chunks(working: WorkingMemory) -> set[frozenset[str]]:
    return {frozenset(item.key for item in slot.items) for slot in await working.slots()}


async def test_related_items_share_a_slot_when_room_is_short(scoped: ScopedStore) -> None:
    working = WorkingMemory(scoped, items=4)
    for key, text in (LISBON | OTHERS).items():
        assert (await working.put(key, text)).evicted == ()
    assert await chunks(working) == {frozenset(LISBON), *(frozenset({key}) for key in OTHERS)}
    items = {item.key: item for item in await working.items()}
    assert {items[key].chunk for key in LISBON} == {"lisbon"}
    assert items["tax"].chunk is None
    assert items["hotel"].content == LISBON["hotel"], "the members are kept as they are"


async def test_without_chunking_items_leave_instead(scoped: ScopedStore) -> None:
    working = WorkingMemory(scoped, items=4, chunking=False)
    left = [e.key for key, text in (LISBON | OTHERS).items() for e in (await working.put(key, text)).evicted]
    assert len(left) == 2
    assert len(await working.slots()) == 4


async def test_chunking_can_be_asked_for(working: WorkingMemory) -> None:
    for key, text in (LISBON | OTHERS).items():
        await working.put(key, text)
    assert len(await working.slots()) == 6
    assert await working.chunk() == 2
    assert len(await working.slots()) == 4
    assert await working.chunk() == 0


async def test_a_chunk_leaves_and_its_members_come_back_one_by_one(scoped: ScopedStore) -> None:
    working = WorkingMemory(scoped, items=2)
    for key, text in LISBON.items():
        await working.put(key, text, 0.1)
    await working.put("tax", OTHERS["tax"], 0.9)
    placed = await working.put("dog", OTHERS["dog"], 0.9)
    assert {e.key for e in placed.evicted} == set(LISBON)
    assert (await working.fetch("tram")).item.content == LISBON["tram"]
    assert len(await working.slots()) == 2


async def test_a_chunk_that_loses_all_but_one_is_an_item_again(working: WorkingMemory) -> None:
    await working.put("hotel", LISBON["hotel"])
    await working.put("food", LISBON["food"])
    assert await working.chunk() == 1
    await working.release("food")
    (item,) = await working.items()
    assert (item.key, item.chunk) == ("hotel", None)


async def test_a_chunk_has_at_most_five_members_and_counts_its_tokens(scoped: ScopedStore) -> None:
    working = WorkingMemory(scoped, items=2, tokens=1000, tokens_of=len)
    for n in range(8):
        await working.put(f"k{n}", f"Fact number {n} on the city of Lisbon")
    sizes = sorted(len(slot.items) for slot in await working.slots())
    assert sizes == [3, 5]
    assert sum(slot.tokens for slot in await working.slots()) == sum([i.tokens for i in await working.items()])
    short = WorkingMemory(scoped, items=1, tokens=40, tokens_of=len)
    assert len((await short.put("k0", "x" * 40)).evicted) == 8
    assert [i.key for i in await short.items()] == ["k0"]


async def test_a_growing_member_of_the_only_chunk_pushes_its_companions_out(scoped: ScopedStore) -> None:
    working = WorkingMemory(scoped, items=1, tokens=80, tokens_of=len)
    await working.put("hotel", "The hotel in Lisbon", 0.2)
    await working.put("food", "The food in Lisbon", 0.9)
    assert len(await working.items()) == 2
    placed = await working.put("food", "The food in Lisbon " * 4, 0.9)
    assert {(e.key, e.reason) for e in placed.evicted} == {("food", "replaced"), ("hotel", "evicted")}


async def test_items_alike_in_meaning_belong_together(scoped_stores: Any) -> None:
    working = WorkingMemory(await scoped_stores.open(embedder="static"), items=2)
    await working.put("a", "the puppy barks all night")
    await working.put("b", "my dog barked at night")
    assert (await working.put("c", "quarterly invoice totals")).evicted == ()
    assert await chunks(working) == {frozenset("ab"), frozenset("c")}


def test_names_are_told_from_the_first_words_of_sentences() -> None:
    texts = [
        "Lisbon is far. Book a room",
        "We go to Lisbon on Monday with Ana's dog",
        "See INV-204 and ana@example.org, @bob",
    ]
    assert entities(texts) == [
        frozenset({"lisbon"}),
        frozenset({"lisbon", "ana"}),
        frozenset({"inv-204", "ana@example.org", "@bob"}),
    ]
