"""The nine tools of the reference memory server, over semantic memory.

Names, arguments, results and messages are those of ``@modelcontextprotocol/server-memory`` 0.6.3, so that a client or a
prompt written for it works as it is. See ``EntityGraph`` for how the graph is stored.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from longmind.agent_memory import AgentMemory
from longmind.model_tools.tool import JsonObject, MemoryTool, ToolResult, schema_of
from longmind.security import Permission
from longmind.systems.semantic import Entities, Entity, EntityGraph, Observations, Relation


class _Wire(BaseModel):
    """An object as the reference server writes it: in camel case; fields it does not know are left out."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, hide_input_in_errors=True, defer_build=True
    )


class EntityItem(_Wire):
    name: str = Field(description="The name of the entity")
    entity_type: str = Field(description="The type of the entity")
    observations: list[str] = Field(description="An array of observation contents associated with the entity")


class RelationItem(_Wire):
    source: str = Field(alias="from", description="The name of the entity where the relation starts")
    target: str = Field(alias="to", description="The name of the entity where the relation ends")
    relation_type: str = Field(description="The type of the relation")


class AdditionItem(_Wire):
    entity_name: str = Field(description="The name of the entity to add the observations to")
    contents: list[str] = Field(description="An array of observation contents to add")


class DeletionItem(_Wire):
    entity_name: str = Field(description="The name of the entity containing the observations")
    observations: list[str] = Field(description="An array of observations to delete")


class AddedItem(_Wire):
    entity_name: str
    added_observations: list[str]


class CreateEntities(_Wire):
    entities: list[EntityItem]


class CreateRelations(_Wire):
    relations: list[RelationItem]


class AddObservations(_Wire):
    observations: list[AdditionItem]


class DeleteEntities(_Wire):
    entity_names: list[str] = Field(description="An array of entity names to delete")


class DeleteObservations(_Wire):
    deletions: list[DeletionItem]


class DeleteRelations(_Wire):
    relations: list[RelationItem] = Field(description="An array of relations to delete")


class ReadGraph(_Wire):
    pass


class SearchNodes(_Wire):
    query: str = Field(description="The search query to match against entity names, types, and observation content")


class OpenNodes(_Wire):
    names: list[str] = Field(description="An array of entity names to retrieve")


class AddedResults(_Wire):
    results: list[AddedItem]


class GraphResult(_Wire):
    entities: list[EntityItem]
    relations: list[RelationItem]


class Done(_Wire):
    success: bool
    message: str


async def _create_entities(mem: AgentMemory, arguments: CreateEntities) -> ToolResult:
    entities = [
        Entity(name=item.name, entity_type=item.entity_type, observations=tuple(item.observations))
        for item in arguments.entities
    ]
    created = await EntityGraph(mem.scoped).create_entities(entities)
    return _listed("entities", [_entity(entity) for entity in created])


async def _create_relations(mem: AgentMemory, arguments: CreateRelations) -> ToolResult:
    created = await EntityGraph(mem.scoped).create_relations(_relations(arguments.relations))
    return _listed("relations", [_relation(relation) for relation in created])


async def _add_observations(mem: AgentMemory, arguments: AddObservations) -> ToolResult:
    observations = [
        Observations(entity=item.entity_name, contents=tuple(item.contents)) for item in arguments.observations
    ]
    added = await EntityGraph(mem.scoped).add_observations(observations)
    return _listed("results", [{"entityName": item.entity, "addedObservations": list(item.contents)} for item in added])


async def _delete_entities(mem: AgentMemory, arguments: DeleteEntities) -> ToolResult:
    await _forget(mem, await EntityGraph(mem.scoped).ids_of_entities(arguments.entity_names), "delete entities")
    return _done("Entities deleted successfully")


async def _delete_observations(mem: AgentMemory, arguments: DeleteObservations) -> ToolResult:
    graph = EntityGraph(mem.scoped)
    deletions = [
        Observations(entity=item.entity_name, contents=tuple(item.observations)) for item in arguments.deletions
    ]
    await _forget(mem, await graph.ids_of_observations(deletions), "delete observations")
    for name in await graph.defined_as(deletions):
        await mem.semantic.define(name, "")
    return _done("Observations deleted successfully")


