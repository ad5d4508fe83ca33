"""Names of people and things in texts, found by rules.

A capitalised word inside a sentence is a name. The first word of a sentence counts only if it is a name elsewhere in
the texts. Weekdays and months are not names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from longmind.text.analysis import STOP_WORDS, fold
from longmind.text.vocabulary import CALENDAR_WORDS

_SIGN = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[@#]\w+|\b[A-Z]{2,}-\d+\b|“[^”]{2,60}”|\"[^\"\n]{2,60}\"")
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_SENTENCE = re.compile(r"(?<=[.!?…:])\s+|\n+")


def entities(texts: Sequence[str]) -> list[frozenset[str]]:
    """Return the folded names in each text. A name found in one text helps to recognise it in the others."""
    sure = [_certain_names(text) for text in texts]
    known = frozenset[str]().union(*sure)
    return [own | (_first_words(text) & known) for own, text in zip(sure, texts, strict=True)]


def _certain_names(text: str) -> frozenset[str]:
    names = {fold(sign.strip('“”"')) for sign in _SIGN.findall(text)}
    for sentence in _SENTENCE.split(text):
        names.update(_fold_word(word) for word in _WORD.findall(sentence)[1:] if _is_name(word))
    return frozenset(names)


def _first_words(text: str) -> frozenset[str]:
    words = [_WORD.findall(sentence)[:1] for sentence in _SENTENCE.split(text)]
    return frozenset(_fold_word(word[0]) for word in words if word)


def _is_name(word: str) -> bool:
    return word[0].isupper() and _fold_word(word) not in STOP_WORDS and _fold_word(word) not in CALENDAR_WORDS


def _fold_word(word: str) -> str:
    return fold(re.sub(r"[’']s?$", "", word))
