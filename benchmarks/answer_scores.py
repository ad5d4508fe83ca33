"""How LoCoMo scores an answer: F1 over stemmed words, by the rules of its five categories.

Written after the published scorer: case, punctuation, commas, articles and "and" do not count, words are stemmed by
Porter's algorithm. An answer with several parts (category 1) is cut at its commas: each part of the right answer is
compared with the part of the answer that fits it best. Of an open question (3) the right answer counts as far as its
first semicolon. A question without an answer (5) is right if the answer says that it is not known.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from functools import cache

import Stemmer

_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@cache
def _porter() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("porter")


def scored_words(text: str) -> list[str]:
    """Return the stems of a text that are compared."""
    plain = text.replace(",", "").lower().translate(_PUNCTUATION)
    return list(_porter().stemWords(_ARTICLES.sub(" ", plain).split()))


def f1(answer: str, right: str) -> float:
    """Return the harmonic mean of precision and recall over words."""
    given, wanted = scored_words(answer), scored_words(right)
    common = sum((Counter(given) & Counter(wanted)).values())
    return 2 * common / (len(given) + len(wanted)) if common else 0.0


def f1_of_parts(answer: str, right: str) -> float:
    """Return the mean, over the parts of the right answer, of the best F1 of a part of the answer."""
    parts = [part.strip() for part in answer.split(",")]
    wanted = [part.strip() for part in right.split(",")]
    return sum(max(f1(part, each) for part in parts) for each in wanted) / len(wanted)


def score_answer(answer: str, known: bool, right: str, category: int) -> float:
    """Return the score of an answer, 0 to 1. What is not known is right only where nothing could be known."""
    if category == 5:
        return float(not known)
    if not known:
        return 0.0
    if category == 1:
        return f1_of_parts(answer, right)
    return f1(answer, right.split(";")[0].strip() if category == 3 else right)
