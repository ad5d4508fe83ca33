"""Choose a strategy for a finding by what worked before for findings of its kind, and judge whether revisions worked.

Each pair of a finding kind and a strategy has a prior and a count of how often it worked. Without outcomes, the prior
decides. Afterwards the choice is Thompson sampling among the strategies whose expected success is at least half of the
best. Asking a person and giving up are not sampled: they remain when nothing else is possible, or nothing else works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from pydantic import Field

from longmind.systems.goals.models import FindingKind, Goal, GoalState, Plan, RevisionBody, Strategy
from longmind.systems.procedural import SuccessCounts, seeded_generator
from longmind.systems.records import KeyedRecord
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Model

LAST: tuple[Strategy, ...] = ("ask", "abandon")
"""The last resorts, in this order."""
PRIORS: Mapping[FindingKind, Mapping[Strategy, float]] = {
    "failed_step": {"retry": 0.7, "substitute": 0.6, "decompose": 0.5, "replan": 0.45, "reorder": 0.35},
    "repeated_failure": {"substitute": 0.7, "decompose": 0.55, "replan": 0.5, "reorder": 0.35, "retry": 0.3},
    "loop": {"replan": 0.65, "substitute": 0.6, "decompose": 0.45, "reorder": 0.25, "retry": 0.1},
    "stall": {"retry": 0.6, "replan": 0.5, "reorder": 0.4, "decompose": 0.4, "substitute": 0.4},
    "deadline_risk": {"reorder": 0.5, "replan": 0.45, "substitute": 0.3, "decompose": 0.2, "retry": 0.1},
    "broken_assumption": {"replan": 0.8, "substitute": 0.3, "decompose": 0.2, "reorder": 0.1, "retry": 0.1},
}
"""The prior success rate of each strategy, by kind of finding."""
STRENGTH = 4.0
"""The number of outcomes that a prior counts for."""
EXPLORED = 0.5
"""The share of the best expected success that a strategy needs to be tried."""
HOPELESS = 0.12
"""If the best expected success is below this, a person is asked instead."""
RECHECKED = 0.1
"""The probability of trying a strategy all the same, to notice when something works again."""
REMEMBERED = 100
"""The most outcomes counted for a pair. Beyond it the counts are halved, so that old outcomes fade."""
_KEY = "configuration:goal revision policy"


class StrategyExperience(Model):
    """How often each strategy worked for each kind of finding."""

    counts: Mapping[FindingKind, Mapping[Strategy, SuccessCounts]] = Field(default_factory=dict)

    def of(self, kind: FindingKind, strategy: Strategy) -> SuccessCounts:
        return self.counts.get(kind, {}).get(strategy, SuccessCounts())

    def plus(self, kind: FindingKind, strategy: Strategy, worked: bool) -> StrategyExperience:
        """Return the experience with one more outcome."""
        counted = self.of(kind, strategy).plus(worked)
        if counted.runs > REMEMBERED:
            counted = SuccessCounts(successes=counted.successes // 2, failures=counted.failures // 2)
        return StrategyExperience(counts={**self.counts, kind: {**self.counts.get(kind, {}), strategy: counted}})

    def expected(self, kind: FindingKind, strategy: Strategy) -> float:
        """Return the expected success rate of a strategy."""
        alpha, beta = self.beta(kind, strategy)
        return alpha / (alpha + beta)

    def beta(self, kind: FindingKind, strategy: Strategy) -> tuple[float, float]:
        """Return the parameters of the Beta distribution of a strategy's success rate."""
        prior = PRIORS[kind].get(strategy, 0.05)
        check_state = self.of(kind, strategy)
        return STRENGTH * prior + check_state.successes, STRENGTH * (1 - prior) + check_state.failures


class StrategyChoice(Model):
    """A strategy and why it was chosen."""

    strategy: Strategy
    why: str


