"""What an announcer holds: finding the position a post speaks of, and following it from post to post."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from taat.models import AssetClass, Holding, Instrument, Signal

_FAMILIES = {"SPXW": "SPX", "NDXP": "NDX", "RUTW": "RUT", "GOOG": "GOOGL", "MES": "ES", "MNQ": "NQ", "M2K": "RTY"}
LEAVING = frozenset({"reduce", "close", "stop_moved", "stopped_out"})
"""The actions that need an open position."""
SMALLEST = Decimal("0.02")
"""Less than this fraction of the first size counts as nothing."""


def same_symbol(one: str, other: str) -> bool:
    """Whether two symbols may mean the same thing: weekly index options and their index, small and large futures."""
    return one == other or _FAMILIES.get(one, one) == _FAMILIES.get(other, other)


def matches(holding: Holding, instrument: Instrument) -> bool:
    """Whether a holding can be the one that an instrument, perhaps incompletely named, means."""
    held = holding.instrument
    if instrument.symbol and not same_symbol(held.symbol, instrument.symbol):
        return False
    if instrument.asset is not AssetClass.OPTION:
        return True
    if held.asset is not AssetClass.OPTION:
        return False
    pairs = ((instrument.right, held.right), (instrument.strike, held.strike), (instrument.expiry, held.expiry))
    return all(said is None or known is None or said == known for said, known in pairs)


def find_holding(
    holdings: Sequence[Holding], instrument: Instrument | None, side: str | None
) -> tuple[Holding | None, bool]:
    """Return the holding that is meant, and whether others could be meant as well."""
    fitting = [holding for holding in holdings if instrument is None or matches(holding, instrument)]
    if instrument is not None:
        fitting = [holding for holding in fitting if holding.instrument == instrument] or fitting
    if side is not None:
        fitting = [holding for holding in fitting if holding.side == side] or ([] if instrument is None else fitting)
    if not fitting:
        return None, False
    if len(fitting) == 1:
        return fitting[0], False
    dated = [(holding.opened_at, index) for index, holding in enumerate(fitting) if holding.opened_at is not None]
    return (fitting[max(dated)[1]] if dated else None), True


def holdings_after(
    holdings: Iterable[Holding], signals: Iterable[Signal], at: datetime | None = None
) -> tuple[Holding, ...]:
    """Return what an announcer holds after the signals of a post."""
    current = list(holdings)
    for signal in signals:
        index = _position(current, signal)
        if signal.action in ("open", "add"):
            current = _entered(current, index, signal, at)
        elif index is not None and signal.action in ("close", "stopped_out"):
            del current[index]
        elif index is not None and signal.action == "reduce":
            current = _reduced(current, index, signal)
    return tuple(current)


def _position(holdings: Sequence[Holding], signal: Signal) -> int | None:
    for exact in (True, False):
        for index, holding in enumerate(holdings):
            fits = holding.instrument == signal.instrument if exact else matches(holding, signal.instrument)
            if fits and (signal.side is None or holding.side == signal.side):
                return index
    return None


def _entered(holdings: list[Holding], index: int | None, signal: Signal, at: datetime | None) -> list[Holding]:
    price = signal.price.middle if signal.price else None
    units = signal.quantity.value if signal.quantity and signal.quantity.unit == "units" else None
    if index is None or holdings[index].instrument != signal.instrument:
        side = signal.side or "long"
        held = Holding(instrument=signal.instrument, side=side, units=units, entry=price, opened_at=at)
        return [*holdings, held]
    held = holdings[index]
    more = held.units + units if held.units is not None and units is not None else None
    entry = held.entry
    if more and entry is not None and price is not None and units is not None and held.units is not None:
        entry = (entry * held.units + price * units) / more
    changes = {"units": more, "entry": entry if entry is not None else price, "opened_at": at or held.opened_at}
    return [*holdings[:index], held.model_copy(update=changes), *holdings[index + 1 :]]


def _reduced(holdings: list[Holding], index: int, signal: Signal) -> list[Holding]:
    held, quantity = holdings[index], signal.quantity
    remaining, units = held.remaining, held.units
    if quantity is not None and quantity.unit == "fraction":
        remaining -= held.remaining * quantity.value
        units = units - units * quantity.value if units is not None else None
    elif quantity is not None and units:
        left = max(Decimal(0), units - quantity.value)
        remaining, units = remaining * left / units, left
    if remaining < SMALLEST:
        return [*holdings[:index], *holdings[index + 1 :]]
    return [*holdings[:index], held.model_copy(update={"remaining": remaining, "units": units}), *holdings[index + 1 :]]
