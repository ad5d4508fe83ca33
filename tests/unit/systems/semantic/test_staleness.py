"""What was derived from a fact that changed is stale: at any remove, in the same write, whatever kind it is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from longmind.errors import NotFound
from longmind.store.base import AddLink, Put
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory
from longmind.types import Link

Year = Callable[[int], datetime]


async def states(scoped: ScopedStore, *ids: str) -> list[str]:
    return [record.state for record in await scoped.store.get_all(scoped.scope, ids)]


async def test_all_that_was_derived_is_stale_in_the_same_operation(
    semantic: SemanticMemory, scoped: ScopedStore, year: Year
) -> None:
    home = (await semantic.learn("Alice", "lives in", "Porto", valid_from=year(2010))).fact
    country = (await semantic.learn("Alice", "country", "Portugal", derived_from=[home])).fact
    language = (await semantic.learn("Alice", "hears daily", "Portuguese", derived_from=[country])).fact
    summary = scoped.new("summary", "Alice, of Porto.")
    elsewhere = (await semantic.learn("Alice", "age", 30)).fact
    await scoped.write([Put(summary), AddLink(Link(source=summary.id, relation="derived_from", target=home.id))])
    change = await semantic.learn("Alice", "lives in", "Berlin", valid_from=year(2020))
    assert set(change.stale) == {country.id, language.id, summary.id}
    assert await states(scoped, country.id, language.id, summary.id, elsewhere.id) == ["stale"] * 3 + ["active"]
    assert change.operation is not None
    touched = {line.memory_id for line in await scoped.store.journal(scoped.scope, operation=change.operation)}
    assert {country.id, language.id, summary.id, home.id} <= touched


async def test_a_circle_of_derivations_ends(semantic: SemanticMemory, scoped: ScopedStore) -> None:
    one = (await semantic.learn("a", "p", 1)).fact
    two = (await semantic.learn("b", "p", 1, derived_from=[one])).fact
    await scoped.write([AddLink(Link(source=one.id, relation="derived_from", target=two.id))])
    change = await semantic.learn("a", "p", 2)
    assert change.stale == (two.id,)
    assert await states(scoped, one.id, two.id) == ["superseded", "stale"]


async def test_confirmation_and_late_knowledge_make_nothing_stale(
    semantic: SemanticMemory, scoped: ScopedStore, year: Year
) -> None:
    home = (await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))).fact
    derived = (await semantic.learn("Alice", "country", "Portugal", derived_from=[home])).fact
    await semantic.learn("Alice", "lives in", "Lisbon")
    await semantic.learn("Alice", "lives in", "Berlin", valid_from=year(2010))
    await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2019))
    assert await states(scoped, derived.id) == ["active"]


@pytest.mark.parametrize("verb", ["retract", "end"])
async def test_taking_back_and_ending_make_stale(
    semantic: SemanticMemory, scoped: ScopedStore, year: Year, verb: str
) -> None:
    home = (await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))).fact
    derived = (await semantic.learn("Alice", "country", "Portugal", derived_from=[home])).fact
    await (semantic.retract(home) if verb == "retract" else semantic.end(home))
    assert await states(scoped, derived.id) == ["stale"]
    (known,) = await semantic.know("Alice", "country")
    assert known.state == "stale", "it is still told, and told to be stale"


async def test_learning_a_stale_fact_again_revives_it(
    semantic: SemanticMemory, scoped: ScopedStore, year: Year
) -> None:
    home = (await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))).fact
    derived = (await semantic.learn("Alice", "country", "Portugal", derived_from=[home])).fact
    new = (await semantic.learn("Alice", "lives in", "Porto", valid_from=year(2022))).fact
    again = await semantic.learn("Alice", "country", "Portugal", derived_from=[new])
    assert (again.fact.id, again.fact.state) == (derived.id, "active")


async def test_what_rests_on_something_stale_is_stale_from_the_start(semantic: SemanticMemory) -> None:
    premise = (await semantic.learn("a", "p", 1)).fact
    await semantic.retract(premise)
    assert (await semantic.learn("b", "p", 1, derived_from=[premise])).fact.state == "stale"
    with pytest.raises(NotFound):
        await semantic.learn("b", "q", 1, derived_from=["0197f9a0-0000-7000-8000-000000000000"])


async def test_a_new_value_may_be_derived_from_the_one_it_ends(semantic: SemanticMemory, year: Year) -> None:
    one = (await semantic.learn("counter", "value", 1, valid_from=year(2020))).fact
    two = await semantic.learn("counter", "value", 2, valid_from=year(2021), derived_from=[one])
    assert (two.outcome, two.fact.state, two.stale) == ("changed", "active", ())
