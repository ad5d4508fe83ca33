"""One pass over the text of a post: everything that can belong to a signal, each with its place."""

import re
from dataclasses import dataclass
from datetime import date

from taat.signals import detection
from taat.signals.actions import Event, find_actions
from taat.signals.levels import LevelMention, find_levels
from taat.signals.numbers import CLOCK, LIST_MARK
from taat.signals.options import join_options, mentions_option, options
from taat.signals.phrases import TRIGGER
from taat.signals.prices import PriceMention, find_pairs, find_prices
from taat.signals.profiles import AnnouncerProfile
from taat.signals.quantities import QuantityMention, find_quantities
from taat.signals.symbols import Mention, named_companies, plain_symbols, signed_symbols
from taat.signals.text import ACTION, IGNORED, INSTRUMENT, lower, masked, normalise, without_links

LONGEST = 1_200
"""How many characters of a post are read: nobody announces a trade in an essay, and long texts cost more."""
MOST_ACTIONS = 30
"""How many phrases of a post are weighed against each other; the text after them is left out."""
_MAYBE_CARD = re.compile(r"\b(?:entry|strike)\b")


@dataclass(slots=True)
class Scan:
    """What was found in a text."""

    plain: str
    """The text in lower case, without links."""
    marked: str
    """The same with marks for instruments and actions."""
    rest: str
    """The same with marks for everything that was found."""
    events: list[Event]
    mentions: list[Mention]
    levels: list[LevelMention]
    quantities: list[QuantityMention]
    prices: list[PriceMention]
    has_link: bool


def scan(text: str, today: date, profile: AnnouncerProfile | None = None) -> Scan | None:
    """Return what a text has for signals, or ``None`` when it cannot announce anything."""
    if detection.is_retweet(text):
        return None
    text = normalise(text[:LONGEST])
    phrases = tuple(profile.vocabulary) if profile is not None else ()
    small = lower(text)
    if not TRIGGER.search(small) and not any(phrase in small for phrase, _, _ in phrases):
        return None
    work = without_links(text)
    has_link = work != text and "http" in small
    plain = lower(work)
    for pattern in (LIST_MARK, CLOCK):
        work = pattern.sub(lambda match: " " * (len(match[0]) - 1) + IGNORED, work)
    work, mentions = options(work, today)
    work, signed = signed_symbols(work)
    mentions += signed
    paired, prices = find_pairs(lower(work))
    marked, events = find_actions(paired, phrases)
    if len(events) > MOST_ACTIONS:
        return scan(text[: events[MOST_ACTIONS].start], today, profile)
    if not events and not prices and not _MAYBE_CARD.search(plain) and not mentions_option(mentions):
        return None
    for place in (event for event in events if event.action is not None or event.form == "none"):
        work = masked(work, place.start, place.end, ACTION)
    work = _with_marks(work, marked)
    work, unsigned = plain_symbols(work)
    mentions += unsigned
    if not mentions:
        work, mentions = named_companies(work)
    work, mentions = join_options(work, mentions, today)
    mentions.sort(key=lambda mention: mention.start)
    marked = lower(work)
    if not prices:
        marked, prices = find_pairs(marked)
    rest, levels = find_levels(marked)
    rest, quantities = find_quantities(rest)
    rest, others = find_prices(rest)
    prices = sorted([*prices, *others], key=lambda mention: mention.start)
    return Scan(plain, marked, rest, events, mentions, levels, quantities, prices, has_link)


def _with_marks(cased: str, marked: str) -> str:
    """Return the text in its own case, with the marks of another."""
    if INSTRUMENT not in marked and ACTION not in marked and IGNORED not in marked:
        return cased
    return "".join(mark if mark < "\x08" else char for char, mark in zip(cased, marked, strict=True))
