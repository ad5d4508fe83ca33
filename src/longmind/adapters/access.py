"""How an adapter reaches memory: for whom, and on which event loop."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Coroutine
from typing import Any, TypeVar

from longmind.adapters.scope import AdapterScope
from longmind.agent_memory import AgentMemory
from longmind.errors import InvalidInput
from longmind.memory import Longmind
from longmind.sync import Longmind as BlockingLongmind
from longmind.sync.blocking import EventLoopThread, underlying

R = TypeVar("R")


class MemoryAccess:
    """An open store as an adapter uses it: the memory of a call, and a way to run a coroutine from anywhere.

    A ``longmind.Longmind`` is used on the event loop that opened it, and by blocking calls from other threads. A
    ``longmind.sync.Longmind`` has a loop of its own, and can be used from every loop and every thread.
    """

    def __init__(
        self, longmind: Longmind | BlockingLongmind, *, agent: str | None = None, user: str | None = None
    ) -> None:
        if not isinstance(longmind, Longmind | BlockingLongmind):
            raise InvalidInput(
                f"An adapter needs an open store, not a {type(longmind).__name__}.",
                hint="Give what Longmind.open() returned, of longmind or of longmind.sync.",
            )
        self.longmind: Longmind
        self._thread: EventLoopThread | None
        self.longmind, self._thread = (
            underlying(longmind) if isinstance(longmind, BlockingLongmind) else (longmind, None)
        )
        self._home = _running_loop()
        self.scope = AdapterScope(agent, user)
        self.memory()  # checks the names

    def memory(self, *, application: str | None = None, user: str | None = None) -> AgentMemory:
        """Return the memory of a call, for the application and the user that the framework names in it."""
        return self.longmind.agent(self.scope.agent_name(application), self.scope.user_name(user))

    def of_user(self, user: str | None) -> MemoryAccess:
        """Return access to the memory of one user."""
        access = copy.copy(self)
        access.scope = AdapterScope(self.scope.agent, self.scope.user_name(user))
        return access

    async def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine of the store's loop, from this loop or another one."""
        if self._thread is not None:
            return await asyncio.wrap_future(self._thread.submit(work))
        if self._home is None:
            self._home = _running_loop()  # the store itself refuses a loop that is not its own
        return await work

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine of the store's loop and wait for it: not on that loop."""
        if self._thread is not None:
            return self._thread.run(work)
        if self._home is None or not self._home.is_running() or self._home is _running_loop():
            work.close()
            raise InvalidInput(
                "A blocking call cannot wait for a store of this event loop.",
                hint="Use the asynchronous method; or open the store with longmind.sync, for blocking calls.",
            )
        return asyncio.run_coroutine_threadsafe(work, self._home).result()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
