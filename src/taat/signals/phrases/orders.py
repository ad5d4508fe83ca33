"""Positions that are only held, brokerage codes, and orders that wait."""

from taat.signals.numbers import FRACTION as _F
from taat.signals.phrases.forms import Rule
from taat.signals.text import INSTRUMENT

HELD: list[Rule] = [
    (
        rf"\b(?:still|remain(?:ing|s)?|staying|been)\s+(?:in\b|long|short|holding|hold|flat)(?!\w)"
        rf"|(?<!{INSTRUMENT} )(?<!{INSTRUMENT})\b(?:holding|hold)\b",
        None,
        None,
        "none",
        "",
    ),
]
"""No trade of now: what is only held or watched."""

CODES: list[Rule] = [
    (r"(?<![#\w])(?:bto|b\.t\.o\.?|(?:buy|bought|buying|bot)\s+to\s+open)(?=[\s:]+\S)", "open", "long", "code", ""),
    (r"(?<![#\w])(?:stc|s\.t\.c\.?|(?:sell|sold|selling|sld)\s+to\s+close)(?=[\s:]+\S)", "close", "long", "code", ""),
    (r"(?<![#\w])(?:sto|s\.t\.o\.?|(?:sell|sold|selling|sld)\s+to\s+open)(?=[\s:]+\S)", "open", "short", "code", ""),
    (
        rf"\bbtc(?=\s+(?:\d+x?\s+|{_F}\s+)?(?:of\s+)?{INSTRUMENT})|\b(?:buy|bought|buying"
        rf"|bot)\s+to\s+(?:close|cover)\b",
        "close",
        "short",
        "code",
        "",
    ),
]
"""Brokerage codes."""

WAITING: list[Rule] = [
    (
        r"\b(?:buy|long)[ -]limits?(?:\s+orders?)?\b|\bbuy[ -]stops?\s+(?=@|at\b|\$?\d)"
        r"|\blimit\s+(?:buy|long)s?\b",
        "limit",
        "long",
        "base",
        "",
    ),
    (
        r"\b(?:sell|short)[ -]limits?(?:\s+orders?)?\b|\bsell[ -]stops?\s+(?=@|at\b|\$?\d)"
        r"|\blimit\s+(?:sell|short)s?\b",
        "limit",
        "short",
        "base",
        "",
    ),
    (
        r"\b(?:placed|put in|putting in|put|set|have|got|working|resting|left)\s+(?:a|an|my|some"
        r"|in a)?\s*(?:gtc\s+|limit\s+|buy\s+)*(?:bids?|buy orders?)\b(?:\s+in)?"
        r"|\bbids?\s+(?:is\s+|are\s+)?(?:in|set|placed|resting|sitting|working)(?=\s+(?:at|@|for"
        r"|on)|\s*\$?\d)|\bbidding(?=\s+\S)",
        "limit",
        "long",
        "past",
        "",
    ),
    (
        r"\b(?:placed|put in|set|working|resting)\s+(?:a|an"
        r"|my)?\s*(?:gtc\s+)?(?:limit\s+)?(?:offers?|sell orders?|short orders?)\b"
        r"|\boffers?\s+(?:is\s+|are\s+)?(?:in|set|placed|resting)\b",
        "limit",
        "short",
        "past",
        "",
    ),
    (
        r"\b(?:placed|put in|set|working|resting|have)?\s*(?:a|an|my)?\s*(?:gtc|limit"
        r"|resting)\s+orders?\b(?:\s+in)?",
        "limit",
        None,
        "past",
        "",
    ),
]
"""Orders that wait for a price."""
