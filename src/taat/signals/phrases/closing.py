"""Positions that are closed."""

from taat.signals.phrases.forms import Rule
from taat.signals.text import INSTRUMENT

WHOLE: list[Rule] = [
    (
        r"\b(?:last|final|remaining)\s+(?:\d{1,4}\s+)?(?:is\s+|are\s+|were\s+|was\s+)?(?:gone|sold|out|closed|covered)\b",
        "close",
        None,
        "past",
        "whole",
    ),
    (
        r"\b(?:everything|all|rest|remaining|remainder|runners?|it\s+all)\s+(?:is\s+|was\s+|are\s+|were\s+|now\s+)?"
        r"(?:sold|closed|out|gone|covered)\b(?!\s+of\s+(?:the|stock|my)\s)",
        "close",
        None,
        "past",
        "whole",
    ),
    (
        r"\b(?:took|taking|take)\s+(?:the|my)\s+(?:other|last|final|remaining|rest)(?:\s+[a-z]+)?\s+off\b",
        "close",
        None,
        "past",
        "whole",
    ),
    (
        r"\b(?:all|final|last)\s+(?:my\s+|the\s+|our\s+)?(?:tps?|targets?|pts?|take[- ]profits?)\s+"
        r"(?:are\s+|were\s+|is\s+|was\s+|been\s+|got\s+)?(?:hit|done|reached|filled|met)\b",
        "close",
        None,
        "past",
        "whole profit target",
    ),
    (
        r"\b(?:took|taking|take)\s+(?:(?:the|my|this|our|whole|entire|full)\s+)+(?:trade|position|thing|lot)\s+off\b"
        r"|\b(?:took|taking|take)\s+(?:it\s+all|everything|all\s+of\s+it)\s+off\b",
        "close",
        None,
        "past",
        "whole",
    ),
]
"""All that is left, said so: tried before the rules for parts."""

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
        r"\b(?:all\s+out|fully\s+out|out\s+(?:of\s+)?(?:the\s+|my\s+|last\s+|final\s+)*(?:rest|runners?|remaining|remainder)"
        r"|out\s+(?:all|full))\b(?:\s+of)?",
        "close",
        None,
        "state",
        "whole",
    ),
    (
        rf"(?<![\w'])(?:i'?m\s+|im\s+|we'?re\s+|am\s+|now\s+|just\s+|got\s+|getting\s+|get\s+"
        rf"|stepp(?:ed|ing)\s+|jumped\s+|bailed\s+)*\bout(?=\s+(?:of\s+)?(?:my\s+|the\s+|all\s+"
        rf"|rest\s+)*[{INSTRUMENT}$]|\s*(?:@|here\b|at\s+\$?\.?\d|now\b|for\s+a?\s*\+?\d|flat\b"
        rf"|[+-]\s?\$?\.?\d|of\s+(?:the|my|these|those|this|that|our)\s+(?:calls|puts|shares|position|trade|longs?|shorts?)\b"
        rf"|(?:of\s+)?[a-z]{{2,4}}\s+(?:\d|[+-]\s?\d|long\b|short\b|@|at\s+\d)|\$?\.?\d|\s*$"
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
        r"|the rest(?: of)?|rest of|all|everything|remaining|my|the|of))*\b(?!\s*(?:-|higher|lower|basis|prices?\b"
        r"|print|candle|range|auction"
        r"|at (?:the )?(?:highs?|lows?)|for\b\s+(?:the|june)|green|red|above|below|the (?:gap|day"
        r"|week|year|month|books?|deal)|up\b|down\b|bell"
        r"|in\b(?!\s+(?:profit|loss|the\s+(?:green|red|money)|full))|stores?|its\b|deal|on (?:mon|tue|wed"
        r"|thu|fri)))",
        "close",
        None,
        "past",
        "closed",
    ),
    (
        rf"\bclose(?=\s+(?:(?:the|my|all|out|rest|half|here|now|it|position)\b"
        rf"|[$@{INSTRUMENT}]))(?:\s+(?:the rest(?: of)?|all|out|my))*(?!\s+(?:to|of|at the))"
        rf"|\bexit(?=\s*[:|-]?\s+(?:(?:the|my|all|here|now|rest)\b|[$@{INSTRUMENT}]"
        rf"|[a-z]{{2,5}}\s+(?:long\b|short\b|@|at\s+\d|\d)))",
        "close",
        None,
        "base",
        "closed",
    ),
    (
        r"\b(?:cover(?:ed|ing)|cvr(?:'?d|ed|ing)|covd)(?:\s+(?:the rest(?: of)?|rest of|all|remaining|my|the"
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
        r"\bscratch(?:ed|ing)\b(?!\s+(?:my|his|her|the)\s+(?:head|surface))(?:\s+(?:it|this|the|my|trade|position|on|rest))*",
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
        r"|gains?)(?!\s*#?[1-9]?\s*[:=@|]|\s+\$?\.?\d|\s+targets?)(?!(?<=take\sprofit)\s+(?:at|is)\s+\$?\.?\d)(?:\s+(?:here|off|on|in|of))*(?:\s+(?:the\s+|my\s+)?(?:rest|remaining|remainder"
        r"|last|balance)(?:\s+of)?)?",
        "close",
        None,
        "past",
        "profit took",
    ),
]
"""All closed."""
