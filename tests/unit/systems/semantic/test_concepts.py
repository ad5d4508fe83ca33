"""Concepts: one per name, whatever its case, and found by alias."""

from __future__ import annotations

import pytest

from longmind.errors import Conflict, InvalidInput, NotFound
from longmind.store.base import Delete
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory


async def test_found_by_name_alias_and_id_whatever_the_case(semantic: SemanticMemory) -> None:
    made = await semantic.define("New York City", "A city.", category="Place", aliases=["NYC", "Big Apple"])
    for name in ("new  york city", "NEW YORK CITY", "nyc", "big apple", made.id):
        found = await semantic.concept(name)
        assert found is not None, name
        assert found.id == made.id
    assert await semantic.concept("York") is None


async def test_accents_tell_names_apart(semantic: SemanticMemory) -> None:
    first, second = await semantic.define("Peña"), await semantic.define("Pena")
    assert first.id != second.id


async def test_define_again_adds_and_keeps(semantic: SemanticMemory) -> None:
    first = await semantic.define("Python", "A language.", category="Tool", attributes={"typed": True})
    again = await semantic.define("python", aliases=["CPython"])
    assert again.id == first.id
    assert (again.definition, again.category, again.aliases) == ("A language.", "Tool", ("CPython",))
    assert again.attributes == {"typed": True}
    assert await semantic.define("Python", aliases=["cpython"]) == again, "nothing new, nothing written"


async def test_an_alias_leads_to_one_concept(semantic: SemanticMemory) -> None:
    await semantic.define("Java (island)", aliases=["Java"])
    with pytest.raises(Conflict, match="already means"):
        await semantic.define("Java (language)", aliases=["java"])
    assert await semantic.concept("Java (language)") is None, "nothing of a refused definition stays"


async def test_defining_by_an_alias_changes_the_concept(semantic: SemanticMemory) -> None:
    made = await semantic.define("Lisbon", aliases=["Lisboa"])
    assert (await semantic.define("Lisboa", category="City")).id == made.id


async def test_the_name_of_a_forgotten_alias_is_free_again(semantic: SemanticMemory, scoped: ScopedStore) -> None:
    made = await semantic.define("Lisbon", aliases=["Lisboa"])
    await scoped.write([Delete(made.id)])
    assert await semantic.concept("Lisboa") is None
    anew = await semantic.define("Lisboa")
    assert anew.id != made.id
    assert (await semantic.concept("lisboa")) == anew


async def test_pages_by_category(semantic: SemanticMemory) -> None:
    for n in range(5):
        await semantic.define(f"city {n}", category="City")
    await semantic.define("Alice", category="Person")
    first = await semantic.concepts(category="CITY", limit=3)
    rest = await semantic.concepts(category="city", limit=3, cursor=first.cursor)
    assert [c.name for c in (*first.items, *rest.items)] == [f"city {n}" for n in range(5)]
    assert rest.cursor is None
    assert len((await semantic.concepts()).items) == 6


async def test_bad_names_are_refused(semantic: SemanticMemory) -> None:
    with pytest.raises(InvalidInput):
        await semantic.define("  ")
    with pytest.raises(InvalidInput):
        await semantic.define("x" * 300)
    with pytest.raises(NotFound):
        await semantic.learn("0197f9a0-0000-7000-8000-000000000000", "age", 3)
    with pytest.raises(NotFound, match="no concept"):
        await semantic.about("nobody")


async def test_long_names_work(semantic: SemanticMemory) -> None:
    name = "a name as long as is allowed " * 6
    made = await semantic.define(name)
    assert (await semantic.concept(name.upper())) == made
