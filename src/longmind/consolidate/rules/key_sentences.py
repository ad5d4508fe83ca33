"""Extractive summaries: the key phrases of texts, and their key sentences.

A sentence scores high if its words occur in many sentences of the texts, but not in nearly all. Nothing is rewritten,
so a summary cannot say what nobody said.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from longmind.text.analysis import STOP_WORDS, fold, stem
from longmind.text.sentences import Sentence, sentences
from longmind.text.similarity import jaccard

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_SMALL_TALK = frozenset(
    """hey hi hello thanks thank wow yeah yes yep yup nope oh ok okay cool awesome great good nice really glad sorry
    love haha lol bye please sure welcome congrats amazing super totally absolutely definitely exactly right gonna wanna
    thing things lot lots way time day today know think feel like get got make made see look take going go one much well
    always never even still said say tell sounds sound means mean keep maybe actually kind pretty bit""".split()
)
MAX_SENTENCES = 5
_FEWEST_WORDS, _MOST_WORDS = 5, 45


@dataclass(frozen=True, slots=True)
class KeySentence:
    """A sentence of a text, and its score."""

    source: int
    """The number of the text it is from."""
    start: int
    text: str
    score: float


@lru_cache(maxsize=65_536)
def _term(word: str) -> str:
    """Return the stem by which a word is counted; empty for a stop word or small talk."""
    plain = fold(word).removesuffix("'s").removesuffix("’s")
    return "" if len(plain) < 3 or plain in STOP_WORDS or plain in _SMALL_TALK else stem(plain)


def key_phrases(texts: Sequence[str], limit: int = 8) -> list[str]:
    """Return the words and pairs of words that texts repeat, the weightiest first."""
    said = [_WORD.findall(text) for text in texts]
    read = [list(map(_term, words)) for words in said]
    counts = Counter(filter(None, chain.from_iterable(read)))
    pairs = Counter(chain.from_iterable(map(pairwise, read)))
    weighed = {term: n * 1.0 for term, n in counts.items() if n > 1}
    weighed.update({f"{a} {b}": n * 2.2 for (a, b), n in pairs.items() if n > 1 and a and b})
    chosen: list[str] = []
    taken: set[str] = set()
    for term in sorted(weighed, key=lambda t: (-weighed[t], t)):
        if taken.isdisjoint(parts := term.split()):
            chosen.append(term)
            taken.update(parts)
        if len(chosen) == limit:
            break
    forms = _forms(said, read, set(chosen))
    return [min(forms[term].items(), key=lambda form: (-form[1], form[0]))[0] for term in chosen]


def _forms(said: Sequence[Sequence[str]], read: Sequence[Sequence[str]], wanted: set[str]) -> dict[str, Counter[str]]:
    """Return how these words and pairs of words are written, and how often in each way."""
    forms: dict[str, Counter[str]] = {term: Counter() for term in wanted}
    parts = {part for term in wanted if " " in term for part in term.split()}
    for words, terms in zip(said, read, strict=True):
        for n, term in enumerate(terms):
            if term in wanted:
                forms[term][words[n]] += 1
            if term in parts and n and (pair := f"{terms[n - 1]} {term}") in wanted:
                forms[pair][f"{words[n - 1]} {words[n]}"] += 1
    return forms


def key_sentences(texts: Sequence[str], limit: int = MAX_SENTENCES) -> list[KeySentence]:
    """Return the highest scored sentences of these texts, in their order; none repeats what another says."""
    candidates: list[tuple[int, Sentence, tuple[str, ...]]] = []
    spread: Counter[str] = Counter()
    for number, text in enumerate(texts):
        for sentence in sentences(text):
            if sentence.asks or not _FEWEST_WORDS <= len(sentence.text.split()) <= _MOST_WORDS:
                continue
            if terms := _terms(sentence.text):
                spread.update(terms)
                candidates.append((number, sentence, terms))
    total = len(candidates)
    weights = {term: math.log1p(n) * math.log1p(total / n) for term, n in spread.items()}
    scored = [
        (-sum([weights[term] for term in terms]) / (3 + len(terms)) ** 0.6, number, sentence, frozenset(terms))
        for number, sentence, terms in candidates
    ]
    scored.sort(key=lambda item: (item[0], item[1], item[2].start))
    chosen: list[tuple[KeySentence, frozenset[str]]] = []
    for score, number, sentence, distinct in scored:
        if all(jaccard(distinct, other) < 0.5 for _, other in chosen):
            chosen.append((KeySentence(number, sentence.start, sentence.text, -score), distinct))
        if len(chosen) == limit:
            break
    return sorted((sentence for sentence, _ in chosen), key=lambda s: (s.source, s.start))


def _terms(text: str) -> tuple[str, ...]:
    """Return the terms of a sentence, each once."""
    return tuple(dict.fromkeys(filter(None, map(_term, _WORD.findall(text)))))
