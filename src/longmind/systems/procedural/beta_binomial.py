"""Beta-Binomial evidence: which of two versions is better, with what probability, and which value to try next.

Pure functions, so that they can be simulated (``python -m benchmarks versions``) and their results explained. Every
success rate starts with the uniform prior Beta(1, 1); each success or failure adds one to one of its two parameters.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from longmind.types import Model

Verdict = Literal["promote", "reject", "wait"]
_GRID = 10_000
"""Cells of the numeric integral over success rates."""


class SuccessCounts(Model):
    """The number of successes and failures of something."""

    successes: Annotated[int, Field(ge=0)] = 0
    failures: Annotated[int, Field(ge=0)] = 0

    @property
    def runs(self) -> int:
        return self.successes + self.failures

    def plus(self, success: bool, times: int = 1) -> SuccessCounts:
        """Return the counts with one more outcome, or one less with ``times=-1``; never below zero."""
        return SuccessCounts(
            successes=max(0, self.successes + times * success), failures=max(0, self.failures + times * (not success))
        )

    def __str__(self) -> str:
        return f"{self.successes} of {self.runs}"


class TrialRule(Model):
    """The rule by which a version on trial is judged."""

    share: Annotated[float, Field(gt=0, lt=1)] = 0.3
    """The share of runs that try it."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    min_runs: Annotated[int, Field(ge=1)] = 20
    """Runs that both versions need before a decision; deciding earlier would be chance."""
    max_runs: Annotated[int, Field(ge=2)] = 500
    """Runs of both versions together after which a candidate that is not shown to be better is rejected."""


class Judgement(Model):
    """A verdict, its probability, and the reason in words."""

    verdict: Verdict
    probability: float
    """The probability that the candidate's true success rate is the higher one."""
    why: str


def probability_better(base: SuccessCounts, candidate: SuccessCounts) -> float:
    """Return the exact probability that the candidate's success rate is above the base's, given the counts of both."""
    a, b = base.successes + 1, base.failures + 1
    c, d = candidate.successes + 1, candidate.failures + 1
    log_gamma = _log_gamma(_power_above(a + b + c + d))
    i = np.arange(c)

    def log_beta(x: NDArray[np.int64] | int, y: int) -> NDArray[np.float64]:
        return np.asarray(log_gamma[x] + log_gamma[y] - log_gamma[x + y])

    terms = log_beta(a + i, b + d) - np.log(d + i) - log_beta(1 + i, d) - log_beta(a, b)
    return float(min(1.0, np.exp(terms).sum()))


def credible_interval(counts: SuccessCounts, mass: float = 0.9) -> tuple[float, float]:
    """Return the central interval that holds the true success rate with the probability ``mass``, given the counts."""
    rates = np.linspace(0.0, 1.0, _GRID + 1)
    middle = (rates[1:] + rates[:-1]) / 2
    log_density = counts.successes * np.log(middle) + counts.failures * np.log1p(-middle)
    share = np.exp(log_density - log_density.max())
    below = np.concatenate([[0.0], np.cumsum(share) / share.sum()])
    low, high = np.interp([(1 - mass) / 2, (1 + mass) / 2], below, rates)
    return float(low), float(high)


def judge(base: SuccessCounts, candidate: SuccessCounts, rule: TrialRule) -> Judgement:
    """Decide whether to promote the candidate, reject it, or wait."""
    better = probability_better(base, candidate)
    seen = f"{candidate} runs succeeded with the new version, {base} with the old one"
    summary = f"{seen}; the new one is the better with a probability of {better:.1%}"
    if min(base.runs, candidate.runs) < rule.min_runs:
        return Judgement(verdict="wait", probability=better, why=f"{summary}. Each needs {rule.min_runs} runs first.")
    if better >= rule.confidence:
        return Judgement(
            verdict="promote", probability=better, why=f"{summary}, which is {rule.confidence:.0%} or more."
        )
    if better <= 1 - rule.confidence:
        return Judgement(
            verdict="reject", probability=better, why=f"{summary}, which is {1 - rule.confidence:.0%} or less."
        )
    if base.runs + candidate.runs >= rule.max_runs:
        return Judgement(
            verdict="reject", probability=better, why=f"{summary}. After {rule.max_runs} runs that is no improvement."
        )
    return Judgement(verdict="wait", probability=better, why=f"{summary}, which decides nothing yet.")


def tries_candidate(rule: TrialRule, run_id: str) -> bool:
    """Whether this run tries the candidate. The answer depends only on the run's id."""
    return float(seeded_generator(run_id, "canary").random()) < rule.share


def choose(values: Sequence[Any], counts: Mapping[str, SuccessCounts], rng: np.random.Generator) -> tuple[Any, str]:
    """Choose a value by Thompson sampling: draw a rate for each and take the highest. Return it with the reason."""
    seen = [counts.get(choice_key(value), SuccessCounts()) for value in values]
    drawn = [float(rng.beta(c.successes + 1, c.failures + 1)) for c in seen]
    best = int(np.argmax(drawn))
    rates = ", ".join(
        f"{value!r} {rate:.2f} ({c} succeeded)" for value, rate, c in zip(values, drawn, seen, strict=True)
    )
    return values[best], f"{values[best]!r} drew the highest success rate: {rates}."


def seeded_generator(run_id: str, purpose: str) -> np.random.Generator:
    """Return a random generator seeded by a run's id only, so that a choice can be verified afterwards."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(f"{purpose}:{run_id}".encode()).digest()[:16], "big"))


def choice_key(value: Any) -> str:
    """Return the key under which a value is counted."""
    return json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=8)
def _log_gamma(size: int) -> NDArray[np.float64]:
    """Return the logarithm of the gamma function at 0 (not used), 1, 2, ... below ``size``."""
    table = np.zeros(size)
    table[2:] = np.cumsum(np.log(np.arange(1, size - 1)))
    return table


def _power_above(number: int) -> int:
    return max(1024, 1 << number.bit_length())
