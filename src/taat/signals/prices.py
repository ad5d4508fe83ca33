"""Announced prices: of an entry, of an exit, or of both, and what looks like a price but is none."""

import re
from dataclasses import dataclass
from typing import Literal

from taat.models import Price
from taat.signals.numbers import DISTANCE, NUMBER, price
from taat.signals.text import ACTION, IGNORED, INSTRUMENT, LEVEL, QUANTITY, masked

Kind = Literal["entry", "exit", "action", "bare", "average"]


@dataclass(frozen=True, slots=True)
class PriceMention:
    """A price at a place of a text, and what it is the price of."""

    start: int
    end: int
    kind: Kind
    price: Price


_NOT_AFTER = (
    rf"(?![\w%]|[.,/]\d|\s?(?:%|{DISTANCE}(?![a-z])|[rx]\b|shares?\b|contracts?\b|cons\b"
    rf"|lots?\b|days?\b|weeks?\b|months?\b|years?\b"
    r"|hours?\b|mins?\b|minutes?\b|million\b|billion\b|[mb]n?\b|trades?\b|times?\b|calls?\b"
    r"|puts?\b|dte\b|ema\b|sma\b|ma\b|am\b|pm\b"
    r"|jobs\b|bags?\b|cars\b|people\b|of\s+\d))"
)
_N = rf"\$?{NUMBER}k?s?{_NOT_AFTER}"
_AT = r"(?:\s*(?:@|at|:|=|price|zone|range|area|level|between|was|is|around|near|-|of)(?![a-z]))*\s*"
_RANGE = rf"(?P<low>{NUMBER}k?)s?(?:\s?(?:-|to|/)\s?\$?(?P<high>{NUMBER}k?)s?)?{_NOT_AFTER}"
_GAP = rf"(?:[\s,;/|>{ACTION}{INSTRUMENT}-]|\band\b|\bto\b)*"

_PAIRS = (
    # IN 13720 OUT 12484; Entry 1.10, Exit 1.72
    re.compile(
        rf"(?<!\w)(?:in|entry|entered|from|bought|long"
        rf"|short){_AT}(?P<entry>{_N}){_GAP}(?<!\w)(?:out|exit(?:ed)?|sold"
        rf"|closed){_AT}(?P<exit>{_N})"
    ),
    # OUT 12484 IN 13720
    re.compile(rf"(?<!\w)(?:out|exit){_AT}(?P<exit>{_N}){_GAP}(?<!\w)(?:in|entry|from){_AT}(?P<entry>{_N})"),
    # from 13720 to 12484 OUT
    re.compile(rf"(?<!\w)from{_AT}(?P<entry>{_N})\s*(?:to|>+|->|-)\s*(?P<exit>{_N})(?:\s+out\b)?"),
    # 4.50 from 3.20
    re.compile(
        rf"(?<![\w.,/])(?P<exit>{_N})\s*(?:\(?[+-]?\d+(?:\.\d+)?\s?%\)?\s*)?,?\s+from\s+(?:my\s+"
        rf"|the\s+|our\s+|an?\s+)?(?:avg\s+|average\s+|entry\s+)?(?:of\s+|at\s+"
        rf"|@\s*)?(?P<entry>{_N})"
    ),
    # 1.25 -> 2.50
    re.compile(rf"(?<![\w.,/])(?P<entry>{_N})\s*(?:-+>|=+>|>+)\s*(?P<exit>{_N})"),
)
_AVERAGE = re.compile(
    rf"\b(?:(?:new|my|our|the|current)\s+)*(?:avg|average|cb|cost basis)(?:\s+(?:price|cost"
    rf"|entry))?(?:\s*(?:is|now|at|@|of|:|=|down to|up to|to))*\s*{_RANGE}"
)
_GAIN = re.compile(
    rf"(?<![\w.])\(?(?:[+]|(?<!\d\s)-)\s?\$?{NUMBER}k?\s*(?:{DISTANCE}|r\b|gain|profit)?\)?"
    rf"|(?<=\s)-\s?{NUMBER}\s*(?:{DISTANCE}|r\b)"
    rf"|\b(?:up|down|gain(?:ed)?(?: of)?|profit(?: of)?|loss of|lost|made|for)\s+(?:a\s+|an\s+"
    rf"|about\s+|over\s+|another\s+)*\+?\$?{NUMBER}\s*(?:{DISTANCE}|r\b|k\b)"
    rf"|{NUMBER}\s*(?:%|percent|pts|points|handles|pips|r)\s*(?:gain|profit|win|winner|loss|return|loser)"
)
_ENTRY = re.compile(rf"(?<!\w)(?:from|entry|entries|entered|in|avg in){_AT}\$?{_RANGE}")
_EXIT = re.compile(rf"(?<!\w)(?:out|exit(?:ed)?){_AT}\$?{_RANGE}")
_ENTRY_AFTER = re.compile(rf"(?<![\w.,/-])\$?{_RANGE}\s+(?:entry|avg|average|fills?)\b(?!\s*[:@]?\s*\$?\.?\d)")
"""``1.40 entry``."""
_FOR = re.compile(rf"(?<!\w)for{_AT}(?:an?\s+)?(?:avg\s+|average\s+)?(?:of\s+)?\$?{_RANGE}")
_ACTION = re.compile(
    rf"(?:@|(?<!\w)(?:at|price|around|near|paid|fill(?:ed)?|credit|debit|cost|limit"
    rf"|avg)(?![a-z])){_AT}(?:an?\s+)?(?:avg\s+|average\s+)?(?:of\s+)?\$?{_RANGE}"
)
_BARE = re.compile(
    rf"[{INSTRUMENT}{ACTION}{QUANTITY}]\)?\s*(?:[,:(|-]+\s*)?(?:(?:here|now|again|it|this|more"
    rf"|back|trade|these|area|then|swing|lotto|shares|position|shorts?|longs?|calls|puts|runners?|rest|remaining"
    rf"|on(?=\s+(?:the|my|rest|remaining))|the|my)\b\s*[,:]?\s*)*\$?{_RANGE}"
)
_DATE = re.compile(r"(?<![\w.,/$])(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01])(?:/(?:20)?\d\d)?(?![\w.,/]*\d)")
_LEFT = re.compile(rf"(?:(?<=[\s,($])|^)\$?(?P<low>\d*\.\d+|\d+,\d{{3}}(?:\.\d+)?|(?<=\$)\d+){_NOT_AFTER}")