def choose_strategy(
    kind: FindingKind, possible: Sequence[Strategy], experience: StrategyExperience, rng: np.random.Generator
) -> StrategyChoice | None:
    """Return the strategy to try; None if none is possible."""
    ways = [strategy for strategy in PRIORS[kind] if strategy in possible]
    expected = {strategy: experience.expected(kind, strategy) for strategy in ways}
    new = [strategy for strategy in ways if not experience.of(kind, strategy).runs]
    best = max(expected.values(), default=0.0)
    if ways and len(new) == len(ways):
        first = max(ways, key=expected.__getitem__)
        return StrategyChoice(strategy=first, why=f"{first}, the usual first answer to {_describe(kind)}.")
    if ways and new and best < HOPELESS:
        first = max(new, key=expected.__getitem__)
        return StrategyChoice(
            strategy=first, why=f"{first}, which was never tried for {_describe(kind)}; nothing else works."
        )
    if not ways or (best < HOPELESS and "ask" in possible and rng.random() >= RECHECKED):
        last = next((strategy for strategy in LAST if strategy in possible), None)
        reason = "nothing else is possible" if not ways else f"nothing else is expected to work ({best:.0%} at most)"
        return None if last is None else StrategyChoice(strategy=last, why=f"{last}, since {reason}.")
    worth = [strategy for strategy in ways if expected[strategy] >= EXPLORED * best]
    drawn = [float(rng.beta(*experience.beta(kind, strategy))) for strategy in worth]
    chosen = worth[int(np.argmax(drawn))]
    rates = ", ".join(
        f"{strategy} {rate:.2f} ({experience.of(kind, strategy)} worked)"
        for strategy, rate in zip(worth, drawn, strict=True)
    )
    return StrategyChoice(strategy=chosen, why=f"{chosen} drew the highest rate for {_describe(kind)}: {rates}.")


def strategy_rng(goal: str, plan: str, kind: FindingKind, step: str | None) -> np.random.Generator:
    """Return a random generator seeded by what is revised only, so that a choice can be reproduced."""
    return seeded_generator(f"{goal}:{plan}:{kind}:{step}", "revision")


def experience_record(scoped: ScopedStore) -> KeyedRecord[StrategyExperience]:
    """Return the record that holds an agent's experience. It belongs to the agent, whoever the user is."""
    return KeyedRecord.of_agent(scoped, _KEY, StrategyExperience())


def _describe(kind: FindingKind) -> str:
    return kind.replace("_", " ")


def judge_revision(
    revision: RevisionBody, later: Sequence[RevisionBody], state: GoalState, now: datetime
) -> bool | None:
    """Return whether a revision worked: True if its steps were done, False if they failed again, None while unknown.

    An answer to a deadline at risk worked if the goal was achieved in time. Asking a person worked if what was then
    done about the step did, or the goal was achieved; not if the same had to be asked again.
    """
    goal = state.goal
    if revision.finding == "deadline_risk":
        return _in_time(goal, now) if not _again(revision, later) else False
    if goal.status == "achieved":
        return True
    if not goal.open:
        return False
    if revision.strategy == "ask":
        return _helped(revision, later)
    if _again(revision, later):
        return False
    return None if state.plan is None else _watched(revision, state.plan)


def _helped(revision: RevisionBody, later: Sequence[RevisionBody]) -> bool | None:
    about = [other for other in later if other.step == revision.step]
    if any(other.worked for other in about):
        return True
    return False if any(other.strategy == "ask" for other in about) else None


def _again(revision: RevisionBody, later: Sequence[RevisionBody]) -> bool:
    """Whether the same problem, or one with the replaced steps, had to be answered again."""
    concerned = {*revision.watched, *([revision.step] if revision.step else [])}
    return any(
        (other.step is not None and other.step in concerned and other.finding != "deadline_risk")
        or (other.step is None and revision.step is None and other.finding == revision.finding)
        for other in later
    )


def _watched(revision: RevisionBody, plan: Plan) -> bool | None:
    steps = [step for name in revision.watched if (step := plan.step(name)) is not None]
    if any(step.status == "failed" for step in steps):
        return False
    whole = bool(steps) and len(steps) == len(revision.watched) and all(step.is_finished for step in steps)
    return True if whole and any(step.status == "done" for step in steps) else None


def _in_time(goal: Goal, now: datetime) -> bool | None:
    if goal.status == "achieved":
        return goal.deadline is None or goal.ended_at is None or goal.ended_at <= goal.deadline
    if not goal.open or (goal.deadline is not None and now > goal.deadline):
        return False
    return None
