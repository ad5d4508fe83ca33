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

from recollect.consolidate.sentences import sentences
from recollect.store.search.analysis import STOP_WORDS, fold, stem

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
    counts: Counter[str] = Counter()
    forms: Counter[tuple[str, str]] = Counter()
    for text in texts:
        before = ("", "")
        for word in _WORD.findall(text):
            term = _term(word)
            if term:
                counts[term] += 1
                forms[term, word] += 1
                if before[0]:
                    counts[f"{before[0]} {term}"] += 1
                    forms[f"{before[0]} {term}", f"{before[1]} {word}"] += 1
            before = (term, word)
    weighed = {term: n * (2.2 if " " in term else 1.0) for term, n in counts.items() if n > 1}
    chosen: list[str] = []
    for term in sorted(weighed, key=lambda t: (-weighed[t], t)):
        if not any(set(term.split()) & set(other.split()) for other in chosen):
            chosen.append(term)
        if len(chosen) == most:
            break
    usual: dict[str, tuple[int, str]] = {}
    for (term, form), n in forms.items():
        if term in chosen and (-n, form) < usual.get(term, (0, "")):
            usual[term] = (-n, form)
    return [usual[term][1] for term in chosen]


def telling(texts: Sequence[str], most: int = MAX_SENTENCES) -> list[Telling]:
    """The sentences that tell most of these texts, in their order; none repeats what another says."""
    found: list[tuple[Telling, frozenset[str]]] = []
    spread: Counter[str] = Counter()
    for number, text in enumerate(texts):
        for sentence in sentences(text):
            said = _terms(sentence.text)
            if sentence.asks or not _FEWEST_WORDS <= len(sentence.text.split()) <= _MOST_WORDS or not said:
                continue
            spread.update(said)
            found.append((Telling(number, sentence.start, sentence.text, 0.0), said))
    total = len(found)
    scored = []
    for told, said in found:
        weight = sum(math.log1p(spread[term]) * math.log1p(total / spread[term]) for term in said)
        scored.append((weight / (3 + len(said)) ** 0.6, told, said))
    scored.sort(key=lambda one: (-one[0], one[1].source, one[1].start))
    chosen: list[tuple[Telling, frozenset[str]]] = []
    for weight, told, said in scored:
        if all(len(said & other) / len(said | other) < 0.5 for _, other in chosen):
            chosen.append((Telling(told.source, told.start, told.text, weight), said))
        if len(chosen) == most:
            break
    return sorted((told for told, _ in chosen), key=lambda t: (t.source, t.start))


def _terms(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(_term, _WORD.findall(text))))
