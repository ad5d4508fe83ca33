"""Term weights of a text, its keywords, and a summary made of its own sentences.

Everything here is a pure function of its input, so the same conversation always gives the same segments.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import mul
from typing import NamedTuple

from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.text.similarity import Weights
from longmind.text.vocabulary import CALENDAR_WORDS, NUMBER_WORDS, WEEKDAYS

MAX_TERMS = 96
"""The most terms that are stored of a chain or a segment."""
READ = 20_000
"""The number of characters of a text that are analysed; they are enough to tell its topic."""
_KEPT = 500
"""The longest sentence, in characters, whose analysis is cached."""
_CHATTER = frozenset(
    map(
        stem,
        """really great like thanks thank know think wow hey hi hello good nice glad sound yeah yes yep sure okay ok lot
        much get got go going went one also well still way thing something want make made see look let definitely
        totally awesome cool amazing absolutely right oh haha lol keep take took say said tell told always never ever
        even back feel pretty please maybe anything everything someone actually course need try use im ive id ill
        youre youve youll hes shes theyre theyve weve were thats whats theres heres lets dont doesnt didnt isnt arent
        wasnt cant couldnt wont wouldnt shouldnt havent hasnt hadnt gonna wanna gotta""".split(),
    )
)
_COUNTS_AND_DAYS = frozenset({*NUMBER_WORDS, *CALENDAR_WORDS, *(day + "s" for day in WEEKDAYS)})
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|\n+|(?<=[。！？])")


class SentenceWords(NamedTuple):
    """The topical words of a sentence as written, and their stems, in order."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    distinct: tuple[str, ...]
    """Each stem once."""


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Return the stem of a folded word; empty for a word that says nothing about the topic."""
    term = "" if word in STOP_WORDS else stem(word)
    return "" if term in _CHATTER or (len(term) < 2 and term.isascii()) else term


def analyse_sentence(sentence: str) -> SentenceWords:
    """Return the topical words of a sentence; cached, since every new page scores the same sentences again."""
    return _known(sentence) if len(sentence) <= _KEPT else _read(sentence)


def _read(text: str) -> SentenceWords:
    stems = [(word, term) for word in words(text[:READ]) if (term := _stem(word))]
    if not stems:
        return _NOTHING
    to_write, terms = zip(*stems, strict=True)
    return SentenceWords(to_write, terms, tuple(dict.fromkeys(terms)))


_known = lru_cache(maxsize=8_192)(_read)
_NOTHING = SentenceWords((), (), ())


def weigh_stems(stems: Iterable[str]) -> dict[str, float]:
    """Return the weight of each stem by how often it occurs."""
    return {term: 1.0 if n == 1 else 1.0 + math.log(n) for term, n in Counter(stems).items()}


def weigh_text(text: str) -> dict[str, float]:
    """Return the weight of each stem of a text."""
    return weigh_stems(term for word in words(text[:READ]) if (term := _stem(word)))


class Rarity:
    """The rarity of terms in a set of texts: a term in few texts has a high value. A text is a set of terms."""

    def __init__(self, texts: Iterable[Iterable[str]] = ()) -> None:
        counts: Counter[str] = Counter()
        count = 0
        for terms in texts:
            counts.update(terms)
            count += 1
        by_count = {n: math.log(1.0 + (count + 1.0) / (n + 1.0)) for n in set(counts.values())}
        self._known = {term: by_count[n] for term, n in counts.items()}
        self._new = math.log(2.0 + count)

    def __call__(self, term: str) -> float:
        return self._known.get(term, self._new)

    def times(self, weights: Weights) -> dict[str, float]:
        """Return each weight times the rarity of its term."""
        known, new = self._known, self._new
        return {term: weight * known.get(term, new) for term, weight in weights.items()}


def norm(weights: Weights) -> float:
    """Return the length of a vector of terms."""
    values = weights.values()
    return math.sqrt(sum(map(mul, values, values)))


def normalise(weights: Weights) -> dict[str, float]:
    """Return the weights as a vector of length 1."""
    long = norm(weights)
    return {term: value / long for term, value in weights.items()} if long else {}


def scale(weights: Weights, rarity: Rarity) -> dict[str, float]:
    """Return the weights times rarity, as a vector of length 1."""
    return normalise(rarity.times(weights))


def to_embedding_scale(cosine: float) -> float:
    """Map a cosine of terms to about the cosine of embeddings, so that one threshold serves both.

    Texts on one topic share few of their words, so terms give small cosines where embeddings give large ones. On LoCoMo
    the square root makes as many segments of a conversation as the static embedder does; without it, five times more.
    """
    return math.sqrt(cosine) if cosine < 1.0 else 1.0


def keywords(weights: Weights, rarity: Rarity, most: int) -> tuple[str, ...]:
    """Return the stems with the highest weight times rarity, the highest first."""
    return heaviest(rarity.times(weights), most)


def heaviest(weights: Weights, most: int) -> tuple[str, ...]:
    """Return the heaviest terms, the heaviest first, and equal ones in alphabetical order."""
    return tuple(term for _, term in _ranked(weights, most))


def _ranked(weights: Weights, most: int) -> list[tuple[float, str]]:
    """Return this many of the heaviest terms, each as (negative weight, term)."""
    if len(weights) > most:  # most terms are not among the heaviest, so find the limit before sorting
        least = sorted(weights.values(), reverse=True)[most - 1]
        return sorted([(-weight, term) for term, weight in weights.items() if weight >= least])[:most]
    return sorted([(-weight, term) for term, weight in weights.items()])


def add_weights(total: dict[str, float], more: Weights, share: float = 1.0) -> None:
    """Add a share of some weights to a total."""
    get = total.get
    for term, weight in more.items():
        total[term] = get(term, 0.0) + share * weight


def trim(weights: Weights, most: int = MAX_TERMS) -> dict[str, float]:
    """Return the heaviest terms with their weights."""
    return {term: weights[term] for term in heaviest(weights, most)}


def pack(weights: Weights) -> str:
    """Return the heaviest terms as one line of text, which is much faster to read than JSON."""
    return " ".join([f"{term} {_short(-below)}" for below, term in _ranked(weights, MAX_TERMS)])


@lru_cache(maxsize=8_192)
def _short(weight: float) -> str:
    """Format a weight with three digits; cached, since few different ones occur."""
    return f"{weight:.3g}"


def unpack(line: str) -> dict[str, float]:
    """Return the terms of a line that ``pack`` wrote."""
    parts = line.split(" ") if line else []
    return dict(zip(parts[::2], map(float, parts[1::2]), strict=True))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, each on one line."""
    parts = (" ".join(sentence.split()) for sentence in _SENTENCE.split(text[:READ]))
    return [sentence for sentence in parts if sentence]


