"""Estimate the number of tokens of a text, without the tokenizer of any particular model."""

from __future__ import annotations

import math


def estimate(text: str) -> int:
    """Estimate the tokens of a text: one for four ASCII characters, and one for every other character."""
    plain = len(text) if text.isascii() else sum(map(str.isascii, text))
    return math.ceil(plain / 4) + len(text) - plain
