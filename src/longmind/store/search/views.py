"""The views that are in memory now: filled when first asked for, brought up to date before every use, dropped when
the memory they may take together is used up, the least recently used first.

Where the store has a place for snapshots, a large view is written there in the background after it was filled and from
time to time, and a new process begins with it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from weakref import WeakValueDictionary

from longmind.errors import LongmindError
from longmind.pacing import Pace
from longmind.store.base import Backend, Feed, Head, IndexRow
from longmind.store.search.packed import capture
from longmind.store.search.snapshot_format import Snapshots
from longmind.store.search.view import View
from longmind.text.index_terms import ANALYSIS_VERSION, index_terms
from longmind.types import Scope

_PART = 500
WIDENED = 16 * 2**20
"""Bytes that the vectors of the views used last may take in single precision, beside those in half precision."""

SNAPSHOT_ROWS = 20_001
"""Rows from which on a view is stored. A smaller one is filled in a fraction of a second."""
_SNAPSHOT_CHANGES = 10_000
"""Changes after which a snapshot is written again, or a fiftieth of the rows if that is more."""
_log = logging.getLogger(__name__)

_MOST_WIDENED = 64
"""Views whose vectors may be in single precision, so that few are looked at before each use."""


class Views:
    """A cache of views over one backend."""

    def __init__(self, backend: Backend, max_bytes: int, snapshots: Snapshots | None = None) -> None:
        self._backend = backend
        self._snapshots = snapshots
        self._stored: dict[Scope, int] = {}
        """Up to which change the snapshot of a scope goes, as far as this process knows."""
        self._storing: dict[Scope, asyncio.Task[None]] = {}
        self._max_bytes = max_bytes
        self._views: OrderedDict[Scope, View] = OrderedDict()
        self._sizes: dict[Scope, int] = {}
        self._total = 0
        self._locks: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()
        self._widened: OrderedDict[Scope, None] = OrderedDict()
        """Views whose vectors may be widened, the one used last at the end."""

    async def fresh(self, scope: Scope) -> View:
        """Return the view of a scope with every change that was committed before this call."""
        head = await self._backend.head(scope)
        view = self._views.get(scope)
        if view is None or view.head != head:
            async with self._lock(scope):
                view = await self._caught_up(scope, head)
            self._store_if_due(scope, view)
        self._views.move_to_end(scope)
        self._narrow_others(scope)
        return view

    def _narrow_others(self, scope: Scope) -> None:
        """Note that a view is used, and drop the widened vectors of those that were used before all others."""
        self._widened[scope] = None
        self._widened.move_to_end(scope)
        total = sum(view.vectors.widened_bytes for used in self._widened if (view := self._views.get(used)))
        while (total > WIDENED and len(self._widened) > 1) or len(self._widened) > _MOST_WIDENED:
            oldest, _ = self._widened.popitem(last=False)
            if (view := self._views.get(oldest)) is not None:
                total -= view.vectors.widened_bytes
                view.vectors.narrow()

    @property
    def nbytes(self) -> int:
        """About how much memory all views take."""
        return self._total

    @asynccontextmanager
    async def erasing(self, scope: Scope) -> AsyncIterator[None]:
        """Remove the snapshots of an agent, and let no new one begin until what is in the block was erased."""
        if self._snapshots is None or (await self._backend.head(scope)).seq < SNAPSHOT_ROWS:
            yield  # an agent with so few changes has none
            return
        async with self._snapshots.erasing(scope):
            self._stored = {stored: seq for stored, seq in self._stored.items() if not _same_agent(stored, scope)}
            yield

    async def remove_snapshots(self) -> int:
        """Remove every snapshot of the store. Return how many there were."""
        self._stored.clear()
        return await self._snapshots.remove() if self._snapshots is not None else 0

    async def finish(self) -> None:
        """Wait until the snapshots under way are stored."""
        await asyncio.gather(*self._storing.values())

    def drop(self) -> None:
        """Drop every view; the next use fills it anew."""
        for scope in list(self._views):
            self._forget(scope)

    async def _caught_up(self, scope: Scope, head: Head) -> View:
        view = self._views.get(scope)
        if view is not None and view.head.epoch == head.epoch and view.head.seq >= head.seq:
            return view
        if view is None:
            view = await self._restored(scope, head)
        if view is None or view.head.epoch != head.epoch or view.mostly_dead:
            space = await self._backend.space()
            view = View(space.dimensions, space.name) if space else View(0)
        reached = view.head
        outdated: list[IndexRow] = []
        pace = Pace()
        async for feed in self._backend.feed(scope, view.head.seq):
            if feed.head.epoch != head.epoch:
                self._forget(scope)
                return await self._caught_up(scope, await self._backend.head(scope))
            old = [row for row in feed.rows if row.terms[0] != ANALYSIS_VERSION]
            for part_of_feed in _parts(_without(feed, old) if old else feed):
                await pace.pause()
                view.take_in(part_of_feed)
            outdated += old
            reached = feed.head
        for start in range(0, len(outdated), _PART):
            part = outdated[start : start + _PART]
            view.take_in(Feed(reached, await self._analysed(scope, part)))
        view.head = reached
        self._keep(scope, view)
        await pace.pause()  # what a search works out anew over many new rows takes a turn of its own
        return view

    async def _restored(self, scope: Scope, head: Head) -> View | None:
        """Return the view of a snapshot; None if there is none that fits the journal, or it would save nothing."""
        if self._snapshots is None or head.seq < SNAPSHOT_ROWS:
            return None
        header = await self._snapshots.header(scope)
        if header is None or header.epoch != head.epoch or not 0 <= head.seq - header.seq < header.rows // 2:
            return None
        space = await self._backend.space()
        if (header.space, header.dimensions) != ((space.name, space.dimensions) if space else (None, 0)):
            return None
        if header.mark != await self._mark(scope, header.seq):
            return None  # the store was set back to an earlier state and has gone another way
        view = await self._snapshots.load(scope, header)
        if view is not None:
            self._stored[scope] = header.seq
        return view

    async def _mark(self, scope: Scope, seq: int) -> str:
        """Return a hash of the agent's journal line with a number."""
        lines = await self._backend.journal(scope.of_all_users(), after=seq - 1, limit=1)
        told = [(line.seq, line.operation, line.action, line.memory_id, line.at.isoformat()) for line in lines]
        return hashlib.sha256(repr(told).encode()).hexdigest()

    def _store_if_due(self, scope: Scope, view: View) -> None:
        if self._snapshots is None or view.living < SNAPSHOT_ROWS or scope in self._storing:
            return
        if view.vectors.dimensions and not view.vectors.compressed:
            return
        stored = self._stored.get(scope)
        if stored is None or view.head.seq - stored >= max(_SNAPSHOT_CHANGES, view.living // 50):
            self._stored[scope] = view.head.seq
            self._storing[scope] = task = asyncio.create_task(self._store(self._snapshots, scope))
            task.add_done_callback(lambda _: self._storing.pop(scope, None))

    async def _store(self, snapshots: Snapshots, scope: Scope) -> None:
        """Write the snapshot of a view. If that fails the next process reads every row, and the log says why."""
        try:
            write = await snapshots.begin(scope)
            # Whatever is erased from here on takes it back; whatever was erased before is dead in the view now.
            async with self._lock(scope):
                view = await self._caught_up(scope, await self._backend.head(scope))
                captured = await asyncio.to_thread(capture, view, view.postings.segments())
            mark = await self._mark(scope, captured.head.seq)
            stored = await write(captured, mark)
            if stored:
                self._stored[scope] = captured.head.seq
            else:
                self._stored.pop(scope, None)
        except (OSError, LongmindError) as error:
            _log.warning("The snapshot of a view was not stored: %s.", type(error).__name__)

    def _lock(self, scope: Scope) -> asyncio.Lock:
        """Return what is held while a view of the scope takes in changes. It lives as long as somebody has it."""
        lock = self._locks.get(scope)
        if lock is None:
            lock = self._locks[scope] = asyncio.Lock()
        return lock

    async def _analysed(self, scope: Scope, rows: list[IndexRow]) -> list[IndexRow]:
        """Return rows whose terms an older release stored, with the terms of the current analyser.

        The store is left as it is: a memory gets new terms when it is written next. One that is gone meanwhile keeps
        its old ones until the view hears of it.
        """
        texts = {memory.id: memory for memory in await self._backend.get(scope, [row.id for row in rows])}
        return [replace(row, terms=index_terms(texts[row.id])) if row.id in texts else row for row in rows]

    def _keep(self, scope: Scope, view: View) -> None:
        self._forget(scope)
        size = view.nbytes
        self._views[scope], self._sizes[scope] = view, size
        self._total += size
        # One view that alone is larger than all may be stays: if a small one drove it out, each recall would fill it.
        oversize = next((kept for kept in reversed(self._views) if self._sizes[kept] > self._max_bytes), None)
        allowed = self._max_bytes + (0 if oversize is None else self._sizes[oversize])
        while self._total > allowed:
            self._forget(next(kept for kept in self._views if kept != oversize))

    def _forget(self, scope: Scope) -> None:
        if self._views.pop(scope, None) is not None:
            self._total -= self._sizes.pop(scope)
            self._widened.pop(scope, None)


def _same_agent(scope: Scope, other: Scope) -> bool:
    return (scope.tenant, scope.agent) == (other.tenant, other.agent)


def _parts(feed: Feed) -> Iterator[Feed]:
    """Yield a chunk of a feed in parts that take a view a few milliseconds each."""
    yield replace(feed, rows=feed.rows[:_PART])
    for start in range(_PART, len(feed.rows), _PART):
        yield Feed(feed.head, feed.rows[start : start + _PART])


def _without(feed: Feed, rows: list[IndexRow]) -> Feed:
    left_out = {row.id for row in rows}
    return replace(feed, rows=[row for row in feed.rows if row.id not in left_out])
