"""Detect turns that a later turn brings up to date, in other words.

After "I work at Acme." and, later, "I've started a new job at Globex.", a question for where somebody works should get
the later one first. Three things tell that it replaces the earlier one: it is about the same (the vectors are alike, or
both name the attribute of a person that the question asks for; and it has the names of the question that the earlier
one has), its words tell of a change, and it is later. Only the order of the first hits is changed, and only for a
question that asks what is so now.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longmind.recall.rerank import SCALE
from longmind.text.analysis import fold, terms, words
from longmind.text.attributes import attributes
from longmind.text.change_words import tells_of_change
from longmind.text.similarity import jaccard
from longmind.types import Memory

COMPARED = 10
"""The first hits, whose order may be changed."""
_ALIKE = 0.25
"""The least cosine, or without vectors the least share of common terms, of two turns about the same."""
_SHARE = 0.4
"""The least share of the earlier turn's score that the later one has, unless both name the attribute asked for."""
_LONGEST = 2_000
"""Characters of a text that are read."""
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z]\w+")
_CONVERSATION = 86_400.0
"""Seconds within which two turns belong to one conversation: there another speaker's turn is a reply, no update."""


@dataclass(frozen=True, slots=True)
class RankedTurn:
    """A hit that was said, its score, and its vector if it has one."""

    memory: Memory
    score: float
    vector: NDArray[np.float32] | None
    number: float | None = None
    """How well it answers by the small reranker, if it has read it."""


def find_updated(turns: Sequence[RankedTurn], query: str) -> dict[int, int]:
    """Map each outdated turn to the turn that brings it up to date; both by their index, the best turn first."""
    changes = [n for n, turn in enumerate(turns) if tells_of_change(turn.memory.content[:_LONGEST])]
    if not changes:
        return {}
    asked = attributes(query[:_LONGEST])
    named = [attributes(turn.memory.content[:_LONGEST]) & asked if asked else frozenset() for turn in turns]
    names = _names(query[:_LONGEST])
    about = [names & _words(turn.memory) for turn in turns]
    updated: dict[int, int] = {}
    for number, earlier in enumerate(turns):
        best = 0.0
        for other in changes:
            later = turns[other]
            if not about[number] <= about[other] or not _follows(earlier, later):
                continue
            alike = _likeness(earlier, later)
            same = alike >= _ALIKE and later.score >= _SHARE * earlier.score and _answers_as_well(earlier, later)
            attribute = named[number] & named[other] and _same_speaker(earlier.memory, later.memory)
            if (same or attribute) and (number not in updated or alike > best):
                best, updated[number] = alike, other
    return updated


def _names(query: str) -> frozenset[str]:
    """Return the words of a question that are names: with a capital, and not its first word."""
    return frozenset(fold(name) for name in _NAME.findall(query))


def _words(memory: Memory) -> frozenset[str]:
    """Return the words of a turn, and those of its speaker's name."""
    return frozenset(words(f"{memory.source.name or ''} {memory.content[:_LONGEST]}"))


def _follows(earlier: RankedTurn, later: RankedTurn) -> bool:
    """Whether a turn ranks below an earlier one that it may bring up to date."""
    old, new = earlier.memory, later.memory
    if later.score >= earlier.score or old.user != new.user or old.state != new.state:
        return False
    if (new.occurred_at, new.recorded_at, new.id) <= (old.occurred_at, old.recorded_at, old.id):
        return False
    apart = (new.occurred_at - old.occurred_at).total_seconds() >= _CONVERSATION
    return apart or _same_speaker(old, new)


def _same_speaker(first: Memory, second: Memory) -> bool:
    return (first.source.role, first.source.name) == (second.source.role, second.source.name)


def _answers_as_well(earlier: RankedTurn, later: RankedTurn) -> bool:
    """Whether the small reranker, if it has read both, does not find that the later turn is no answer at all."""
    return earlier.number is None or later.number is None or later.number >= earlier.number - 2 * SCALE


def _likeness(first: RankedTurn, second: RankedTurn) -> float:
    if first.vector is not None and second.vector is not None:
        return float(first.vector @ second.vector)
    return jaccard(*(frozenset(terms(turn.memory.content[:_LONGEST])) for turn in (first, second)))
