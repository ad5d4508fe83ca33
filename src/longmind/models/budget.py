"""A budget of tokens for a day: work stops cleanly when it is spent, and goes on when the next day begins (UTC).

What was spent is kept by a ``Ledger``. The one here is in memory, for tests and single processes; one in the store
makes all processes of an agent share a budget, and a restart forget nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol

from longmind.clock import Clock, SystemClock
from longmind.errors import BudgetSpent
from longmind.models.chat import Usage


class Ledger(Protocol):
    """Where the use of a model is written down, for one agent."""

    async def spent(self, day: date) -> Usage:
        """All that was added for this day."""
        ...

    async def add(self, day: date, usage: Usage) -> None:
        """Add to a day; several processes may do it at once."""
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
    """Tokens an agent may use in a day; ``tokens=None`` sets no limit and only keeps account."""

    tokens: int | None = None
    ledger: Ledger = field(default_factory=MemoryLedger)
    clock: Clock = field(default_factory=SystemClock)
    _held: int = 0

    async def hold(self, tokens: int) -> None:
        """Set tokens aside for a call that is about to begin, or ``BudgetSpent`` if they are not there.

        What other calls of this process hold counts, so that calls made at once do not spend the same tokens.
        """
        self._held += tokens
        try:
            day = self.clock.now().astimezone(UTC).date()
            spent = await self.ledger.spent(day)
            if self.tokens is not None and spent.tokens + self._held > self.tokens:
                raise self._refusal(day, spent, tokens)
        except BaseException:
            self._held -= tokens
            raise

    async def settle(self, held: int, usage: Usage) -> None:
        """The call is over: write down what it used and set nothing aside for it any more."""
        try:
            if usage != Usage():
                await self.ledger.add(self.clock.now().astimezone(UTC).date(), usage)
        finally:
            self._held -= held

    async def left(self) -> int | None:
        """Tokens still to be had today; None when there is no limit."""
        if self.tokens is None:
            return None
        spent = await self.ledger.spent(self.clock.now().astimezone(UTC).date())
        return max(0, self.tokens - spent.tokens - self._held)

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