def find_pairs(text: str) -> tuple[str, list[PriceMention]]:
    """Find entries named together with their exit in a lower-case text; return the text without them too."""
    mentions: list[PriceMention] = []
    for pattern in _PAIRS:
        while match := pattern.search(text):
            for kind in ("entry", "exit"):
                value = price(match[kind].strip().lstrip("$"))
                mentions.append(PriceMention(match.start(kind), match.end(kind), kind, value))
            text = "".join(
                IGNORED if match.start() <= place < match.end() and char not in (ACTION, INSTRUMENT) else char
                for place, char in enumerate(text)
            )
    return text, mentions


def find_prices(text: str) -> tuple[str, list[PriceMention]]:
    """Find the prices of a lower-case text in which everything else was marked; return the rest too."""
    mentions: list[PriceMention] = []
    text = _DATE.sub(lambda match: IGNORED * len(match[0]), text)
    patterns: tuple[tuple[re.Pattern[str], Kind], ...] = (
        (_AVERAGE, "average"),
        (_EXIT, "exit"),
        (_ENTRY, "entry"),
        (_ENTRY_AFTER, "entry"),
        (_ACTION, "action"),
        (_FOR, "bare"),
        (_BARE, "bare"),
    )
    for pattern, kind in patterns:
        if kind == "exit":
            text = _GAIN.sub(lambda match: IGNORED * len(match[0]), text)
        for match in list(pattern.finditer(text)):
            start = match.start("low")
            mentions.append(PriceMention(start, match.end(), kind, price(match["low"], match["high"])))
            text = masked(text, start, match.end(), LEVEL)
    mentions.sort(key=lambda mention: mention.start)
    return text, mentions


def left_over(text: str, start: int, end: int) -> PriceMention | None:
    """Return the only number of a part of the text that can still be a price."""
    matches = list(_LEFT.finditer(text, start, end))
    if len(matches) != 1:
        return None
    return PriceMention(matches[0].start("low"), matches[0].end(), "bare", price(matches[0]["low"]))
