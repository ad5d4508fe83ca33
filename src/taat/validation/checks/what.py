"""What is traded: symbols, kinds of instruments, sides, and whether it is one instrument at all."""

from taat.models import AssetClass
from taat.validation.checks.case import Case, number
from taat.validation.verdict import Check


def allowed_symbols(case: Case) -> Check:
    allowed, symbol = case.rules.allowed_symbols, case.signal.instrument.symbol.upper()
    if not case.opens:
        return case.exempt("allowed_symbols")
    if not allowed:
        return case.passed("allowed_symbols", "Every symbol is allowed.", symbol, "all")
    if symbol in allowed:
        return case.passed("allowed_symbols", f"{symbol} is allowed.", symbol, ", ".join(allowed))
    return case.refused("allowed_symbols", f"{symbol} is not among the allowed symbols.", symbol, ", ".join(allowed))


def blocked_symbols(case: Case) -> Check:
    blocked, symbol = case.rules.blocked_symbols, case.signal.instrument.symbol.upper()
    if not case.opens:
        return case.exempt("blocked_symbols")
    if symbol in blocked:
        return case.refused("blocked_symbols", f"{symbol} is blocked.", symbol, ", ".join(blocked))
    return case.passed("blocked_symbols", f"{symbol} is not blocked.", symbol, ", ".join(blocked) or "none")


def asset_classes(case: Case) -> Check:
    classes, asset = case.rules.asset_classes, case.signal.instrument.asset
    limit = ", ".join(classes) or "none"
    if not case.opens:
        return case.exempt("asset_classes")
    if asset in classes:
        return case.passed("asset_classes", f"The kind of instrument, {asset}, is allowed.", asset, limit)
    return case.refused("asset_classes", f"{case.name} is of the kind {asset}, which is not traded.", asset, limit)


def instrument(case: Case) -> Check:
    """An option is one instrument only with its expiry, strike and right, and only until it expires."""
    traded = case.signal.instrument
    if not case.opens or traded.asset is not AssetClass.OPTION:
        return case.exempt("instrument", "This is no option that would be opened.")
    missing = [name for name in ("expiry", "strike", "right") if getattr(traded, name) is None]
    if missing:
        return case.refused("instrument", f"The option has no {' and no '.join(missing)}.", case.name)
    today = case.situation.at.date()
    if traded.expiry is not None and traded.expiry < today:
        return case.refused("instrument", f"{case.name} has expired.", traded.expiry, today)
    return case.passed("instrument", f"{case.name} has not expired.", traded.expiry, today)


def side(case: Case) -> Check:
    announced, allowed = case.signal.side, "long, short" if case.rules.allow_short else "long"
    if not case.opens:
        return case.exempt("side")
    if announced is None:
        return case.refused("side", "The announcement does not tell whether it is long or short.", "unknown", allowed)
    if announced == "short" and not case.rules.allow_short:
        return case.refused("side", "Short positions are not allowed.", announced, allowed)
    return case.passed("side", f"A {announced} position is allowed.", announced, allowed)


def held(case: Case) -> Check:
    """Only what is held can be left or protected."""
    quantity = case.held
    if case.opens:
        return case.exempt("held", "Nothing needs to be held to open a position.")
    if quantity == 0:
        return case.refused(
            "held", f"Nothing of {case.name} is held on the word of {case.situation.announcer}.", quantity
        )
    stance = "long" if quantity > 0 else "short"
    if case.signal.side is not None and case.signal.side != stance:
        reason = f"{case.name} is held {stance}, and the announcement is about a {case.signal.side} position."
        return case.refused("held", reason, stance, case.signal.side)
    return case.passed("held", f"{number(abs(quantity))} of {case.name} are held {stance}.", quantity)


def one_side(case: Case) -> Check:
    """An account holds one side of an instrument: an order against it would close what another announcer opened."""
    if not case.opens:
        return case.exempt("one_side")
    there = case.situation.account_quantity(case.signal.instrument)
    if case.situation.opposed is None and there * case.direction >= 0:
        return case.passed("one_side", f"The other side of {case.name} is not held.", there)
    stance = "short" if case.direction > 0 else "long"
    whose = f" on the word of {case.situation.opposed}" if case.situation.opposed is not None else ""
    reason = f"{case.name} is held or ordered {stance}{whose}, and an account has one side of an instrument."
    return case.refused("one_side", reason, there)
