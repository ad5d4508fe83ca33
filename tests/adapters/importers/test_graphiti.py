"""Graphs that Graphiti's own classes write are imported."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodeType, EpisodicNode

from longmind import Longmind
from longmind.importing import import_memories

THEN, NOW = datetime(2020, 1, 1, tzinfo=UTC), datetime(2026, 5, 1, 8, tzinfo=UTC)


def graph_file(path: Path, *groups: str) -> Path:
    """Write the episodes, nodes and edges of groups, each class by its own serialiser."""
    lists: dict[str, list[Any]] = {"episodes": [], "nodes": [], "edges": [], "communities": [], "episodic_edges": []}
    for group in groups:
        shared: dict[str, Any] = {"group_id": group, "created_at": NOW}
        episode = EpisodicNode(
            name="turn",
            source=EpisodeType.message,
            source_description="chat",
            content="Ada (user): I left Acme for Globex.",
            valid_at=NOW,
            episode_metadata={"channel": "mail"},
            **shared,
        )
        ada = EntityNode(name="Ada", summary="An engineer.", attributes={"born_in": "Porto"}, **shared)
        acme, globex = (EntityNode(name=name, **shared) for name in ("Acme", "Globex"))
        job: dict[str, Any] = {"name": "WORKS_AT", "source_node_uuid": ada.uuid, "episodes": [episode.uuid], **shared}
        lists["episodes"].append(episode)
        lists["nodes"] += [ada, acme, globex]
        lists["edges"] += [
            EntityEdge(target_node_uuid=acme.uuid, fact="Ada works at Acme.", valid_at=THEN, invalid_at=NOW, **job),
            EntityEdge(
                target_node_uuid=globex.uuid, fact="Ada works at Globex.", valid_at=NOW, attributes={"as": "x"}, **job
            ),
        ]
        lists["communities"].append(CommunityNode(name="jobs", **shared))
        lists["episodic_edges"].append(EpisodicEdge(source_node_uuid=episode.uuid, target_node_uuid=ada.uuid, **shared))
    content = {kind: [value.model_dump(mode="json") for value in values] for kind, values in lists.items()}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


async def test_a_graph_is_imported_and_everything_else_is_listed(embedded: Longmind, tmp_path: Path) -> None:
    path = graph_file(tmp_path / "graph.json", "one")
    report = await import_memories(embedded, "zep", path, agent="a")
    assert report.counts == {"messages": 1, "notes": 1, "facts": 2}
    mem = embedded.agent("a")
    (now,) = await mem.semantic.know("Ada", "works at")
    (then,) = await mem.semantic.know("Ada", "works at", as_of=datetime(2022, 1, 1, tzinfo=UTC))
    assert (now.object, then.object, then.valid_to) == ("Globex", "Acme", NOW)
    (message,) = await mem.conversation("one").history()
    assert (message.content, message.source.name) == ("I left Acme for Globex.", "Ada")
    assert (message.occurred_at, message.metadata["channel"]) == (NOW, "mail")
    contents = [memory.content for memory in (await mem.list(limit=100)).items]
    assert "Ada: An engineer.\nborn in: Porto" in contents
    assert [unmapped.reason for unmapped in report.unmapped] == [
        "the attributes of an edge: a fact has none",
        "1 communities: Longmind makes its own",
        "1 episodic_edges: Longmind makes its own",
    ]


async def test_several_groups_are_several_users(embedded: Longmind, tmp_path: Path) -> None:
    path = graph_file(tmp_path / "graph.json", "ada", "bob")
    report = await import_memories(embedded, "zep", path, agent="a")
    assert report.counts == {"messages": 2, "notes": 2, "facts": 4}
    for user in ("ada", "bob"):
        mem = embedded.agent("a", user)
        assert [fact.object for fact in await mem.semantic.know("Ada", "works at")] == ["Globex"]
        assert len(await mem.conversation(user).history()) == 1
    assert (await embedded.agent("a").stats()).memories == 0
