"""Estimate the importance of a text, if the caller does not give one, from a few word lists.

People later ask about specific things: names, numbers, plans, preferences, changes, and what must not be forgotten.
They do not ask about greetings and agreement. Importance runs from 0.1 (small talk) to 0.95 ("never give me nuts").
"""

from __future__ import annotations

import re
from functools import lru_cache

from longmind.text.analysis import has_digit

_SIGNS: tuple[tuple[float, frozenset[str]], ...] = tuple(
    (weight, frozenset(words.split()))
    for weight, words in (
        (0.25, "remember forget important must mustn't always never urgent deadline"),
        (0.25, "allergic allergy allergies diagnosed medication pregnant died married divorced password emergency"),
        (0.15, "i'm i've i'll i'd am moved live lived work own prefer like love hate want plan planning"),
        (0.10, "name wife husband partner son daughter mother father sister brother dog cat job boss birthday"),
        (0.10, "decided agreed promised changed instead started finished bought sold booked joined left won lost"),
        (0.05, "because therefore"),
    )
)
_GROUPS = {
    word: sum(1 << n for n, (_, signs) in enumerate(_SIGNS) if word in signs) for _, words in _SIGNS for word in words
}
"""The word lists that a word is in, one bit each."""
_SIGN_WORDS = frozenset(_GROUPS)
_WEIGHTS = tuple(sum(w for n, (w, _) in enumerate(_SIGNS) if groups >> n & 1) for groups in range(1 << len(_SIGNS)))
"""The total weight of each combination of word lists."""
_SMALL_TALK = frozenset(
    "hi hello hey bye goodbye thanks thank you ok okay sure yes yeah yep no nope great cool nice wow lol haha good"
    " morning evening night see sounds got it you're welcome".split()
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LETTERS = bytes(ord(c.lower()) if c.isalpha() or c == "'" else ord(" ") for c in map(chr, range(128))).ljust(256)
"""A translation table for ASCII bytes: what the pattern above can match in lower case, everything else as a space."""
_NAME = re.compile(r" (?<=[a-z,;] )[A-Z][a-z]")
"""A capital within a sentence. The space stands first because a pattern that begins with one character is faster."""
_MOST_READ = 4_000


def estimate_importance(text: str) -> float:
    """Return the importance of a text, from 0.1 to 0.95."""
    text = text[:_MOST_READ]
    words, digits = _words(text), has_digit(text)
    if not digits and text.isascii() and all(map(_SMALL_TALK.__contains__, words)):
        return 0.1
    groups = 0
    for word in _SIGN_WORDS.intersection(words):
        groups |= _GROUPS[word]
    score = 0.3 + _WEIGHTS[groups]
    score += 0.08 * digits + 0.07 * (_NAME.search(text) is not None)
    if text.rstrip().endswith("?"):
        score -= 0.1
    if len(words) < 4:
        score -= 0.1
    return round(min(max(score, 0.1), 0.95), 3)


def _words(text: str) -> list[str]:
    if not text.isascii():
        return _WORD.findall(text.lower().replace("’", "'"))
    pieces = text.encode().translate(_LETTERS).decode().split()
    if "'" not in text:
        return pieces
    words: list[str] = []
    for piece in pieces:
        if "'" in piece:
            words.extend(_joined(piece))
        else:
            words.append(piece)
    return words


@lru_cache(maxsize=4_096)
def _joined(piece: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(piece))
