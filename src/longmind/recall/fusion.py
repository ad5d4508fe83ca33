"""Fusion: one score for each row from the scores of the arms.

Scores are added, not ranks: how far ahead an arm puts a row matters. The balance between words and meaning comes from
the texts: short turns are found by the words around them, long texts by their own words and their meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from longmind.recall.arms import ArmScores
from longmind.recall.policy import RecallPlan, Weights
from longmind.store.search.view import View

Floats = NDArray[np.float32]

STATE_FACTORS = {"superseded": 0.5, "stale": 0.7}
"""Factors on the score of a memory that was replaced, or whose evidence has changed."""
OWN_SHARE = np.float32(0.75)
"""For a self-contained text, the weight of its own vector; the rest is the weight of its surroundings."""
SUREST = 0.99
"""The highest score: even a hit with every word of the question may not answer it."""
HALF_LIFE = 30 * 86_400.0
RRF = 60.0
USUAL = Weights()


@dataclass(slots=True)
class ArmShares:
    """The scores of each arm as shares of the best score among rows that were said.

    They run from 0 to 1 for such rows, and may be higher for derived rows, such as facts.
    """

    own: Floats
    near: Floats
    session: Floats
    meaning: Floats
    """Vector similarity for texts that depend on their surroundings."""
    own_meaning: Floats
    """Vector similarity for self-contained texts."""


@dataclass(slots=True)
class Fused:
    """The fused scores of rows, their components, and how sure recall is of the best row."""

    total: Floats
    """Raw scores, for ordering only."""
    arm_scores: ArmScores
    arms: ArmShares
    weights: Weights
    priors: Floats
    answers: NDArray[np.bool_]
    """Which rows are of the kind that the question asks for."""
    replies: Floats
    """How much the penalty for an assistant's words counts for each row."""
    confidence: float = 0.0

    def scores(self, allowed: NDArray[np.bool_]) -> Floats:
        """Return the fits of rows, from 0 to 1: each row's share of the best, times the confidence in the best."""
        best = float(self.total.max(where=allowed, initial=0.0))
        if best <= 0:
            return np.zeros_like(self.total)
        scores: Floats = np.clip(self.total / np.float32(best), 0, 1) * np.float32(self.confidence)
        return scores

    def parts(self, at: NDArray[np.intp], full: bool = True) -> dict[str, Floats]:
        """Return the components of the scores of some rows.

        With ``full`` they add up to ``total`` before demotion; without, only the main ones are returned.
        """
        weights, arms, marks = self.weights, self.arms, self.arm_scores.marks
        context_weight = self.arm_scores.context_weight[at]
        speaking = 1 - context_weight
        main = {
            "words": speaking * weights.own * arms.own[at],
            "words around": context_weight * weights.window * arms.near[at],
            "session": context_weight * weights.session * arms.session[at],
            "meaning": context_weight * weights.near_vector * arms.meaning[at]
            + speaking * weights.vector * arms.own_meaning[at],
            "time": weights.time * self.arm_scores.time[at],
        }
        if not full:
            return main
        return main | {
            "speaker": weights.speaker * self.arm_scores.speaker[at],
            "fullness": context_weight * weights.fullness * marks.fullness[at],
            "kind of turn": context_weight * weights.question * marks.asks[at]
            + weights.dated * marks.dated[at]
            + weights.counted * marks.counted[at],
            "reply": -weights.reply * self.replies[at],
            "priors": self.priors[at],
        }


def scaled(values: Floats, allowed: NDArray[np.bool_]) -> Floats:
    """Return values as shares of the largest allowed one, at least 0. Rows that are not allowed may exceed 1."""
    most = float(np.multiply(values, allowed).max(initial=0.0))
    if most <= 0:
        return np.zeros_like(values)
    shares: Floats = values / np.float32(most)
    return np.maximum(shares, 0, out=shares)


def fuse(
    view: View,
    arm_scores: ArmScores,
    plan: RecallPlan,
    allowed: NDArray[np.bool_],
    now: float,
    *,
    demote: bool = True,
    absolute: bool = False,
) -> Fused:
    """Add up the scores of the arms with the weights of the plan.

    With ``absolute`` an arm counts only as far as its best row really fits: a task for which nothing was said shares a
    word with something by chance, and that should not outweigh what a memory says.
    """
    weights, marks, scale = plan.weights, arm_scores.marks, _standard(view, arm_scores, allowed)
    arms = _scaled(arm_scores, scale, allowed)
    if absolute:
        arms = _absolute(arms, arm_scores, scale)
    if plan.fusion == "ranks":
        arms = ArmShares(*(_by_rank(getattr(arms, part.name), allowed) for part in fields(arms)))
    context_weight, speaking = arm_scores.context_weight, 1 - arm_scores.context_weight
    by_context = weights.window * arms.near + weights.session * arms.session + weights.near_vector * arms.meaning
    total = context_weight * by_context + speaking * (weights.own * arms.own + weights.vector * arms.own_meaning)
    total += weights.speaker * arm_scores.speaker
    total += weights.time * arm_scores.time
    answers = _of_kinds(view, arm_scores, plan.answering)
    unfound = (total <= 0) & ~answers
    total += context_weight * (weights.fullness * marks.fullness + weights.question * marks.asks)
    # of records that are no messages, such as goals, an assistant is the source only because it wrote them down
    replies = np.where(_of_kinds(view, arm_scores, ("message",)), marks.reply, speaking * marks.reply)
    total -= weights.reply * replies
    if weights.dated:
        total += weights.dated * marks.dated
    if weights.counted:
        total += weights.counted * marks.counted
    priors = _priors(view, arm_scores, plan, now)
    total += priors
    total[unfound] = 0
    if demote:
        _demote(view, arm_scores, total)
    confidence = _confidence(arm_scores, total, allowed, answers)
    return Fused(total, arm_scores, arms, weights, priors, answers, replies, confidence)


