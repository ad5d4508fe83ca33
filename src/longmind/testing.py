"""Helpers for tests: a clock that stands still, repeatable ids, memories in one line, and a scripted language model.

They are part of the package, so that you can use them in your own tests.
"""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from longmind.clock import as_utc
from longmind.models.scripted import ScriptedModel
from longmind.types import Memory, Scope

__all__ = ["START", "FakeClock", "ScriptedModel", "memory"]

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
_COUNTER_BITS = 42
_NOISE_BITS = 32


class FakeClock:
    """A clock that a test sets. It advances only by ``set``, ``advance``, or ``tick`` on each read.

    Ids are valid uuid7: they contain the clock's time and sort in the order of creation. The same seed gives the same
    ids.
    """

    def __init__(self, start: datetime = START, *, tick: timedelta = timedelta(0), seed: int = 0) -> None:
        self.tick = tick
        self._now = as_utc(start)
        self._random = random.Random(seed)
        self._last_stamp = 0
        self._counter = 0

    def now(self) -> datetime:
        """Return the time, then advance by one tick."""
        shown = self._now
        self._now += self.tick
        return shown

    def set(self, moment: datetime) -> None:
        """Set the time; it may lie in the past."""
        self._now = as_utc(moment)

    def advance(self, step: timedelta | float) -> datetime:
        """Advance by a time span or by seconds, and return the new time."""
        self._now += step if isinstance(step, timedelta) else timedelta(seconds=step)
        return self._now

    def new_id(self) -> str:
        """Return a uuid7 of the current time; ids sort after earlier ones even if the clock was set back."""
        stamp = max(0, int(self._now.timestamp() * 1000), self._last_stamp)
        self._last_stamp = stamp
        self._counter += 1
        tail = (self._counter % 2**_COUNTER_BITS) << _NOISE_BITS | self._random.getrandbits(_NOISE_BITS)
        high, low = tail >> 62, tail & (2**62 - 1)
        return str(uuid.UUID(int=stamp << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low))


_clock = FakeClock(tick=timedelta(milliseconds=1), seed=3)
"""Its seed is not the default one, so that its ids differ from those of a clock that a test makes."""


def memory(
    content: str = "A thing to remember.",
    *,
    scope: Scope | None = None,
    clock: FakeClock | None = None,
    **fields: Any,
) -> Memory:
    """Return a valid memory of a scope, with a new id and the clock's time unless ``fields`` overrides them."""
    whose = scope or Scope(agent="assistant")
    source = clock or _clock
    now = source.now()
    defaults: dict[str, Any] = {
        "id": source.new_id(),
        "tenant": whose.tenant,
        "agent": whose.agent,
        "user": whose.user,
        "occurred_at": now,
        "recorded_at": now,
        "content": content,
    }
    return Memory(**(defaults | fields))
