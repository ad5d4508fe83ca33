"""What validation says of a signal: one entry for each rule, and what follows from all of them."""

from decimal import Decimal
from typing import Literal

from taat.models import Frozen

CheckOutcome = Literal["passed", "refused", "needs_confirmation", "does_not_apply"]
Outcome = Literal["accepted", "refused", "needs_confirmation"]


class Check(Frozen):
    """What one rule says of a signal."""

    rule: str
    outcome: CheckOutcome
    reason: str
    value: str | None = None
    """What was compared, as text."""
    limit: str | None = None
    """What it was compared with."""


class Verdict(Frozen):
    """Whether a signal is followed, why, and how much of it."""

    outcome: Outcome
    checks: tuple[Check, ...]
    size: Decimal = Decimal(0)
    """How many shares, contracts or coins may be traded; 0 when it is refused."""
    price: Decimal | None = None
    """The price of one unit by which the size was computed."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it was refused or has to be confirmed; empty when it was accepted."""
        return tuple(check.reason for check in self.checks if check.outcome == self.outcome)

    @property
    def refused_by(self) -> tuple[str, ...]:
        """The names of the rules that refuse it."""
        return tuple(check.rule for check in self.checks if check.outcome == "refused")

    def check(self, rule: str) -> Check:
        """Return what a rule says."""
        return next(check for check in self.checks if check.rule == rule)

    def __str__(self) -> str:
        words = {"accepted": "accepted", "refused": "refused", "needs_confirmation": "to be confirmed"}[self.outcome]
        return f"{words}: {' '.join(self.reasons)}" if self.reasons else words
