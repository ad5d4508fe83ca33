"""Detect statements that a later one replaces: the same sentence with another value.

After "The capital of X is A." and, later, "The capital of X is B.", a question for the capital of X should get B first.
No model is needed: both have the same words in the same order except for one part, that part is the smaller one, and
the question does not ask for words that occur only in it. Then the later statement ranks above the earlier one, whose
reason says that it was said again.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from longmind.text.analysis import stem, words
from longmind.types import Memory

MAX_WORDS = 60
"""The most words of a statement; a longer text is not a single statement."""
MIN_SHARED = 3
"""The fewest words that two statements about the same thing share."""
_END = 64
"""Characters at the beginning and end of a text that hold its first and last two words."""


def restates(earlier: Sequence[str], later: Sequence[str], query_terms: Collection[str]) -> bool:
    """Return whether a later statement (as words) gives another value for what an earlier one says."""
    shortest = min(len(earlier), len(later))
    if shortest < MIN_SHARED or max(len(earlier), len(later)) > MAX_WORDS:
        return False
    head = 0
    while head < shortest and earlier[head] == later[head]:
        head += 1
    tail = 0
    while tail < shortest - head and earlier[-1 - tail] == later[-1 - tail]:
        tail += 1
    if head + tail < max(MIN_SHARED, shortest / 2) or list(earlier) == list(later):
        return False
    same = {stem(word) for word in (*earlier[:head], *earlier[len(earlier) - tail :])}
    other = {stem(word) for word in (*earlier[head : len(earlier) - tail], *later[head : len(later) - tail])}
    return bool(same & set(query_terms)) and (other & set(query_terms)) <= same


def find_restated(memories: Sequence[Memory], query_terms: Collection[str]) -> dict[int, int]:
    """Map each replaced memory to its latest replacement; both by their index."""
    pairs = set(_sharing_an_end(memories))
    if not pairs:
        return {}
    order = sorted({place for pair in pairs for place in pair}, key=lambda place: _age(memories[place]))
    words_of: dict[int, list[str]] = {}
    replaced: dict[int, int] = {}
    for number, earlier in enumerate(order):
        for later in reversed(order[number + 1 :]):
            pair = (earlier, later) if earlier < later else (later, earlier)
            if pair not in pairs or not _same_voice(memories[earlier], memories[later]):
                continue
            for place in (earlier, later):
                if place not in words_of:
                    words_of[place] = words(memories[place].content)
            if restates(words_of[earlier], words_of[later], query_terms):
                replaced[earlier] = later
                break
    return replaced


def _sharing_an_end(memories: Sequence[Memory]) -> Iterator[tuple[int, int]]:
    """Yield the index pairs of memories that begin or end with the same two words.

    Only such pairs can restate each other. They are few, and only these are compared in full.
    """
    sharing: dict[tuple[str, ...], list[int]] = {}
    for place, memory in enumerate(memories):
        text = memory.content
        if len(text) <= 12 * MAX_WORDS:
            sharing.setdefault(("first", *text[:_END].lower().split(None, 2)[:2]), []).append(place)
            sharing.setdefault(("last", *text[-_END:].lower().rsplit(None, 2)[-2:]), []).append(place)
    for places in sharing.values():
        if len(places) > 1:
            yield from itertools.combinations(places, 2)


def _age(memory: Memory) -> tuple[datetime, datetime, str]:
    return memory.occurred_at, memory.recorded_at, memory.id


def _same_voice(first: Memory, second: Memory) -> bool:
    return (
        first.kind == second.kind
        and first.user == second.user
        and first.source.role == second.source.role
        and first.source.name == second.source.name
        and first.state == second.state
    )
