"""The rule that decides between versions: exact, explained, and measured over many simulated trials."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.version_choice import simulate, trial
from longmind.systems.procedural.beta_binomial import (
    SuccessCounts,
    TrialRule,
    choice_key,
    choose,
    credible_interval,
    judge,
    probability_better,
    seeded_generator,
    tries_candidate,
)


def counts(successes: int, failures: int) -> SuccessCounts:
    return SuccessCounts(successes=successes, failures=failures)


@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        (counts(0, 0), counts(0, 0)),
        (counts(3, 5), counts(9, 2)),
        (counts(60, 40), counts(8, 2)),
        (counts(2, 30), counts(1, 0)),
    ],
)
def test_the_probability_is_that_of_sampling(base: SuccessCounts, candidate: SuccessCounts) -> None:
    rng = np.random.default_rng(7)
    drawn = rng.beta(candidate.successes + 1, candidate.failures + 1, 200_000) > rng.beta(
        base.successes + 1, base.failures + 1, 200_000
    )
    assert probability_better(base, candidate) == pytest.approx(float(drawn.mean()), abs=0.005)
    assert probability_better(base, candidate) + probability_better(candidate, base) == pytest.approx(1.0)


def test_the_probability_holds_for_large_counts() -> None:
    assert probability_better(counts(30_000, 20_000), counts(30_000, 20_000)) == pytest.approx(0.5)
    assert probability_better(counts(0, 50_000), counts(50_000, 0)) == pytest.approx(1.0)


def test_a_verdict_waits_for_enough_runs_then_says_why() -> None:
    rule = TrialRule(min_runs=10, max_runs=100)
    early = judge(counts(0, 9), counts(9, 0), rule)
    assert (early.verdict, "Each needs 10 runs first" in early.why) == ("wait", True)
    assert judge(counts(2, 8), counts(9, 1), rule).verdict == "promote"
    assert judge(counts(9, 1), counts(2, 8), rule).verdict == "reject"
    assert judge(counts(6, 4), counts(6, 4), rule).verdict == "wait"
    tired = judge(counts(30, 20), counts(30, 20), rule)
    assert tired.verdict == "reject"
    assert "no improvement" in tired.why


def test_of_60_and_80_percent_the_better_is_found_in_under_150_runs() -> None:
    """The median of 500 seeded trials, whichever of the two is the new version; the worse is used at most 5 % after."""
    for base, candidate in ((0.6, 0.8), (0.8, 0.6)):
        told = simulate(base, candidate, trials=500)
        assert told.median_runs < 150, told
        assert told.worse_taken <= 0.05, told


def test_a_trial_that_nothing_decides_keeps_what_is_in_use() -> None:
    rule = TrialRule(share=0.5, min_runs=5, max_runs=30, confidence=0.999)
    promoted, runs = trial(0.5, 0.5, rule, seed=3)
    assert (promoted, runs) == (False, 30)


def test_the_share_of_runs_is_kept_and_repeatable() -> None:
    rule = TrialRule(share=0.3)
    taken = [tries_candidate(rule, f"run-{n}") for n in range(4_000)]
    assert np.mean(taken) == pytest.approx(0.3, abs=0.03)
    assert taken == [tries_candidate(rule, f"run-{n}") for n in range(4_000)]


def test_thompson_sampling_settles_on_the_best_value() -> None:
    rates = {"a": 0.3, "b": 0.7, "c": 0.5}
    taken = 0
    for seed in range(20):
        rng, seen = np.random.default_rng(seed), dict[str, SuccessCounts]()
        for n in range(200):
            value, _ = choose(list(rates), seen, rng)
            seen[choice_key(value)] = seen.get(choice_key(value), SuccessCounts()).plus(
                bool(rng.random() < rates[value])
            )
            taken += n >= 150 and value == "b"
    assert taken / (20 * 50) > 0.8


def test_a_choice_can_be_checked_afterwards() -> None:
    one = choose([1, 2, 3], {}, seeded_generator("run", "n"))
    assert one == choose([1, 2, 3], {}, seeded_generator("run", "n"))
    assert counts(1, 0).plus(False, -1) == counts(1, 0), "never below none"


@pytest.mark.parametrize("seen", [counts(0, 0), counts(3, 1), counts(0, 12), counts(4_000, 1_000)])
def test_a_credible_interval_is_that_of_sampling(seen: SuccessCounts) -> None:
    drawn = np.random.default_rng(7).beta(seen.successes + 1, seen.failures + 1, 400_000)
    assert credible_interval(seen, 0.9) == pytest.approx(np.quantile(drawn, [0.05, 0.95]), abs=0.002)
