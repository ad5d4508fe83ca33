"""Signs of a statement that stands: a cheap test of what a text can hold, so that most texts are not read any further.

Each word has signs: the lists it is in, one bit each. What the cues count needs certain signs together, so a text
without them holds no such statement, and neither does any part of it. A text that has them may still be an ordinary
one: the cues decide.
"""

from __future__ import annotations

from longmind.text import standing_cues as cues
from longmind.text import standing_patterns as patterns
from longmind.text import standing_words as lists
from longmind.text.analysis import has_digit

_MOST_TOKENS = 50_000

IDENTITY, HEALTH, SAFETY, INSTRUCTION = 1, 2, 4, 8
"""What a text can hold a statement of."""
_OWN, _PERSONAL, _IN, _KIN, _WHOSE, _NEGATION, _TELLING, _STANDING, _DIRECTED, _BEGINS = (1 << n for n in range(4, 14))
"""Signs that count only beside others."""

_WORDS = (
    (_OWN, lists.SELF),
    (IDENTITY, cues.NAMING),
    (_PERSONAL, cues.WORKING | cues.AGES | (cues.LIVING - {"in"})),
    (_IN, frozenset(("in",))),
    (_WHOSE, cues.WHOSE_KIN),
    (_NEGATION, cues.NEGATIONS),
    (_TELLING, cues.TELLING),
    (_DIRECTED, lists.IMPERATIVES | {"you", "please"}),
)
_STEMS = (
    (IDENTITY, frozenset(("pronoun",))),
    (_PERSONAL, lists.WORK | lists.HOME | lists.FAITHS | lists.MARRIAGE | lists.LANGUAGES),
    (_KIN, lists.KIN),
    (
        HEALTH,
        cues.NAMED_HEALTH
        | lists.MOBILITY
        | lists.BODY
        | lists.SYMPTOMS
        | lists.SEVERE
        | lists.MEDICAL
        | lists.SUBSTANCES,
    ),
    (SAFETY, lists.DANGERS | lists.SECRETS),
)
_PHRASES = (
    (HEALTH, lists.SEVERE_PHRASES),
    (HEALTH, lists.MEDICAL_PHRASES),
    (SAFETY, lists.DANGER_PHRASES),
    (_STANDING, lists.EVERY_TIME),
    (_STANDING, lists.SOMETIMES),
)
_BY_FIRST_WORD: dict[str, list[tuple[str, int]]] = {}
for _sign, _phrases in _PHRASES:
    for _first, _beginning in _phrases.by_first_word.items():
        _BY_FIRST_WORD.setdefault(_first, []).extend((phrase, _sign) for phrase in _beginning)
_FIRST_WORDS = frozenset(_BY_FIRST_WORD)


class _Signs(dict[str, int]):
    """A cache of the signs of words, cleared when it is full."""

    def __missing__(self, token: str) -> int:
        if len(self) >= _MOST_TOKENS:
            self.clear()
        stem = cues.stem_of(token)
        signs = _BEGINS if token in _BY_FIRST_WORD else 0
        for sign, words in _WORDS:
            signs |= sign if token in words else 0
        for sign, stems in _STEMS:
            signs |= sign if stem in stems else 0
        self[token] = signs
        return signs


_signs_of = _Signs().__getitem__


def possible_types(text: str, tokens: cues.Tokens) -> int:
    """Return what a text, or a part of it, can hold: ``IDENTITY``, ``HEALTH``, ``SAFETY`` and ``INSTRUCTION``, or 0."""
    lowered, words = tokens
    distinct, signs = set(words), 0
    for signs_of_word in map(_signs_of, distinct):
        signs |= signs_of_word
    if signs & _BEGINS:
        for first in _FIRST_WORDS & distinct:
            for phrase, sign in _BY_FIRST_WORD[first]:
                if not signs & sign and phrase in lowered:
                    signs |= sign
    types = signs & (HEALTH | SAFETY)
    if signs & IDENTITY or _tells_identity(text, lowered, signs):
        types |= IDENTITY
    if (signs & _NEGATION and signs & _TELLING) or ("sel" in lowered and patterns.SELF_HARM.search(lowered)):
        types |= SAFETY
    if signs & _STANDING and (signs & _DIRECTED or not lists.WISHES.first_words.isdisjoint(distinct)):
        types |= INSTRUCTION
    return types


def _tells_identity(text: str, lowered: str, signs: int) -> bool:
    if (signs & _KIN and signs & _WHOSE) or "/" in lowered:
        return True
    if ("I'm " in text or "I am " in text or "Im " in text or "his is " in text) and patterns.INTRODUCED.search(text):
        return True
    if not signs & _OWN:
        return False
    if signs & _PERSONAL or has_digit(lowered):
        return True
    if signs & _IN and (" in a " in lowered or " in the " in lowered or " in our " in lowered):
        return True
    return "i'm a" in lowered or "i am a" in lowered or "we're a" in lowered or "we are a" in lowered
