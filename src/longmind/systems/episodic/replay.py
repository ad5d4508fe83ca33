"""Replay of an episode: its events in order, at once or with the original pauses."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from datetime import datetime, timedelta

from longmind.errors import InvalidInput
from longmind.systems.episodic.models import Episode, Event, Replayed

Sleep = Callable[[float], Awaitable[object]]
_LONGEST_SLEEP = 86_400.0


def check_speed(speed: float | None) -> float | None:
    """Return a valid speed: None for no pauses, or a factor."""
    if speed is None or speed == math.inf:
        return None
    if not speed > 0:
        raise InvalidInput(
            f"An episode cannot be replayed at the speed {speed}.",
            hint="Give a number above 0: 1 is as it was, 60 a minute in a second; None makes no pauses.",
        )
    return speed


async def replay(
    episode: Episode,
    events: AsyncIterator[Event],
    *,
    speed: float | None = None,
    types: Collection[str] | None = None,
    actors: Collection[str] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    longest_pause: timedelta | None = None,
    sleep: Sleep = asyncio.sleep,
) -> AsyncIterator[Replayed]:
    """Yield the events that pass the filters, each after its original pause.

    It can be stopped at any moment: break out of the loop, or cancel the task. Events that the filters leave out are
    not yielded, but their time still passes.
    """
    last = episode.start if since is None else max(since, episode.start)
    number = 0
    async for event in events:
        if until is not None and event.at >= until:
            return
        number += 1
        if not _wanted(event, types, actors, since):
            continue
        if speed is not None:
            pause = min(event.at - last, longest_pause or timedelta.max)
            await _sleep_in_parts(max(pause.total_seconds(), 0.0) / speed, sleep)
        last = event.at
        yield Replayed(number=number, offset=event.at - episode.start, event=event)


def _wanted(
    event: Event, types: Collection[str] | None, actors: Collection[str] | None, since: datetime | None
) -> bool:
    return (
        (types is None or event.type in types)
        and (actors is None or event.actor in actors)
        and (since is None or event.at >= since)
    )


async def _sleep_in_parts(seconds: float, sleep: Sleep) -> None:
    """Sleep, in parts that no timer is too small for."""
    while seconds > 0:
        await sleep(min(seconds, _LONGEST_SLEEP))
        seconds -= _LONGEST_SLEEP
