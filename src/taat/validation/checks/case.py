"""A signal together with its situation, and the words that all checks use."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property

from taat.models import Signal, multiplier
from taat.validation.rules import Rules
from taat.validation.situation import OPENING, Situation
from taat.validation.verdict import Check, CheckOutcome

_CENT = Decimal("0.01")


@dataclass(frozen=True)
class Case:
    """What is judged. What several checks need is computed once."""

    signal: Signal
    situation: Situation

    @property
    def rules(self) -> Rules:
        return self.situation.rules

    @property
    def opens(self) -> bool:
        """Whether it makes a position or enlarges it."""
        return self.signal.action in OPENING

    @property
    def direction(self) -> int:
        return -1 if self.signal.side == "short" else 1

    @cached_property
    def held(self) -> Decimal:
        """What is held on the announcer's word."""
        return self.situation.held_quantity(self.signal.instrument)

    @cached_property
    def price(self) -> Decimal | None:
        """What one unit will cost: the market's price for the side, or else the announced one."""
        quote, announced = self.situation.quote, self.signal.price
        if self.signal.action == "limit" and announced is not None:
            return announced.high if self.signal.side != "short" else announced.low
        if quote is not None:
            market = quote.ask if self.direction > 0 else quote.bid
            if market > 0:
                return market
        return announced.middle if announced is not None and announced.middle > 0 else None

    @cached_property
    def unit_money(self) -> Decimal | None:
        """What one unit is worth in money, by ``price``."""
        return None if self.price is None else self.price * multiplier(self.signal.instrument)

    @property
    def name(self) -> str:
        return str(self.signal.instrument)

    def passed(self, rule: str, reason: str, value: object = None, limit: object = None) -> Check:
        return _check(rule, "passed", reason, value, limit)

    def refused(self, rule: str, reason: str, value: object = None, limit: object = None) -> Check:
        return _check(rule, "refused", reason, value, limit)

    def asks(self, rule: str, reason: str, value: object = None, limit: object = None) -> Check:
        return _check(rule, "needs_confirmation", reason, value, limit)

    def exempt(self, rule: str, reason: str = "A position may always be left or protected.") -> Check:
        return _check(rule, "does_not_apply", reason, None, None)


def money(value: Decimal) -> str:
    """Return money to the cent, as people read it."""
    return f"{value.quantize(_CENT, ROUND_HALF_UP):,}"


def number(value: Decimal) -> str:
    """Return a number without needless zeros."""
    return f"{value.normalize():f}"


def percent(value: Decimal) -> str:
    return f"{number(value.quantize(_CENT, ROUND_HALF_UP))} %"


def _check(rule: str, outcome: CheckOutcome, reason: str, value: object, limit: object) -> Check:
    return Check(rule=rule, outcome=outcome, reason=reason, value=_text(value), limit=_text(limit))


def _text(value: object) -> str | None:
    if value is None:
        return None
    return number(value) if isinstance(value, Decimal) else str(value)
