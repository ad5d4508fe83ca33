"""Positions of which a part is closed."""

from taat.signals.numbers import FRACTION as _F
from taat.signals.phrases.forms import Rule
from taat.signals.text import INSTRUMENT

_POSS = r"(?:(?:my|our|the|this|these|all|of|on|a|an|some|most|another|about|just|more|his)\s+)*"

SCALES: list[Rule] = [
    (
        r"\b(?:closed?|closing|took|take|taking|sold|covered|out)?\s*(?:my\s+|the\s+)?(?:last"
        r"|final|remaining)\s+(?:scale(?:\s*out)?|piece|part|runners?|tranche|portion|lot|contracts?|third"
        r"|half|quarter|leg|bit)\b(?:\s+(?:out|done|closed|off|sold))?",
        "close",
        None,
        "past",
        "whole profit",
    ),
    (
        r"\b(?:closed?|closing|took|take|taking|sold|covered|hit)?\s*(?:my\s+|the\s+|our\s+"
        r"|a\s+)?(?:1st|2nd|3rd|4th|5th|first|second|third|fourth|next|another"
        r"|one more)\s+(?:scale(?:[\s-]*out)?|trim|tranche|partial|piece)s?\b(?:\s+(?:out|done"
        r"|closed|off|taken|sold|here|complete))*",
        "reduce",
        None,
        "past",
        "partial profit",
    ),
    (
        r"\bscal(?:ed|ing|e)\s+(?:(?:some|more|half|a bit|a little)\s+)?out(?:\s+of)?\b"
        r"|\bscale\s+(?:done|closed|off|taken|here)\b"
        r"|\b(?:scale|trim|tranche)\s*#?[1-5]\s+(?:is\s+|was\s+)?(?:done|closed|off|taken|out|sold|hit|complete)\b",
        "reduce",
        None,
        "past",
        "partial profit",
    ),
]
"""One more part of a position closed."""

