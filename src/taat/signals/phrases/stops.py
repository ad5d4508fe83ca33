"""Stops: moved, and hit."""

import re

from taat.signals.numbers import NUMBER
from taat.signals.phrases.forms import Rule
from taat.signals.text import INSTRUMENT

_ON = rf"(?:\s+(?:on|for|in)\s+(?:(?:the|my|all|rest|of)\s+)*[{INSTRUMENT}\w ]{{1,24}}?)?"
_STOP = r"(?:(?:trailing|hard|mental|protective)\s+)?(?:stop[ -]?loss(?:es)?|stops?|stp|sl|s/l)"
_ENTRY_WORD = r"(?:flat|b\.?/?e\.?|break[- ]?even|entry|even|cost|cb|scratch)"

STOP_MOVED = re.compile(
    rf"\b(?:mov(?:e|ed|ing)|rais(?:e|ed|ing)|lower(?:ed|ing)?|tighten(?:ed|ing)?|trail(?:ed|ing)?|bring(?:ing)?|brought"
    rf"|adjust(?:ed|ing)?|bump(?:ed|ing)?|set(?:ting)?|slid|pull(?:ed|ing)?)\s+(?:(?:my|the|our"
    rf"|all|up)\s+)*(?:[{INSTRUMENT}\w]{{1,6}}\s+(?:long\s+|short\s+)?)?{_STOP}{_ON}"
    rf"(?:\s+(?:up|down|now|again|over))?\s*(?:to|at|@|>|-|:)+\s*(?:just\s+)?"
    rf"(?:above\s+|below\s+|under\s+)?(?:\$?(?P<to1>{NUMBER})(?!\s?%)|(?:my\s+)?{_ENTRY_WORD}(?![\w/]))"
    rf"|\b{_STOP}(?:{_ON}(?:\s+(?:is|are|has been|was|now|just))*\s*(?:moved|raised|lowered"
    rf"|trailed|tightened|adjusted|up)"
    rf"(?:\s+up)?\s*(?:to|@|at)?|\s*(?:now\s*)?(?:up\s+|down\s+)?(?:to|>+|->)\s*|{_ON}\s+now\s*(?:at|@|is|to)?)\s*\$?(?P<to2>{NUMBER})(?!\s?%)"
    rf"|\b{_STOP}{_ON}\s*(?:(?:is|are|has been|was|now|just|moved|raised|up|goes|going"
    rf"|set)\s+)*(?:to|at|@|=|:|>+|->|-)?\s*"
    rf"(?:my\s+)?{_ENTRY_WORD}(?![\w/])"
    rf"|\b(?:b/?e|break[- ]?even)\s+{_STOP}\b"
    rf"|\b(?:rest|runners?|remaining|remainder|balance)\s+(?:(?:is|are|at|to|now|@|w/|with|stopped\s+at)\s+)*"
    r"(?:b/e|break[- ]?even)(?![\w/])"
)

STOPPED: list[Rule] = [
    (
        r"\b(?:hit|tagged|took out|triggered)\s+(?:my|the|our)\s+(?:hard\s+|trailing\s+)?(?:stop"
        r"|sl)\b|\b(?:stops?|sl|stop ?loss)\s+(?:was\s+|got\s+|is\s+|just\s+)?(?:hit|triggered"
        r"|tagged|taken(?: out)?)\b",
        "stopped_out",
        None,
        "past",
        "",
    ),
    (
        r"\b(?:flat,?\s+|got\s+|getting\s+|was\s+|were\s+|been\s+|just\s+)*st[o]?p+ed(?:\s+(?:me|us))?(?:\s+(?:out"
        r"|flat))*(?:\s+(?:of|on|at)\b)?(?!\s+(?:by|working|trading|using|watching|believing"
        r"|buying|selling|caring|doing|paying|going|reading|for\s+a))",
        "stopped_out",
        None,
        "past",
        "",
    ),
]
"""Stopped out."""
