"""No call keeps the event loop from other tasks for long, whatever one user stores or asks.

The watchdog measures the processor time that the thread of the event loop uses between two turns of the loop: that does
not depend on how busy the machine is. The bound is 50 ms; what is asserted leaves room for slow machines.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from longmind import Longmind, Settings
from longmind.types import MAX_FACTS

LONGEST = 0.15


@asynccontextmanager
async def responsive(what: str) -> AsyncIterator[None]:
    """Fail if the block holds the event loop for longer than ``LONGEST``."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        before = time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            longest = max(longest, now - before)
            before = now

    watcher = asyncio.create_task(watch())
    await asyncio.sleep(0.01)
    try:
        yield
        await asyncio.sleep(0.01)
    finally:
        watcher.cancel()
    assert longest < LONGEST, f"{what} held the event loop for {longest * 1000:.0f} ms"


@pytest.fixture
async def rc(tmp_path: Path) -> AsyncIterator[Longmind]:
    async with Longmind.open(str(tmp_path / "memory.db"), settings=Settings.load({})) as opened:
        yield opened


async def test_a_message_with_thousands_of_statements(rc: Longmind) -> None:
    mem = rc.agent("assistant", user="ana")
    async with responsive("remember"):
        await mem.remember(" ".join(f"I like thing{n}x." for n in range(4_000)))
    async with responsive("consolidate"):
        report = await mem.consolidate()
    assert report.of("extract").added == MAX_FACTS
    assert report.of("extract").rejected == {"limit": 1}


async def test_a_long_consolidation_can_be_cancelled(rc: Longmind) -> None:
    mem = rc.agent("assistant", user="ana")
    await mem.remember(" ".join(f"I like thing{n}x." for n in range(4_000)))
    task = asyncio.create_task(mem.consolidate())
    await asyncio.sleep(0.3)
    assert not task.done()
    task.cancel()
    assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)
    assert (await mem.consolidate()).of("extract").added == MAX_FACTS
