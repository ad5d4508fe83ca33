"""How much: the size that is asked for, and what each limit leaves of it."""

from dataclasses import dataclass
from decimal import Decimal

from taat.validation.checks.case import Case, money, number, percent
from taat.validation.situation import ZERO, in_steps, smallest_step
from taat.validation.verdict import Check

_LIMITS = ("maximum_position_money", "maximum_position_percent", "buying_power", "confirm_above")
_NO_PRICE = "Without a price there is no size."


@dataclass(frozen=True)
class Sized:
    """A size and the checks that led to it."""

    size: Decimal
    checks: tuple[Check, ...]


def size(case: Case) -> Sized:
    """Return how much may be traded.

    To open, it is what all limits allow. To leave, it is the announced part of what is held.
    """
    if not case.opens:
        return _leaving(case)
    wanted, checks = _wanted(case), []
    allowed = wanted
    checks.append(_position_size(case, wanted))
    for check, cap in (_by_money(case, wanted), _by_percent(case, wanted), _by_buying_power(case, wanted)):
        checks.append(check)
        allowed = min(allowed, cap)
    checks.append(_confirm_above(case, allowed))
    return Sized(allowed, tuple(checks))


def _leaving(case: Case) -> Sized:
    part, says = _part(case)
    check = case.passed("position_size", says, part, abs(case.held))
    return Sized(part, (check, *(case.exempt(name) for name in _LIMITS)))


def _part(case: Case) -> tuple[Decimal, str]:
    """Return how much of what is held is meant, and why."""
    held, quantity, instrument = abs(case.held), case.signal.quantity, case.signal.instrument
    if case.signal.action != "reduce":
        return held, f"All of what is held, {number(held)}, is meant."
    least = min(held, smallest_step(instrument))
    if quantity is None:
        part = max(least, in_steps(held / 2, instrument))
        return part, f"No part is named, so half of what is held, {number(part)} of {number(held)}, is meant."
    named = held * quantity.value if quantity.unit == "fraction" else quantity.value
    part = min(held, max(least, in_steps(named, instrument)))
    return part, f"{number(part)} of {number(held)} are meant."


def _wanted(case: Case) -> Decimal:
    rules, quantity, instrument = case.rules, case.signal.quantity, case.signal.instrument
    if quantity is not None and quantity.unit == "units" and rules.use_announced_quantity:
        return in_steps(quantity.value, instrument)
    if case.unit_money is None:
        return ZERO
    share = quantity.value if quantity is not None and quantity.unit == "fraction" else Decimal(1)
    target = max(ZERO, case.situation.account.equity) * rules.position_percent / 100 * min(share, Decimal(1))
    # a position that is smaller than one share becomes one share, as far as the limits below allow it
    return max(in_steps(target / case.unit_money, instrument), smallest_step(instrument))


def _position_size(case: Case, wanted: Decimal) -> Check:
    if case.unit_money is None:
        return case.refused("position_size", _NO_PRICE)
    if wanted <= 0:
        return case.refused("position_size", "The announced quantity is less than what can be traded.", wanted)
    reason = f"{number(wanted)} of {case.name} are worth {money(wanted * case.unit_money)}."
    return case.passed("position_size", reason, wanted, percent(case.rules.position_percent))


def _by_money(case: Case, wanted: Decimal) -> tuple[Check, Decimal]:
    limit = case.rules.maximum_position_money
    return _capped(case, "maximum_position_money", wanted, limit, "A position")


def _by_percent(case: Case, wanted: Decimal) -> tuple[Check, Decimal]:
    share = case.rules.maximum_position_percent
    limit = None if share is None else max(ZERO, case.situation.account.equity) * share / 100
    return _capped(
        case, "maximum_position_percent", wanted, limit, f"A position of {percent(share or ZERO)} of the equity"
    )


def _capped(case: Case, rule: str, wanted: Decimal, limit: Decimal | None, what: str) -> tuple[Check, Decimal]:
    """Return what a limit for the whole position leaves: what is held on the same side counts too."""
    if case.unit_money is None:
        return case.refused(rule, _NO_PRICE), ZERO
    if limit is None:
        return case.passed(rule, "There is no limit.", money(wanted * case.unit_money), "none"), wanted
    same = max(ZERO, case.situation.account_quantity(case.signal.instrument) * case.direction)
    room = max(ZERO, limit - same * case.unit_money)
    return _fitted(case, rule, wanted, room, f"{what} may be worth {money(limit)}", limit, same)


def _by_buying_power(case: Case, wanted: Decimal) -> tuple[Check, Decimal]:
    if case.unit_money is None:
        return case.refused("buying_power", _NO_PRICE), ZERO
    spendable = case.situation.spendable() * (100 - case.rules.cash_reserve_percent) / 100
    return _fitted(case, "buying_power", wanted, spendable, f"{money(spendable)} may be spent", spendable, ZERO)


def _fitted(
    case: Case, rule: str, wanted: Decimal, room: Decimal, says: str, limit: Decimal, same: Decimal
) -> tuple[Check, Decimal]:
    unit = case.unit_money or Decimal(1)
    cap = in_steps(room / unit, case.signal.instrument)
    value, shown = money((wanted + same) * unit), money(limit)
    if cap >= wanted:
        return case.passed(rule, f"{says}.", value, shown), wanted
    if cap <= 0:
        already = f", and {number(same)} are held" if same else ""
        return case.refused(rule, f"{says}{already}; one more of {case.name} costs {money(unit)}.", value, shown), ZERO
    return case.passed(rule, f"{says}: {number(cap)} instead of {number(wanted)}.", value, shown), cap


def _confirm_above(case: Case, allowed: Decimal) -> Check:
    limit, worth = case.rules.confirm_above_money, allowed * (case.unit_money or ZERO)
    if limit is None:
        return case.passed("confirm_above", "No size needs a confirmation.", money(worth), "none")
    if worth > limit:
        reason = f"It is worth {money(worth)}; above {money(limit)} a person confirms."
        return case.asks("confirm_above", reason, money(worth), money(limit))
    return case.passed("confirm_above", f"It is worth {money(worth)}.", money(worth), money(limit))
