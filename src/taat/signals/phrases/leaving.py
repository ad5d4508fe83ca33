"""Positions that are left, in part or whole."""

from taat.signals.numbers import FRACTION as _F
from taat.signals.phrases.forms import Rule
from taat.signals.text import INSTRUMENT

_POSS = r"(?:(?:my|our|the|this|these|all|of|on|a|an|some|most|another|about|just|more|his)\s+)*"

SCALES: list[Rule] = [
    (
        r"\b(?:closed?|closing|took|take|taking|sold|covered|out)?\s*(?:my\s+|the\s+)?(?:last"
        r"|final)\s+(?:scale(?:\s*out)?|piece|part|runners?|tranche|portion|lot|contracts?|third"
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
        r"|\bscale\s+(?:done|closed|off|taken|here)\b",
        "reduce",
        None,
        "past",
        "partial profit",
    ),
]
"""One more part of a position closed."""

REDUCED: list[Rule] = [
    (
        rf"\b(?:took|taking|take|takin|pulled|pulling|peel(?:ed|ing)?|knock(?:ed|ing)?)\s+(?!off\b"
        rf"|out\b){_POSS}(?P<f1>{_F}|\d{{1,3}}(?=\s+(?:off|out)))?(?:\s+(?:of|my|the|this|position)\b"
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
        rf"(?<![\d/])(?P<f4>{_F})\s+(?:off|out|closed|sold|covered|trimmed)\b(?!\s+(?:today|sale"
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

CLOSED: list[Rule] = [
    (
        r"\blet(?:ting)?\s+go\s+of(?:\s+(?:the\s+|my\s+)*(?:last|rest|remaining"
        r"|final)(?:\s+(?:third|half|quarter|piece|of))*)?",
        "close",
        None,
        "past",
        "whole",
    ),
    (
        r"\b(?:all\s+out|fully\s+out|out\s+(?:the\s+)?rest|out\s+(?:all|full))\b(?:\s+of)?",
        "close",
        None,
        "state",
        "whole",
    ),
    (
        rf"(?<![\w'])(?:i'?m\s+|im\s+|we'?re\s+|am\s+|now\s+|just\s+|got\s+|getting\s+|get\s+"
        rf"|stepp(?:ed|ing)\s+|jumped\s+|bailed\s+)*\bout(?=\s+(?:of\s+)?(?:my\s+|the\s+|all\s+"
        rf"|rest\s+)*[{INSTRUMENT}$]|\s*(?:@|here\b|at\s+\$?\.?\d|now\b|for\s+a?\s*\+?\d|flat\b"
        rf"|(?:of\s+)?[a-z]{{2,4}}\s+(?:\d|long\b|short\b|@|at\s+\d)|\$?\.?\d|\s*$"
        rf"|\s*[.!,]))(?:\s+of)?(?!\s+of\s+(?:the\s+(?:woods"
        rf"|gate|box|way|wedge|range|office|blue)|my\s+reach|stock|control|favor|here|reach|touch"
        rf"|nowhere))",
        "close",
        None,
        "state",
        "",
    ),
    (
        r"\b(?:i'?m\s+|im\s+|we'?re\s+|am\s+|now\s+|going\s+|went\s+|back\s+to\s+|all\s+|fully\s+"
        r"|got\s+)*(?<!-)flat(?!\s*(?:open|line|lined|on the|for the|market|price|premarket"
        r"|pre-market|day|today|tire|out|fee|rate|week|after|ahead|and)|[-'\w])",
        "close",
        None,
        "state",
        "",
    ),
    (
        r"\b(?:sold|soldd|sld|sell|selling)(?:\s+(?:out\s+of|everything|it all|all"
        r"|the rest(?: of)?|rest of|rest|remaining|remainder|the remaining|the balance|entire"
        r"|my entire|the last|runners?|my runners?|the runners?))+\b",
        "close",
        "long",
        "past",
        "whole sold",
    ),
    (
        r"\b(?:sold|soldd|sld)\b(?!\s*(?:off|out|short|too\b|to\b|by\b|the\s+(?:news|rip|rally|top"
        r"|bottom)|for\s+\$?[\d.]+\s*(?:million"
        r"|billion|m\b|b\b)))",
        "close",
        "long",
        "past",
        "sold",
    ),
    (r"\bselling\b(?!\s*(?:off|pressure|out|point|to\b|climax|volume))", "close", "long", "ongoing", "sold"),
    (
        r"\bsell\b(?!\s*(?:off|-|signals?|side|in\b|the\s+(?:news|rip|rally)|rating|into|stop|to\b"
        r"|ratings?|alert|mode))(?:\s+now)?",
        "close",
        "long",
        "base",
        "sold",
    ),
    (
        r"\b(?:clos(?:ed|ing)|clsoed|exit(?:ed|ing)|liquidat(?:ed|ing)|dump(?:ed|ing)|ditch(?:ed"
        r"|ing)|bail(?:ed|ing)(?:\s+on)?|unload(?:ed|ing)|kill(?:ed|ing))(?:\s+(?:out|out of"
        r"|the rest(?: of)?|rest of|all|everything|remaining|my|the|of))*\b(?!\s*(?:-|higher|lower"
        r"|at (?:the )?(?:highs?|lows?)|for\b\s+(?:the|june)|green|red|above|below|the (?:gap|day"
        r"|week|year|month|books?|deal)|up\b|down\b|bell|in\b|stores?|its\b|deal|on (?:mon|tue|wed"
        r"|thu|fri)))",
        "close",
        None,
        "past",
        "closed",
    ),
    (
        rf"\bclose(?=\s+(?:(?:the|my|all|out|rest|half|here|now|it|position)\b"
        rf"|[$@{INSTRUMENT}]))(?:\s+(?:the rest(?: of)?|all|out|my))*(?!\s+(?:to|of|at the))"
        rf"|\bexit(?=\s+(?:(?:the|my|all|here|now|rest)\b|[$@{INSTRUMENT}]))",
        "close",
        None,
        "base",
        "closed",
    ),
    (
        r"\bcover(?:ed|ing)(?:\s+(?:the rest(?: of)?|rest of|all|remaining|my|the"
        r"|of))*\b(?!\s+(?:by|in|call|calls|in detail|story|this))|\bcover(?=\s+(?:[$@"
        + INSTRUMENT
        + r"]|here|now|all|the rest|my))",
        "close",
        "short",
        "past",
        "",
    ),
    (
        rf"\bcut(?:ting)?(?=\s+(?:my\s+|the\s+|this\s+|rest\s+|all\s+)*(?:[$@{INSTRUMENT}]|here"
        rf"|loss|position|it\s+(?:here|at)|for\s+(?:a|-)))(?:\s+(?:the rest(?: of)?|all|my))*",
        "close",
        None,
        "past",
        "",
    ),
    (
        r"\b(?:took|taking|take)\s+(?:(?:the|my|a|full|all)\s+)*(?:small\s+)?(?:loss"
        r"|l)\b(?:\s+(?:on|in))?",
        "close",
        None,
        "past",
        "",
    ),
    (
        r"\b(?:took|taking|take|book(?:ed|ing)?|lock(?:ed|ing)?|bank(?:ed|ing)?|secur(?:ed"
        r"|ing))\s+(?:in\s+)?(?:(?:full|all|my|the|nice|quick|great)\s+)*(?:profits?"
        r"|gains?)(?:\s+(?:here|off|on|in|of))*(?:\s+(?:the\s+|my\s+)?(?:rest|remaining|remainder"
        r"|last|balance)(?:\s+of)?)?",
        "close",
        None,
        "past",
        "profit took",
    ),
]
"""All closed."""
