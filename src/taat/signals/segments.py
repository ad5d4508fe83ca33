"""Dividing a post among its actions: which part of the text belongs to which."""

import re
from dataclasses import dataclass

from taat.models import Instrument
from taat.signals.actions import Event
from taat.signals.context import LEAVING
from taat.signals.detection import is_preposition, is_relative
from taat.signals.scan import Scan
from taat.signals.symbols import Mention
from taat.signals.text import INSTRUMENT, LEVEL, QUANTITY

_STRONG = re.compile(r"\n+|[.!?]+(?=\s)")
_MIDDLE = re.compile(r"[;|•]")
_WEAK = re.compile(r",(?=\s)|\s(?:and|&|then|but|while|after|also)\s")
_DASH = re.compile(r"\s-+\s|:\s|/\s")
_BREAK = re.compile(r"[.;!?\n](?:\s|$)|,\s|\n")
_ONLY_COMMA = re.compile(rf"[\s,{INSTRUMENT}]*")
"""Nothing of its own between a side and what was done with the position: ``$SPX long, raised stop``."""
_JOINED = re.compile(rf"(?:[\s,/&+|{LEVEL}{QUANTITY}@$()]|\band\b|\bat\b|\bplus\b|\d[\d.,]*)*$")


@dataclass(slots=True)
class Segment:
    """An action and the part of the text that belongs to it."""

    event: Event
    start: int
    end: int


def clean_events(found: Scan) -> list[Event]:
    """Return the events that stand for themselves: bare sides next to another action only tell its side."""
    events = [
        event
        for event in found.events
        if event.action is None or not (is_relative(found.marked, event) or is_preposition(found.marked, event))
    ]
    events = _without_orders(found.marked, events)
    others = [event for event in events if event.form != "side" and event.action is not None]
    kept: list[Event] = []
    for event in events:
        if event.form == "side" and _is_held(found.marked, event, events):
            continue
        owner = _qualified(found.marked, event, others) if event.form == "side" and others else None
        if owner is None:
            kept.append(event)
        elif owner.side is None or owner.action in ("limit",):
            owner.side = event.side
    if len(kept) == 1 and kept[0].form == "side" and {"entry", "exit"} <= {price.kind for price in found.prices}:
        kept[0].action, kept[0].form = "close", "past"
    return kept


def _without_orders(text: str, events: list[Event]) -> list[Event]:
    """Drop ``to buy`` after an order that waits: it only tells the order's side."""
    kept: list[Event] = []
    order: Event | None = None
    for event in events:
        if order is not None and event.form in ("base", "side") and text[: event.start].endswith("to "):
            order.side = order.side or ("long" if event.side == "long" and event.action == "open" else "short")
            continue
        order = event if event.action == "limit" else order
        kept.append(event)
    return kept


def _is_held(text: str, side: Event, events: list[Event]) -> bool:
    """Whether a bare side tells of a position that is only held: ``holding $ES long``."""
    return any(
        event.form == "none" and event.end <= side.start and not _BREAK.search(text[event.end : side.start])
        for event in events
    )


def _qualified(text: str, side: Event, others: list[Event]) -> Event | None:
    """Return the action whose side a bare side tells, or ``None`` when it is an action of its own."""
    nearest: tuple[int, Event] | None = None
    for other in others:
        start, end = (other.end, side.start) if other.start < side.start else (side.end, other.start)
        between = text[start:end]
        told = not _BREAK.search(between) or (other.action in LEAVING and _ONLY_COMMA.fullmatch(between) is not None)
        if told and (nearest is None or end - start < nearest[0]):
            nearest = (end - start, other)
    if nearest is not None and nearest[0] < 40:
        return nearest[1]
    if re.match(r"\s+from\b", text[side.end :]):
        leaving = [other for other in others if other.action in ("reduce", "close", "stopped_out", "stop_moved")]
        return leaving[0] if leaving else None
    return None


def divide(text: str, events: list[Event]) -> list[Segment]:
    """Divide a text among its actions, at the strongest boundary between each two."""
    segments: list[Segment] = []
    start = 0
    for index, event in enumerate(events):
        end = _boundary(text, event.end, events[index + 1].start) if index + 1 < len(events) else len(text)
        segments.append(Segment(event, start, end))
        start = end
    return segments


def _boundary(text: str, start: int, end: int) -> int:
    for pattern in (_STRONG, _MIDDLE, _WEAK, _DASH):
        matches = list(pattern.finditer(text, start, end))
        if matches:
            return matches[-1].end()
    return end


def own_mentions(found: Scan, segment: Segment) -> list[Mention]:
    """Return the instruments that an action is about: the nearest, and those listed together with it."""
    inside = [mention for mention in found.mentions if segment.start <= mention.start < segment.end]
    if not inside:
        return []
    event, text = segment.event, found.rest
    after = [index for index, mention in enumerate(inside) if mention.end > event.start]
    before = [index for index, mention in enumerate(inside) if mention.end <= event.start]
    first = after[0] if after else before[-1]
    if after and before and _BREAK.search(text[event.end : max(event.end, inside[first].start)]):
        first = before[-1]
    listed = [inside[first]]
    if first in after:
        for mention in inside[first + 1 :]:
            between = text[listed[-1].end : mention.start]
            if INSTRUMENT in between or not _JOINED.match(between):
                break
            listed.append(mention)
    return _distinct(listed)


def _distinct(mentions: list[Mention]) -> list[Mention]:
    seen: set[Instrument] = set()
    kept: list[Mention] = []
    for mention in mentions:
        if mention.instrument not in seen:
            seen.add(mention.instrument)
            kept.append(mention)
    return kept
