"""Graphiti and Zep: JSON of episodes, nodes and edges, as their classes and API give them.

An episode is a message, an edge a fact that holds from ``valid_at`` to ``invalid_at``, the summary of a node a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longmind.errors import InvalidInput
from longmind.importing.items import (
    ImportedFact,
    ImportedMessage,
    ImportedNote,
    Read,
    Unmapped,
    item_of,
    moment_of,
    name_of,
    text_of,
)
from longmind.importing.sources import document, opened

_MEMBER = re.compile(r".+\.json")
_EPISODES = ("episodes", "episodic_nodes", "episode_nodes")
_NODES = ("nodes", "entity_nodes", "entities")
_EDGES = ("edges", "entity_edges", "facts")
_KNOWN = (*_EPISODES, *_NODES, *_EDGES)
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_SPEAKER = re.compile(r"([^:\n]{1,80}?)\s*(?:\((user|assistant|system|tool)\))?:\s+(.+)", re.DOTALL)


def read(path: Path) -> Iterator[Read]:
    """Yield episodes, then the summaries of nodes, then edges: one file, or those of a folder or zip archive."""
    with opened(path, _MEMBER) as files:
        for name, stream in files:
            graph = document(stream, name)
            if not isinstance(graph, dict) or not any(key in graph for key in _KNOWN):
                raise InvalidInput(f"{name}: this is no graph.", hint="It has the lists episodes, nodes and edges.")
            yield from _graph(graph, name)


def _graph(graph: dict[str, Any], name: str) -> Iterator[Read]:
    several = (
        len({group for key in _KNOWN for _, value in _objects(graph, (key,), name) if (group := _group(value))}) > 1
    )

    def user_of(value: dict[str, Any]) -> str | None:
        """Return the user that something belongs to: a graph of several groups is that of several users."""
        return name_of(value.get("user_id")) or (_group(value) if several else None)

    for place, episode in _objects(graph, _EPISODES, name):
        yield _episode(episode, place, user_of(episode)) if isinstance(episode, dict) else _no_object(place)
    names: dict[str, str] = {}
    for place, node in _objects(graph, _NODES, name):
        if not isinstance(node, dict):
            yield _no_object(place)
            continue
        id, title = text_of(node.get("uuid")), name_of(node.get("name"))
        if id is None or title is None:
            yield Unmapped(place=place, reason="the node has no uuid or no name")
            continue
        names[id] = title
        yield from _node(node, id, title, place, user_of(node))
    for place, edge in _objects(graph, _EDGES, name):
        if isinstance(edge, dict):
            yield _edge(edge, names, place, user_of(edge))
            if _stated(edge.get("attributes")):
                yield Unmapped(place=place, reason="the attributes of an edge: a fact has none")
        else:
            yield _no_object(place)
    for kind, values in graph.items():
        if kind not in _KNOWN and isinstance(values, list) and values:
            yield Unmapped(place=f"{name}, {kind}", reason=f"{len(values)} {kind}: Longmind makes its own")


def _group(value: object) -> str | None:
    return name_of(value.get("group_id") or value.get("graph_id")) if isinstance(value, dict) else None


def _stated(attributes: object) -> dict[str, Any]:
    """Return the attributes that have a value."""
    return (
        {name: value for name, value in attributes.items() if value not in (None, "", [], {})}
        if isinstance(attributes, dict)
        else {}
    )


def _node(node: dict[str, Any], id: str, title: str, place: str, user: str | None) -> Iterator[Read]:
    """Yield what is known of a node: its summary and its attributes."""
    attributes = _stated(node.get("attributes"))
    lines = [f"{name.replace('_', ' ')}: {value}" for name, value in attributes.items()]
    if summary := text_of(node.get("summary")):
        lines.insert(0, summary)
    if lines:
        stated = node.get("labels")
        labels = [label for label in stated if isinstance(label, str)] if isinstance(stated, list) else []
        yield item_of(
            ImportedNote,
            place,
            id=id,
            content=f"{title}: " + "\n".join(lines),
            role="assistant",
            occurred_at=moment_of(node.get("created_at")),
            user=user,
            metadata={"labels": labels} if labels else {},
        )


def _objects(graph: dict[str, Any], keys: tuple[str, ...], name: str) -> Iterator[tuple[str, Any]]:
    for key in keys:
        values = graph.get(key)
        for number, value in enumerate(values if isinstance(values, list) else [], 1):
            yield f"{name}, {key} {number}", value


def _no_object(place: str) -> Unmapped:
    return Unmapped(place=place, reason="it is no object")


def _episode(episode: dict[str, Any], place: str, user: str | None) -> Read:
    content, role = text_of(episode.get("content")) or "", _ROLES.get(str(episode.get("role_type")))
    author = name_of(episode.get("role"))
    if role is None and episode.get("source") == "message" and (said := _SPEAKER.fullmatch(content)):
        author, role, content = name_of(said[1]), _ROLES.get(said[2] or "user"), said[3]
    group = _group(episode)
    stated = episode.get("episode_metadata") or episode.get("metadata")
    about = {"name": episode.get("name"), "source_description": episode.get("source_description"), "group": group}
    return item_of(
        ImportedMessage,
        place,
        id=text_of(episode.get("uuid")),
        conversation=name_of(episode.get("thread_id") or episode.get("session_id")) or group or "graph",
        content=content,
        role=role or "user",
        author=author,
        occurred_at=moment_of(episode.get("valid_at")) or moment_of(episode.get("created_at")),
        user=user,
        metadata={**_stated(stated), **{field: value for field, value in about.items() if text_of(value)}},
    )


def _edge(edge: dict[str, Any], names: dict[str, str], place: str, user: str | None) -> Read:
    ends = [text_of(edge.get(field)) for field in ("source_node_uuid", "target_node_uuid")]
    subject, object = (names.get(end or "") for end in ends)
    if subject is None or object is None:
        return Unmapped(place=place, reason="the edge leads to a node that is not in the file")
    relation = text_of(edge.get("name"))
    began, ended = moment_of(edge.get("valid_at")), moment_of(edge.get("invalid_at"))
    created = moment_of(edge.get("created_at"))
    if ended is not None and began is None:
        began = created if created and created < ended else None
        if began is None:
            return Unmapped(place=place, reason="the fact has an end and no beginning")
    said_in = edge.get("episodes")
    return item_of(
        ImportedFact,
        place,
        id=text_of(edge.get("uuid")),
        subject=subject,
        predicate=relation.replace("_", " ").lower() if relation else None,
        object=object,
        statement=text_of(edge.get("fact")),
        valid_from=began,
        valid_to=ended,
        occurred_at=created,
        user=user,
        said_in=[id for id in said_in if isinstance(id, str)] if isinstance(said_in, list) else None,
    )
