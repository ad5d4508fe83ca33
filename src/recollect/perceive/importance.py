"""How much a text matters, when the caller does not say: a few plain signs, added up.

What people later ask about is what is particular: names, numbers, plans, likes, what changed, what must not be
forgotten. Greetings and agreement are not. The result runs from 0.1 (small talk) to 0.95 ("never give me nuts").
"""

from __future__ import annotations

import re

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
_SMALL_TALK = frozenset(
    "hi hello hey bye goodbye thanks thank you ok okay sure yes yeah yep no nope great cool nice wow lol haha good"
    " morning evening night see sounds got it you're welcome".split()
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_DIGIT = re.compile(r"\d")
_NAME = re.compile(r"[a-z,;] [A-Z][a-z]")
_MOST_READ = 4_000


def importance_of(text: str) -> float:
    """A weight from 0.1 to 0.95."""
    text = text[:_MOST_READ]
    said = _WORD.findall(text.lower().replace("’", "'"))
    words = frozenset(said)
    if words <= _SMALL_TALK and not _DIGIT.search(text) and text.isascii():
        return 0.1
    score = 0.3 + sum([weight for weight, signs in _SIGNS if not words.isdisjoint(signs)])
    score += 0.08 * bool(_DIGIT.search(text)) + 0.07 * bool(_NAME.search(text))
    if text.rstrip().endswith("?"):
        score -= 0.1
    if len(said) < 4:
        score -= 0.1
    return round(min(max(score, 0.1), 0.95), 3)
