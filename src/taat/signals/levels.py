"""Stops and targets: prices, or distances in points or percent."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from taat.models import Level, Unit
from taat.signals.numbers import DISTANCE, NUMBER, number
from taat.signals.text import LEVEL, masked


@dataclass(frozen=True, slots=True)
class LevelMention:
    """A stop or a target at a place of a text; ``measure`` is the word for its unit, such as ``pips``."""

    start: int
    end: int
    kind: Literal["stop", "target"]
    value: Decimal
    measure: str = ""


_STOP_WORD = r"(?:stop[ -]?loss(?:es)?|stops?|stp|sl|s/l|s\.l\.?)"
_FILL = (
    r"(?:\s*(?:is|was|are|goes|going|sits|stays?|set|remains?|still|at|@|:|=|-+|>|<|~|under|below|above|over"
    r"|just|around|near|loss|now|of|on"
    r"|close|a|the|daily|hourly|all|rest|in|for|mental|hard|tight|initial|to|placed|\(|,(?=\s*(?:at|@)))(?![a-z]))*"
)
_DISTANCE_STOP = re.compile(
    rf"(?<![\w.])(?:-\s*)?(?P<value>{NUMBER})\s*-?\s*(?P<measure>{DISTANCE})\s*(?:(?:hard"
    rf"|mental|trailing|tight|initial|wide|max)\s+)*"
    rf"(?:{_STOP_WORD}|risk)(?!\w|\s*[:@=]?\s*\$?\.?\d)"
)
_STOP = re.compile(
    rf"(?<![\w/-]){_STOP_WORD}(?![\w/]){_FILL}\s*[-+]?\$?(?P<value>{NUMBER}k?)(?!\w*\d)\s*"
    rf"(?P<measure>{DISTANCE}(?![a-z]))?(?!\s*(?:day|ema|sma|ma|min|hour)\b)"
)
_MONEY_STOP = re.compile(
    rf"\b(?:a|my)\s+\$(?P<value>{NUMBER})\s+(?P<measure>)(?:(?:hard|mental|trailing|tight|initial|wide)\s+)*"
    rf"(?:{_STOP_WORD}|risk)(?!\w|\s*[:@=]?\s*\$?\.?\d)"
)
"""``with a $6 stop``: a distance in money, so in points of the price."""
_VERSUS = re.compile(
    rf"(?<=\d)\s+(?:vs\.?|versus|against)\s+\$?(?P<value>{NUMBER})(?![\w%]|[.,]\d|\s?(?:%|est|exp|cons|[mb]n?\b))"
    rf"(?P<measure>)"
)
"""``long 148.70 vs 145``: the price against which the trade is wrong."""
_RISK = re.compile(
    rf"\brisk(?:ing)?(?:\s*(?:is|to|:|just|below|under|above|down|about|only"
    rf"|off|vs|versus|against|hod|lod|highs?|lows?))*\s*(?P<value>{NUMBER}k?)(?![\w%]*[a-z])\s*(?P<measure>{DISTANCE}(?![a-z]))?(?!\s*"
    rf"(?:r\b|of\b|:))"
)
_INVALID = re.compile(
    rf"\binval(?:id(?:ation)?)?(?:\s*(?:is|at|@|:|=))*\s*\$?(?P<value>{NUMBER}k?)(?![\w%]|[.,]\d)(?P<measure>)"
)
_CUT = re.compile(
    rf"\b(?:cut(?:ting)?|out|exit(?:ing)?|invalid(?:ation|ated)?|wrong|bail(?:ing)?)(?:\s+(?:it"
    rf"|this|if|on|a|the|close|all|is|at|for|me|daily|we|lose|loses"
    rf"|breaks?))*\s*[:]?\s*(?:below|under|above"
    rf"|over)\s+\$?(?P<value>{NUMBER})(?!\s?%)(?P<measure>)"
)
_AND = (
    r"\s*(?:,|/|-|\band\b|&|\bthen\b|\bto\b|>+|\||\+|\n)\s*"
    r"(?:(?:and\s+|then\s+)?(?:the\s+|a\s+)?(?:second|2nd|third|3rd|final|next)\s+(?:(?:one|at|is|@)\s+)*)?"
)
_TARGET_WORD = (
    r"(?:(?:price|profit|first|1st|next|initial|second|2nd|final|my)\s+)*(?:targets?|tgts?"
    r"|trgt|take[ -]?profits?|🎯(?=\s*\$?\.?\d)|tps?|pt(?=\s*\d?\s*[:@=]|\s*\d?\s+\$?\d)"
    r"|pts(?=\s*\d?\s*[:=])|(?<!\d\s)(?<!\d)pts(?=\s*\d?\s*@|\s*\d?\s+\$?\d)|t(?=\d\b))"
)
_ONE = (
    rf"\$?(?>{NUMBER})k?\+?(?![\w/]*[a-z])(?![^\S\n]?(?:shares|contracts|cons|lots?|x\b"
    rf"|{_STOP_WORD}))\s*(?:{DISTANCE}(?![a-z]))?"
)
_TARGET = re.compile(
    rf"(?<![\w.]){_TARGET_WORD}(?:\s*#?\s?[1-9](?=\s*[:@=-]|\s+\$?[\d.]))?(?:\s*(?:is|at|@|:|="
    rf"|-+|>|of|are|around|area|near|set|still|remains|\())*\s*"
    rf"\+?(?:(?<![a-z])|(?=\d\d))(?![1-9]\s*(?:[✅✔☑]|(?:is\s+|was\s+)?(?:hit|done|reached|smashed)\b))(?P<list>{_ONE}(?:{_AND}\+?{_ONE})*)"
)
_LOOKING = re.compile(
    rf"\b(?:looking|aiming|shooting|hoping|targeting|gunning|eyeing|eyes on)(?:\s+(?:for|at|a"
    rf"|move|to|test|of|the|back))*\s+(?P<list>\+?{_ONE}(?:\s*(?:/|-|,|then|and)\s*{_ONE})*)"
)
_VALUE = re.compile(rf"(?P<value>{NUMBER}k?)\+?\s*(?P<measure>{DISTANCE}(?![a-z]))?")


def find_levels(text: str) -> tuple[str, list[LevelMention]]:
    """Find stops and targets in a lower-case text; return the text without them, and the mentions."""
    mentions: list[LevelMention] = []
    for pattern in (_DISTANCE_STOP, _MONEY_STOP, _STOP, _CUT, _INVALID, _RISK, _VERSUS):
        for match in list(pattern.finditer(text)):
            measure = "points" if pattern is _MONEY_STOP else match["measure"] or ""
            mentions.append(LevelMention(*match.span(), "stop", number(match["value"]), measure))
            text = masked(text, *match.span(), LEVEL)
    for pattern in (_TARGET, _LOOKING):
        for match in list(pattern.finditer(text)):
            values = [(number(item["value"]), item["measure"] or "") for item in _VALUE.finditer(match["list"])]
            shared = values[-1][1]
            for value, measure in values:
                mentions.append(LevelMention(*match.span(), "target", value, measure or shared))
            text = masked(text, *match.span(), LEVEL)
    mentions.sort(key=lambda mention: mention.start)
    return text, mentions


_TICKS = {"ES": "0.25", "MES": "0.25", "NQ": "0.25", "MNQ": "0.25", "RTY": "0.1", "M2K": "0.1", "YM": "1", "CL": "0.01"}


def level(value: Decimal, measure: str, symbol: str) -> Level:
    """Return a level in one of the three units; pips, ticks and cents become points of the instrument's price."""
    unit: Unit = "points"
    if not measure:
        unit = "price"
    elif measure in ("%", "percent"):
        unit = "percent"
    elif measure.startswith("pip"):
        value *= Decimal("0.01") if "JPY" in symbol else Decimal("0.1") if symbol == "XAUUSD" else Decimal("0.0001")
    elif measure.startswith("tick"):
        value *= Decimal(_TICKS.get(symbol, "0.01"))
    elif measure.startswith("cent"):
        value *= Decimal("0.01")
    return Level(value=value, unit=unit)
