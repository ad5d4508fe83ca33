"""How many tokens a text is, about: no model's tokenizer is at hand, and none fits all models."""

from __future__ import annotations

import math


def estimate(text: str) -> int:
    """About as many as common tokenizers make: one for four characters of ASCII, or for one of anything else."""
    plain = len(text) if text.isascii() else sum(map(str.isascii, text))
    return math.ceil(plain / 4) + len(text) - plain
