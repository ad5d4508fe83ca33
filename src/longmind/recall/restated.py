"""Statements that a later one replaces: the same sentence with another value in it.

"The capital of X is A." and, later, "The capital of X is B.": whoever asks for the capital of X should get B first.
No model is needed to see it: both say the same words in the same order but for one part, that part is the smaller one,
and the question does not ask for words that only that part has. Then the later statement takes the earlier one's place
and the earlier one says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from longmind.text.analysis import stem, words
from longmind.types import Memory

LONGEST = 60
"""Words of a statement that is compared; a longer text is no single statement."""
LEAST = 3
"""Words that two statements must share to be about the same thing."""
_END = 64
"""Characters in which the first or the last two words of a text are looked for."""


def restates(earlier: Sequence[str], later: Sequence[str], asked: Collection[str]) -> bool:
    """Whether a later statement (as words) gives another value for what an earlier one says about the question."""
    shortest = min(len(earlier), len(later))
    if shortest < LEAST or max(len(earlier), len(later)) > LONGEST:
        return False
    head = 0
    while head < shortest and earlier[head] == later[head]:
        head += 1
    tail = 0
    while tail < shortest - head and earlier[-1 - tail] == later[-1 - tail]:
        tail += 1
    if head + tail < max(LEAST, shortest / 2) or list(earlier) == list(later):
        return False
    same = {stem(word) for word in (*earlier[:head], *earlier[len(earlier) - tail :])}
    other = {stem(word) for word in (*earlier[head : len(earlier) - tail], *later[head : len(later) - tail])}
    return bool(same & set(asked)) and (other & set(asked)) <= same


def find_restated(memories: Sequence[Memory], asked: Collection[str]) -> dict[int, int]:
    """Which of these memories (by place) is replaced by which, the last of its line."""
    pairs = set(_sharing_an_end(memories))
    if not pairs:
        return {}
    order = sorted({place for pair in pairs for place in pair}, key=lambda place: _age(memories[place]))
    said: dict[int, list[str]] = {}
    replaced: dict[int, int] = {}
    for number, earlier in enumerate(order):
        for later in reversed(order[number + 1 :]):
            pair = (earlier, later) if earlier < later else (later, earlier)
            if pair not in pairs or not _same_voice(memories[earlier], memories[later]):
                continue
            for place in (earlier, later):
                if place not in said:
                    said[place] = words(memories[place].content)
            if restates(said[earlier], said[later], asked):
                replaced[earlier] = later
                break
    return replaced


def _sharing_an_end(memories: Sequence[Memory]) -> Iterator[tuple[int, int]]:
    """Pairs of memories, by place, that begin or end with the same two words, as statements that share three words at
    their ends do. Few do, and only these are read whole."""
    sharing: dict[tuple[str, ...], list[int]] = {}
    for place, memory in enumerate(memories):
        text = memory.content
        if len(text) <= 12 * LONGEST:
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
