"""The clock of the example: it is at the moment that is told, so that everything is recorded when it happened."""

from __future__ import annotations

from datetime import datetime, timedelta

from longmind.clock import SystemClock

_TICK = timedelta(milliseconds=1)


class StoryClock(SystemClock):
    """A clock that is set, and goes on by a millisecond each time it is read."""

    def __init__(self, moment: datetime) -> None:
        self._now = moment

    def now(self) -> datetime:
        self._now += _TICK
        return self._now

    def set(self, moment: datetime) -> None:
        """Go on to a moment. A clock never goes back."""
        self._now = max(self._now, moment)
