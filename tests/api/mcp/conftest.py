"""The MCP server, asked by the official client on both transports."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

Connect = Callable[..., AbstractAsyncContextManager[Client]]


def stdio_parameters(store: Path, *options: str) -> StdioServerParameters:
    """How a client starts ``longmind mcp`` on a store."""
    source = str(Path(__file__).parents[3] / "src")
    words = ["-m", "longmind.cli", "mcp", "--no-consolidation", "--url", str(store), *options]
    env = {"PYTHONPATH": source, "HOME": str(store.parent), "LONGMIND_EMBEDDER": "none"}
    return StdioServerParameters(command=sys.executable, args=words, env={**os.environ, **env})


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Connect:
    """Connects the official client, over one transport and over the other."""
    if request.param == "stdio":

        @asynccontextmanager
        async def over_stdio(agent: str = "assistant", user: str | None = None) -> AsyncIterator[Client]:
            options = ["--agent", agent, *(["--user", user] if user else [])]
            async with Client(stdio_client(stdio_parameters(tmp_path / "store.db", *options))) as client:
                yield client

        return over_stdio
    address = request.getfixturevalue("address")

    @asynccontextmanager
    async def over_http(agent: str = "assistant", user: str | None = None) -> AsyncIterator[Client]:
        query = f"agent={agent}" + (f"&user={user}" if user else "")
        async with Client(streamable_http_client(f"{address}/mcp?{query}")) as client:
            yield client

    return over_http