def summarise(lines: Sequence[str], about: Weights, chars: int) -> str:
    """Return the lines that say most about the topic, in their order, with about this many characters in total."""
    distinct = list(dict.fromkeys(lines))
    scores = [_score_line(line, about) for line in distinct]
    kept: set[int] = set()
    left = chars
    for n in sorted(range(len(distinct)), key=lambda n: (-scores[n], n)):
        if scores[n] > 0 and len(distinct[n]) <= left:
            kept.add(n)
            left -= len(distinct[n]) + 1
    if not kept and distinct:
        first = max(range(len(distinct)), key=lambda n: (scores[n], -n))
        return distinct[first][: chars - 1].rstrip() + "…" if len(distinct[first]) > chars else distinct[first]
    return "\n".join(distinct[n] for n in sorted(kept))


def _score_line(line: str, about: Weights) -> float:
    """Return how much a line says about the topic, relative to its length."""
    own = analyse_sentence(line.partition(": ")[2] or line).distinct
    return sum([about[term] for term in own if term in about]) / math.sqrt(4.0 + len(own)) if own else 0.0


def naming_words_first(words: Iterable[str]) -> tuple[str, ...]:
    """Return words with those last that name no topic alone: numbers, days and months."""
    return tuple(sorted(words, key=lambda word: not word.isalpha() or word.lower() in _COUNTS_AND_DAYS))
