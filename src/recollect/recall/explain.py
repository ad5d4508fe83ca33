"""Why a memory was recalled, in one readable line and in numbers."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.recall.arms import Found
from recollect.recall.fuse import Fused
from recollect.recall.query import Query
from recollect.types import Memory

SHOWN = 6
"""Words named of those that match."""
ALIKE = 0.25
"""The least similarity in meaning worth naming."""
MAIN = frozenset({"words", "words around", "session", "meaning", "time"})
"""The parts that are told even when no explanation is asked for."""


class Teller:
    """Tells of each hit of one recall why it is there. ``words`` are the question's, in the order of the terms."""

    def __init__(self, query: Query, words: Sequence[str], found: Found, fused: Fused, full: bool) -> None:
        self._query, self._words, self._found = query, words, found
        telling = found.words.telling.tolist()
        self._order = sorted(range(len(telling)), key=lambda term: -telling[term])
        self._parts = {name: values for name, values in fused.parts.items() if full or name in MAIN}

    def numbers(self, place: int | None) -> dict[str, float]:
        """What each arm gave one row, before it was added up."""
        if place is None:
            return {}
        parts = {name: round(float(values[place]), 3) for name, values in self._parts.items()}
        parts["cosine"] = round(float(self._found.cosine[place]), 3)
        return parts

    def line(self, memory: Memory, place: int | None, notes: Sequence[str]) -> str:
        """One sentence on why this memory is here; the notes, which change how it should be read, come first."""
        told = list(notes)
        if place is not None:
            told += self._from_arms(memory, place)
        if memory.state == "superseded":
            told.append("superseded: something newer replaced it")
        elif memory.state == "stale":
            told.append("stale: what it was drawn from has changed")
        return "; ".join(told) or "the nearest there is, though nothing of the question is in it"

    def _from_arms(self, memory: Memory, place: int) -> list[str]:
        found, words, told = self._found, self._words, []
        own, near = found.words.own[:, place].tolist(), found.words.near[:, place].tolist()
        said = [words[term] for term in self._order if own[term]]
        around = [words[term] for term in self._order if near[term] and not own[term]]
        if said:
            told.append(f"matches {_listed(said)}")
        if around:
            told.append(f"said around it: {_listed(around)}")
        if found.speaker[place] and memory.source.name:
            told.append(f"said by {memory.source.name}")
        span = self._query.span
        if span is not None and found.time[place] >= 1:
            told.append(f"happened on {memory.occurred_at.day} {memory.occurred_at:%B %Y}, as asked ('{span.said}')")
        alike, near_alike = float(found.cosine[place]), float(found.near_cosine[place])
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
