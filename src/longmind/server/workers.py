"""Several processes on one address: each accepts connections from the same socket.

Requests for one agent may meet any of them, which is right but colder: each has views of its own. A proxy that
hashes on the agent in the path, over servers with one process each, is faster.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence

from longmind.errors import InvalidSetting

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_AGAIN_SECONDS = 1.0


async def supervise(count: int, listening: socket.socket, arguments: Sequence[str]) -> None:
    """Run ``longmind serve`` in this many processes until a signal comes. One that dies is started again.

    The first consolidates in the background, the others do not. Each ends when its standard input does, so none
    outlives this process, however that ends.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stopping.set)
    try:
        async with asyncio.TaskGroup() as group:
            for place in range(count):
                more = () if place == 0 else ("--no-consolidation",)
                group.create_task(_keep_running(listening.fileno(), [*arguments, *more], stopping))
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def _keep_running(descriptor: int, arguments: Sequence[str], stopping: asyncio.Event) -> None:
    command = [sys.executable, "-m", "longmind.cli", "serve", *arguments, "--fd", str(descriptor)]
    started_once = False
    while not stopping.is_set():
        process = await asyncio.create_subprocess_exec(
            *command, pass_fds=(descriptor,), start_new_session=True, stdin=PIPE, stdout=DEVNULL
        )
        ended = asyncio.create_task(process.wait())
        stop = asyncio.create_task(stopping.wait())
        await asyncio.wait({ended, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not ended.done():
            process.terminate()
        code = await ended
        if stopping.is_set():
            return
        if code == 1 and not started_once:
            stopping.set()
            raise InvalidSetting("A process of the server could not start.", hint="Its message is above.")
        started_once = True
        await asyncio.sleep(_AGAIN_SECONDS)
