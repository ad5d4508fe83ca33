"""Sharing the event loop: work that takes long lets other tasks run in between.

Two ways, for two kinds of work. A coroutine with many short steps calls ``Pace.pause`` between them; it costs next to
nothing until the steps have taken ``TURN`` together, and it is where a cancellation arrives. A function that computes
for long without awaiting anything runs in a thread, by ``asyncio.to_thread``, one bounded part at a time.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
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
