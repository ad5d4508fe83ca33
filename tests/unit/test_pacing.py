"""Sharing the event loop."""

from __future__ import annotations

import asyncio
import gc
import sys

import pytest

from longmind.pacing import Pace, batches, load_module, rare_collections


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


def test_python_looks_for_garbage_less_often_until_all_blocks_have_ended() -> None:
    usual = gc.get_threshold()
    with rare_collections():
        assert gc.get_threshold()[0] > usual[0]
        with rare_collections():
            pass
        assert gc.get_threshold()[0] > usual[0], "the outer block goes on"
    assert gc.get_threshold() == usual


@pytest.mark.parametrize("threshold", [0, 1_000_000])
def test_a_process_that_collects_never_or_rarely_is_left_alone(threshold: int) -> None:
    usual = gc.get_threshold()
    gc.set_threshold(threshold, *usual[1:])
    try:
        with rare_collections():
            assert gc.get_threshold()[0] == threshold
        assert gc.get_threshold()[0] == threshold
    finally:
        gc.set_threshold(*usual)


def test_what_a_program_sets_within_a_block_stays() -> None:
    usual = gc.get_threshold()
    try:
        with rare_collections():
            gc.set_threshold(5_000, 20, 30)
        assert gc.get_threshold() == (5_000, 20, 30)
    finally:
        gc.set_threshold(*usual)
