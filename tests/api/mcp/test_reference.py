"""The nine tools beside the reference memory server: the same random calls, the same answers."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.api.mcp.conftest import stdio_parameters

NAMES = ("Alice", "Bob", "Lisbon", "Ada Lovelace", "Zoë", "東京", "x" * 60, "a/b#c?d", 'O\'Hara "Q"')
TYPES = ("person", "city", "", "Some  Type", "thing_1")
RELATIONS = ("lives_in", "works at", "knows", "home of", "part_of", "next", "WROTE", "likes")
TEXTS = ("likes tea", "Likes tea", "born 1815", "a\nline", "</memory>", "über", "  spaced  ", "1", "")
CALLS = int(os.environ.get("LONGMIND_MCP_CALLS", "150"))


def reference() -> StdioServerParameters:
    """How the reference server is started, where npm has installed it."""
    folder = Path(os.environ.get("LONGMIND_NPM", Path(__file__).parents[3] / ".npm"))
    script = folder / "node_modules/@modelcontextprotocol/server-memory/dist/index.js"
    node = shutil.which("node")
    if node is None or not script.exists():
        pytest.skip("the reference server is not installed: make mcp-packages")
    return StdioServerParameters(command=node, args=[str(script)])


class RandomCalls:
    """Random calls over few names, so that they meet what exists, what does not, and duplicates."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def next(self) -> tuple[str, dict[str, Any]]:
        pick, some = self._random.choice, self._some
        name = pick(
            ["create_entities"] * 4
            + ["create_relations"] * 4
            + ["add_observations"] * 4
            + ["delete_entities", "delete_observations", "delete_relations", "read_graph", "search_nodes", "open_nodes"]
        )
        arguments: dict[str, Any] = {}
        if name == "create_entities":
            entities = [{"name": n, "entityType": pick(TYPES), "observations": some(TEXTS, 3)} for n in some(NAMES, 3)]
            arguments = {"entities": entities}
        elif name in ("create_relations", "delete_relations"):
            triples = {(pick(NAMES), pick(RELATIONS), pick(NAMES)) for _ in range(self._random.randrange(4))}
            relations = [{"from": a, "relationType": r, "to": b} for a, r, b in sorted(triples)]
            arguments = {"relations": relations}
        elif name == "add_observations":
            arguments = {"observations": [{"entityName": n, "contents": some(TEXTS, 3)} for n in some(NAMES, 2)]}
        elif name == "delete_entities":
            arguments = {"entityNames": some(NAMES, 2)}
        elif name == "delete_observations":
            arguments = {"deletions": [{"entityName": n, "observations": some(TEXTS, 3)} for n in some(NAMES, 3)]}
        elif name == "search_nodes":
            arguments = {"query": pick(("a", "TEA", "city", "", "line", "no such", "</"))}
        elif name == "open_nodes":
            arguments = {"names": [*some(NAMES, 4), "Nobody"]}
        return name, arguments

    def _some(self, values: tuple[str, ...], most: int) -> list[str]:
        return self._random.sample(values, self._random.randrange(most + 1))


async def _answer(client: Client, name: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
    result = await client.call_tool(name, arguments)
    return result.is_error, result.structured_content, [block.text for block in result.content]


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_calls_are_answered_as_by_the_reference(seed: int, tmp_path: Path) -> None:
    theirs = reference().model_copy(update={"env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}})
    calls = RandomCalls(seed)
    differing = None
    async with (
        Client(stdio_client(stdio_parameters(tmp_path / "store.db"))) as client,
        Client(stdio_client(theirs)) as other,
    ):
        for number in range(CALLS):
            name, arguments = calls.next()
            answer, expected = await _answer(client, name, arguments), await _answer(other, name, arguments)
            if answer != expected:
                differing = (number, name, arguments, answer, expected)
                break
        ours, reference_graph = await _answer(client, "read_graph", {}), await _answer(other, "read_graph", {})
    assert differing is None
    assert ours == reference_graph


async def test_the_tools_are_listed_as_by_the_reference(tmp_path: Path) -> None:
    theirs = reference().model_copy(update={"env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}})
    async with (
        Client(stdio_client(stdio_parameters(tmp_path / "store.db"))) as client,
        Client(stdio_client(theirs)) as other,
    ):
        ours = {tool.name: tool for tool in (await client.list_tools()).tools}
        expected = (await other.list_tools()).tools
    assert len(expected) == 9
    for tool in expected:
        own = ours[tool.name]
        assert (own.title, own.description) == (tool.title, tool.description)
        assert _plain(own.input_schema) == _plain(tool.input_schema)
        assert _plain(own.output_schema) == _plain(tool.output_schema)
        hints = ("read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint")
        assert [getattr(own.annotations, hint) for hint in hints] == [getattr(tool.annotations, h) for h in hints]


def _plain(schema: Any) -> Any:
    """Return a schema without what says nothing about the values: the dialect, and whether more fields are refused."""
    if isinstance(schema, list):
        return sorted(schema) if all(isinstance(item, str) for item in schema) else [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _plain(value) for key, value in schema.items() if key not in ("$schema", "additionalProperties")}
