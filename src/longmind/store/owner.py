"""Where a store may be used: in the process and on the event loop that opened it.

A connection to a database does not survive a fork: the child has the parent's files and sockets but not its threads
and locks. Tasks, locks and pools belong to one event loop. So a store that is used elsewhere says so at once.
"""

from __future__ import annotations

import asyncio
import os

from longmind.errors import StoreUnavailable


class Owner:
    """The process, and from the first use on a loop the event loop, that a store belongs to."""

    __slots__ = ("_loop", "_process")

    def __init__(self) -> None:
        self._process = os.getpid()
        self._loop = _running_loop()

    @property
    def forked(self) -> bool:
        """Whether this is a child of the process that opened the store."""
        return os.getpid() != self._process

    def require_here(self) -> None:
        """Raise unless this is the process, and the event loop if one runs, that the store belongs to."""
        if self.forked:
            raise forked_store(self._process)
        loop = _running_loop()
        if loop is not self._loop and loop is not None:
            if self._loop is not None:
                raise StoreUnavailable(
                    "The store was opened on another event loop.",
                    hint="Open and close it on the loop that uses it, within one asyncio.run(); or use longmind.sync, "
                    "which may be called from any thread.",
                )
            self._loop = loop


def forked_store(process: int) -> StoreUnavailable:
    return StoreUnavailable(
        f"The store was opened by process {process}, and this process ({os.getpid()}) is a fork of it.",
        hint="Open the store in each process, after the fork; for multiprocessing, in the worker or its initializer.",
    )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
