"""One function for each rule: a case in, what the rule says of it out."""

from collections.abc import Callable

from taat.validation.checks.case import Case
from taat.validation.checks.risk import daily_loss, levels, open_positions, price_sanity
from taat.validation.checks.size import size
from taat.validation.checks.trust import announcer_record, announcer_suspended, confidence
from taat.validation.checks.what import (
    allowed_symbols,
    asset_classes,
    blocked_symbols,
    held,
    instrument,
    one_side,
    side,
)
from taat.validation.checks.when import age, duplicate, edited, market_hours
from taat.validation.verdict import Check

CHECKS: tuple[Callable[[Case], Check], ...] = (
    allowed_symbols,
    blocked_symbols,
    asset_classes,
    instrument,
    side,
    held,
    one_side,
    confidence,
    announcer_suspended,
    announcer_record,
    edited,
    duplicate,
    age,
    market_hours,
    price_sanity,
    levels,
    daily_loss,
    open_positions,
)

__all__ = ["CHECKS", "Case", "size"]
