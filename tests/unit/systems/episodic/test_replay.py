"""Replaying an episode, on every backend."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime, timedelta

import pytest

from longmind.errors import InvalidInput
from longmind.systems.episodic import EpisodicMemory

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


async def a_morning(episodic: EpisodicMemory) -> str:
    episode = await episodic.start("A morning")
    for minutes, type, actor in [(1, "talk", "Ann"), (3, "work", "Bob"), (3, "talk", "Bob"), (13, "work", "Ann")]:
        await episodic.record(episode.id, f"{type} {actor}", type=type, actor=actor, at=NOON + minutes * MINUTE)
    return episode.id


class Sleeper:
    """Notes how long it was asked to sleep, and does not."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


async def test_events_come_one_by_one_in_order(episodic: EpisodicMemory) -> None:
    id = await a_morning(episodic)
    seen = [one async for one in episodic.replay(id)]
    assert [one.event.what for one in seen] == ["talk Ann", "work Bob", "talk Bob", "work Ann"]
    assert [one.number for one in seen] == [1, 2, 3, 4]
    assert [one.offset for one in seen] == [MINUTE, 3 * MINUTE, 3 * MINUTE, 13 * MINUTE]


async def test_the_pauses_follow_the_speed(episodic: EpisodicMemory) -> None:
    id = await a_morning(episodic)
    for speed, pauses in [(1, [60.0, 120.0, 600.0]), (60, [1.0, 2.0, 10.0]), (0.5, [120.0, 240.0, 1200.0])]:
        sleep = Sleeper()
        assert len([one async for one in episodic.replay(id, speed=speed, sleep=sleep)]) == 4
        assert sleep.slept == pauses
    for speed in (None, math.inf):
        sleep = Sleeper()
        assert len([one async for one in episodic.replay(id, speed=speed, sleep=sleep)]) == 4
        assert sleep.slept == []
    capped = Sleeper()
    assert [one async for one in episodic.replay(id, speed=1, sleep=capped, longest_pause=MINUTE)]
    assert capped.slept == [60.0, 60.0, 60.0]


async def test_filters_leave_events_out_but_not_their_time(episodic: EpisodicMemory) -> None:
    id = await a_morning(episodic)
    sleep = Sleeper()
    worked = [one async for one in episodic.replay(id, types={"work"}, speed=1, sleep=sleep)]
    assert [one.number for one in worked] == [2, 4]
    assert sleep.slept == [180.0, 600.0]
    assert [one.number async for one in episodic.replay(id, actors=["Ann"])] == [1, 4]
    late = Sleeper()
    since = NOON + 2 * MINUTE
    some = [one.number async for one in episodic.replay(id, since=since, until=NOON + 13 * MINUTE, speed=1, sleep=late)]
    assert some == [2, 3]
    assert late.slept == [60.0]


async def test_a_replay_that_waits_can_be_cancelled_or_left(episodic: EpisodicMemory) -> None:
    id = await a_morning(episodic)
    seen: list[str] = []
    first = asyncio.Event()

    async def follow() -> None:
        async for one in episodic.replay(id, speed=1, since=NOON + MINUTE):
            seen.append(one.event.what)
            first.set()

    task = asyncio.create_task(follow())
    await first.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["talk Ann"]
    replay = episodic.replay(id)
    assert (await anext(replay)).event.what == "talk Ann"
    await replay.aclose()
    with pytest.raises(StopAsyncIteration):
        await anext(replay)


@pytest.mark.parametrize("speed", [0, -1, math.nan])
async def test_a_speed_must_be_above_zero(episodic: EpisodicMemory, speed: float) -> None:
    id = await a_morning(episodic)
    with pytest.raises(InvalidInput, match="speed"):
        await anext(episodic.replay(id, speed=speed))