REDUCED: list[Rule] = [
    (
        r"\b(?:took|taking|take|hit|hitting|closed|sold\s+(?:into|at))\s+(?:my\s+|the\s+|our\s+)?"
        r"(?:tp|pt|target|take[- ]profit)\s*#?[1-5]\b(?!\s*[:=])(?:\s+(?:on|of|for|at(?=\s+\$?\d)))?"
        r"|\b(?:1st|2nd|3rd|first|second|third)\s+(?:target|tp|pt)\s+(?:is\s+|was\s+|just\s+|got\s+)?(?:hit|done|reached|filled|met)\b"
        r"|\b(?:tp|pt|target|take[- ]profit(?:\s+target)?)\s?#?\s?[1-5]\s+(?:is\s+|was\s+|just\s+|now\s+|got\s+)?"
        r"(?:hit|done|reached|filled|secured|smashed|tagged|achieved|met)\b",
        "reduce",
        None,
        "past",
        "partial profit target",
    ),
    (
        rf"\b(?:took|taking)\s+(?:a\s+|another\s+)?(?P<f9>{_F})(?=\s*(?:$|[.,!;@\n]|at\s+\$?\.?\d|here\b|\$?\.?\d))",
        "reduce",
        None,
        "past",
        "partial",
    ),
    (
        rf"\blet(?:ting)?\s+(?:a\s+|another\s+)?(?P<f8>{_F})\s+(?:of\s+)?(?:my\s+|the\s+)?{INSTRUMENT}*\s*go\b",
        "reduce",
        None,
        "past",
        "partial",
    ),
    (
        rf"\b(?:scal(?:ed|ing|e)|lock(?:ed|ing)?(?:\s+in)?|book(?:ed|ing)?|bank(?:ed|ing)?|secur(?:ed|ing)"
        rf"|peel(?:ed|ing)?|shav(?:ed|ing)|r[aiu]ng(?:ing)?\s+(?:the\s+)?register\s+on)\s+"
        rf"(?:off\s+)?(?:another\s+|a\s+|my\s+|about\s+|the\s+|first\s+)*(?P<f7>{_F})"
        rf"(?!\s*(?:gain|profit|win|return|loss|on\b))(?:\s+(?:of|my|the|position|off|out))*",
        "reduce",
        None,
        "past",
        "partial profit",
    ),
    (
        rf"\b(?:took|taking|take|takin|pulled|pulling|peel(?:ed|ing)?|knock(?:ed|ing)?)\s+(?!off\b"
        rf"|out\b){_POSS}(?P<f1>{_F}|\d{{1,3}}(?=\s+(?:off|out)|\s+of\s+(?:my\s+)?\d{{1,3}}\s+(?:off|out)))?(?:\s+of\s+(?:my\s+)?\d{{1,3}})?(?:\s+(?:of|my|the|this|position)\b"
        rf"|\s*{INSTRUMENT})*+\s*\b(?:off|out)\b(?:\s+of)?(?!\s+(?:for|to\s+(?:the|a)\b))",
        "reduce",
        None,
        "past",
        "partial",
    ),
    (
        r"\b(?:took|taking|take|book(?:ed|ing)?|lock(?:ed|ing)?|secur(?:ed|ing)|bank(?:ed"
        r"|ing)?)\s+(?:in\s+)?(?:some|partial|a few|a bit of|a little"
        r"|more)\s+(?:of\s+)?(?:my\s+)?(?:profits?|gains?|money|partials?)(?:\s+(?:off|on|in))*"
        r"|\b(?:took|taking|take)\s+(?:some\s+)?partials?(?:\s+(?:profits?|on|off))*"
        r"|\bpaying myself\b|\bpaid myself\b|\b(?:took|taking|take)\s+some\s+(?:off"
        r"|out)\b(?:\s+the table)?",
        "reduce",
        None,
        "past",
        "partial profit",
    ),
    (
        rf"\b(?:took|taking|take|book(?:ed|ing)?|lock(?:ed|ing)?|secur(?:ed"
        rf"|ing))\s+(?:in\s+)?(?:profits?|gains?)\s+on\s+(?:a\s+)?(?P<f2>{_F})(?:\s+of)?",
        "reduce",
        None,
        "past",
        "partial profit",
    ),
    (
        r"\btrimm?(?:ed|ing)(?:\s+(?:some|more|a bit|a little|another|again|my|of))*\b",
        "reduce",
        None,
        "past",
        "partial",
    ),
    (
        r"\btrims?(?=\s*(?:[$\d@("
        + INSTRUMENT
        + r"]|here|some|more|half|another|a\b|my|now|it|off|1/))(?:\s+(?:some|more|a bit|another"
        r"|my))*",
        "reduce",
        None,
        "base",
        "partial",
    ),
    (
        r"\b(?:lighten(?:ed|ing)(?:\s+up)?|reduc(?:ed|ing)|par(?:ed|ing)\s+(?:down|back)"
        r"|cut(?:ting)?\s+(?:back|down))(?:\s+(?:on|my|the|some|of))*\b",
        "reduce",
        None,
        "past",
        "partial",
    ),
    (
        rf"\b(?:sold|soldd|sld|sell|selling|clos(?:ed|ing|e)|cover(?:ed|ing)?|dump(?:ed|ing)?"
        rf"|exit(?:ed|ing)?|unload(?:ed|ing)?|stc)\s+(?:another\s+|a\s+|my\s+|about\s+"
        rf"|the\s+)?(?P<f3>{_F}|some|partial(?:ly)?|a few|a bit|a little|most|part"
        rf"|a piece)(?!\s*(?:hour|day|week|year|month|cent|million|billion))(?:\s+(?:of|off|my|the"
        rf"|position))*",
        "reduce",
        None,
        "past",
        "partial sold",
    ),
    (
        rf"(?<![\d/])(?P<f4>{_F}|(?<![^\n])\d{{1,3}}(?=\s+off))\s+(?:off|out|closed|sold|covered|trimmed)\b(?!\s+(?:today|sale"
        rf"|all|for|your|our|its|the|high|coupon))",
        "reduce",
        None,
        "past",
        "partial",
    ),
    (rf"\bout\s+(?:of\s+)?(?P<f5>{_F})\b(?:\s+of)?", "reduce", None, "state", "partial"),
    (
        rf"\b(?:peel(?:ed|ing)?|pull(?:ed|ing)?|knock(?:ed|ing)?|shav(?:ed|ing)|sold|took"
        rf"|taking)\s+off\s+(?:another\s+|a\s+)?"
        rf"(?:(?P<f6>{_F})|some|more|a\s+piece|a\s+bit)(?:\s+of)?",
        "reduce",
        None,
        "past",
        "partial",
    ),
]
"""A part closed."""
