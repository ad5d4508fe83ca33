"""Numbers as announcers write them: ``4,313.50``, ``.85``, ``25.4k``, ``13720s``, ``1.20-1.30``, ``1/2``."""

import re
from decimal import Decimal

from taat.models import Price

NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
AMOUNT = rf"(?<![\w.,]){NUMBER}k?s?(?![\w%]|[.,]\d|\s?%)"
"""A number that can be a price: not a part of a word, of another number or a percentage."""
DISTANCE = r"(?:pts?(?!\d?\s*[:=@]|\s+\$?\.?\d)|points?|handles?|pips?|ticks?|cents?|%|percent)"
FRACTION = (
    r"(?:(?:one|a)[ -]half|half|½|(?:one|a)[ -]third|two[ -]thirds|(?:one|a)[ -]quarter|three[ -]quarters"
    r"|[1-4]/[2-5](?![/\d])|third|quarter|¼|¾|\d{1,2}(?:\.\d+)? ?(?:%|pct\b|percent\b))"
)

_WORDS = {
    "half": Decimal("0.5"), "½": Decimal("0.5"), "third": Decimal(1) / 3, "two thirds": Decimal(2) / 3,
    "quarter": Decimal("0.25"), "¼": Decimal("0.25"), "three quarters": Decimal("0.75"), "¾": Decimal("0.75"),
}  # fmt: skip


def number(text: str) -> Decimal:
    """Return the value of a number, with thousands separators, a ``k`` for thousands or an ``s`` at its end."""
    text = text.replace(",", "").replace("$", "").strip().rstrip("sS")
    if text[-1] in "kK":
        return Decimal(text[:-1]) * 1000
    return Decimal(text)


def fraction(text: str) -> Decimal:
    """Return the value of a fraction, between 0 and 1, rounded to four places."""
    text = text.strip().replace("-", " ")
    if text.endswith(("%", "t")):
        value = Decimal(text.rstrip("% pcetrn")) / 100
    elif "/" in text:
        above, _, below = text.partition("/")
        value = Decimal(above) / Decimal(below)
    else:
        value = _WORDS.get(text) or _WORDS[text.split()[-1]]
    return value.quantize(Decimal("0.0001")).normalize()


def price(low: str, high: str | None = None) -> Price:
    """Return a price, or a range of prices when there are two and they are near each other.

    The second may be cut short: ``4313-15`` is 4313 to 4315.
    """
    first = number(low)
    if high is None:
        return Price(low=first, high=first)
    second = number(high)
    if second < first and "." not in low and "." not in high and len(high) < len(low):
        second = number(low[: -len(high)] + high)
    if first <= 0 or not Decimal("0.5") < second / first < 2:
        return Price(low=first, high=first)
    return Price(low=min(first, second), high=max(first, second))


LIST_MARK = re.compile(r"(?m)^[^\S\n]*(?:\d{1,2}[.)/](?=\s)"
                       r"|\(?\d{1,2}/\d{1,2}\)?(?=\s*\n)|\(\d{1,2}/\d{1,2}\)|\d{1,2}/n\b)"
                       r"|\(\d{1,2}/\d{1,2}\)\s*$|(?<=[.!?] )\d{1,2}/(?=\s)")  # fmt: skip
"""The number of an item or of a post in a thread."""
CLOCK = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?\s*(?:am|pm|et|est|edt|ct|cst|utc|gmt)?\b|\b\d{1,2}\s?(?:am|pm)\b", re.I)
