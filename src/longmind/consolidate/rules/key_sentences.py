"""Saying in short what a text or a conversation is about, in its own words: key phrases, and telling sentences.

A sentence tells much if it shares its words with the whole and they are not words of everything. Nothing is rewritten,
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
class Telling:
    """A sentence of a source, and how much it tells."""

    source: int
    """The number of the text it is from."""
    start: int
    text: str
    weight: float


@lru_cache(maxsize=65_536)
def _term(word: str) -> str:
    """The stem by which a word is counted; empty for one that says nothing by itself."""
    plain = fold(word).removesuffix("'s").removesuffix("’s")
    return "" if len(plain) < 3 or plain in STOP_WORDS or plain in _SMALL_TALK else stem(plain)


def phrases(texts: Sequence[str], most: int = 8) -> list[str]:
    """The words and pairs of words that a text comes back to, the weightiest first."""
    said = [_WORD.findall(text) for text in texts]
    read = [list(map(_term, words)) for words in said]
    counts = Counter(filter(None, chain.from_iterable(read)))
    for terms in read:
        counts.update([f"{one} {two}" for one, two in pairwise(terms) if one and two])
    weighed = {term: n * (2.2 if " " in term else 1.0) for term, n in counts.items() if n > 1}
    chosen: list[str] = []
    taken: set[str] = set()
    for term in sorted(weighed, key=lambda t: (-weighed[t], t)):
        if taken.isdisjoint(parts := term.split()):
            chosen.append(term)
            taken.update(parts)
        if len(chosen) == most:
            break
    forms = _forms(said, read, set(chosen))
    return [min(forms[term].items(), key=lambda form: (-form[1], form[0]))[0] for term in chosen]


def _forms(said: Sequence[Sequence[str]], read: Sequence[Sequence[str]], wanted: set[str]) -> dict[str, Counter[str]]:
    """How these words and pairs of words are written, and how often each way."""
    found: dict[str, Counter[str]] = {term: Counter() for term in wanted}
    parts = {part for term in wanted if " " in term for part in term.split()}
    for words, terms in zip(said, read, strict=True):
        for n, term in enumerate(terms):
            if term in wanted:
                found[term][words[n]] += 1
            if term in parts and n and (pair := f"{terms[n - 1]} {term}") in wanted:
                found[pair][f"{words[n - 1]} {words[n]}"] += 1
    return found


def telling(texts: Sequence[str], most: int = MAX_SENTENCES) -> list[Telling]:
    """The sentences that tell most of these texts, in their order; none repeats what another says."""
    found: list[tuple[int, Sentence, tuple[str, ...]]] = []
    spread: Counter[str] = Counter()
    for number, text in enumerate(texts):
        for sentence in sentences(text):
            if sentence.asks or not _FEWEST_WORDS <= len(sentence.text.split()) <= _MOST_WORDS:
                continue
            if said := _terms(sentence.text):
                spread.update(said)
                found.append((number, sentence, said))
    total = len(found)
    worth = {term: math.log1p(n) * math.log1p(total / n) for term, n in spread.items()}
    scored = [
        (-sum([worth[term] for term in said]) / (3 + len(said)) ** 0.6, number, sentence, frozenset(said))
        for number, sentence, said in found
    ]
    scored.sort(key=lambda one: (one[0], one[1], one[2].start))
    chosen: list[tuple[Telling, frozenset[str]]] = []
    for weight, number, sentence, terms in scored:
        if all(jaccard(terms, other) < 0.5 for _, other in chosen):
            chosen.append((Telling(number, sentence.start, sentence.text, -weight), terms))
        if len(chosen) == most:
            break
    return sorted((told for told, _ in chosen), key=lambda t: (t.source, t.start))


def _terms(text: str) -> tuple[str, ...]:
    """What a sentence speaks of, each once."""
    return tuple(dict.fromkeys(filter(None, map(_term, _WORD.findall(text)))))
