"""Sharing the event loop."""

from __future__ import annotations

import asyncio
import sys

from longmind.pacing import Pace, batches, load_module


async def test_a_pause_lets_others_run_only_after_a_turn() -> None:
    ran: list[str] = []

    async def other() -> None:
        ran.append("other")

    task = asyncio.create_task(other())
    await Pace(turn=3_600).pause()
    assert ran == []
    await Pace(turn=0).pause()
    assert ran == ["other"]
    await task


async def test_a_task_that_never_waits_is_cancelled_at_its_pauses() -> None:
    async def busy() -> None:
        pace = Pace(turn=0)
        while True:
            await pace.pause()

    task = asyncio.create_task(busy())
    await asyncio.sleep(0)
    task.cancel()
    assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)


def test_batches_hold_all_items_in_order_and_no_more_than_fits() -> None:
    assert list(batches([3, 3, 3, 9, 1], lambda n: n, most=6)) == [[3, 3], [3], [9], [1]]
    assert list(batches([], len, most=6)) == []


async def test_a_module_is_loaded_once_in_a_thread() -> None:
    await load_module("wave")
    first = sys.modules["wave"]
    await load_module("wave")
    assert sys.modules["wave"] is first
