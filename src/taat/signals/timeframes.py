"""The time frame that a post names for a trade."""

import re

_FRAMES = (
    ("0dte", re.compile(r"\b0\s?dte\b")),
    ("scalp", re.compile(r"\bscalp(?:s|ing|ed)?\b")),
    ("day trade", re.compile(r"\bday[- ]?trad(?:e|es|ing)\b|\bintraday\b")),
    ("lotto", re.compile(r"\blott?os?\b|\blottery\b|\byolo\b")),
    ("swing", re.compile(r"\bswing(?:s|ing)?\b|\bmulti[- ]?day\b")),
    (
        "long term",
        re.compile(
            r"\blong[- ]?term\b|\bltb?h\b|\bleaps?\b|\bretirement account\b|\bbuy and hold\b"
            r"|\binvestment\b"
        ),
    ),
    ("overnight", re.compile(r"\bovernight\b")),
)


def time_frame(text: str) -> str | None:
    """Return the time frame that a lower-case text names, or ``None``."""
    return next((name for name, pattern in _FRAMES if pattern.search(text)), None)
