"""Rules: kept as sentences, applied as premises and a conclusion."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from longmind.errors import InvalidInput
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory

Year = Callable[[int], datetime]
GRANDPARENT = {
    "when": [("?a", "parent of", "?b"), ("?b", "parent of", "?c")],
    "then": ("?a", "grandparent of", "?c"),
}


async def test_a_sentence_is_kept_and_found(semantic: SemanticMemory) -> None:
    rule = await semantic.rule("quiet hours", "Nobody is called after nine in the evening.")
    again = await semantic.rule("Quiet Hours", "Nobody is called after ten in the evening.")
    assert again.id == rule.id
    assert [r.statement for r in (await semantic.rules()).items] == ["Nobody is called after ten in the evening."]
    (found,) = await semantic.search("who may be called in the evening")
    assert found.rule is not None
    assert found.rule.name == "Quiet Hours"


async def test_deriving_until_nothing_new_follows(semantic: SemanticMemory, scoped: ScopedStore, year: Year) -> None:
    await semantic.relate("Ann", "parent of", "Bea", valid_from=year(1950))
    await semantic.relate("Cid", "child of", "Bea", valid_from=year(1980), confidence=0.5)
    await semantic.rule("grandparents", "A parent's parent is a grandparent.", **GRANDPARENT)
    await semantic.rule(
        "fond", "Grandparents spoil.", when=[("?a", "grandparent of", "?c")], then=("?a", "spoils", "?c")
    )
    learned = {str(one.fact): one.fact for one in await semantic.derive()}
    assert set(learned) == {"Ann grandparent of Cid", "Ann spoils Cid"}
    fact = learned["Ann grandparent of Cid"]
    assert (fact.valid_from, fact.rule) == (year(1980), "grandparents")
    assert fact.confidence == pytest.approx(0.45)
    assert len(await scoped.store.links(scoped.scope, [fact.id], relation="derived_from")) == 3
    assert await semantic.derive() == [], "the second time nothing is new"


async def test_what_no_longer_follows_stays_stale_and_what_does_is_revived(semantic: SemanticMemory) -> None:
    await semantic.rule(
        "owner", "Who lives in a place votes there.", when=[("?p", "lives in", "?c")], then=("?p", "votes in", "?c")
    )
    home = (await semantic.learn("Alice", "lives in", "Lisbon")).fact
    (one,) = await semantic.derive()
    await semantic.retract(home)
    (known,) = await semantic.know("Alice", "votes in")
    assert (known.id, known.state) == (one.fact.id, "stale")
    assert await semantic.derive() == []
    await semantic.learn("Alice", "lives in", "Lisbon")
    (revived,) = await semantic.derive()
    assert (revived.fact.id, revived.fact.state) == (one.fact.id, "active")


async def test_changing_a_rule_makes_its_conclusions_stale(semantic: SemanticMemory) -> None:
    pattern = {"when": [("?x", "is a", "bird")], "then": ("?x", "can", "fly")}
    await semantic.rule("birds", "Birds fly.", **pattern)
    await semantic.relate("Tweety", "is a", "bird")
    await semantic.derive()
    await semantic.rule("birds", "Birds fly, mostly.", **pattern, confidence=0.7)
    (known,) = await semantic.know("Tweety", "can")
    assert known.state == "stale"


async def test_a_rule_never_overrules_a_statement(semantic: SemanticMemory) -> None:
    await semantic.learn("Pingu", "can", "swim")
    await semantic.relate("Pingu", "is a", "bird")
    await semantic.rule("birds", "Birds fly.", when=[("?x", "is a", "bird")], then=("?x", "can", "fly"))
    assert await semantic.derive() == []
    assert [f.object for f in await semantic.know("Pingu", "can")] == ["swim"]


async def test_nothing_is_related_to_itself(semantic: SemanticMemory) -> None:
    await semantic.relate("Ann", "parent of", "Cid")
    await semantic.relate("Ann", "parent of", "Dan")
    shared = [("?p", "parent of", "?a"), ("?p", "parent of", "?b")]
    await semantic.rule("siblings", "Children of one are siblings.", when=shared, then=("?a", "sibling of", "?b"))
    assert len(await semantic.derive()) == 1
    assert [f.object for f in await semantic.know("Dan", "sibling of")] == ["Cid"]


async def test_rules_that_cannot_be_applied(semantic: SemanticMemory) -> None:
    with pytest.raises(InvalidInput, match="no premise mentions"):
        await semantic.rule("r", "x", when=[("?a", "knows", "?b")], then=("?a", "knows", "?c"))
    with pytest.raises(InvalidInput, match="both premises and a conclusion"):
        await semantic.rule("r", "x", then=("a", "knows", "b"))
    with pytest.raises(InvalidInput, match="not a pattern"):
        await semantic.rule("r", "x", when=[("?a", "knows")], then=("?a", "knows", "b"))
