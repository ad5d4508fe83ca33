"""The fields of one signal, taken from the part of a post that belongs to it."""

import re
from dataclasses import dataclass, field
from decimal import Decimal

from taat.models import AssetClass, Instrument, Level, Price, Quantity
from taat.signals.actions import Event
from taat.signals.context import LEAVING
from taat.signals.levels import level
from taat.signals.numbers import fraction, number
from taat.signals.prices import Kind, PriceMention, left_over
from taat.signals.scan import Scan
from taat.signals.text import sentence_around


@dataclass(slots=True)
class Fields:
    """What a part of a post says beside the action and the instrument, and the places it says it at."""

    price: Price | None = None
    entry: Price | None = None
    both: bool = False
    stop: Level | None = None
    targets: tuple[Level, ...] = ()
    quantity: Quantity | None = None
    partial: bool = False
    guessed_price: bool = False
    places: list[tuple[int, int]] = field(default_factory=list)


def fields_of(found: Scan, event: Event, instrument: Instrument, start: int, end: int) -> Fields:
    """Collect the fields of an action on an instrument between two places."""
    result = Fields()
    _take_prices(result, found, event, start, end)
    if event.action != "close":
        _take_levels(result, found, event, instrument, start, end)
    _take_quantity(result, found, event, instrument, start, end)
    return result


def _take_prices(result: Fields, found: Scan, event: Event, start: int, end: int) -> None:
    inside = [mention for mention in found.prices if start <= mention.start < end]
    leaving = event.action in LEAVING
    first: dict[Kind, PriceMention] = {}
    for mention in inside:
        first.setdefault(mention.kind, mention)
    order: tuple[Kind, ...] = ("exit", "action", "bare") if leaving else ("entry", "action", "bare")
    if event.action == "open":
        order = (*order, "average")
    chosen = next((first[kind] for kind in order if kind in first), None)
    if event.action == "stop_moved":
        chosen = None
    if chosen is None and event.form == "past" and event.action in ("open", "add", "reduce", "close"):
        first_place, last_place = sentence_around(found.plain, event.start)
        chosen = left_over(found.rest, max(start, first_place), min(end, last_place))
        result.guessed_price = chosen is not None
    if chosen is not None:
        result.price = chosen.price
        result.places.append((chosen.start, chosen.end))
    if leaving and "entry" in first and event.action != "stop_moved":
        entry = first["entry"]
        result.entry = entry.price
        result.places.append((entry.start, entry.end))
        result.both = chosen is not None


def _take_levels(result: Fields, found: Scan, event: Event, instrument: Instrument, start: int, end: int) -> None:
    if event.action == "stop_moved":
        if event.stop_text:
            result.stop = Level(value=number(event.stop_text))
        else:
            result.stop = Level(value=Decimal(0), unit="points")
        return
    targets: list[Level] = []
    for mention in found.levels:
        if not start <= mention.start < end:
            continue
        read = level(mention.value, mention.measure, instrument.symbol)
        if mention.kind == "target":
            targets.append(read)
        elif result.stop is None:
            if event.action == "stopped_out" and read.unit == "price" and result.price is None:
                result.price = Price(low=read.value, high=read.value)
                result.places.append((mention.start, mention.end))
                continue
            result.stop = _scaled(read, result.price, instrument)
        result.places.append((mention.start, mention.end))
    result.targets = tuple(dict.fromkeys(_scaled(target, result.price, instrument) for target in targets))


def _scaled(read: Level, price: Price | None, instrument: Instrument) -> Level:
    """Read ``stop 10`` as points when the price of an index is 4313."""
    far = price is not None and price.low > 500 and read.value * 10 < price.low
    if read.unit == "price" and far and instrument.asset in (AssetClass.INDEX, AssetClass.FUTURE, AssetClass.OPTION):
        return Level(value=read.value, unit="points")
    return read


_MORE = re.compile(r"(?<![\w.])(\d[\d,]*k?)\s+more\b")
_LAST_UNITS = re.compile(r"(?:last|final|remaining)\s+(\d{1,4})\b")
_SCALED_SIZE = re.compile(r"\d+(?:\.\d+)?\s?%\s*(?:position|size|of\s+(?:my\s+)?(?:portfolio|account))")


def _take_quantity(result: Fields, found: Scan, event: Event, instrument: Instrument, start: int, end: int) -> None:
    if event.fraction and event.fraction.isdigit():
        result.quantity, result.partial = Quantity(value=Decimal(event.fraction)), True
        return
    if event.fraction and re.search(r"\d|half|third|quarter|[½¼¾]", event.fraction):
        share = fraction(event.fraction)
        if 0 < share < 1:
            result.quantity, result.partial = Quantity(value=share, unit="fraction"), True
            return
    counted = _MORE.search(event.phrase) or _LAST_UNITS.match(event.phrase)
    if counted is not None:
        result.quantity = Quantity(value=number(counted[1]))
        return
    for mention in found.quantities:
        if not start <= mention.start < end:
            continue
        if mention.quantity.unit == "fraction":
            if event.action in ("stop_moved", "stopped_out", "limit"):
                continue
            if event.action == "open" and _SCALED_SIZE.match(found.plain, mention.start):
                continue
            if event.whole:
                continue  # "the remaining third" is all there is
            result.partial = mention.partial
        elif instrument.asset is AssetClass.CRYPTO and re.match(r"\d+\s?x", found.plain[mention.start :]):
            continue
        else:
            result.partial = mention.partial
        result.quantity = mention.quantity
        result.places.append((mention.start, mention.end))
        return
