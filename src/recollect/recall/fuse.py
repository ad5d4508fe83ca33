"""From what the arms say to one score a row.

Scores are added, not ranks: how far ahead an arm puts a row matters. The balance between words and meaning comes from
the texts: short turns are found by the words around them, long texts by their own words and their meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recollect.recall.arms import Found
from recollect.recall.policy import Plan
from recollect.store.search.view import View

Floats = NDArray[np.float32]

STATE_FACTORS = {"superseded": 0.5, "stale": 0.7}
"""What is left of the score of a memory that was replaced, or whose ground has changed."""
OWN_SHARE = np.float32(0.75)
"""How much of the meaning of a text that speaks for itself is its own; the rest is that of its surroundings."""
SUREST = 0.99
"""The score of a hit that holds all of the question: that it answers it is still not certain."""
HALF_LIFE = 30 * 86_400.0
RRF = 60.0


@dataclass(slots=True)
class Fused:
    """The scores of the rows looked at, what they are made of, and how sure recall is of the best of them."""

    total: Floats
    """Raw; only for ordering."""
    parts: dict[str, Floats] = field(default_factory=dict)
    confidence: float = 0.0

    def scores(self, allowed: NDArray[np.bool_]) -> Floats:
        """Scores from 0 to 1: each row's share of the best, times how sure recall is of the best."""
        best = float(self.total[allowed].max()) if allowed.any() else 0.0
        if best <= 0:
            return np.zeros_like(self.total)
        scores: Floats = np.clip(self.total / np.float32(best), 0, 1) * np.float32(self.confidence)
        return scores


def scaled(values: Floats, allowed: NDArray[np.bool_]) -> Floats:
    """Values as shares of the largest that is allowed, none below 0."""
    most = float(values.max(where=allowed, initial=0.0))
    return np.clip(values / np.float32(most), 0, 1) if most > 0 else np.zeros_like(values)


def fuse(view: View, found: Found, plan: Plan, allowed: NDArray[np.bool_], now: float, *, demote: bool = True) -> Fused:
    """Add up what the arms say, as the plan weighs them."""
    weights, words = plan.weights, found.words
    leaning, speaking = found.leaning, 1 - found.leaning
    own, near = scaled(words.own_score, allowed), scaled(words.near_score, allowed)
    meaning = scaled(found.near_cosine, allowed)
    own_meaning = scaled(OWN_SHARE * found.cosine + (1 - OWN_SHARE) * found.near_cosine, allowed)
    session = scaled(words.session_score, allowed)
    if plan.fusion == "ranks":
        own, near, session = (_by_rank(arm, allowed) for arm in (own, near, session))
        meaning, own_meaning = _by_rank(meaning, allowed), _by_rank(own_meaning, allowed)
    parts: dict[str, Floats] = {
        "words": speaking * weights.own * own,
        "words around": leaning * weights.window * near,
        "session": leaning * weights.session * session,
        "meaning": leaning * weights.near_vector * meaning + speaking * weights.vector * own_meaning,
        "speaker": weights.speaker * found.speaker,
        "time": weights.time * found.time,
    }
    found_by = sum(parts.values(), np.zeros(len(found.rows), np.float32))
    parts |= {
        "fullness": leaning * weights.fullness * found.fullness,
        "kind of turn": leaning * weights.question * found.asks
        + weights.dated * found.dated
        + weights.counted * found.counted,
        "reply": -speaking * weights.reply * found.reply,
        "priors": _priors(view, found, plan, now),
    }
    total = sum(parts.values(), np.zeros(len(found.rows), np.float32))
    total = np.where(found_by > 0, total, 0)
    if demote:
        _demote(view, found, total)
    return Fused(total, parts, _confidence(found, total, allowed))


def _priors(view: View, found: Found, plan: Plan, now: float) -> Floats:
    weights, rows = plan.weights, found.rows
    age = np.maximum(now - view.column("occurred_at")[rows], 0) / HALF_LIFE
    score = (
        weights.importance * (view.column("importance")[rows] - 0.5)
        + weights.trust * (view.column("trust")[rows] - 0.5)
        + weights.recency * np.exp2(-np.minimum(age, 100))
    ).astype(np.float32)
    if plan.boosts:
        codes = {code: plan.boosts[name] for code, name in enumerate(view.kinds.names) if name in plan.boosts}
        kinds = view.column("kind")[rows]
        for code, boost in codes.items():
            score[kinds == code] += boost
    latest = weights.recency > Plan().weights.recency
    if latest and len(rows):
        when = view.column("occurred_at")[rows]
        spread = float(when.max() - when.min())
        if spread > 0:
            score += (weights.recency * (when - when.min()) / spread).astype(np.float32)
    return score


def _demote(view: View, found: Found, total: Floats) -> None:
    states = view.column("state")[found.rows]
    for state, factor in STATE_FACTORS.items():
        total[states == view.state_code(state)] *= np.float32(factor)


def _confidence(found: Found, total: Floats, allowed: NDArray[np.bool_]) -> float:
    """How well the best row fits in itself: the share of the question it holds, or how near it is in meaning."""
    if not len(total) or not allowed.any():
        return 0.0
    best = int(np.argmax(np.where(allowed, total, -np.inf)))
    covered = float(found.words.coverage[best])
    alike = max(float(found.cosine[best]), float(found.near_cosine[best]))
    unlike = 1 - min(max((alike - 0.15) / 0.65, 0.0), 1.0)
    return SUREST * (1 - (1 - min(max(covered, 0.0), 1.0)) * unlike)


def _by_rank(values: Floats, allowed: NDArray[np.bool_]) -> Floats:
    """Reciprocal ranks, scaled to 0..1, of the rows an arm has found at all."""
    scores = np.zeros_like(values)
    order = np.argsort(-np.where(allowed, values, -1), kind="stable")
    order = order[values[order] > 0]
    scores[order] = (RRF + 1) / (RRF + 1 + np.arange(len(order), dtype=np.float32))
    return scores
