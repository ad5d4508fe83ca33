"""Statements that a later one replaces: the same sentence with another value in it.

"The capital of X is A." and, later, "The capital of X is B.": whoever asks for the capital of X should get B first.
No model is needed to see it: both say the same words in the same order but for one part, that part is the smaller one,
and the question does not ask for words that only that part has. Then the later statement takes the earlier one's place
and the earlier one says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from recollect.store.search.analysis import stem, words
from recollect.types import Memory

LONGEST = 60
"""Words of a statement that is compared; a longer text is no single statement."""
LEAST = 3
"""Words that two statements must share to be about the same thing."""


def later_says(earlier: Sequence[str], later: Sequence[str], asked: Collection[str]) -> bool:
    """Whether a later statement (as words) gives another value for what an earlier one says about the question."""
    shortest = min(len(earlier), len(later))
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


def restated(memories: Sequence[Memory], asked: Collection[str]) -> dict[int, int]:
    """Which of these memories (by place) is replaced by which, the last of its line."""
    ends = [m.content[: 12 * LONGEST].lower().split() if len(m.content) <= 12 * LONGEST else [] for m in memories]
    short = [place for place, text in enumerate(ends) if LEAST <= len(text) <= LONGEST]
    short.sort(key=lambda place: (memories[place].occurred_at, memories[place].recorded_at, memories[place].id))
    said: dict[int, list[str]] = {}
    replaced: dict[int, int] = {}
    for number, earlier in enumerate(short):
        for later in reversed(short[number + 1 :]):
            # statements that share three words at their ends share two at one of them
            if ends[earlier][:2] != ends[later][:2] and ends[earlier][-2:] != ends[later][-2:]:
                continue
            for place in (earlier, later):
                if place not in said:
                    said[place] = words(memories[place].content)
            if _same_voice(memories[earlier], memories[later]) and later_says(said[earlier], said[later], asked):
                replaced[earlier] = later
                break
    return replaced


def _same_voice(one: Memory, other: Memory) -> bool:
    return (
        one.kind == other.kind
        and one.user == other.user
        and one.source.role == other.source.role
        and one.source.name == other.source.name
        and one.state == other.state
    )
