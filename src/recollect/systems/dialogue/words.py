"""What a text is about, by its words alone: weights, keywords, likeness, and a summary made of its own sentences.

Everything here is a pure function of its input, so the same conversation always gives the same segments.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from recollect.store.search.analysis import STOP_WORDS, stem, words

Weights = Mapping[str, float]
MAX_TERMS = 96
"""Terms kept of a chain or a segment."""
_READ = 20_000
"""Characters of a text that are looked at; what a page is about shows long before."""
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
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|\n+|(?<=[。！？])")


def _telling(text: str) -> list[tuple[str, str]]:
    """The words of a text that say what it is about, each with its stem."""
    found = ((word, stem(word)) for word in words(text[:_READ]) if word not in STOP_WORDS)
    return [(word, term) for word, term in found if term not in _CHATTER and (len(term) > 1 or not term.isascii())]


def weights(text: str) -> dict[str, float]:
    """The stems of a text and how much each is said."""
    counts = Counter(term for _, term in _telling(text))
    return {term: 1.0 + math.log(n) for term, n in counts.items()}


def forms(texts: Iterable[str]) -> dict[str, str]:
    """For each stem a word that was really written."""
    found: dict[str, str] = {}
    for text in texts:
        for word, term in _telling(text):
            found.setdefault(term, word)
    return found


class Rarity:
    """How much a term tells, by how many of some texts contain it; a text is told as its distinct terms."""

    def __init__(self, texts: Iterable[Iterable[str]] = ()) -> None:
        held: Counter[str] = Counter()
        count = 0
        for terms in texts:
            held.update(terms)
            count += 1
        self._known = {term: math.log(1.0 + (count + 1.0) / (n + 1.0)) for term, n in held.items()}
        self._new = math.log(2.0 + count)

    def __call__(self, term: str) -> float:
        return self._known.get(term, self._new)


def scaled(weights: Weights, rarity: Rarity) -> dict[str, float]:
    """Weights times rarity, as a vector of length 1."""
    told = {term: weight * rarity(term) for term, weight in weights.items()}
    length = math.sqrt(sum(value * value for value in told.values()))
    return {term: value / length for term, value in told.items()} if length else {}


def cosine(a: Weights, b: Weights) -> float:
    """The cosine of two vectors that ``scaled`` made."""
    if len(b) < len(a):
        a, b = b, a
    return min(sum(value * b[term] for term, value in a.items() if term in b), 1.0)


def on_the_scale_of_vectors(cosine: float) -> float:
    """A cosine of terms as the cosine of embeddings would be, about, so that one threshold serves both.

    Texts on one topic share few of their words, so terms give small cosines where embeddings give large ones. On LoCoMo
    the square root makes as many segments of a conversation as the static embedder does; without it, five times more.
    """
    return math.sqrt(cosine) if cosine < 1.0 else 1.0


def keywords(weights: Weights, rarity: Rarity, most: int) -> tuple[str, ...]:
    """The stems that tell most, the first of them first."""
    return tuple(sorted(weights, key=lambda term: (-weights[term] * rarity(term), term))[:most])


def jaccard(a: Iterable[str], b: Iterable[str]) -> float:
    """How many of the keywords of either are keywords of both."""
    one, other = set(a), set(b)
    return len(one & other) / len(one | other) if one and other else 0.0


def added(a: Weights, b: Weights, share: float = 1.0) -> dict[str, float]:
    """The sum of two, the second by a share."""
    total = dict(a)
    for term, weight in b.items():
        total[term] = total.get(term, 0.0) + share * weight
    return total


def trimmed(weights: Weights, most: int = MAX_TERMS) -> dict[str, float]:
    """The heaviest terms."""
    kept = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:most]
    return dict(kept)


def packed(weights: Weights) -> str:
    """The heaviest terms as one line, which is read much faster than as many values."""
    return " ".join(f"{term} {weight:.3g}" for term, weight in trimmed(weights).items())


def unpacked(line: str) -> dict[str, float]:
    """The terms of a line that ``packed`` made."""
    parts = line.split(" ") if line else []
    return dict(zip(parts[::2], map(float, parts[1::2]), strict=True))


def lines(who: str, text: str) -> list[str]:
    """The sentences of what somebody said, each with who said it."""
    found = (" ".join(sentence.split()) for sentence in _SENTENCE.split(text[:_READ]))
    return [f"{who}: {sentence}" for sentence in found if sentence]


def summary(told: Sequence[str], about: Weights, chars: int) -> str:
    """The lines that say most of what the whole is about, in their order, in about so many characters."""
    distinct = list(dict.fromkeys(told))
    scores = [_worth(line, about) for line in distinct]
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


@lru_cache(maxsize=8_192)
def _stems(text: str) -> frozenset[str]:
    """What a sentence speaks of; it competes for several summaries, and for each again with every new page."""
    return frozenset(term for _, term in _telling(text))


def _worth(line: str, about: Weights) -> float:
    """How much a line says of it; a long line has to say more."""
    own = _stems(line.partition(": ")[2] or line)
    return sum(about.get(term, 0.0) for term in own) / math.sqrt(4.0 + len(own)) if own else 0.0
