"""Finding the phrases that say what an announcer did, each with the action and the side it means."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from taat.models import Action, Side
from taat.signals.phrases import RULES, STOP_MOVED, Form, Rule
from taat.signals.text import ACTION, INSTRUMENT, masked


@dataclass(slots=True)
class Event:
    """A phrase that says what was done, at a place of the text."""

    start: int
    end: int
    action: Action | None
    side: Side | None
    form: Form
    phrase: str
    partial: bool = False
    """Whether only a part of the position is meant."""
    whole: bool = False
    """Whether all that is left is meant."""
    profit: bool = False
    """Whether the phrase is used for gains: positions are scaled out in profit."""
    begun: bool = False
    """Whether the phrase only says that something began: companies open and start many things."""
    target: bool = False
    """Whether the phrase only says that a target was reached: of which position must be known."""
    stop_text: str | None = None
    """For a moved stop: where to, or an empty text for the entry price."""
    fraction: str | None = None


def _compiled(rules: Iterable[Rule]) -> re.Pattern[str]:
    return re.compile(
        r"(?<!\w)(?=[\w½¼¾])(?:"
        + "|".join(f"(?P<r{index}>{pattern})" for index, (pattern, *_) in enumerate(rules))
        + ")"
    )


_ALL = _compiled(RULES)
_WHOLE_OFF = re.compile(rf"(?:took|taking|take)\s+(?:(?:my|the|this)\s+)*{INSTRUMENT}+\s*off$")
"""``Took my $SNOW off``: without a part, all of it."""
_SIGNS = re.compile("[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]")
"""Emoji and other signs: between two words of a phrase they are as good as a space."""
_FRACTIONS = ("f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9")


def find_actions(text: str, extra: Iterable[tuple[str, Action, Side | None]] = ()) -> tuple[str, list[Event]]:
    """Find the phrases that say what was done in a lower-case text; return the text without them, and the events.

    ``extra`` has the phrases of an announcer's own vocabulary; they go before the general ones.
    """
    events: list[Event] = []
    for match in STOP_MOVED.finditer(text):
        where = match["to1"] or match["to2"] or ""
        events.append(Event(*match.span(), "stop_moved", None, "past", match[0], stop_text=where))
    for phrase, meaning, direction in extra:
        for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text):
            if not any(event.start < match.end() and match.start() < event.end for event in events):
                events.append(Event(*match.span(), meaning, direction, "past", match[0], partial=meaning == "reduce"))
    for event in events:
        text = masked(text, event.start, event.end, ACTION)
    for match in _ALL.finditer(_SIGNS.sub(" ", text)):
        if ACTION in match[0] or not match[0].strip():
            continue
        _, action, side, form, marks = RULES[int((match.lastgroup or "r0")[1:])]  # the outer group closes last
        fraction = next((match[name] for name in _FRACTIONS if match[name]), None)
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        event = Event(start, match.end(), action, side, form, match[0].strip(), fraction=fraction)
        event.partial, event.whole, event.profit = "partial" in marks, "whole" in marks, "profit" in marks
        event.begun, event.target = "opened" in marks, "target" in marks
        if side is None and "sold" in marks:
            event.side = (
                "short" if event.phrase.startswith("cover") else "long" if event.phrase.startswith("s") else None
            )
        if action == "reduce" and fraction is None and _WHOLE_OFF.match(event.phrase):
            event.action, event.partial = "close", False
        events.append(event)
    events.sort(key=lambda event: event.start)
    for event in events:
        text = masked(text, event.start, event.end, ACTION)
    return text, events
