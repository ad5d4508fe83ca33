"""Explain why a memory was recalled, in one readable line and in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from longmind.recall.fusion import Fused
from longmind.recall.query import Query
from longmind.text.analysis import term_hash
from longmind.text.dates import format_day
from longmind.types import Memory

MAX_WORDS_SHOWN = 6
"""The most matching words that are named."""
MIN_SIMILARITY = 0.25
"""The lowest cosine similarity that is named."""


class Explainer:
    """Explains the hits of one recall.

    ``terms`` are those of the question that were scored. ``places`` are the row indexes of the hits that the
    arms scored; all their numbers are read from the arrays in one step.
    """

    def __init__(self, query: Query, terms: Sequence[int], fused: Fused, places: Sequence[int], full: bool) -> None:
        """Read what the explanations need. Only that is kept, not the arrays of all rows."""
        self._query, self._terms = query, terms
        arm_scores = fused.arm_scores
        at = np.array(places, np.intp)
        self._parts = fused.parts(at, full)
        self._term_weights = arm_scores.words.term_weights
        self._own_counts, self._near_counts = arm_scores.words.own(at), arm_scores.words.near(at)
        self._scores = (arm_scores.cosine[at], arm_scores.near_cosine[at], arm_scores.speaker[at], arm_scores.time[at])
        self._at = {place: number for number, place in enumerate(places)}

    @cached_property
    def _words(self) -> list[str]:
        """The words of the question, in the order of the terms."""
        spelled = {term_hash(stem): word for stem, word in self._query.stems.items()}
        return [spelled.get(term, "…") for term in self._terms]

    @cached_property
    def _order(self) -> list[int]:
        """The terms of the question, the most informative first."""
        weights = self._term_weights.tolist()
        return sorted(range(len(weights)), key=lambda term: -weights[term])

    @cached_property
    def _numbers(self) -> list[list[float]]:
        rounded: list[list[float]] = np.array([*self._parts.values(), self._scores[0]], np.float64).round(3).T.tolist()
        return rounded

    def numbers(self, place: int | None) -> dict[str, float]:
        """Return the score of each arm for one row."""
        if place is None:
            return {}
        return dict(zip([*self._parts, "cosine"], self._numbers[self._at[place]], strict=True))

    def line(self, memory: Memory, place: int | None, notes: Sequence[str], warm: bool = False) -> str:
        """Return the reasons for a hit in one line; notes come first, because they change how it should be read."""
        reasons = list(notes)
        if place is not None:
            reasons += self._from_arms(memory, place)
        if warm:
            times = "once" if memory.access_count == 1 else f"{memory.access_count} times"
            reasons.append(f"recalled {times} before")
        if memory.state == "superseded":
            reasons.append("superseded: something newer replaced it")
        elif memory.state == "stale":
            reasons.append("stale: what it was drawn from has changed")
        elif memory.state == "archived":
            reasons.append("archived: nothing active answers")
        return "; ".join(reasons) or "the nearest there is, though nothing of the question is in it"

    def _from_arms(self, memory: Memory, place: int) -> list[str]:
        words, reasons = self._words, []
        number = self._at[place]
        own, near = self._own_counts[:, number].tolist(), self._near_counts[:, number].tolist()
        own_words = [words[term] for term in self._order if own[term]]
        near_words = [words[term] for term in self._order if near[term] and not own[term]]
        similarity, near_similarity, speaker, in_time = (float(scores[number]) for scores in self._scores)
        if own_words:
            reasons.append(f"matches {_listed(own_words)}")
        if near_words:
            reasons.append(f"said around it: {_listed(near_words)}")
        if speaker and memory.source.name:
            reasons.append(f"said by {memory.source.name}")
        span = self._query.span
        if span is not None and in_time >= span.confidence:
            reasons.append(f"happened on {format_day(memory.occurred_at)}, as asked ('{span.text}')")
        if similarity >= MIN_SIMILARITY:
            reasons.append(f"{similarity:.2f} similar in meaning")
        elif near_similarity >= MIN_SIMILARITY:
            reasons.append(f"{near_similarity:.2f} similar in meaning with what was said around it")
        return reasons


def _listed(words: Sequence[str]) -> str:
    shown = [f"'{word[:40]}'" for word in words[:MAX_WORDS_SHOWN]]
    if len(words) > MAX_WORDS_SHOWN:
        return ", ".join(shown) + f" and {len(words) - MAX_WORDS_SHOWN} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
