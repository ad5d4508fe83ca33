"""MCP on the standard streams, for a client on the same machine that starts the process itself."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, cast

from mcp.server.stdio import stdio_server

from longmind.memory import Longmind
from longmind.server.mcp.access import LocalAccess
from longmind.server.mcp.server import create_server
from longmind.server.mcp.subscriptions import Subscriptions
from longmind.worker.service import ConsolidationService

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LONGEST_LINE = 64_000_000
_SECONDS = 600.0
"""How long a call may take: the client has a limit of its own."""


async def serve_stdio(longmind: Longmind, agent: str, user: str | None, *, consolidation: bool) -> None:
    """Serve the memory of an agent until the standard input ends, or SIGTERM or SIGINT comes.

    While it serves, what else is printed goes to the standard error.
    """
    access = LocalAccess(longmind, agent, user)
    server = create_server(lambda ctx: access, seconds=_SECONDS, subscriptions=Subscriptions())
    serving = asyncio.ensure_future(_serve(longmind, server, consolidation))
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, serving.cancel)
    try:
        await asyncio.wait({serving})
        if not serving.cancelled():
            serving.result()
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def _serve(longmind: Longmind, server: Any, consolidation: bool) -> None:
    async with AsyncExitStack() as held:
        if consolidation:
            await held.enter_async_context(ConsolidationService(longmind))
        lines = cast("Any", _lines())  # it is only iterated over
        read, write = await held.enter_async_context(stdio_server(stdin=lines))
        await server.run(read, write, server.create_initialization_options())


async def _lines() -> AsyncIterator[str]:
    """Yield the lines of the standard input. Unlike a read in a thread, waiting for one can be cancelled."""
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    try:
        while line := await reader.readline():
            yield line.decode("utf-8", "replace")
    finally:
        transport.close()
