"""Announced sizes: a number of shares or contracts, or a fraction of the position."""

import re
from dataclasses import dataclass
from decimal import Decimal

from taat.models import Quantity
from taat.signals.numbers import FRACTION, NUMBER, fraction, number
from taat.signals.text import ACTION, IGNORED, INSTRUMENT, QUANTITY, masked


@dataclass(frozen=True, slots=True)
class QuantityMention:
    """A size at a place of a text."""

    start: int
    end: int
    quantity: Quantity
    partial: bool = False


_LEVERAGE = re.compile(
    r"\b(?:leverage|lev|cross|isolated)\s*[:=]?\s*\d{1,3}\s?x?\b|\b\d{1,3}\s?x\s*(?:leverage"
    r"|lev\b|cross|isolated|long|short)"
)
_KEPT = re.compile(
    r"\b(?:leaving|leave|keeping|left|letting)\s+(?:the\s+|a\s+|my\s+|last\s+"
    r"|just\s+)*(?:\d+\s+|\d/\d\s+)?(?:runners?|rest|contracts?|cons)\b"
    r"|\b(?:\d/\d|half|\d+%?)\s+(?:left|remaining|still\s+on)\b"
)
"""What stays in the position: no size of what is announced."""
_SPELT = {
    word: Decimal(value)
    for value, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"twenty": Decimal(20), "fifty": Decimal(50), "hundred": Decimal(100)}
_NUMBER_WORDS = "|".join(_SPELT)
_WORDS = r"(?:shares?|shrs?|shs?|contracts?|cons?|lots?|cts?|units?|coins?|micros?|minis?|runners?|pieces?|cars?)"
_OF = re.compile(
    rf"(?<![\w.,/$])(?P<value>\d{{1,4}})\s+(?:of|out of)\s+(?:my\s+)?(?P<all>\d{{1,4}})(?=\s|{INSTRUMENT})"
)
_COUNTED = re.compile(
    rf"(?<![\w.,/$])(?P<value>{NUMBER}k?)\s*(?:{_WORDS}\b|x(?=\s|$))|(?<!\w)x\s?(?P<times>\d{{1,4}})(?![\w.])"
)
_LABELLED = re.compile(
    rf"\b(?:qty|quantity|size|sz|shares|contracts)\s*[:=#]?\s*(?P<value>{NUMBER}k?)(?![\w%/]|[.,]\d)"
)
_BETWEEN = re.compile(
    rf"{ACTION}\s*:?\s*(?:(?:a|about|another|up|some|just)\s+)*(?P<value>{NUMBER}k?"
    rf"|{_NUMBER_WORDS})\s+(?:more\s+)?(?:(?:of|my|the)\s+)*(?={INSTRUMENT})"
)
_MORE = re.compile(rf"{ACTION}\s*(?P<value>\d[\d,]{{0,5}}k?)\s+more\b")
_LAST = re.compile(
    r"\b(?:final|last|remaining|other)\s+(?P<value>\d{1,4})(?=\s*(?:@|at\b|for\b|here\b|$|[.,!\n]))(?![.,]\d)"
)
_SIGNED = re.compile(rf"{ACTION}\s*[+-](?P<value>\d{{1,5}})(?=\s+\.?[\s{INSTRUMENT}])")
"""``BOT +5 SPY``, as a broker's window shows it."""
_AFTER_ACTION = re.compile(
    rf"{ACTION}(?:[\s{INSTRUMENT}]|\b(?:by|another|a|an|about|my|the|roughly"
    rf"|around)\b)*+(?P<part>{FRACTION})(?![\w/]|\s*(?:gain|profit|win|loss|up|on the))"
)
_SIZED = re.compile(
    rf"(?P<part>{FRACTION})\s*(?:-\s*)?(?:size|sized|position|pos\b|off\b|of\s+(?:my|the|it"
    rf"|position)|more\b|the\s+position)|\b(?:by\s+(?:about\s+)?|in\s+(?=half))(?P<part2>{FRACTION})"
)


def find_quantities(text: str) -> tuple[str, list[QuantityMention]]:
    """Find sizes in a lower-case text in which actions and instruments are marked; return the rest too."""
    text = _KEPT.sub(lambda match: IGNORED * len(match[0]), text)
    text = _LEVERAGE.sub(lambda match: IGNORED * len(match[0]), text)
    mentions: list[QuantityMention] = []

    def take(start: int, end: int, quantity: Quantity, partial: bool = False) -> None:
        nonlocal text
        mentions.append(QuantityMention(start, end, quantity, partial))
        text = masked(text, start, end, QUANTITY)

    for match in list(_OF.finditer(text)):
        if 0 < int(match["value"]) < int(match["all"]):
            take(*match.span(), Quantity(value=number(match["value"])), partial=True)
    for pattern in (_COUNTED, _LABELLED, _BETWEEN, _MORE, _LAST, _SIGNED):
        for match in list(pattern.finditer(text)):
            name = "value" if match["value"] else "times"
            value = _SPELT.get(match[name]) or number(match[name])
            if value > 0:
                whole = pattern in (_COUNTED, _LABELLED)
                take(*(match.span() if whole else match.span(name)), Quantity(value=value))
    for pattern in (_AFTER_ACTION, _SIZED):
        for match in list(pattern.finditer(text)):
            name = "part" if match["part"] else "part2"
            share = fraction(match[name])
            if 0 < share < 1:
                take(*match.span(name), Quantity(value=share, unit="fraction"), partial=True)
    mentions.sort(key=lambda mention: mention.start)
    return text, mentions
