"""How long the event loop of a server is held when the first request to ``/mcp`` loads the SDK."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.quality import Figure
from benchmarks.serve.clients import HttpConnection
from longmind import Settings
from longmind.server import ServerSettings, create_app
from longmind.server.listening import address_of, listen
from longmind.server.serve import run

_TICK = 0.001


async def measure(url: str) -> list[Figure]:
    """Serve a store in this process, and ask for the tools twice. Needs a process that has not loaded the SDK."""
    settings = ServerSettings(consolidation=False)
    app = create_app(url, settings, library=Settings.load({"LONGMIND_EMBEDDER": "none"}))
    started, stop = asyncio.Event(), asyncio.Event()
    with listen("127.0.0.1", 0, settings) as listening:
        serving = asyncio.create_task(run(app, listening, started.set, stop))
        await started.wait()
        async with HttpConnection(address_of(listening)) as connection:
            await _post(connection, "/v1/agents/assistant/recall", {"query": "what loads the rest"})
            figures = [*await _asked(connection, "first request"), *await _asked(connection, "a later request")]
        stop.set()
        await serving
    return figures


async def _asked(connection: HttpConnection, label: str) -> list[Figure]:
    async with _gaps() as gaps:
        began, cpu = time.perf_counter(), time.process_time()
        await _post(connection, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
        took, spent = time.perf_counter() - began, time.process_time() - cpu
    return [
        (f"{label} to /mcp", round(1_000 * took, 1), "ms"),
        (f"{label} to /mcp, CPU", round(1_000 * spent, 1), "ms"),
        (f"{label} to /mcp: longest that the event loop was held", round(1_000 * max(gaps, default=0.0), 1), "ms"),
    ]


async def _post(connection: HttpConnection, path: str, body: object) -> None:
    answer = await connection.post(path, body, {"Accept": "application/json, text/event-stream"})
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {answer.body[:300]!r}")


@asynccontextmanager
async def _gaps() -> AsyncIterator[list[float]]:
    """Give the seconds between two turns of a task that asks to be called every millisecond."""
    gaps: list[float] = []

    async def watch() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(_TICK)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    watching = asyncio.create_task(watch())
    await asyncio.sleep(_TICK)
    try:
        yield gaps
        await asyncio.sleep(2 * _TICK)
    finally:
        watching.cancel()
