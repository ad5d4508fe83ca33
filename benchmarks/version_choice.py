"""How well the learning rule chooses between two versions of a procedure, measured in simulated trials.

Two versions have known success rates and runs are drawn at random; the functions that decide are the real ones.
"""

from __future__ import annotations

import numpy as np

from longmind.systems.procedural import SuccessCounts, TrialRule, judge
from longmind.types import Model

RATES = ((0.6, 0.8), (0.8, 0.6), (0.7, 0.8), (0.9, 0.95), (0.7, 0.7))
"""Pairs of success rates: the version in use, and the candidate."""


class TrialSummary(Model):
    """The results of many simulated trials."""

    base: float
    candidate: float
    trials: int
    median_runs: float
    p90_runs: float
    candidate_taken: float
    """The share of trials in which the candidate was promoted."""
    worse_taken: float
    """The share in which the version in use afterwards is the worse one; 0 when both are equal."""


def trial(base: float, candidate: float, rule: TrialRule, seed: int) -> tuple[bool, int]:
    """Run one trial; return whether the candidate was promoted, and after how many runs of both."""
    rng = np.random.default_rng(seed)
    seen = [SuccessCounts(), SuccessCounts()]
    for run in range(1, rule.max_runs + rule.min_runs * 1_000):
        arm = int(rng.random() < rule.share)
        seen[arm] = seen[arm].plus(bool(rng.random() < (candidate if arm else base)))
        if (verdict := judge(seen[0], seen[1], rule).verdict) != "wait":
            return verdict == "promote", run
    return False, run


def simulate(
    base: float, candidate: float, *, rule: TrialRule | None = None, trials: int = 500, seed: int = 0
) -> TrialSummary:
    """Run many trials with consecutive seeds and summarise them."""
    rule = rule or TrialRule()
    ended = [trial(base, candidate, rule, seed + n) for n in range(trials)]
    taken = float(np.mean([promoted for promoted, _ in ended]))
    runs = [count for _, count in ended]
    worse = 0.0 if base == candidate else (1 - taken if candidate > base else taken)
    return TrialSummary(
        base=base,
        candidate=candidate,
        trials=trials,
        median_runs=float(np.median(runs)),
        p90_runs=float(np.percentile(runs, 90)),
        candidate_taken=taken,
        worse_taken=worse,
    )
