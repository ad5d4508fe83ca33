"""Predicates: single- and multi-valued, read from both sides, declared and declared again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from longmind.errors import Conflict, InvalidInput
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory

Year = Callable[[int], datetime]


async def objects(semantic: SemanticMemory, subject: str, predicate: str) -> set[object]:
    return {fact.object for fact in await semantic.know(subject, predicate)}


async def test_many_values_hold_at_once(semantic: SemanticMemory) -> None:
    await semantic.declare("plays", many=True)
    for game in ("chess", "go", "Chess"):
        await semantic.learn("Alice", "plays", game)
    assert await objects(semantic, "Alice", "plays") == {"chess", "go"}
    assert len(await semantic.history("Alice", "plays")) == 2


async def test_first_use_declares(semantic: SemanticMemory) -> None:
    await semantic.learn("Alice", "motto", "Yes.")
    await semantic.relate("Alice", "admires", "Bob")
    await semantic.relate("Alice", "admires", "Carol")
    declared = {p.name: (p.many, p.relates) for p in await semantic.predicates()}
    assert declared == {"motto": (False, False), "admires": (True, True)}
    assert await objects(semantic, "Alice", "admires") == {"Bob", "Carol"}
    with pytest.raises(InvalidInput, match="plain values"):
        await semantic.relate("Alice", "motto", "Bob")


async def test_inverse_is_the_same_fact_from_the_other_side(semantic: SemanticMemory, year: Year) -> None:
    await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))
    assert await objects(semantic, "Lisbon", "home of") == {"Alice"}
    (told,) = await semantic.know("Lisbon", "home of")
    assert (str(told), told.turned_from) == ("Lisbon home of Alice", "lives in")
    await semantic.learn("Berlin", "home of", "Alice", valid_from=year(2022))
    assert await objects(semantic, "Alice", "lives in") == {"Berlin"}, "it is single-valued from whichever side"
    assert await objects(semantic, "Lisbon", "home of") == set()
    await semantic.learn("Bob", "lives in", "Berlin")
    assert await objects(semantic, "Berlin", "home of") == {"Alice", "Bob"}
    assert [f.object for f in await semantic.history("Lisbon", "home of")] == ["Alice"]


async def test_symmetric_is_stored_once_and_read_both_ways(semantic: SemanticMemory) -> None:
    first = await semantic.relate("Alice", "knows", "Bob")
    again = await semantic.relate("Bob", "knows", "Alice")
    assert (again.outcome, again.fact.id) == ("confirmed", first.fact.id)
    assert await objects(semantic, "Alice", "knows") == {"Bob"}
    assert await objects(semantic, "Bob", "knows") == {"Alice"}


async def test_own_inverse_can_be_declared(semantic: SemanticMemory) -> None:
    await semantic.declare("mentors", many=True, inverse="mentored by")
    await semantic.relate("Bob", "mentored by", "Ann")
    assert await objects(semantic, "Ann", "mentors") == {"Bob"}
    with pytest.raises(Conflict, match="inverse of"):
        await semantic.declare("mentored by", many=False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"symmetric": True},
        {"symmetric": True, "many": True, "inverse": "x"},
        {"inverse": "p"},
        {"transitive": True, "relates": False},
    ],
)
async def test_meanings_that_contradict_themselves(semantic: SemanticMemory, wrong: dict[str, bool]) -> None:
    with pytest.raises(InvalidInput):
        await semantic.declare("p", **wrong)
    assert await semantic.predicates() == []


async def test_declaring_again_moves_what_is_known(semantic: SemanticMemory, scoped: ScopedStore) -> None:
    await semantic.learn("Alice", "nickname", "Al")
    await semantic.declare("nickname", many=True)
    await semantic.learn("Alice", "nickname", "Ali")
    assert await objects(semantic, "Alice", "nickname") == {"Al", "Ali"}
    assert (await semantic.learn("Alice", "nickname", "al")).outcome == "confirmed"
    with pytest.raises(Conflict, match="held at once"):
        await semantic.declare("nickname", many=False)
    (other,) = [f for f in await semantic.know("Alice", "nickname") if f.object == "Al"]
    await semantic.retract(other)
    assert (await semantic.declare("nickname", many=False)).many is False
    assert (await semantic.learn("Alice", "nickname", "A")).outcome == "changed"


async def test_facts_keep_their_meaning(semantic: SemanticMemory) -> None:
    await semantic.learn("Alice", "employer", "Acme")
    with pytest.raises(Conflict, match="another meaning"):
        await semantic.declare("employer", relates=True)
    assert [p.relates for p in await semantic.predicates()] == [False]
    assert (await semantic.declare("employer", description="Who pays.")).description == "Who pays."


async def test_an_inverse_can_be_given_and_changed_later(semantic: SemanticMemory) -> None:
    await semantic.relate("Alice", "reports to", "Bob")
    await semantic.declare("reports to", inverse="boss of")
    assert await objects(semantic, "Bob", "boss of") == {"Alice"}
    await semantic.declare("reports to", inverse="leads")
    assert await objects(semantic, "Bob", "leads") == {"Alice"}
    assert await semantic.know("Bob", "boss of") == []
