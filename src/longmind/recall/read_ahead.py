"""Reading ahead: the reranker reads what was said in the background, so that a question finds it read.

From its first question on, the newest messages of a scope are read, and then each one that is written. The last message
of a session is read when the next one has come, because what is read of a message depends on what was said after it.
Only ids wait here; the texts are fetched when their turn comes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from itertools import islice, takewhile

import numpy as np

from longmind.errors import ModelError
from longmind.kinds import SAID
from longmind.recall.allowed import allowed_rows
from longmind.recall.filters import NOT_NARROWED
from longmind.recall.in_context import ids_beside, texts_in_context
from longmind.recall.rerank import ReadsAhead
from longmind.store.base import Receipt
from longmind.store.search.columns import NONE, listed
from longmind.store.search.view import View
from longmind.store.store import Store
from longmind.types import Scope

PAUSE = 0.2
"""Seconds for which writes are gathered before reading begins."""
BATCH = 32
"""The most messages whose texts are fetched together."""
MOST_QUEUED = 10_000
"""The most messages that wait, of all scopes; the oldest are dropped."""
MOST_SCOPES = 10_000
"""The most scopes that are remembered as asked; then all of them count as new."""

log = logging.getLogger(__name__)


class ReadAhead:
    """Gives a reranker the ``most`` newest messages of each scope that is asked, and what is written there later."""

    def __init__(self, store: Store, reranker: ReadsAhead, most: int) -> None:
        self._store, self._reranker, self._most = store, reranker, most
        self._asked: set[Scope] = set()
        self._new: list[Scope] = []
        """Scopes that were asked for the first time and whose messages are not queued yet."""
        self._queue: OrderedDict[tuple[Scope, str], bool] = OrderedDict()
        """Messages by scope and id, the newest last; whether one was written since the scope was first asked."""
        self._forgotten = 0
        """How often everything was let go of: texts that were fetched before that are not read."""
        self._failed = False
        self._step = asyncio.Lock()
        """Held while messages are fetched and read."""
        self._task: asyncio.Task[None] | None = None
        store.listeners.append(self._written)

    def begin(self, scope: Scope) -> None:
        """Queue the newest messages of a scope, the first time that it is asked."""
        if scope in self._asked or self._failed or not self._reranker.has_room:
            return
        if len(self._asked) >= MOST_SCOPES:
            self._asked.clear()
        self._asked.add(scope)
        self._new.append(scope)
        self._start()

    async def finish(self) -> None:
        """Wait until everything that is queued was read."""
        while self._task is not None and not self._task.done():
            await asyncio.wait({self._task})

    def forget(self) -> None:
        """Let go of everything that waits: something was erased. Scopes begin anew when they are next asked."""
        self._forgotten += 1
        self._asked.clear()
        self._clear()

    async def pause(self) -> None:
        """Wait until the messages that are being read now were read: an erasure must find the store unused."""
        async with self._step:
            return

    async def close(self) -> None:
        """Stop reading."""
        self._store.listeners.remove(self._written)
        self._clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _written(self, scope: Scope, receipt: Receipt) -> None:
        if scope not in self._asked or self._failed or not self._reranker.has_room:
            return
        for memory in receipt.memories[-self._most :]:
            if memory.kind in SAID:
                self._put(scope, memory.id, written=True)
        if self._queue:
            self._start()

    def _put(self, scope: Scope, id: str, *, written: bool) -> None:
        written = self._queue.pop((scope, id), False) or written
        self._queue[scope, id] = written
        if len(self._queue) > MOST_QUEUED:
            self._queue.popitem(last=False)

    def _clear(self) -> None:
        self._new.clear()
        self._queue.clear()

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        """Read what is queued, the newest first, until nothing is left."""
        try:
            await asyncio.sleep(PAUSE)
            while self._new or self._queue:
                async with self._step:
                    if not self._reranker.has_room:
                        self._clear()
                    elif self._new:
                        await self._queue_newest(self._new.pop())
                    elif self._queue:
                        await self._read_batch()
        except ModelError as error:
            self._failed = True
            self._clear()
            log.warning("Nothing is read ahead any more. %s", error.message)
        except Exception as error:
            self._clear()
            if not _process_ends(error):
                log.exception("Reading ahead failed; it goes on with what is written next.")

    async def _queue_newest(self, scope: Scope) -> None:
        forgotten = self._forgotten
        view = await self._store.view(scope)
        if forgotten == self._forgotten:
            for id in _newest_said(view, self._most):
                self._put(scope, id, written=False)

    async def _read_batch(self) -> None:
        """Read the messages of one scope that were queued last, with those beside them that they changed."""
        forgotten, (scope, _) = self._forgotten, next(reversed(self._queue))
        newest = [key[1] for key in takewhile(lambda key: key[0] == scope, islice(reversed(self._queue), BATCH))]
        taken = {id: self._queue.pop((scope, id)) for id in newest}
        view = await self._store.view(scope)
        ids: dict[str, None] = {}
        for id, written in taken.items():
            if written:
                beside = (id, *ids_beside(view, id))
                ids |= dict.fromkeys(each for each in beside if each is not None and not _is_last(view, each))
            else:
                ids[id] = None
        texts = await texts_in_context(self._store, scope, view, list(ids), {})
        if forgotten == self._forgotten:
            await self._reranker.read_ahead(list(texts.values()))


def _newest_said(view: View, most: int) -> list[str]:
    """Return the ids of the newest messages that recall may return, the newest last."""
    kinds = listed(view.column("kind")[: view.rows], view.kinds.known(SAID), len(view.kinds.names))
    rows = np.flatnonzero(allowed_rows(view, NOT_NARROWED, None) & kinds)
    order = np.argsort(view.column("occurred_at")[rows], kind="stable")
    return [view.ids[row] for row in rows[order[-most:]]]


def _is_last(view: View, id: str) -> bool:
    """Return whether a message is the last of its session so far."""
    row = view.row_of(id)
    return row is not None and view.column("thread")[row] != NONE and view.column("after")[row] == NONE


def _process_ends(error: Exception) -> bool:
    """Return whether an error says that the process is ending, and its threads take nothing more."""
    return isinstance(error, RuntimeError) and "cannot schedule new futures" in str(error)
