"""The lines of the guide for MCP clients: each is read as its client reads it, and what it starts is started."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import typer
from mcp import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.api.mcp.conftest import stdio_parameters

from longmind.cli import app as cli
from longmind.model_tools.tools import TOOLS
from longmind.server.mcp.prompts import PROMPTS
from longmind.server.mcp.resources import RESOURCES, TEMPLATES
from longmind.server.settings import ServerSettings

PAGE = Path(__file__).parents[3] / "docs/howto/mcp.md"
TEXT = PAGE.read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SERVERS = ("mcpServers", "servers", "context_servers", "mcp_servers")


def entries() -> Iterator[dict[str, Any]]:
    """Every server that a snippet adds to a client."""
    for language, text in FENCE.findall(TEXT):
        if language in ("json", "toml"):
            settings = json.loads(text) if language == "json" else tomllib.loads(text)
            assert len(settings) == 1
            (key,) = settings
            assert key in SERVERS
            yield from settings[key].values()
        else:
            assert language == "bash"
            yield from filter(None, map(_of_line, text.splitlines()))


def _of_line(line: str) -> dict[str, Any] | None:
    words = shlex.split(line)
    if words[:3] == ["claude", "mcp", "add"]:
        if "--" in words:
            command, *args = words[words.index("--") + 1 :]
            return {"command": command, "args": args}
        assert words[3:5] == ["--transport", "http"]
        named, *header = words[5:]
        assert named == "longmind"
        entry: dict[str, Any] = {"type": "http", "url": header.pop(0)}
        if header:
            assert header[0] == "--header"
            entry["headers"] = dict([header[1].split(": ", 1)])
        return entry
    if words[:2] == ["code", "--add-mcp"]:
        entry = json.loads(words[2])
        assert entry.pop("name") == "longmind"
        return entry
    assert words == ["pip", "install", "longmind[mcp]"]
    return None


LOCAL = [entry for entry in entries() if "command" in entry]
REMOTE = [entry for entry in entries() if "url" in entry]


def test_every_client_of_the_page_has_a_snippet() -> None:
    sections = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
    clients = [section for section in sections if not section.startswith("What a client gets")]
    assert len(clients) == 8
    assert all(FENCE.search(section) for section in clients)
    assert len(LOCAL) == 9
    assert len(REMOTE) == 3


def test_every_command_is_one_that_there_is() -> None:
    command = typer.main.get_command(cli).commands["mcp"]  # type: ignore[attr-defined]
    for entry in LOCAL:
        assert entry.get("type", "stdio") == "stdio"
        assert entry["command"] == "longmind"
        name, *options = entry["args"]
        assert name == "mcp"
        context = command.make_context("mcp", list(options))
        assert context.params["agent"] == "assistant"


async def test_the_command_starts(tmp_path: Path) -> None:
    for args in {tuple(entry["args"]) for entry in LOCAL}:
        async with Client(stdio_client(stdio_parameters(tmp_path / "store.db", *args[1:]))) as client:
            assert (await client.list_tools()).tools


async def test_the_addresses_are_answered(address: str) -> None:
    port = ServerSettings.load({}).port
    for entry in REMOTE:
        assert entry["type"] == "http"
        url = urlsplit(entry["url"])
        assert set(parse_qs(url.query)) <= {"agent", "user"}
        if url.hostname == "127.0.0.1":
            assert url.port == port
        async with (
            httpx2.AsyncClient(headers=entry.get("headers")) as http,
            Client(streamable_http_client(f"{address}{url.path}?{url.query}", http_client=http)) as client,
        ):
            assert (await client.list_tools()).tools


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("tools", [tool.name for tool in TOOLS]),
        ("prompts", [prompt.name for prompt in PROMPTS]),
        ("resources", [r.uri for r in RESOURCES] + [t.listed_template.uri_template for t in TEMPLATES]),
    ],
)
def test_the_table_lists_all_there_is(what: str, names: list[str]) -> None:
    rows = [line.split("|")[1:3] for line in TEXT.splitlines() if line.startswith("| ")]
    listed = {title.strip(): re.findall(r"`([^`]+)`", cell) for title, cell in rows}
    special = {"prompts": listed.pop("prompts"), "resources": listed.pop("resources")}
    tools = [name for cell in listed.values() for name in cell]
    assert sorted(special.get(what, tools)) == sorted(names)
