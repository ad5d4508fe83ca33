"""At what risk: the day's loss, the number of positions, and whether price, stop and targets make sense."""

from decimal import Decimal

from taat.models import Level
from taat.validation.checks.case import Case, money, number, percent
from taat.validation.verdict import Check


def daily_loss(case: Case) -> Check:
    rules, account, loss = case.rules, case.situation.account, case.situation.loss_today
    if not case.opens:
        return case.exempt("daily_loss")
    limits = [] if rules.maximum_daily_loss_money is None else [rules.maximum_daily_loss_money]
    if rules.maximum_daily_loss_percent is not None:
        limits.append(max(Decimal(0), account.day_start_equity) * rules.maximum_daily_loss_percent / 100)
    if not limits:
        return case.passed("daily_loss", "There is no limit for the loss of a day.", money(loss), "none")
    limit = min(limits)
    if loss > 0 and loss >= limit:
        reason = f"Today's loss is {money(loss)}, and nothing is opened from {money(limit)} on."
        return case.refused("daily_loss", reason, money(loss), money(limit))
    return case.passed("daily_loss", f"Today's loss is {money(loss)}.", money(loss), money(limit))


def open_positions(case: Case) -> Check:
    limit = case.rules.maximum_open_positions
    held = {position.instrument for position in case.situation.positions if position.quantity}
    if not case.opens:
        return case.exempt("open_positions")
    if limit is None:
        return case.passed("open_positions", "Any number of positions may be open.", len(held), "none")
    if case.signal.instrument not in held and len(held) >= limit:
        return case.refused(
            "open_positions", f"{len(held)} positions are open; the limit is {limit}.", len(held), limit
        )
    return case.passed("open_positions", f"{len(held)} positions are open.", len(held), limit)


def price_sanity(case: Case) -> Check:
    """The announced price is near the market's. A limit order waits for its price, so only its side of it counts."""
    rules, announced, quote = case.rules, case.signal.price, case.situation.quote
    allowed = rules.price_deviation_percent(case.signal.instrument.asset)
    if not case.opens:
        return case.exempt("price_sanity")
    if quote is None or quote.middle <= 0:
        if announced is None:
            return case.refused("price_sanity", f"No price of {case.name} is known.")
        reason = f"The market's price of {case.name} is not known."
        outcome = {"accept": case.passed, "confirm": case.asks, "refuse": case.refused}[rules.without_quote]
        return outcome("price_sanity", reason, announced.middle)
    if announced is None:
        return case.passed("price_sanity", "No price was announced.", None, quote.middle)
    nearest = min(max(quote.middle, announced.low), announced.high)
    deviation = (nearest - quote.middle) / quote.middle * 100
    if case.signal.action == "limit" and deviation * case.direction < 0:
        return case.passed("price_sanity", "The limit waits for a better price.", nearest, quote.middle)
    where = f"{percent(abs(deviation))} {'above' if deviation > 0 else 'below'} the market's {number(quote.middle)}"
    if abs(deviation) > allowed:
        reason = f"The announced price {number(nearest)} is {where}; {percent(allowed)} are allowed."
        return case.refused("price_sanity", reason, percent(abs(deviation)), percent(allowed))
    return case.passed(
        "price_sanity",
        f"The announced price is {where}." if deviation else "The announced price is the market's.",
        percent(abs(deviation)),
        percent(allowed),
    )


def levels(case: Case) -> Check:
    """A stop on the wrong side of the price, or a target that is behind it, was probably misread."""
    signal = case.signal
    entry = signal.price.middle if signal.price is not None else case.price
    if not case.opens or entry is None or signal.side is None:
        return case.exempt("levels", "There is no entry that a stop or a target could be compared with.")
    wrong = (
        [f"the stop {number(signal.stop.value)}"]
        if signal.stop and _beyond(signal.stop, entry, -case.direction)
        else []
    )
    wrong += [f"the target {number(level.value)}" for level in signal.targets if _beyond(level, entry, case.direction)]
    if wrong:
        reason = f"For a {signal.side} position at {number(entry)}, {' and '.join(wrong)} would be on the wrong side."
        return case.asks("levels", reason, ", ".join(wrong), entry)
    return case.passed("levels", "Stop and targets are on their sides of the price.", None, entry)


def _beyond(level: Level, entry: Decimal, direction: int) -> bool:
    """Whether a level is not on the side of the entry to which ``direction`` points."""
    return level.unit == "price" and (level.value - entry) * direction < 0
