"""Several processes on one address: each accepts connections from the same socket.

Requests for one agent may meet any of them, which is right but colder: each has views of its own. A proxy that
hashes on the agent in the path, over servers with one process each, is faster (``deploy/haproxy.cfg``).
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from longmind.errors import InvalidSetting
from longmind.server.rest.metrics import SHARED_FOLDER, forget_process

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
"""Seconds until a process that ended is started again: twice as long each time until one is ready."""
READY = b"ready\n"
"""What a process writes when it accepts connections."""
_log = logging.getLogger(__name__)

T = TypeVar("T")


async def supervise(
    count: int, listening: socket.socket, arguments: Sequence[str], ready: Callable[[], None] = lambda: None
) -> None:
    """Run ``longmind serve`` in this many processes until a signal comes. One that ends is started again.

    The first consolidates in the background, the others do not. ``ready`` is called when all accept connections.
    Each ends when its standard input does, so none outlives this process, however that ends. After the first signal
    they finish the requests under way; the second kills them.
    """
    with tempfile.TemporaryDirectory(prefix="longmind-serve-") as folder:
        supervisor = _Supervisor(count, listening.fileno(), arguments, ready, Path(folder))
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, supervisor.stop)
        try:
            await supervisor.run()
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)


class _Supervisor:
    """Starts the processes, and starts another when one ends."""

    def __init__(
        self, count: int, descriptor: int, arguments: Sequence[str], ready: Callable[[], None], metrics: Path
    ) -> None:
        self._count = count
        self._descriptor = descriptor
        self._arguments = arguments
        self._ready = ready
        self._metrics = metrics
        self._places_ready: set[int] = set()
        self._running: set[Process] = set()
        self._stopping = asyncio.Event()
        self._failed = False

    async def run(self) -> None:
        """Run until told to stop, or until one cannot even start."""
        await asyncio.gather(*(self._keep_running(place) for place in range(self._count)))
        if self._failed:
            raise InvalidSetting("A process of the server could not start.", hint="Its message is above.")

    def stop(self) -> None:
        """Let all finish what they do; told a second time, kill them."""
        if self._stopping.is_set():
            for process in self._running:
                process.kill()
        self._stopping.set()

    async def _keep_running(self, place: int) -> None:
        wait = _FIRST_WAIT
        while not self._stopping.is_set():
            was_ready, status = await self._run_once(place)
            if self._stopping.is_set():
                return
            if place not in self._places_ready:
                self._failed = True  # a setting is wrong: another attempt would end in the same way
                self._stopping.set()
                return
            wait = _FIRST_WAIT if was_ready else min(2 * wait, _LONGEST_WAIT)
            _log.warning("A process of the server ended with status %d; another starts in %g s.", status, wait)
            await _either(self._stopping.wait(), asyncio.sleep(wait))

    async def _run_once(self, place: int) -> tuple[bool, int]:
        """Run one process until it ends. Return whether it was ready, and its exit status."""
        command = [sys.executable, "-m", "longmind.cli", "serve", *self._arguments]
        command += ["--fd", str(self._descriptor), *(() if place == 0 else ("--no-consolidation",))]
        process = await asyncio.create_subprocess_exec(
            *command,
            pass_fds=(self._descriptor,),
            start_new_session=True,  # Ctrl-C in a terminal reaches this process only, which passes it on once
            stdin=PIPE,
            stdout=PIPE,
            env={**os.environ, SHARED_FOLDER: str(self._metrics)},
        )
        self._running.add(process)
        assert process.stdout is not None
        try:
            line: bytes | None = await _either(process.stdout.readline(), self._stopping.wait())
            if line == READY:
                self._accepts(place)
                await _either(process.wait(), self._stopping.wait())
            if process.returncode is None and self._stopping.is_set():
                process.terminate()
            return line == READY, await process.wait()
        finally:
            self._running.discard(process)
            forget_process(process.pid, self._metrics)

    def _accepts(self, place: int) -> None:
        all_before = len(self._places_ready) == self._count
        self._places_ready.add(place)
        if not all_before and len(self._places_ready) == self._count:
            self._ready()


async def _either(first: Coroutine[Any, Any, T], second: Coroutine[Any, Any, object]) -> T | None:
    """Wait for the first of two to end; return the result of the first if it is that one."""
    tasks = asyncio.ensure_future(first), asyncio.ensure_future(second)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return tasks[0].result() if tasks[0].done() else None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
