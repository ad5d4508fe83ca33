"""The final ranking of a recall, from the records of the best rows.

Some evidence is not in the arrays of a view: which statement replaced which, what a hit is linked to, whether a quoted
phrase occurs word for word. So a few more memories than were asked for are fetched, adjusted and put in order here.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from longmind.kinds import DEAD_ENDS, SAID, UNCOUNTED
from longmind.recall import explain, folding
from longmind.recall.arms import ArmScores
from longmind.recall.chances import READ_SIGNS, chances_of, signs_of
from longmind.recall.fusion import STATE_FACTORS, Fused
from longmind.recall.heat import heat, warmed
from longmind.recall.in_context import texts_in_context
from longmind.recall.policy import RecallPlan
from longmind.recall.query import Query
from longmind.recall.repeated import asks_for_occasions, find_repeated
from longmind.recall.rerank import DEPTH, SHARE, ContextReranker, Reranker, new_order, shares
from longmind.recall.restated import find_restated
from longmind.recall.updates import COMPARED, RankedTurn, find_updated
from longmind.store.search.view import View
from longmind.store.store import Store
from longmind.systems.semantic import ENDED_BY
from longmind.text.analysis import fold
from longmind.text.dates import format_month
from longmind.types import Hit, Memory, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SPARE = 6
"""Memories looked up beyond those asked for."""
_FETCHES = 3
"""How often more memories are looked up because some of them repeat others."""
LINKED_FROM, LINKED_MOST = 5, 20
UNFOLLOWED = frozenset({"next", "supersedes"})
_COMPARED_INLINE = 200
"""Candidates that are compared with each other on the event loop; more are in a thread."""


@dataclass(slots=True)
class Candidate:
    """A memory that may become a hit. Its ``score`` is its fit, by which candidates are ordered."""

    memory: Memory
    score: float
    place: int | None
    """Its index among the scored rows; None for a memory that was reached over a link."""
    notes: list[str] = field(default_factory=list)
    extra: dict[str, float] = field(default_factory=dict)
    read: float | None = None
    """The number of the small reranker, if it has read it, or what it replaces."""

    def replace(self, other: Candidate, score: float) -> None:
        """Take the place of another candidate, if it fits better: what led to that one has led to this one."""
        if score > self.score:
            self.score = score
            self.read = other.read if self.read is None or other.read is None else max(self.read, other.read)


class Ranking:
    """The candidates of one recall, and the steps that bring them into their final order."""

    def __init__(
        self,
        store: Store,
        scope: Scope,
        query: Query,
        plan: RecallPlan,
        view: View,
        arm_scores: ArmScores,
        fused: Fused,
        here: NDArray[np.bool_],
        *,
        folds: bool = True,
    ) -> None:
        """With ``folds`` a fact is shown with the memory it was extracted from; without, each is a hit of its own."""
        self.store, self.scope, self.query, self.plan, self.view = store, scope, query, plan, view
        self.arm_scores, self.fused, self.here, self.folds = arm_scores, fused, here, folds
        self.candidates: dict[str, Candidate] = {}
        self.repeats: dict[str, tuple[Candidate, str]] = {}
        """Candidates that say the same as a better one, with the id of that one. They fill places that are left."""

    async def fetch(self, k: int, least: int = 0) -> None:
        """Fetch the memories of the best rows, and a few more; at least so many."""
        depth = max(k + SPARE, least) if not self.query.phrases else max(k + SPARE, least, DEPTH)
        await self._fetch_best(depth)
        if not asks_for_occasions(self.query):
            for _ in range(_FETCHES):
                if not self._set_repeats_aside():
                    break
                await self._fetch_best(depth + len(self.repeats))  # others take the places of those that repeat
        if self.folds:
            folding.reduce_repetitions(self.candidates.values())
        self._match_phrases()

    async def _fetch_best(self, depth: int) -> None:
        """Fetch the memories of the best rows that were not fetched yet."""
        scores, order = self.fused.scores(self.here), self._best(depth)
        places = {self.view.ids[row]: int(place) for row, place in zip(self.arm_scores.rows[order], order, strict=True)}
        ids = [id for id in places if id not in self.candidates and id not in self.repeats]
        for memory in await self.store.get_all(self.scope, ids) if ids else ():
            self.candidates[memory.id] = Candidate(memory, float(scores[places[memory.id]]), places[memory.id])

    def _set_repeats_aside(self) -> bool:
        """Take candidates out that say word for word what a better one says; return whether there were any."""
        repeated = find_repeated([candidate.memory for candidate in self._sorted()])
        for id, kept in repeated.items():
            self.repeats[id] = self.candidates.pop(id), kept
        return bool(repeated)

    def _best(self, depth: int) -> NDArray[np.intp]:
        """Return the indexes of the best rows, the best first.

        These are ``depth`` rows that were said, and at most as many derived ones that score no worse than the last of
        them: those may still be folded into what they were derived from.
        """
        eligible = np.flatnonzero(self.here & (self.fused.total > 0))
        if not self.folds or self.view.said == self.view.living:
            return self._sorted_rows(self._top(eligible, depth))
        said = self.view.said_rows()[self.arm_scores.rows[eligible]]
        best, derived = self._top(eligible[said], depth), self._top(eligible[~said], depth)
        if len(best) == depth:
            derived = derived[self.fused.total[derived] >= self.fused.total[best].min()]
        return self._sorted_rows(np.concatenate((best, derived)))

    def _top(self, places: NDArray[np.intp], most: int) -> NDArray[np.intp]:
        if len(places) <= most:
            return places
        return places[np.argpartition(-self.fused.total[places], most - 1)[:most]]

    def _sorted_rows(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        return places[np.lexsort((self.arm_scores.rows[places], -self.fused.total[places]))]

    def warm(self, now: datetime) -> None:
        """Raise the score of what was recalled often and lately, a little."""
        for candidate in self.candidates.values():
            warmth = heat(candidate.memory, now)
            if warmth > 0:
                candidate.score = warmed(candidate.score, warmth)
                candidate.extra["heat"] = round(warmth, 3)

    def _match_phrases(self) -> None:
        for phrase in self.query.phrases:
            for candidate in self.candidates.values():
                if fold(phrase) in fold(candidate.memory.content):
                    candidate.score = 1 - (1 - candidate.score) / 2
                    candidate.notes.append(f"says '{phrase[:60]}' word for word")

    async def follow_links(self, allowed: NDArray[np.bool_]) -> None:
        """Add what the best hits are linked to, with a share of their score."""
        leads_nowhere = DEAD_ENDS | UNCOUNTED if self.folds else DEAD_ENDS
        if self.plan.weights.link <= 0 or leads_nowhere.issuperset(self.view.kinds.names):
            return
        best = self._sorted()[:LINKED_FROM]
        links = await self.store.links(self.scope, [c.memory.id for c in best], direction="both", limit=5 * LINKED_MOST)
        shared: dict[str, tuple[float, str]] = {}
        for link in links:
            for start, end in ((link.source, link.target), (link.target, link.source)):
                if link.relation in UNFOLLOWED or start not in self.candidates:
                    continue
                score = self.plan.weights.link * min(link.weight, 1.0) * self.candidates[start].score
                if self._may(end, allowed) and not self._repeats(end) and score > shared.get(end, (0.0, ""))[0]:
                    shared[end] = (score, link.relation)
        kept = sorted(shared.items(), key=lambda item: (-item[1][0], item[0]))[:LINKED_MOST]
        await self.bring([id for id, _ in kept])
        for id, (score, relation) in kept:
            if id in self.candidates:
                candidate = self.candidates[id]
                candidate.extra["link"] = score
                candidate.score = max(candidate.score, score)
                candidate.notes.append(f"linked to another hit by '{relation}'")

    async def put_replacements_first(self, allowed: NDArray[np.bool_], timeless: bool) -> None:
        """Rank what was replaced below what replaced it, and note it."""
        if not timeless:
            await self._follow_supersession(allowed)
        ordered = self._sorted()
        find = partial(find_restated, [c.memory for c in ordered], self.query.terms)
        restated = await asyncio.to_thread(find) if len(ordered) > _COMPARED_INLINE else find()
        for earlier, later in restated.items():
            old, new = ordered[earlier], ordered[later]
            new.replace(old, old.score)
            old.score = min(old.score, new.score * 0.98)
            day = new.memory.occurred_at
            old.notes.append(f"said again with another value on {day.day:02} {format_month(day)}")

    async def put_endings_first(self, allowed: NDArray[np.bool_], now: datetime) -> None:
        """Rank what tells that a fact has ended above the memories that state it, and note it.

        Only what states nothing that fits the question better than the fact which has ended is put behind.
        """
        facts = [c for c in self.candidates.values() if c.memory.kind == "fact"]
        ended = {c.memory.id for c in facts if c.memory.valid_to is not None and c.memory.valid_to <= now}
        if not ended or not self.query.asks_for_now:
            return
        best: dict[str, str] = {}
        for fact in sorted(facts, key=lambda each: (-each.score, each.memory.id)):
            for id in folding.evidence_ids(fact.memory):
                best.setdefault(id, fact.memory.id)
        over: dict[str, list[Candidate]] = {}
        for id, fact_id in best.items():
            if id in self.candidates and fact_id in ended:
                over.setdefault(fact_id, []).append(self.candidates[id])
        if not over:
            return
        links = await self.store.links(self.scope, sorted(over), relation=ENDED_BY, direction="out", limit=100)
        links = [link for link in links if self._may(link.target, allowed)]
        await self.bring([link.target for link in links])
        for link in links:
            new, fact = self.candidates.get(link.target), self.candidates[link.source]
            for old in over[link.source]:
                if new is None or old is new:
                    continue
                new.replace(old, max(old.score, fact.score) * (1 + 1e-6))
                note = f"tells that this has ended: {fact.memory.content[:100]}"
                new.notes += [] if note in new.notes else [note]
                day = new.memory.occurred_at
                old.notes.append(f"has ended: see what was said on {day.day:02} {format_month(day)}")

    def put_updates_first(self) -> None:
        """Rank a turn that tells of a change above the earlier turns about the same, and note it."""
        if not self.query.asks_for_now:
            return
        said = [c for c in self._sorted()[:COMPARED] if c.memory.kind in SAID]
        if len(said) < 2:
            return
        turns = [RankedTurn(c.memory, c.score, self._vector(c.memory.id), c.read) for c in said]
        for earlier, later in find_updated(turns, self.query.text).items():
            old, new = said[earlier], said[later]
            new.replace(old, turns[earlier].score * (1 + 1e-6))
            new.notes.append("tells of a change since")
            day = new.memory.occurred_at
            old.notes.append(f"may have changed: see what was said on {day.day:02} {format_month(day)}")

    def _vector(self, id: str) -> NDArray[np.float32] | None:
        row = self.view.row_of(id)
        if row is None or not self.view.vectors.dimensions or not self.view.column("has_vector")[row]:
            return None
        vector: NDArray[np.float32] = self.view.vectors.take(np.array([row], np.int32))[0]
        return vector

    async def _follow_supersession(self, allowed: NDArray[np.bool_]) -> None:
        replaced = [c for c in self.candidates.values() if c.memory.state == "superseded"]
        if not replaced:
            return
        links = await self.store.links(
            self.scope, [c.memory.id for c in replaced], relation="supersedes", direction="in", limit=100
        )
        links = [link for link in links if self._may(link.source, allowed)]
        await self.bring([link.source for link in links])
        for link in links:
            new, old = self.candidates.get(link.source), self.candidates.get(link.target)
            if new is not None and old is not None:
                new.replace(old, min(old.score / STATE_FACTORS["superseded"], 1.0))
                old.score = min(old.score, new.score * 0.98)
                new.notes.append("replaces what was known before")

    async def rerank(self, reranker: Reranker) -> None:
        """Mix in the scores of a model that reads question and text together."""
        ordered = self._sorted()[:DEPTH]
        rerank_shares = await shares(reranker, self.query.text, [c.memory.content for c in ordered])
        best = ordered[0].score if ordered else 0.0
        for candidate, share in zip(ordered, rerank_shares, strict=True):
            candidate.extra["reranker"] = share
            candidate.score = (1 - SHARE) * candidate.score + SHARE * share * best

    async def reorder(self, reranker: ContextReranker) -> None:
        """Let a reranker change the order of the best candidates that were said.

        They share out the scores that they had: the order changes, and what a score means does not.
        """
        ordered = [c for c in self._sorted() if c.memory.kind in SAID][: await reranker.depth()]
        if len(ordered) < 2:
            return
        known = {id: candidate.memory for id, candidate in self.candidates.items()}
        ids = [candidate.memory.id for candidate in ordered]
        texts = await texts_in_context(self.store, self.scope, self.view, ids, known)
        numbers = await reranker.read(self.query.text, [texts[id] for id in ids])
        scores = [candidate.score for candidate in ordered]
        for candidate, number in zip(ordered, numbers, strict=False):
            if number is not None:
                candidate.read, candidate.extra["reranker"] = number, round(number, 3)
        words = self.arm_scores.words
        covered = [0.0 if c.place is None else words.coverage(c.place) for c in ordered]
        for score, place in zip(scores, new_order(scores, numbers, covered), strict=False):
            ordered[place].score = score

    def leave_out(self, repeats: Callable[[Memory], bool] | None) -> None:
        """Leave out what is no news, so that the chances of the others do not depend on it."""
        if repeats is not None:
            self.candidates = {id: c for id, c in self.candidates.items() if not repeats(c.memory)}
            self.repeats = {id: entry for id, entry in self.repeats.items() if not repeats(entry[0].memory)}

    def hits(self, k: int, min_score: float, full: bool) -> list[Hit]:
        """Return the best candidates as hits that are likely enough, with all numbers or only the main ones."""
        if self.folds:
            folding.fold(self.candidates, {id: kept for id, (_, kept) in self.repeats.items()})
        best = self._sorted()[:k]
        best += self._repeats_after(best, k - len(best))
        if not best:
            return []
        signs = signs_of(best, self.fused.confidence, int(self.here.sum()))
        chances = chances_of(signs, [self._certain(candidate) for candidate in best])
        kept = [c for c, chance in zip(best, chances, strict=True) if chance >= min_score]
        places = [c.place for c in kept if c.place is not None]
        explainer = explain.Explainer(self.query, self.arm_scores.words.terms, self.fused, places, full)
        return [
            Hit.explained_later(c.memory, chance, c.score, partial(_reasons, explainer, c, row if full else None))
            for c, chance, row in zip(kept, chances.tolist(), signs, strict=False)
        ]

    def _repeats_after(self, best: Sequence[Candidate], places: int) -> list[Candidate]:
        """Return the best of the candidates that repeat another for the places that are left; note them on that one."""
        by_kept: dict[str, list[Memory]] = {}
        for candidate, kept in self.repeats.values():
            by_kept.setdefault(kept, []).append(candidate.memory)
        for candidate in best:
            if others := by_kept.get(candidate.memory.id):
                last = max(candidate.memory.occurred_at, *(memory.occurred_at for memory in others))
                day = f"{last.day:02} {format_month(last)}"
                candidate.notes.append(f"said {len(others) + 1} times in these words, last on {day}")
        least = best[-1].score if best else 0.0
        known = self.candidates.keys()  # a link may have led to one of them
        left = sorted((c for id, (c, _) in self.repeats.items() if id not in known), key=lambda c: -c.score)
        left = left[: max(places, 0)]
        for candidate in left:
            candidate.score = min(candidate.score, least)  # hits are in the order of their fit
            candidate.notes.append("says the same as another hit")
        return left

    def _certain(self, candidate: Candidate) -> float | None:
        """Return the fit of a memory of the very kind that the question asks for: its words need not match."""
        place = candidate.place
        return min(candidate.score, 1.0) if place is not None and self.fused.answers[place] else None

    def _sorted(self) -> list[Candidate]:
        return sorted(self.candidates.values(), key=lambda c: -c.score)

    def _may(self, id: str, allowed: NDArray[np.bool_]) -> bool:
        row = self.view.row_of(id)  # which may be new since the question was asked
        return row is not None and row < len(allowed) and bool(allowed[row])

    def _repeats(self, id: str) -> bool:
        """Return whether a memory is derived from others, so that following a link to it would add only repetitions."""
        row = self.view.row_of(id)
        return self.folds and row is not None and not self.view.column("said")[row]

    async def bring(self, ids: Sequence[str]) -> None:
        """Look up memories that are not candidates yet."""
        missing = [id for id in dict.fromkeys(ids) if id not in self.candidates]
        if missing:
            for memory in await self.store.get_all(self.scope, missing):
                self.candidates[memory.id] = Candidate(memory, 0.0, None)


def _reasons(
    explainer: explain.Explainer, candidate: Candidate, signs: NDArray[np.float64] | None
) -> tuple[str, dict[str, float]]:
    """Return why a candidate became a hit, in words and in numbers; with ``signs`` those of its chance, too."""
    line = explainer.line(candidate.memory, candidate.place, candidate.notes, "heat" in candidate.extra)
    numbers = {"fit": round(candidate.score, 4)} | explainer.numbers(candidate.place) | candidate.extra
    if signs is not None:
        numbers |= dict(zip(READ_SIGNS, signs.round(4).tolist(), strict=False))
    return line, numbers
