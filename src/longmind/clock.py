"""The only source of time and ids.

Everything that needs "now" or a new id asks the clock it was given, so that a test can hold time still.
Ids are uuid7: they sort by the moment they were made.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

import uuid_utils

from longmind.errors import InvalidInput


class Clock(Protocol):
    """A source of time and new ids."""

    def now(self) -> datetime: ...

    def new_id(self) -> str: ...


class SystemClock:
    """The machine's clock, in UTC, and random uuid7 ids."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def new_id(self) -> str:
        return str(uuid_utils.uuid7())


def as_utc(moment: datetime) -> datetime:
    """Return a moment in UTC; one without a time zone is taken as UTC."""
    if moment.tzinfo is UTC:
        return moment
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # the first and the last hours of the calendar, in another zone
        raise InvalidInput("A moment is outside the years 1 to 9999 when told in UTC.") from None
