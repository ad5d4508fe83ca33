"""Search by content, category and time; and a restart loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory

Year = Callable[[int], datetime]


async def test_search_by_content_and_category(semantic: SemanticMemory) -> None:
    await semantic.define("Lisbon", "A harbour city on the Tagus.", category="City")
    await semantic.define("Tagus", "A river with a harbour.", category="River")
    await semantic.learn("Lisbon", "harbour", "deep")
    await semantic.learn("Tagus", "harbour", "shallow")
    everything = await semantic.search("harbour")
    assert {(f.concept and f.concept.name) or str(f.fact) for f in everything} == {
        "Lisbon",
        "Tagus",
        "Lisbon harbour deep",
        "Tagus harbour shallow",
    }
    cities = await semantic.search("harbour", category="CITY")
    assert {(f.concept and f.concept.name) or str(f.fact) for f in cities} == {"Lisbon", "Lisbon harbour deep"}
    assert await semantic.search("harbour", category="Planet") == []


async def drinks(semantic: SemanticMemory, **when: datetime) -> list[object]:
    """The facts that a search for tea finds; recall may add the concepts that they are about."""
    return [found.fact.object for found in await semantic.search("tea", **when) if found.fact is not None]


async def test_search_leaves_out_what_was_retracted_and_asks_as_of(semantic: SemanticMemory, year: Year) -> None:
    await semantic.learn("Alice", "drinks", "black tea", valid_from=year(2010))
    await semantic.learn("Alice", "drinks", "green tea", valid_from=year(2020))
    assert await drinks(semantic, as_of=year(2015)) == ["black tea"]
    await semantic.retract((await semantic.know("Alice", "drinks"))[0])
    assert await drinks(semantic) == ["black tea"]


async def test_search_by_meaning(scoped_stores: Any) -> None:
    semantic = SemanticMemory(await scoped_stores.open(embedder="static"))
    await semantic.learn("Alice", "drives", "automobile")
    await semantic.learn("Bob", "plays", "violin")
    found = await semantic.search("car", k=1)
    assert found[0].fact is not None
    assert found[0].fact.subject == "Alice"


async def test_a_restart_loses_nothing(scoped_stores: Any, year: Year) -> None:
    semantic = SemanticMemory(await scoped_stores.open())
    await semantic.define("Lisbon", "A city.", aliases=["Lisboa"])
    await semantic.learn("Alice", "lives in", "Porto", valid_from=year(2010))
    await semantic.learn("Alice", "lives in", "Lisboa", valid_from=year(2020))
    before = await semantic.history("Alice", "lives in")
    scoped: ScopedStore = await scoped_stores.restart()
    again = SemanticMemory(scoped)
    assert await again.history("Alice", "lives in") == before
    assert (await again.learn("Alice", "lives in", "lisbon")).outcome == "confirmed"
