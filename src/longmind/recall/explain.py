"""Why a memory was recalled, in one readable line and in numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longmind.recall.fuse import Fused
from longmind.recall.query import Query
from longmind.text.dates import format_day
from longmind.types import Memory

SHOWN = 6
"""Words named of those that match."""
ALIKE = 0.25
"""The least similarity in meaning worth naming."""


class Teller:
    """Tells of each hit of one recall why it is there. ``words`` are the question's, in the order of the terms.

    ``places`` are those of the hits that the arms have seen: their numbers are taken from the arrays together.
    """

    def __init__(self, query: Query, words: Sequence[str], fused: Fused, places: Sequence[int], full: bool) -> None:
        self._query, self._words = query, words
        found = fused.found
        telling = found.words.telling.tolist()
        self._order = sorted(range(len(telling)), key=lambda term: -telling[term])
        at = np.array(places, np.intp)
        parts = fused.parts(at, full)
        self._parts = [*parts, "cosine"]
        seen = (found.cosine[at], found.near_cosine[at], found.speaker[at], found.time[at])
        self._numbers = np.array([*parts.values(), seen[0]], np.float64).round(3).T.tolist()
        self._own, self._near = found.words.own(at).T.tolist(), found.words.near(at).T.tolist()
        self._seen = list(zip(*(values.tolist() for values in seen), strict=True))
        self._at = {place: number for number, place in enumerate(places)}

    def numbers(self, place: int | None) -> dict[str, float]:
        """What each arm gave one row, before it was added up."""
        if place is None:
            return {}
        return dict(zip(self._parts, self._numbers[self._at[place]], strict=True))

    def line(self, memory: Memory, place: int | None, notes: Sequence[str], warm: bool = False) -> str:
        """One sentence on why this memory is here; the notes, which change how it should be read, come first."""
        told = list(notes)
        if place is not None:
            told += self._from_arms(memory, place)
        if warm:
            times = "once" if memory.access_count == 1 else f"{memory.access_count} times"
            told.append(f"recalled {times} before")
        if memory.state == "superseded":
            told.append("superseded: something newer replaced it")
        elif memory.state == "stale":
            told.append("stale: what it was drawn from has changed")
        return "; ".join(told) or "the nearest there is, though nothing of the question is in it"

    def _from_arms(self, memory: Memory, place: int) -> list[str]:
        words, told = self._words, []
        number = self._at[place]
        own, near = self._own[number], self._near[number]
        said = [words[term] for term in self._order if own[term]]
        around = [words[term] for term in self._order if near[term] and not own[term]]
        alike, near_alike, speaker, in_time = self._seen[number]
        if said:
            told.append(f"matches {_listed(said)}")
        if around:
            told.append(f"said around it: {_listed(around)}")
        if speaker and memory.source.name:
            told.append(f"said by {memory.source.name}")
        span = self._query.span
        if span is not None and in_time >= span.confidence:
            told.append(f"happened on {format_day(memory.occurred_at)}, as asked ('{span.text}')")
        if alike >= ALIKE:
            told.append(f"{alike:.2f} similar in meaning")
        elif near_alike >= ALIKE:
            told.append(f"{near_alike:.2f} similar in meaning with what was said around it")
        return told


def _listed(words: Sequence[str]) -> str:
    shown = [f"'{word[:40]}'" for word in words[:SHOWN]]
    if len(words) > SHOWN:
        return ", ".join(shown) + f" and {len(words) - SHOWN} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