async def _delete_relations(mem: AgentMemory, arguments: DeleteRelations) -> ToolResult:
    ids = await EntityGraph(mem.scoped).ids_of_relations(_relations(arguments.relations))
    await _forget(mem, ids, "delete relations")
    return _done("Relations deleted successfully")


async def _read_graph(mem: AgentMemory, arguments: ReadGraph) -> ToolResult:
    return _graph(await EntityGraph(mem.scoped).read())


async def _search_nodes(mem: AgentMemory, arguments: SearchNodes) -> ToolResult:
    return _graph(await EntityGraph(mem.scoped).search(arguments.query))


async def _open_nodes(mem: AgentMemory, arguments: OpenNodes) -> ToolResult:
    return _graph(await EntityGraph(mem.scoped).open(arguments.names))


async def _forget(mem: AgentMemory, ids: Sequence[str], reason: str) -> None:
    if ids:
        await mem.forget(ids, reason=reason)


def graph_data(graph: Entities) -> JsonObject:
    """Return a graph as the reference server writes it."""
    return {
        "entities": [_entity(entity) for entity in graph.entities],
        "relations": [_relation(relation) for relation in graph.relations],
    }


def indented(value: Any) -> str:
    """Return JSON as the reference server writes it in a text."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _graph(graph: Entities) -> ToolResult:
    data = graph_data(graph)
    return ToolResult(data, indented(data))


def _listed(name: str, items: Sequence[JsonObject]) -> ToolResult:
    return ToolResult({name: list(items)}, indented(items))


def _done(message: str) -> ToolResult:
    return ToolResult({"success": True, "message": message}, message)


def _entity(entity: Entity) -> JsonObject:
    return {"name": entity.name, "entityType": entity.entity_type, "observations": list(entity.observations)}


def _relation(relation: Relation) -> JsonObject:
    return {"from": relation.source, "to": relation.target, "relationType": relation.relation_type}


def _relations(items: Sequence[RelationItem]) -> list[Relation]:
    return [Relation(source=item.source, target=item.target, relation_type=item.relation_type) for item in items]


def _tool(
    description: str,
    arguments: type[BaseModel],
    output: type[BaseModel],
    run: Callable[[AgentMemory, Any], Awaitable[ToolResult]],
    permission: Permission = "read",
    *,
    deletes: bool = False,
) -> MemoryTool:
    name = run.__name__.removeprefix("_")
    return MemoryTool(
        name=name,
        title=name.replace("_", " ").title(),
        description=description,
        arguments=arguments,
        output=schema_of(output),
        run=run,
        permission=permission,
        destructive=deletes,
        idempotent=deletes,
    )


_CREATE_RELATIONS = "Create multiple new relations between entities in the knowledge graph. \
Relations should be in active voice"
_DELETE_ENTITIES = "Delete multiple entities and their associated relations from the knowledge graph"
_DELETE_OBSERVATIONS = "Delete specific observations from entities in the knowledge graph"
_DELETE_RELATIONS = "Delete multiple relations from the knowledge graph"
_OPEN_NODES = "Open specific nodes in the knowledge graph by their names"
_SEARCH_NODES = "Search for nodes in the knowledge graph based on a query"
TOOLS = (
    _tool(
        "Create multiple new entities in the knowledge graph", CreateEntities, CreateEntities, _create_entities, "write"
    ),
    _tool(_CREATE_RELATIONS, CreateRelations, CreateRelations, _create_relations, "write"),
    _tool(
        "Add new observations to existing entities in the knowledge graph",
        AddObservations,
        AddedResults,
        _add_observations,
        "write",
    ),
    _tool(_DELETE_ENTITIES, DeleteEntities, Done, _delete_entities, "write", deletes=True),
    _tool(_DELETE_OBSERVATIONS, DeleteObservations, Done, _delete_observations, "write", deletes=True),
    _tool(_DELETE_RELATIONS, DeleteRelations, Done, _delete_relations, "write", deletes=True),
    _tool("Read the entire knowledge graph", ReadGraph, GraphResult, _read_graph),
    _tool(_SEARCH_NODES, SearchNodes, GraphResult, _search_nodes),
    _tool(_OPEN_NODES, OpenNodes, GraphResult, _open_nodes),
)
