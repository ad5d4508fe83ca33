"""How somebody writes, counted over their turns."""

from __future__ import annotations

import re
from collections.abc import Sequence

_POLITE = re.compile(r"\b(?:please|thanks|thank you|appreciate|sorry)\b", re.IGNORECASE)
_SURE = 0.4
"""How sure a style is that was counted over enough turns of one conversation."""
_ENOUGH_TURNS = 5


def styles(texts: Sequence[str]) -> list[tuple[str, str, float]]:
    """Return dimension, value and score of each trait that can be counted."""
    words = sum(len(text.split()) for text in texts) / len(texts)
    asking = sum("?" in text for text in texts) / len(texts)
    lively = sum("!" in text for text in texts) / len(texts)
    polite = sum(bool(_POLITE.search(text)) for text in texts) / len(texts)
    return [
        ("verbosity", "brief" if words < 12 else "detailed" if words > 60 else "moderate", min(words / 100, 1.0)),
        ("curiosity", "asks often" if asking >= 0.4 else "asks sometimes" if asking >= 0.15 else "asks rarely", asking),
        ("tone", "lively" if lively >= 0.5 else "calm" if lively < 0.15 else "even", lively),
        ("politeness", "polite" if polite >= 0.25 else "plain", polite),
    ]


def confidence_of_style(turns: int, conversations: int) -> float:
    """Return how sure a style is for each conversation it was counted over: less where they are short."""
    return _SURE * min(turns / conversations / _ENOUGH_TURNS, 1.0)
