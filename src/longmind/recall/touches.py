"""Count reads in the background.

A recall hands over the ids it returned and does not wait. A background task waits a moment for more and writes the
reads of a scope in one batch. What holds a memory that was read counts with it: the page of a dialogue, and the topic
of the page (``systems.dialogue.visits``). ``flush`` returns when everything handed over so far is stored, so nothing
is lost on a clean close.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from longmind.errors import LongmindError
from longmind.pacing import load_module
from longmind.store.base import Touch
from longmind.store.store import Store
from longmind.types import Scope

BATCH_DELAY = 0.25
"""Seconds the background task waits to collect more reads."""


class Touches:
    """A buffer of reads to be counted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[Scope, list[Touch]] = {}
        self._task: asyncio.Task[None] | None = None
        self._flush_now = asyncio.Event()
        self.failed: LongmindError | None = None
        """The error of the last write, if it failed; its reads are kept for the next one."""

    def add(self, scope: Scope, ids: Sequence[str], at: datetime, interaction: float = 0.0) -> None:
        """Count one read of each of these memories, in the background."""
        if not ids:
            return
        self._waiting.setdefault(scope, []).append(Touch(tuple(ids), at, interaction))
        if self._task is None or self._task.done():
            self._flush_now.clear()
            self._task = asyncio.create_task(self._write_soon())

    async def flush(self) -> None:
        """Wait until every read so far is counted; raise the store's error if that failed."""
        self._flush_now.set()
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])
        if self._waiting:
            await self._write()
        if self.failed is not None:
            failed, self.failed = self.failed, None
            raise failed

    async def _write_soon(self) -> None:
        with suppress(TimeoutError):  # nobody called flush in the meantime
            await asyncio.wait_for(self._flush_now.wait(), BATCH_DELAY)
        await self._write()

    async def _write(self) -> None:
        while self._waiting:
            scope = next(iter(self._waiting))
            writes = self._waiting.pop(scope)
            try:
                await self._store.apply(
                    scope, await _with_visits(self._store, scope, writes), actor="recall", reason="counted reads"
                )
                self.failed = None
            except LongmindError as error:
                self._waiting[scope] = writes + self._waiting.get(scope, [])
                self.failed = error
                return


async def _with_visits(store: Store, scope: Scope, reads: Sequence[Touch]) -> Sequence[Touch]:
    """Return the reads with the visits of dialogue topics that they are, where there are topics."""
    if "segment" not in (await store.view(scope)).kinds.names:
        return reads
    await load_module("longmind.systems.dialogue.visits")
    from longmind.systems.dialogue import with_visits

    return await with_visits(store, scope, reads)
