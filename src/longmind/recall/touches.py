"""Count reads in the background.

A recall hands over the ids it returned and does not wait. The reads of ``PAUSE`` seconds are gathered and written
together: a commit costs as much as half a recall, so there is at most one for each pause, however often is recalled.
What holds a memory that was read counts with it: the page of a dialogue, and the topic of the page
(``systems.dialogue.visits``). ``flush`` returns when everything handed over so far is stored, so nothing is lost on a
clean close; a process that is killed loses the counts of the last pause and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from longmind.errors import LongmindError
from longmind.pacing import load_module
from longmind.store.base import Touch
from longmind.store.store import Store
from longmind.types import Scope

PAUSE = 2.0
"""Seconds for which reads are gathered before they are written."""
MAX_WAITING = 10_000
"""Recalls after which the reads are written without waiting for the end of the pause, to bound the memory they take."""
TOGETHER = 50
"""Scopes whose reads are written at the same time, so that they share a commit."""


class Touches:
    """A buffer of reads to be counted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[Scope, list[Touch]] = {}
        self._recalls = 0
        """Recalls whose reads wait."""
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self.failed: LongmindError | None = None
        """The error of the last write, if it failed; its reads are kept for the next one."""

    def add(self, scope: Scope, ids: Sequence[str], at: datetime) -> None:
        """Count one read of each of these memories, in the background."""
        if not ids:
            return
        self._waiting.setdefault(scope, []).append(Touch(tuple(ids), at))
        self._recalls += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._begin)
        elif self._recalls == MAX_WAITING:
            self._timer.cancel()
            self._begin()

    async def flush(self) -> None:
        """Wait until every read so far is counted; raise the store's error if that failed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        await self._write()
        if self.failed is not None:
            failed, self.failed = self.failed, None
            raise failed

    def _begin(self) -> None:
        self._timer = None
        self._task = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        """Write the reads that wait now. Those that are handed over meanwhile wait for the next pause."""
        async with self._writing:
            waiting, self._waiting, self._recalls = list(self._waiting.items()), {}, 0
            for start in range(0, len(waiting), TOGETHER):
                part = waiting[start : start + TOGETHER]
                await asyncio.gather(*(self._write_scope(scope, touches) for scope, touches in part))

    async def _write_scope(self, scope: Scope, touches: list[Touch]) -> None:
        try:
            writes = await _with_visits(self._store, scope, touches)
            await self._store.apply(scope, writes, actor="recall", reason="counted reads")
            self.failed = None
        except LongmindError as error:
            self._waiting[scope] = touches + self._waiting.get(scope, [])
            self.failed = error


async def _with_visits(store: Store, scope: Scope, reads: Sequence[Touch]) -> Sequence[Touch]:
    """Return the reads with the visits of dialogue topics that they are, where there are topics."""
    if "segment" not in (await store.view(scope)).kinds.names:
        return reads
    await load_module("longmind.systems.dialogue.visits")
    from longmind.systems.dialogue import with_visits

    return await with_visits(store, scope, reads)
