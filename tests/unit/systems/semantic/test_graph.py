"""The graph: paths, neighbourhoods, chains of transitive relations, and its export."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from xml.etree import ElementTree

import pytest

from longmind.errors import InvalidInput, NotFound
from longmind.systems.semantic import SemanticMemory

Year = Callable[[int], datetime]
NS = {"g": "http://graphml.graphdrawing.org/xmlns"}


@pytest.fixture
async def world(semantic: SemanticMemory, year: Year) -> SemanticMemory:
    await semantic.learn("Alice", "works at", "Globex", valid_from=year(2010))
    await semantic.learn("Alice", "works at", "Acme", valid_from=year(2020))
    await semantic.relate("Bob", "works at", "Acme", valid_from=year(2015))
    await semantic.relate("Bob", "knows", "Carol", valid_from=year(2015))
    await semantic.learn("Acme", "located in", "Berlin", valid_from=year(2000))
    await semantic.learn("Berlin", "located in", "Germany", valid_from=year(1900))
    await semantic.learn("Germany", "located in", "Europe", valid_from=year(1900))
    await semantic.learn("Alice", "age", 30)
    return semantic


async def test_the_shortest_path(world: SemanticMemory) -> None:
    path = await world.path("alice", "Carol")
    assert path is not None
    assert path.concepts == ("Alice", "Acme", "Bob", "Carol")
    assert str(path).startswith("Alice -[works at]-> Acme <-[works at]- Bob")
    assert [step.relation for step in path.steps][:2] == ["works at", "employs"]
    await world.relate("Alice", "knows", "Carol")
    short = await world.path("Alice", "Carol")
    assert short is not None
    assert len(short.steps) == 1


async def test_a_path_is_bounded_and_as_of_a_moment(world: SemanticMemory, year: Year) -> None:
    assert await world.path("Alice", "Europe", depth=3) is None
    path = await world.path("Alice", "Europe", depth=4)
    assert path is not None
    assert path.concepts == ("Alice", "Acme", "Berlin", "Germany", "Europe")
    assert await world.path("Alice", "Acme", as_of=year(2016)) is None, "she worked elsewhere then"
    assert await world.path("Alice", "Globex") is None
    same = await world.path("Alice", "ALICE")
    assert same is not None
    assert (same.concepts, same.steps) == (("Alice",), ())
    with pytest.raises(NotFound):
        await world.path("Alice", "Zoe")
    with pytest.raises(InvalidInput, match="depth"):
        await world.path("Alice", "Bob", depth=9)


async def test_transitive_relations_hold_by_a_chain(world: SemanticMemory) -> None:
    chain = await world.holds("Acme", "located in", "Europe")
    assert chain is not None
    assert chain.concepts == ("Acme", "Berlin", "Germany", "Europe")
    back = await world.holds("Europe", "location of", "Acme")
    assert back is not None
    assert await world.holds("Europe", "located in", "Acme") is None
    assert await world.holds("Alice", "works at", "Berlin") is None, "only a transitive relation makes chains"
    assert await world.holds("Carol", "knows", "Bob") is not None
    assert await world.holds("Alice", "never said", "Bob") is None


async def test_neighbourhood_grows_with_depth(world: SemanticMemory) -> None:
    near = await world.neighbourhood("Alice")
    assert {node.concept.name for node in near.nodes} == {"Alice", "Acme"}
    assert [str(f) for f in near.edges] == ["Alice works at Acme"]
    assert [str(f) for f in near.values] == ["Alice age 30"]
    further = await world.neighbourhood("Alice", 2)
    assert {n.concept.name: n.depth for n in further.nodes} == {"Alice": 0, "Acme": 1, "Bob": 2, "Berlin": 2}
    assert len(further.edges) == 3
    cut = await world.neighbourhood("Alice", 2, limit=3)
    assert (len(cut.nodes), cut.truncated) == (3, True)
    assert not further.truncated


async def test_whole_graph(world: SemanticMemory, year: Year) -> None:
    graph = await world.graph()
    assert {n.concept.name for n in graph.nodes} >= {"Alice", "Bob", "Carol", "Globex", "Europe"}
    assert len(graph.edges) == 6
    then = await world.graph(as_of=year(2012))
    assert "Alice works at Globex" in {str(f) for f in then.edges}
    assert (await world.graph(limit=2)).truncated


async def test_export_json(world: SemanticMemory) -> None:
    data = json.loads(await world.export("json", concept="Alice", depth=1))
    assert {n["concept"]["name"] for n in data["nodes"]} == {"Alice", "Acme"}
    assert [(e["predicate"], e["object"]) for e in data["edges"]] == [("works at", "Acme")]


async def test_export_graphml_is_well_formed_whatever_the_names(world: SemanticMemory) -> None:
    await world.define('<Q&A "x">', "a\x01b", category="Odd")
    await world.relate('<Q&A "x">', "knows", "Alice")
    root = ElementTree.fromstring(await world.export("graphml"))
    nodes = root.findall(".//g:node", NS)
    labels = {data.text for node in nodes for data in node.findall("g:data[@key='node_label']", NS)}
    assert {'<Q&A "x">', "Alice", "30"} <= labels
    ids = {node.get("id") for node in nodes}
    edges = root.findall(".//g:edge", NS)
    assert len(edges) == 8
    assert all(edge.get("source") in ids and edge.get("target") in ids for edge in edges)


async def test_export_mermaid_quotes_names(semantic: SemanticMemory) -> None:
    await semantic.relate('the "A" team]', "knows", "Bob\n--> x")
    await semantic.learn("Bob\n--> x", "age", 5)
    lines = (await semantic.export("mermaid")).splitlines()
    assert lines[0] == "graph LR"
    assert '["the #34;A#34; team#93;"]' in lines[1]
    assert sum("-->|" in line for line in lines) == 2
    assert not any('"Bob --> x"' in line for line in lines)
    with pytest.raises(InvalidInput, match="must be one of"):
        await semantic.export("svg")
