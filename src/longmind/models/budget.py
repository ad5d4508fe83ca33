"""A daily budget of tokens: calls are refused when it is spent, and allowed again when the next day begins (UTC).

A ``Ledger`` records what was spent. The one here is in memory, for tests and single processes. With the one in the
store, all processes of an agent share a budget that survives restarts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol

from longmind.clock import Clock, SystemClock
from longmind.errors import BudgetSpent
from longmind.models.chat import Usage


class Ledger(Protocol):
    """A record of one agent's model usage, by day."""

    async def spent(self, day: date) -> Usage:
        """Return the usage of a day."""
        ...

    async def add(self, day: date, usage: Usage) -> None:
        """Add to the usage of a day; several processes may do so concurrently."""
        ...


class MemoryLedger:
    """A ledger that lives as long as the process."""

    def __init__(self) -> None:
        self._days: dict[date, Usage] = {}

    async def spent(self, day: date) -> Usage:
        return self._days.get(day, Usage())

    async def add(self, day: date, usage: Usage) -> None:
        self._days[day] = self._days.get(day, Usage()) + usage


@dataclass(slots=True)
class Budget:
    """The tokens an agent may use in a day; ``tokens=None`` sets no limit and only records the usage."""

    tokens: int | None = None
    ledger: Ledger = field(default_factory=MemoryLedger)
    clock: Clock = field(default_factory=SystemClock)
    _reserved: int = 0

    async def reserve(self, tokens: int) -> None:
        """Reserve tokens for a call that is about to begin, or raise ``BudgetSpent``.

        The reservations of this process count as spent, so that concurrent calls do not spend the same tokens.
        """
        self._reserved += tokens
        try:
            day = self.clock.now().astimezone(UTC).date()
            spent = await self.ledger.spent(day)
            if self.tokens is not None and spent.tokens + self._reserved > self.tokens:
                raise self._refusal(day, spent, tokens)
        except BaseException:
            self._reserved -= tokens
            raise

    async def charge(self, reserved: int, usage: Usage) -> None:
        """Record what a finished call used, and release its reservation."""
        try:
            if usage != Usage():
                await self.ledger.add(self.clock.now().astimezone(UTC).date(), usage)
        finally:
            self._reserved -= reserved

    async def remaining(self) -> int | None:
        """Return the tokens that remain today; None if there is no limit."""
        if self.tokens is None:
            return None
        spent = await self.ledger.spent(self.clock.now().astimezone(UTC).date())
        return max(0, self.tokens - spent.tokens - self._reserved)

    def _refusal(self, day: date, spent: Usage, wanted: int) -> BudgetSpent:
        resumes = datetime.combine(day + timedelta(days=1), time(), UTC)
        return BudgetSpent(
            f"Of {self.tokens:,} tokens a day {spent.tokens:,} are used, and this call may need {wanted:,}.",
            hint="Go on when the next day begins (UTC), or allow more with model_tokens_per_day.",
            limit=self.tokens,
            spent=spent.tokens,
            wanted=wanted,
            resumes_at=resumes.isoformat(),
        )
