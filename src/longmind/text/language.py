"""Whether a text is English, by the letters that follow each other in it.

A table holds how likely each letter is after two others in English; ``training/claims/english.py`` counts it in the
labelled turns of this repository. The mean over a text is clearly lower for other languages. Too short a text says
nothing and counts as English.
"""

from __future__ import annotations

import re
from array import array
from functools import cache
from importlib import resources

LETTERS = " abcdefghijklmnopqrstuvwxyz#"
"""The symbols of the table: a gap between words, the letters, and any other letter."""
TABLE = "english_letters.bin"
STEPS = 16
"""Steps of the table in one bit of information."""
SHORTEST = 16
"""Letters of the shortest text that is judged."""
LEAST = -3.7
"""Mean bits of a letter under which a text is not English. See ``training/claims/english.py`` for how it was chosen."""
MAX_CHARACTERS = 2_000
_NOT_PROSE = re.compile(r"https?://\S+|\S+@\S+|[`#<][^\s]*|\S*\d\S*")
_GAPS = re.compile(r"[\W\d_]+")
_NUMBERS = {letter: number for number, letter in enumerate(LETTERS)}
_OTHER = _NUMBERS["#"]


def symbols(text: str) -> list[int]:
    """Return a text as numbers of ``LETTERS``, without addresses, code and numbers, with a gap at both ends."""
    plain = _GAPS.sub(" ", _NOT_PROSE.sub(" ", text[:MAX_CHARACTERS].lower().replace("'", "").replace("’", "")))
    return [_NUMBERS.get(letter, _OTHER) for letter in f" {plain.strip()} "]


def english_bits(text: str) -> float | None:
    """Return the mean bits of the letters of a text; None if there are too few of them."""
    numbers = symbols(text)
    if len(numbers) - 2 < SHORTEST:
        return None
    table, base = _table(), len(LETTERS)
    total = sum(table[(a * base + b) * base + c] for a, b, c in zip(numbers, numbers[1:], numbers[2:], strict=False))
    return -total / STEPS / (len(numbers) - 2)


def is_english(text: str) -> bool:
    """Return whether a text is English, or too short to tell."""
    bits = english_bits(text)
    return bits is None or bits >= LEAST


@cache
def _table() -> array[int]:
    return array("B", resources.files(__package__).joinpath(TABLE).read_bytes())
