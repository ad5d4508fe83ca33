"""Further hops for relational questions: from "the author of X" over the author to "the spouse of the author of X".

"Where was the spouse of the author of X born?" names X alone. The statement about X names the author, one about the
author names the spouse, and one about the spouse answers. Statements form a graph by the names and things that they
share. It is followed for a few hops, the best statements first.

Only statements that stand alone are followed, never turns of a conversation: there what is said around a turn leads on,
and words that two turns share lead anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longmind.recall.restated import find_restated
from longmind.store.search.view import View
from longmind.text.analysis import STOP_WORDS, stem, term_hash, words
from longmind.types import Memory

if TYPE_CHECKING:
    from longmind.recall.ranking import Candidate, Ranking

HOPS = 3
"""How many statements lie at most between the one about what the question names and the one that answers."""
WIDTH = 4
"""The statements that are followed at each hop."""
REACHED = 8
"""The statements that one name or thing may lead to."""
SHARED_BY = 400
"""A word or name in more statements than this leads nowhere in particular."""
LONGEST = 40
"""Words of a text that is followed; a longer one is no single statement."""
KEPT = 0.95
"""The share of the score that a statement passes on to one that it leads to and that fits the question fully."""
LEAST = 0.7
"""The share of that which a statement gets that fits the rest of the question not at all."""
BACKWARDS = 0.6
"""A factor for a statement that ends with what led to it: it tells of that nothing that follows."""

_LINK = re.compile(
    r"\b(?:of|from|for|by|in|to|with|on)\s+(?:the|a|an|which|whom|whose)\b|\b(?:who|that|where|which|whose)\b|['’]s\b",
    re.IGNORECASE,
)
"""What joins a thing to another that describes it: "of the", "who", "'s"."""
_OPENING = re.compile(
    r"^\W*(?:(?:in|on|at|from|to|for|by|with|of)\s+)?(?:what|which|who|whom|whose|where|when|how)\b", re.IGNORECASE
)
_DESCRIBED = re.compile(
    r"\b(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would)\s+the\s+(?:[\w-]+\s+){1,4}(?:of|for|from|by)\b",
    re.IGNORECASE,
)
_NAMED_ONLY = re.compile(r"^\W*(?:what|who)(?:\s+is|\s+was|\s+are|\s+were|['’]s)\b", re.IGNORECASE)


def is_relational(question: str) -> bool:
    """Return whether a question describes what it asks about by something else: "Where was the author of X born?"."""
    if len(question) > 300:
        return False
    if _LINK.search(_OPENING.sub("", question)) is not None:
        return True
    return _NAMED_ONLY.match(question) is None and _DESCRIBED.search(question) is not None


class Bridge(NamedTuple):
    """A name or thing that a statement tells of and the question does not name."""

    text: str
    terms: tuple[int, ...]


class Way(NamedTuple):
    """A way from one statement over a bridge to the row of another, and how well that fits the rest of the question."""

    start: Candidate
    bridge: Bridge
    row: int
    fit: float


async def follow_hops(ranking: Ranking, allowed: NDArray[np.bool_]) -> None:
    """Add the statements to which the best ones lead, hop by hop, if the question is a relational one."""
    view = ranking.view
    if not is_relational(ranking.query.text) or len(ranking.arm_scores.rows) != view.rows:
        return
    alone = allowed & (view.column("thread")[: view.rows] < 0) & view.said_rows()
    if alone.any():
        await _Hops(ranking, alone).follow()


class _Hops:
    """The hops of one question over the statements that stand alone."""

    def __init__(self, ranking: Ranking, alone: NDArray[np.bool_]) -> None:
        self._ranking, self._alone = ranking, alone
        self._words, self._cosine = ranking.arm_scores.words, ranking.arm_scores.cosine
        self._most_alike = max(float(self._cosine.max(where=alone, initial=0.0)), 1e-6)
        self._known = {stem(word) for word in ranking.query.words}
        self._used: dict[str, NDArray[np.bool_]] = {}
        """Which terms of the question each statement has, or those that led to it."""

    async def follow(self) -> None:
        candidates = self._ranking.candidates.values()
        level = sorted(filter(self._stands_alone, candidates), key=lambda candidate: -candidate.score)
        for candidate in level:
            if candidate.place is not None:
                self._used[candidate.memory.id] = self._words.own(candidate.place) > 0
        for _ in range(HOPS):
            ways = [way for start in self._latest(level)[:WIDTH] for way in self._ways(start)]
            if not ways:
                return
            await self._ranking.bring([self._ranking.view.ids[way.row] for way in ways])
            level = self._reached(ways)
            self._known.update(stem(word) for way in ways for word in way.bridge.text.split())

    def _stands_alone(self, candidate: Candidate) -> bool:
        row = self._ranking.view.row_of(candidate.memory.id)
        return row is not None and row < len(self._alone) and bool(self._alone[row])

    def _latest(self, level: Sequence[Candidate]) -> list[Candidate]:
        """Return statements without those that a later one among them replaces."""
        replaced = find_restated([candidate.memory for candidate in level], self._ranking.query.terms)
        return [candidate for place, candidate in enumerate(level) if place not in replaced]

    def _ways(self, start: Candidate) -> Iterator[Way]:
        """Yield the ways from a statement, over each bridge the best by what the question asks beyond it."""
        used = self._used.get(start.memory.id)
        weights = self._words.term_weights * (1 if used is None else ~used)
        total = max(float(weights.sum()), 1e-6)
        for bridge in bridges(start.memory, self._known):
            rows = rows_with(self._ranking.view, bridge)
            rows = rows[self._alone[rows]]
            alike = np.clip(self._cosine[rows] / self._most_alike, 0, 1)
            fits = 0.5 * (weights @ (self._words.own(rows) > 0)) / total + 0.5 * alike
            for place in np.argsort(-fits, kind="stable")[:REACHED]:
                yield Way(start, bridge, int(rows[place]), float(fits[place]))

    def _reached(self, ways: Sequence[Way]) -> list[Candidate]:
        """Give the statements at the end of ways their scores; return those whose score rose, the best first."""
        reached: dict[str, Candidate] = {}
        for start, bridge, row, fit in ways:
            id = self._ranking.view.ids[row]
            candidate = self._ranking.candidates.get(id)
            if candidate is None or id == start.memory.id:
                continue
            score = KEPT * start.score * (LEAST + (1 - LEAST) * fit)
            if not leads_on(candidate.memory, bridge):
                score *= BACKWARDS
            if score > candidate.score:
                candidate.score = candidate.extra["hop"] = score
                candidate.notes = [f"tells of '{bridge.text[:60]}', which another hit names"]
                used, own = self._used.get(start.memory.id), self._words.own(row) > 0
                self._used[id] = own if used is None else own | used
                reached[id] = candidate
        return sorted(reached.values(), key=lambda candidate: -candidate.score)


def bridges(memory: Memory, known: Collection[str]) -> Iterator[Bridge]:
    """Yield what a statement tells of, at its beginning and its end, as far as it is not known: "X is married to Y".

    What stands between them says how the two are related.
    """
    tokens = words(memory.content)
    if len(tokens) > LONGEST:
        return
    runs = [list(run) for new, run in groupby(tokens, lambda word: word not in STOP_WORDS) if new]
    ends = [run for run, at_end in ((runs[0], tokens[0] == runs[0][0]), (runs[-1], True)) if at_end] if runs else []
    for run in ends[-1:] if len(runs) == 1 else ends:
        if not all(stem(word) in known for word in run):
            yield Bridge(" ".join(run), tuple(dict.fromkeys(term_hash(stem(word)) for word in run)))


def rows_with(view: View, bridge: Bridge) -> NDArray[np.int32]:
    """Return the rows that have all words of a bridge; none if very many have."""
    rows: NDArray[np.int32] | None = None
    for term in bridge.terms:
        term_rows = view.term_rows(term).rows
        rows = term_rows if rows is None else np.intersect1d(rows, term_rows, assume_unique=True)
    return rows if rows is not None and len(rows) <= SHARED_BY else np.empty(0, np.int32)


def leads_on(memory: Memory, bridge: Bridge) -> bool:
    """Return whether a statement tells something after it names what led to it."""
    hashes = [term_hash(stem(word)) for word in words(memory.content) if word not in STOP_WORDS]
    return bool(hashes) and hashes[-1] not in bridge.terms
