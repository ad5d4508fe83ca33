"""Hearing what is written through a store, and acting for an agent once enough of it has come together.

The listener itself only counts: a write neither waits for it nor can fail because of it. What is to be done happens in
one task beside, for one agent at a time, and an agent for which it failed is tried again when it changes further.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from longmind.errors import InvalidSetting
from longmind.types import Scope

if TYPE_CHECKING:
    from longmind.memory import Longmind
    from longmind.store.base import Receipt
    from longmind.store.store import Store

AFTER = 50
"""Changes of an agent that are enough to consolidate it."""
_log = logging.getLogger(__name__)


class Listening:
    """Counts the changes of each agent and calls ``act`` with its scope when there are enough.

    What ``act`` itself writes is not counted: whoever consolidates would otherwise wake himself.
    """

    def __init__(self, longmind: Longmind, act: Callable[[Scope], Awaitable[object]], *, after: int = AFTER) -> None:
        if after < 1:
            raise InvalidSetting("A trigger needs at least one change.", hint="Give after=1 or more.")
        self._longmind = longmind
        self._store: Store | None = None
        self._act = act
        self._after = after
        self._counts: dict[tuple[str, str], int] = {}
        self._due: dict[tuple[str, str], None] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to listen. Starting twice does nothing more."""
        if self._task is None:
            self._store = self._longmind.store
            self._store.listeners.append(self._heard)
            self._task = asyncio.create_task(self._run(), name="longmind trigger")

    async def stop(self) -> None:
        """Listen no longer, and let what is being done finish."""
        task, self._task = self._task, None
        if task is None or self._store is None:
            return
        self._store.listeners.remove(self._heard)
        self._due.clear()
        self._wake.set()
        await task

    def _heard(self, scope: Scope, receipt: Receipt) -> None:
        if scope.agent.startswith("@") or receipt.replayed:
            return
        whose = (scope.tenant, scope.agent)
        count = self._counts.get(whose, 0) + max(1, sum(receipt.created))
        self._counts[whose] = count
        if count >= self._after:
            self._due[whose] = None
            self._wake.set()

    async def _run(self) -> None:
        while self._task is not None:
            await self._wake.wait()
            self._wake.clear()
            while self._due:
                whose = next(iter(self._due))
                try:
                    await self._act(Scope(tenant=whose[0], agent=whose[1], all_users=True))
                except Exception as error:  # whatever it is: the other agents have their turn, and this one again
                    _log.warning("The agent %s of %s could not be consolidated: %s", whose[1], whose[0], error)
                self._due.pop(whose, None)
                self._counts.pop(whose, None)
