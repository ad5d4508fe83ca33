"""Sharing the event loop: work that takes long lets other tasks run in between.

Two ways, for two kinds of work. A coroutine with many short steps calls ``Pace.pause`` between them; it costs next to
nothing until the steps have taken ``TURN`` together, and it is where a cancellation arrives. A function that computes
for long without awaiting anything runs in a thread, by ``asyncio.to_thread``, one bounded part at a time.

Work that builds very many objects which all stay can ask Python to look for garbage less often meanwhile
(``rare_collections``).
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

TURN = 0.01
"""Seconds for which one task may hold the event loop before it lets the others run."""


BATCH = 100_000
"""Characters that a thread reads in one go. A cancelled task leaves at most one such batch running."""


def batches(items: Sequence[T], size: Callable[[T], int], most: int = BATCH) -> Iterator[list[T]]:
    """Yield the items in lists whose sizes add up to ``most`` at the most, or that hold one item only."""
    batch: list[T] = []
    total = 0
    for item in items:
        if batch and total + size(item) > most:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size(item)
    if batch:
        yield batch


_RARE = 10_000
"""New objects after which Python looks for garbage in a block of ``rare_collections``; 700 are usual."""
_collector = threading.Lock()
_blocks = 0
_usual = (0, 0, 0)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let Python look for garbage in cycles less often until the block ends.

    Each look goes through all young objects, and some through all objects of the process. Where thousands of records
    are built that all stay, these looks find nothing and take a tenth of the time. It counts for the whole process; a
    process that looks even less often, or never, is left as it is.
    """
    global _blocks, _usual
    with _collector:
        if not _blocks:
            _usual = gc.get_threshold()
            if 0 < _usual[0] < _RARE:
                gc.set_threshold(_RARE, *_usual[1:])
        _blocks += 1
    try:
        yield
    finally:
        with _collector:
            _blocks -= 1
            if not _blocks and gc.get_threshold() == (_RARE, *_usual[1:]):
                gc.set_threshold(*_usual)


async def load_module(name: str) -> None:
    """Load a module in a thread, so that a later ``import`` of it is short. Large ones take a second."""
    if name not in sys.modules:
        await asyncio.to_thread(importlib.import_module, name)


class Pace:
    """The time since a task last let others run."""

    def __init__(self, turn: float = TURN) -> None:
        self._turn = turn
        self._since = time.monotonic()

    async def pause(self) -> None:
        """Let other tasks run, if the last pause was longer ago than a turn."""
        if time.monotonic() - self._since >= self._turn:
            await asyncio.sleep(0)
            self._since = time.monotonic()
