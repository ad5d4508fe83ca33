"""A server on a store in memory, asked through the real application, and the remote face over it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI

from longmind import Longmind, Settings
from longmind.client import RemoteLongmind
from longmind.server import ServerSettings, create_app
from longmind.server.listening import address_of, listen
from longmind.server.serve import run

BASE = "http://localhost"


@pytest.fixture
async def store() -> AsyncIterator[Longmind]:
    """The store that is served."""
    async with Longmind.open("memory:", settings=Settings.load({}), embedder="none") as longmind:
        yield longmind


@pytest.fixture
def app(store: Longmind) -> FastAPI:
    return create_app(store, ServerSettings(consolidation=False))


@pytest.fixture
async def http(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """A plain HTTP client."""
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE) as client:
        yield client


@pytest.fixture
async def remote(app: FastAPI, store: Longmind) -> AsyncIterator[Longmind]:
    """The remote face of the same store."""
    transport = httpx2.ASGITransport(app)
    async with RemoteLongmind(BASE, None, store.settings, store.clock, transport=transport) as longmind:
        yield longmind


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    """The URL of a real server on this machine, in the same event loop."""
    started, stop = asyncio.Event(), asyncio.Event()
    with listen("127.0.0.1", 0, ServerSettings()) as listening:
        serving = asyncio.create_task(run(app, listening, started.set, stop))
        await asyncio.wait({serving, waiting := asyncio.create_task(started.wait())}, return_when="FIRST_COMPLETED")
        waiting.cancel()
        try:
            yield address_of(listening)
        finally:
            stop.set()
            await serving
