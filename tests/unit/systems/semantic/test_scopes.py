"""Whose facts: a user's are that user's, the agent's are everyone's to read, and neither changes the other."""

from __future__ import annotations

from typing import Any

import pytest

from longmind.errors import Forbidden
from longmind.systems.semantic import SemanticMemory


@pytest.fixture
async def three(scoped_stores: Any) -> tuple[SemanticMemory, SemanticMemory, SemanticMemory]:
    """The memory of the agent itself, with ann, and with bob."""
    agent = SemanticMemory(await scoped_stores.open(all_users=True))
    ann, bob = [SemanticMemory(await scoped_stores.open(user=user)) for user in ("ann", "bob")]
    return agent, ann, bob


Three = tuple[SemanticMemory, SemanticMemory, SemanticMemory]


async def objects(semantic: SemanticMemory, subject: str, predicate: str) -> list[object]:
    return [fact.object for fact in await semantic.know(subject, predicate)]


async def test_a_users_facts_are_not_told_to_another(three: Three) -> None:
    agent, ann, bob = three
    await agent.define("Lisbon", "A city.")
    await agent.define("the boss")
    await ann.learn("the boss", "lives in", "Lisbon")
    assert await objects(ann, "the boss", "lives in") == ["Lisbon"]
    assert await objects(bob, "the boss", "lives in") == []
    assert (await bob.about("Lisbon")).mentions == ()
    assert await bob.path("the boss", "Lisbon") is None, "a private fact makes no public edge"
    assert await ann.path("the boss", "Lisbon") is not None
    assert await objects(agent, "the boss", "lives in") == ["Lisbon"], "the agent sees all its users' facts"


async def test_each_has_a_timeline_of_its_own(three: Three) -> None:
    agent, ann, bob = three
    await agent.learn("shop", "opens at", 9)
    await ann.learn("shop", "opens at", 10)
    assert await objects(agent, "shop", "opens at") == [9]
    assert await objects(ann, "shop", "opens at") == [10], "one's own hides the agent's"
    assert await objects(bob, "shop", "opens at") == [9]
    assert (await bob.learn("shop", "opens at", 11)).outcome == "new", "another user's value is no contradiction"


async def test_many_values_of_both_are_told_together(three: Three) -> None:
    agent, ann, bob = three
    await agent.declare("sells", many=True)
    await agent.learn("shop", "sells", "tea")
    await ann.learn("shop", "sells", "books")
    assert await objects(ann, "shop", "sells") == ["books", "tea"]
    assert await objects(bob, "shop", "sells") == ["tea"]


async def test_a_user_changes_nothing_of_the_agents(three: Three) -> None:
    agent, ann, _ = three
    fact = (await agent.learn("shop", "opens at", 9)).fact
    for change in (ann.retract(fact), ann.end(fact), ann.define("shop", "Mine."), ann.declare("opens at", many=True)):
        with pytest.raises(Forbidden):
            await change
    assert await objects(agent, "shop", "opens at") == [9]


async def test_a_users_own_concepts_and_predicates_stay_its_own(three: Three) -> None:
    agent, ann, bob = three
    await ann.learn("my secret", "colour", "red")
    assert await bob.concept("my secret") is None
    assert await bob.predicates() == []
    mine = await bob.learn("my secret", "colour", "blue")
    assert mine.outcome == "new"
    assert {f.object for f in await agent.know("my secret", "colour")} == {"red", "blue"}
    await agent.retract((await ann.know("my secret", "colour"))[0])
    assert await objects(ann, "my secret", "colour") == []
    assert (await ann.learn("my secret", "colour", "green")).outcome == "new"


async def test_what_follows_from_a_users_fact_is_that_users(three: Three) -> None:
    agent, ann, bob = three
    await agent.define("the boss")
    takes, ails = ("?x", "takes", "insulin"), ("?x", "suffers from", "diabetes")
    await agent.rule("care", "Who takes insulin has diabetes.", when=[takes], then=ails)
    await ann.learn("the boss", "takes", "insulin")
    await ann.learn("my neighbour", "takes", "insulin")
    assert await agent.derive() == [], "what one user said is no premise for what everybody may read"
    assert {(str(one.fact), one.fact.user) for one in await ann.derive()} == {
        ("the boss suffers from diabetes", "ann"),
        ("my neighbour suffers from diabetes", "ann"),
    }
    assert await objects(bob, "the boss", "suffers from") == []


async def test_what_follows_from_the_agents_facts_is_derived_once_and_for_all(three: Three) -> None:
    agent, ann, _ = three
    await agent.rule("birds", "Birds fly.", when=[("?x", "is a", "bird")], then=("?x", "can", "fly"))
    await agent.relate("Tweety", "is a", "bird")
    assert await ann.derive() == [], "it is the whole agent's"
    assert [one.fact.user for one in await agent.derive()] == [None]
    assert await objects(ann, "Tweety", "can") == ["fly"]
