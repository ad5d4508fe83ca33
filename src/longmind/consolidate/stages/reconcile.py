"""Seeing one memory in another: statements that say the same are merged into one, the others archived.

Only statements that stand alone are compared: never turns of a conversation or passages of a document, whose place
matters, and never memories of different users, kinds or speakers. Two are the same when they have the same words
(folded, stemmed, in any order), or nearly all words in common and vectors at least ``similarity`` alike, or when one
contains the other word for word. What denies is never the same as what affirms, and who did it to whom matters.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longmind.consolidate.work import Work
from longmind.kinds import SAID
from longmind.store.base import AddLink, Update, Write
from longmind.text.analysis import terms, words
from longmind.text.similarity import jaccard
from longmind.types import Filter, Link, Memory

_WORDS_IN_COMMON = 0.8
_COMPARED_AT_ONCE = 512
_SHORTEST_CONTAINED = 3
_DENIALS = frozenset(
    """not no never none nobody nothing neither nor without cannot cant wont dont doesnt didnt isnt arent wasnt werent
    hasnt havent hadnt wouldnt couldnt shouldnt hardly barely""".split()
)
_REMARKS = _DENIALS | frozenset(
    """if unless but except although though wrong lie false joke said says thought maybe perhaps used longer anymore
    before until was were would could might should""".split()
)
"""Words around a contained statement that may change what it says."""
_CAPITAL = re.compile(r"\b[^\W\d_]\w*")


@dataclass(frozen=True, slots=True)
class ReconcileStage:
    """The stage."""

    name: str = "reconcile"

    async def propose(self, work: Work) -> None:
        new = {memory.id for memory in work.sources if memory.session is None and memory.kind in SAID}
        if not new:
            return
        alone = [memory async for memory in _alone(work)]
        vectors = await _vectors(work, alone)
        writes: list[Write] = []
        similarity = work.settings.duplicate_similarity
        for same in await asyncio.to_thread(duplicates, alone, vectors, similarity, new):
            writes.append(Update(same.other.id, {"state": "archived"}, same.other.version))
            writes.append(AddLink(Link(source=same.keeper.id, relation="supersedes", target=same.other.id)))
            work.notes.why[same.other.id] = (same.keeper.id, same.why)
        await work.apply(writes)


async def _alone(work: Work) -> AsyncIterator[Memory]:
    where = Filter(kinds=SAID, states=("active",))
    async for memory in work.store.scan_all(work.scope, where):
        if memory.session is None and memory.expires_at is None:
            yield memory


async def _vectors(work: Work, memories: list[Memory]) -> NDArray[np.float32]:
    """A vector for each, all zero where there is none."""
    if await work.store.backend.space() is None:
        return np.zeros((len(memories), 1), np.float32)
    view = await work.store.view(work.scope)
    vectors = np.zeros((len(memories), view.vectors.dimensions or 1), np.float32)
    rows = {n: row for n, memory in enumerate(memories) if (row := view.row_of(memory.id)) is not None}
    if rows and view.vectors.dimensions:
        vectors[list(rows)] = view.vectors.take(np.fromiter(rows.values(), np.int32, len(rows)))
    return vectors


@dataclass(frozen=True, slots=True)
class Same:
    """A memory that says nothing its keeper does not say."""

    keeper: Memory
    other: Memory
    why: str


def duplicates(
    memories: Sequence[Memory],
    vectors: NDArray[np.float32],
    similarity: float,
    new: Collection[str] | None = None,
) -> list[Same]:
    """Which of these memories are said again by another; ``vectors`` has a row for each, zero where it has none.

    With ``new`` only pairs with one of these ids in them are looked at: the others were compared before.
    """
    groups: dict[tuple[str | None, str, str, str | None], list[int]] = defaultdict(list)
    for number, memory in enumerate(memories):
        if memory.session is None:
            groups[(memory.user, memory.kind, memory.source.role, memory.source.name)].append(number)
    same: list[Same] = []
    for group in groups.values():
        fresh = [new is None or memories[n].id in new for n in group]
        if len(group) > 1 and any(fresh):
            same += _Group([memories[n] for n in group], vectors[group], fresh).merged(similarity)
    return same


class _Group:
    """Statements of one source, in the order in which they were learnt."""

    def __init__(self, memories: list[Memory], vectors: NDArray[np.float32], fresh: list[bool]) -> None:
        self.memories = memories
        self.vectors = vectors
        self.fresh = fresh
        self.words = [words(memory.content) for memory in memories]
        self.terms = [frozenset(terms(memory.content)) for memory in memories]
        self.denied = [tuple(sorted(w for w in said if w in _DENIALS)) for said in self.words]
        self.keeper: dict[int, tuple[int, str]] = {}

    def merged(self, similarity: float) -> list[Same]:
        self._same_words()
        self._alike(similarity)
        self._contained()
        return [
            Same(self.memories[self._last(n)], self.memories[n], self.keeper[n][1])
            for n in sorted(self.keeper)
            if self._last(n) != n
        ]

    def _same_words(self) -> None:
        """The newest of those with the same words stays."""
        newest: dict[tuple[frozenset[str], tuple[str, ...]], list[int]] = defaultdict(list)
        for number, said in enumerate(self.terms):
            if not said:
                continue
            before = newest[said, self.denied[number]]
            for place, other in enumerate(before):
                if self._agree(other, number):
                    self.keeper[other] = (number, "the same words")
                    del before[place]
                    break
            before.append(number)

    def _alike(self, similarity: float) -> None:
        """The newer of two that mean the same in nearly the same words stays."""
        rows = np.flatnonzero(np.array(self.fresh) & (np.abs(self.vectors).sum(axis=1) > 0))
        for start in range(0, len(rows), _COMPARED_AT_ONCE):
            part = rows[start : start + _COMPARED_AT_ONCE]
            alike = self.vectors[part] @ self.vectors.T
            for row, column in np.argwhere(alike >= similarity):
                earlier, later = sorted((int(part[row]), int(column)))
                if earlier == later or earlier in self.keeper or not self._agree(earlier, later):
                    continue
                if jaccard(self.terms[earlier], self.terms[later]) >= _WORDS_IN_COMMON:
                    why = f"{alike[row, column]:.2f} alike in meaning, and nearly the same words"
                    self.keeper[earlier] = (later, why)

    def _contained(self) -> None:
        """A statement that another one makes word for word, with nothing around it that changes it, goes."""
        holding: dict[str, set[int]] = defaultdict(set)
        for number, said in enumerate(self.terms):
            for term in said:
                holding[term].add(number)
        for number, said in enumerate(self.terms):
            if len(said) < _SHORTEST_CONTAINED or number in self.keeper:
                continue
            rarest = min(said, key=lambda term: len(holding[term]))
            for other in sorted(holding[rarest]):
                if other == number or not (self.fresh[number] or self.fresh[other]) or self._last(other) == number:
                    continue
                if said < self.terms[other] and self._within(number, other):
                    self.keeper[number] = (other, "another memory says it word for word, and more")
                    break

    def _within(self, inner: int, outer: int) -> bool:
        short, long = self.words[inner], self.words[outer]
        for at in range(len(long) - len(short) + 1):
            if long[at : at + len(short)] == short:
                return _REMARKS.isdisjoint(long[:at] + long[at + len(short) :])
        return False

    def _agree(self, first: int, other: int) -> bool:
        """Whether two deny the same, and name whom they name in the same order."""
        if not (self.fresh[first] or self.fresh[other]) or self.denied[first] != self.denied[other]:
            return False
        texts = self.memories[first].content, self.memories[other].content
        said = [_CAPITAL.findall(text) for text in texts]
        small = {word for capitals in said for word in capitals if word[0].islower()}
        names = [[w for w in capitals if w[0].isupper() and w.lower() not in small] for capitals in said]
        shared = set(names[0]) & set(names[1])
        return [n for n in names[0] if n in shared] == [n for n in names[1] if n in shared]

    def _last(self, number: int) -> int:
        seen = {number}
        while number in self.keeper and self.keeper[number][0] not in seen:
            number = self.keeper[number][0]
            seen.add(number)
        return number
