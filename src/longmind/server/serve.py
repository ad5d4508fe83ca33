"""Running the server on uvicorn, until a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import uvicorn

from longmind.errors import InvalidSetting
from longmind.server.rest.app import create_app
from longmind.server.settings import ServerSettings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from longmind.config import Settings
    from longmind.systems.procedural import ToolRegistry

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_KILLED = 130


class _Server(uvicorn.Server):
    """uvicorn's server, which ends streams before it waits for requests, and leaves signals to us."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._ready = ready

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.state.server.stopping.set()
        await super().shutdown(sockets)

    async def stop_after(self, stop: asyncio.Event) -> None:
        """Begin to stop when the event is set."""
        await stop.wait()
        self.should_exit = True


async def serve(
    listening: socket.socket,
    library: Settings,
    settings: ServerSettings,
    ready: Callable[[], None],
    *,
    supervised: bool = False,
    extend: Callable[[FastAPI], None] | None = None,
    tools: ToolRegistry | None = None,
) -> None:
    """Serve the store of the settings until SIGTERM or SIGINT; requests under way are finished first.

    ``extend`` adds to the application before it starts. ``tools`` are the functions that procedures may call.
    One that is ``supervised`` also stops when its standard input ends: then the process that started it is gone.
    """
    app = create_app(None, settings, library=library, tools=tools)
    if extend is not None:
        extend(app)
    stop = asyncio.Event()

    def told() -> None:
        if stop.is_set():
            os._exit(_KILLED)  # the second signal, of somebody who does not want to wait
        stop.set()

    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, told)
    if supervised:
        loop.add_reader(sys.stdin.fileno(), stop.set)
    try:
        await run(app, listening, ready, stop)
    finally:
        if supervised:
            loop.remove_reader(sys.stdin.fileno())
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def run(app: FastAPI, listening: socket.socket, ready: Callable[[], None], stop: asyncio.Event) -> None:
    """Run an application on a socket until ``stop`` is set. Requests under way are finished, and streams end.

    A store that cannot be opened is the error that says so.
    """
    grace = int(app.state.server.settings.request_seconds) + 5
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=grace, server_header=False
    )
    async with app.router.lifespan_context(app):  # uvicorn would log a failure here as a traceback
        server = _Server(config, app, ready)
        stopping = asyncio.create_task(server.stop_after(stop))
        try:
            await server.serve([listening])
        finally:
            stopping.cancel()
    if not server.started:
        raise InvalidSetting("The server could not start.", hint="The log says why.")
