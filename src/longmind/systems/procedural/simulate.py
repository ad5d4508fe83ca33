"""How well the rule of ``evidence`` decides, measured: ``python -m longmind.systems.procedural.simulate``.

Two versions with known success rates, runs drawn at random, and the same functions that decide in earnest.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from longmind.systems.procedural.beta_binomial import SuccessCounts, TrialRule, judge
from longmind.types import Model


class Simulated(Model):
    """What many simulated trials came to."""

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
    """One trial: whether the candidate was promoted, and after how many runs of both."""
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
) -> Simulated:
    """Many trials with consecutive seeds."""
    asked = rule or TrialRule()
    ended = [trial(base, candidate, asked, seed + n) for n in range(trials)]
    taken = float(np.mean([promoted for promoted, _ in ended]))
    runs = [count for _, count in ended]
    worse = 0.0 if base == candidate else (1 - taken if candidate > base else taken)
    return Simulated(
        base=base,
        candidate=candidate,
        trials=trials,
        median_runs=float(np.median(runs)),
        p90_runs=float(np.percentile(runs, 90)),
        candidate_taken=taken,
        worse_taken=worse,
    )


def main(arguments: list[str] | None = None) -> None:
    """Print the figures for a few pairs of success rates."""
    asked = argparse.ArgumentParser(description="How well learning decides between two versions.")
    asked.add_argument("--trials", type=int, default=500)
    asked.add_argument("--share", type=float, default=TrialRule().share)
    given = asked.parse_args(arguments)
    rule = TrialRule(share=given.share)
    sys.stdout.write("base  candidate  median runs  p90 runs  candidate taken  worse taken\n")
    for base, candidate in ((0.6, 0.8), (0.8, 0.6), (0.7, 0.8), (0.9, 0.95), (0.7, 0.7)):
        told = simulate(base, candidate, rule=rule, trials=given.trials)
        sys.stdout.write(
            f"{base:4.2f}  {candidate:9.2f}  {told.median_runs:11.0f}  {told.p90_runs:8.0f}"
            f"  {told.candidate_taken:15.1%}  {told.worse_taken:11.1%}\n"
        )


if __name__ == "__main__":
    main()
