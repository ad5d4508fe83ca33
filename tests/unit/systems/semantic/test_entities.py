"""The graph of entities over semantic memory: what is stored there is found elsewhere, and the other way round."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from longmind import AgentMemory, Longmind, Settings
from longmind.errors import InvalidInput, NotFound
from longmind.systems.semantic import Entity, EntityGraph, Observations, Relation


@pytest.fixture
async def mem(store_url: str) -> AsyncIterator[AgentMemory]:
    """The memory of a new agent, on every backend in turn."""
    async with Longmind.open(store_url, settings=Settings.load({}), embedder="none") as longmind:
        yield longmind.agent(f"entities-{uuid4()}")


def _alice(*observations: str) -> Entity:
    return Entity(name="Alice", entity_type="person", observations=observations)


def _relation(source: str, kind: str, target: str) -> Relation:
    return Relation(source=source, target=target, relation_type=kind)


async def test_observations_and_relations_are_recalled(mem: AgentMemory) -> None:
    graph = EntityGraph(mem.scoped)
    await graph.create_entities([_alice("plays the cello"), Entity(name="Lisbon", entity_type="city")])
    await graph.create_relations([_relation("Alice", "lives_in", "Lisbon")])
    assert (await mem.recall("who plays the cello?"))[0].memory.content == "Alice: plays the cello"
    assert [str(fact) for fact in await mem.semantic.know("Alice", "lives in")] == ["Alice lives in Lisbon"]
    about = await mem.semantic.about("Lisbon")
    assert about.concept.category == "city"
    assert [str(fact) for fact in about.mentions] == ["Alice lives in Lisbon"]
    path = await mem.semantic.path("Alice", "Lisbon")
    assert path is not None
    assert path.concepts == ("Alice", "Lisbon")


async def test_what_was_learnt_is_in_the_graph(mem: AgentMemory) -> None:
    await mem.semantic.define("Lisbon", "The capital of Portugal.", category="city")
    await mem.semantic.learn("Lisbon", "population", 545_000)
    await mem.semantic.relate("Alice", "works at", "Acme")
    graph = await EntityGraph(mem.scoped).read()
    lisbon, alice, acme = graph.entities
    assert lisbon == Entity(
        name="Lisbon", entity_type="city", observations=("The capital of Portugal.", "population 545000")
    )
    assert (alice.name, acme.name) == ("Alice", "Acme")
    assert graph.relations == (_relation("Alice", "works at", "Acme"),)


async def test_relations_stand_beside_each_other_until_one_is_learnt(mem: AgentMemory) -> None:
    graph = EntityGraph(mem.scoped)
    await graph.create_relations([_relation("Alice", "lives_in", "Porto"), _relation("Alice", "lives_in", "Lisbon")])
    assert len((await graph.read()).relations) == 2
    await mem.semantic.relate("Alice", "lives in", "Faro")
    assert (await graph.read()).relations == (_relation("Alice", "lives in", "Faro"),)


async def test_a_relation_by_the_inverse_is_known_from_both_sides(mem: AgentMemory) -> None:
    graph = EntityGraph(mem.scoped)
    await graph.create_relations([_relation("Lisbon", "home of", "Alice")])
    assert [fact.object for fact in await mem.semantic.know("Alice", "lives in")] == ["Lisbon"]
    assert (await graph.read()).relations == (_relation("Lisbon", "home of", "Alice"),)


async def test_a_mentioned_name_is_no_entity_until_it_is_created(mem: AgentMemory) -> None:
    graph = EntityGraph(mem.scoped)
    await graph.create_relations([_relation("Alice", "knows", "Bob")])
    assert (await graph.read()).entities == ()
    with pytest.raises(NotFound, match="Entity with name Alice not found"):
        await graph.add_observations([Observations(entity="Alice", contents=("tall",))])
    assert await graph.create_entities([_alice("tall")]) == [_alice("tall")]
    assert (await graph.open(["alice"])).entities == (_alice("tall"),)
    await mem.forget(await graph.ids_of_relations([_relation("Alice", "knows", "Bob")]))
    assert await mem.semantic.concept("Bob") is None
    assert await mem.semantic.concept("Alice") is not None


async def test_nothing_is_added_if_one_entity_is_missing(mem: AgentMemory) -> None:
    graph = EntityGraph(mem.scoped)
    await graph.create_entities([_alice()])
    with pytest.raises(NotFound):
        await graph.add_observations(
            [Observations(entity="Alice", contents=("tall",)), Observations(entity="Nobody", contents=("x",))]
        )
    assert (await graph.read()).entities == (_alice(),)


async def test_deleted_entities_come_back_by_undo(mem: AgentMemory) -> None:
    graph = EntityGraph(mem.scoped)
    await graph.create_entities([_alice("tall"), Entity(name="Bob", entity_type="person")])
    await graph.create_relations([_relation("Alice", "knows", "Bob")])
    before = await graph.read()
    forgotten = await mem.forget(await graph.ids_of_entities(["Alice"]))
    assert [entity.name for entity in (await graph.read()).entities] == ["Bob"]
    assert forgotten.operation is not None
    await mem.undo(forgotten.operation)
    assert await graph.read() == before


async def test_concurrent_writers_create_everything_once(mem: AgentMemory) -> None:
    graphs = [EntityGraph(mem.scoped) for _ in range(8)]
    created = await asyncio.gather(*(graph.create_entities([_alice("tall")]) for graph in graphs))
    assert sum(map(len, created)) == 1
    added = await asyncio.gather(
        *(graph.add_observations([Observations(entity="Alice", contents=("kind", "tall"))]) for graph in graphs)
    )
    assert sorted(item.contents for answer in added for item in answer) == [()] * 7 + [("kind",)]
    related = await asyncio.gather(*(g.create_relations([_relation("Alice", "knows", "Bob")]) for g in graphs))
    assert sum(map(len, related)) == 1
    assert len((await graphs[0].read()).relations) == 1


async def test_names_that_cannot_be_stored_are_refused(mem: AgentMemory) -> None:
    graph = EntityGraph(mem.scoped)
    for relation in (_relation("Alice", "", "Bob"), _relation("Alice", "x" * 81, "Bob"), _relation("", "knows", "Bob")):
        with pytest.raises(InvalidInput):
            await graph.create_relations([relation])
    with pytest.raises(InvalidInput):
        await graph.create_entities([Entity(name=" ", entity_type="person")])
    assert (await graph.read()).relations == ()
