"""Making one signal of what a post says twice."""

import re
from collections.abc import Sequence

from taat.models import Signal, Span
from taat.signals.actions import Event

_ORDINAL = re.compile(r"(?:\d|first|second|next)\w*\s+(?:scale|trim|partial)")
_STRONGER = {("close", "stopped_out"), ("reduce", "stopped_out"), ("open", "add"), ("close", "reduce")}
"""Pairs in which the second says more exactly what the first says too."""


def merged(read: Sequence[tuple[Signal, Event]]) -> tuple[Signal, ...]:
    """Return the signals of a post, joining those that speak of the same trade."""
    kept: list[tuple[Signal, Event]] = []
    for signal, event in read:
        for index, (earlier, first) in enumerate(kept):
            joined = _joined(earlier, first, signal, event)
            if joined is not None:
                kept[index] = joined
                break
        else:
            kept.append((signal, event))
    return tuple(signal for signal, _ in kept)


def _joined(earlier: Signal, first: Event, later: Signal, second: Event) -> tuple[Signal, Event] | None:
    if earlier.instrument != later.instrument:
        return None
    if earlier.action == later.action:
        if _contradict(earlier, later):
            return None
        return _union(earlier, later), first
    if earlier.action == "open" and later.action == "reduce" and _ORDINAL.match(second.phrase):
        return earlier, first  # where the first scale will be, said with the entry
    if first.target and later.action in ("close", "stopped_out"):
        return _union(later, earlier), second  # the target was the last one
    weak_first, weak_second = _is_weak(earlier, first), _is_weak(later, second)
    if (earlier.action, later.action) in _STRONGER and weak_first:
        return _union(later, earlier), second
    if (later.action, earlier.action) in _STRONGER and weak_second:
        return _union(earlier, later), first
    return None


def _is_weak(signal: Signal, event: Event) -> bool:
    """Whether a phrase only repeats: a state without a price of its own, or profits that were taken."""
    return signal.price is None and (event.form in ("state", "side") or event.profit or event.phrase.startswith("took"))


def _contradict(one: Signal, other: Signal) -> bool:
    fields = ("price", "quantity", "stop", "side")
    pairs = ((getattr(one, name), getattr(other, name)) for name in fields)
    return any(first is not None and second is not None and first != second for first, second in pairs)


def _union(main: Signal, other: Signal) -> Signal:
    """Return the main signal with what it lacks taken from the other."""
    names = ("side", "price", "entry_price", "exit_price", "quantity", "stop", "time_frame")
    missing = {name: getattr(other, name) for name in names if getattr(main, name) is None}
    span = Span(start=min(main.span.start, other.span.start), end=max(main.span.end, other.span.end))
    best = max(main.confidence, other.confidence)
    targets = main.targets or other.targets
    return main.model_copy(update={**missing, "targets": targets, "span": span, "confidence": best})