def _scaled(arm_scores: ArmScores, standard: NDArray[np.bool_], allowed: NDArray[np.bool_]) -> ArmShares:
    """Return the scores of the arms as shares of the best of the rows that set the standard.

    Where none of those fits at all, as when only facts have the words of a question, the best allowed row does.
    """
    words, mixed = arm_scores.words, OWN_SHARE * arm_scores.cosine + (1 - OWN_SHARE) * arm_scores.near_cosine
    said = [words.own_score, words.near_score, words.session_score, arm_scores.near_cosine, mixed]
    return ArmShares(*(scaled(values, standard if (values[standard] > 0).any() else allowed) for values in said))


def _absolute(arms: ArmShares, arm_scores: ArmScores, scale: NDArray[np.bool_]) -> ArmShares:
    """Return the shares of a perfect match instead of the best: all words of the question, the same meaning."""
    words = min(1.0, arm_scores.words.best_coverage(scale))
    alike, near = (
        min(1.0, float(np.multiply(cosines, scale).max(initial=0.0)))
        for cosines in (arm_scores.cosine, arm_scores.near_cosine)
    )
    shares = (words, words, words, near, max(alike, near))
    return ArmShares(
        *(getattr(arms, part.name) * np.float32(share) for part, share in zip(fields(arms), shares, strict=True))
    )


def _standard(view: View, arm_scores: ArmScores, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the rows whose best score the others are scaled by.

    These are the rows that were said, so that derived rows do not change how they compare; all allowed rows if none of
    them was said.
    """
    if view.said == view.living:
        return allowed
    said = allowed & view.said_rows()[arm_scores.rows]
    return said if said.any() else allowed


def _priors(view: View, arm_scores: ArmScores, plan: RecallPlan, now: float) -> Floats:
    weights, rows = plan.weights, arm_scores.rows
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
    if weights.recency > USUAL.recency and len(rows):
        when = view.column("occurred_at")[rows]
        spread = float(when.max() - when.min())
        if spread > 0:
            score += (weights.recency * (when - when.min()) / spread).astype(np.float32)
    return score


def _demote(view: View, arm_scores: ArmScores, total: Floats) -> None:
    states = view.column("state")[arm_scores.rows]
    if not states.any():  # the first state is "active"
        return
    for state, factor in STATE_FACTORS.items():
        total[states == view.state_code(state)] *= np.float32(factor)


def _of_kinds(view: View, arm_scores: ArmScores, kinds: Sequence[str]) -> NDArray[np.bool_]:
    """Return which rows are of these kinds."""
    codes = [view.kinds.names.index(kind) for kind in kinds if kind in view.kinds.names]
    of_kinds: NDArray[np.bool_] = (
        np.isin(view.column("kind")[arm_scores.rows], codes) if codes else np.zeros(len(arm_scores.rows), np.bool_)
    )
    return of_kinds


def _confidence(arm_scores: ArmScores, total: Floats, allowed: NDArray[np.bool_], answers: NDArray[np.bool_]) -> float:
    """Return how well the best row fits, independently of the others: by the share of the question it contains, by
    its similarity in meaning, or because it is of the kind that the question asks for."""
    if not len(total) or not allowed.any():
        return 0.0
    best = int(np.argmax(np.where(allowed, total, -np.inf)))
    if answers[best]:
        return SUREST
    covered = arm_scores.words.coverage(best)
    alike = max(float(arm_scores.cosine[best]), float(arm_scores.near_cosine[best]))
    unlike = 1 - min(max((alike - 0.15) / 0.65, 0.0), 1.0)
    return SUREST * (1 - (1 - min(max(covered, 0.0), 1.0)) * unlike)


def _by_rank(values: Floats, allowed: NDArray[np.bool_]) -> Floats:
    """Return reciprocal ranks, scaled to 0..1, of the rows that an arm scored above 0."""
    scores = np.zeros_like(values)
    order = np.argsort(-np.where(allowed, values, -1), kind="stable")
    order = order[values[order] > 0]
    scores[order] = (RRF + 1) / (RRF + 1 + np.arange(len(order), dtype=np.float32))
    return scores
