"""Entries that are announced without a verb: an option with its price, or a card with an entry."""

import re

from taat.models import AssetClass
from taat.signals.actions import Event
from taat.signals.scan import Scan
from taat.signals.text import INSTRUMENT

_LEAD = re.compile(
    r"(?:[^a-z0-9]|\b(?:alerts?|entry|new|trade|trades|option|options|play|lotto|lottos|swing"
    r"|day|scalp|risky|small|position|idea's|here|ticker|symbol|stock|quick|signal|0dte|open"
    r"|update|the|a)\b)*$"
)
_AGAINST = re.compile(
    r"\b(?:over|above|under|below|if|watch(?:ing|list)?|break|breaks|hold(?:s|ing)?|looking"
    r"|plan|idea|maybe|could|would|might|will|sweep|flow|oi|volume|active|traded"
    r"|unusual|premium|members|join|yesterday|hit|hits|now\s+\$?\d|high|from|recap|(?<!next )(?<!this )week|called"
    r"|alerted)\b|\?|\+\s?\d|\d\s?%\s*(?:gain|profit|🔥|🚀)|(?:-|=)>"
)


def unspoken_entry(found: Scan, penalty: float) -> Event | None:
    """Return an entry for a post without any action word, when its form alone announces one."""
    if penalty or not found.mentions or _AGAINST.search(found.plain):
        return None
    first = found.mentions[0]
    entry = next((mention for mention in found.prices if mention.kind in ("entry", "action", "bare", "average")), None)
    if entry is None or any(mention.kind == "exit" for mention in found.prices):
        return None
    if entry.kind == "entry" and (found.levels or first.instrument.asset is AssetClass.OPTION):
        return _entry(first.start, found)
    option = first.instrument.asset is AssetClass.OPTION and first.instrument.strike is not None
    direct = entry.start > first.end and len(found.rest[first.end : entry.start].strip(f" @$:,-({INSTRUMENT}")) < 12
    if option and direct and _LEAD.match(found.plain[: first.start]):
        return _entry(first.start, found)
    return None


def unspoken_exit(found: Scan, penalty: float) -> Event | None:
    """Return an exit for a post without any action word that names entry and exit by ``IN`` and ``OUT``."""
    exits = [mention for mention in found.prices if mention.kind == "exit"]
    symbols = {mention.instrument for mention in found.mentions}
    if penalty or len(exits) != 1 or len(symbols) != 1 or not re.search(r"\b(?:out|exit)\b", found.plain):
        return None
    if re.search(r"\?|\b(?:yesterday|last\s+week|recap|if|would|members|join)\b", found.plain):
        return None
    place = found.mentions[0].start
    return Event(place, place, "close", None, "past", "out")


def _entry(place: int, found: Scan) -> Event:
    side = re.search(r"\b(?:side|direction|type)\s*:\s*(short|sell)\b", found.plain)
    return Event(place, place, "open", "short" if side else None, "state", "entry")
