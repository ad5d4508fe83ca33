"""The views that are in memory now: filled when first asked for, brought up to date before every use, dropped when
the memory they may take together is used up, the least recently used first."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace

from longmind.pacing import Pace
from longmind.store.base import Backend, Feed, Head, IndexRow
from longmind.store.search.view import View
from longmind.text.index_terms import ANALYSIS_VERSION, index_terms
from longmind.types import Scope

_PART = 500
WIDENED = 16 * 2**20
"""Bytes that the vectors of the views used last may take in single precision, beside those in half precision."""

_MOST_WIDENED = 64
"""Views whose vectors may be in single precision, so that few are looked at before each use."""


class Views:
    """A cache of views over one backend."""

    def __init__(self, backend: Backend, max_bytes: int) -> None:
        self._backend = backend
        self._max_bytes = max_bytes
        self._views: OrderedDict[Scope, View] = OrderedDict()
        self._sizes: dict[Scope, int] = {}
        self._total = 0
        self._locks: dict[Scope, asyncio.Lock] = {}
        self._widened: OrderedDict[Scope, None] = OrderedDict()
        """Views whose vectors may be widened, the one used last at the end."""

    async def fresh(self, scope: Scope) -> View:
        """Return the view of a scope with every change that was committed before this call."""
        head = await self._backend.head(scope)
        view = self._views.get(scope)
        if view is None or view.head != head:
            lock = self._locks.setdefault(scope, asyncio.Lock())
            async with lock:
                view = await self._caught_up(scope, head)
            if not lock.locked():
                self._locks.pop(scope, None)
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

    def drop(self) -> None:
        """Drop every view; the next use fills it anew."""
        for scope in list(self._views):
            self._forget(scope)

    async def _caught_up(self, scope: Scope, head: Head) -> View:
        view = self._views.get(scope)
        if view is not None and view.head.epoch == head.epoch and view.head.seq >= head.seq:
            return view
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
        while self._total > self._max_bytes and len(self._views) > 1:
            self._forget(next(iter(self._views)))

    def _forget(self, scope: Scope) -> None:
        if self._views.pop(scope, None) is not None:
            self._total -= self._sizes.pop(scope)
            self._widened.pop(scope, None)


def _parts(feed: Feed) -> Iterator[Feed]:
    """Yield a chunk of a feed in parts that take a view a few milliseconds each."""
    yield replace(feed, rows=feed.rows[:_PART])
    for start in range(_PART, len(feed.rows), _PART):
        yield Feed(feed.head, feed.rows[start : start + _PART])


def _without(feed: Feed, rows: list[IndexRow]) -> Feed:
    left_out = {row.id for row in rows}
    return replace(feed, rows=[row for row in feed.rows if row.id not in left_out])
