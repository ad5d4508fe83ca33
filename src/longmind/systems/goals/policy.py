"""Which strategy answers a finding: the one that worked for findings of its kind, or may turn out to.

For each pair of a kind of finding and a strategy there is a prior and a count of how often it worked. Before anything
was seen the order is that of the priors. From then on it is Thompson sampling, bounded: what is expected to work less
than half as often as the best is not tried. Asking a person and giving up are no experiments; they are what remains
when nothing else is possible, or nothing else works.
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
"""What is done when nothing else can be, in this order."""
PRIORS: Mapping[FindingKind, Mapping[Strategy, float]] = {
    "failed_step": {"retry": 0.7, "substitute": 0.6, "decompose": 0.5, "replan": 0.45, "reorder": 0.35},
    "repeated_failure": {"substitute": 0.7, "decompose": 0.55, "replan": 0.5, "reorder": 0.35, "retry": 0.3},
    "loop": {"replan": 0.65, "substitute": 0.6, "decompose": 0.45, "reorder": 0.25, "retry": 0.1},
    "stall": {"retry": 0.6, "replan": 0.5, "reorder": 0.4, "decompose": 0.4, "substitute": 0.4},
    "deadline_risk": {"reorder": 0.5, "replan": 0.45, "substitute": 0.3, "decompose": 0.2, "retry": 0.1},
    "broken_assumption": {"replan": 0.8, "substitute": 0.3, "decompose": 0.2, "reorder": 0.1, "retry": 0.1},
}
"""How often a strategy is thought to work before it was seen."""
STRENGTH = 4.0
"""How many outcomes a prior weighs as much as."""
EXPLORED = 0.5
"""What part of the best expectation another strategy must reach to be tried."""
HOPELESS = 0.12
"""Below this expectation of the best strategy a person is asked instead."""
RECHECKED = 0.1
"""How often it is tried all the same, so that it shows when something works again."""
REMEMBERED = 100
"""Outcomes of a pair that are kept; beyond it all are halved, so that a world that changed is learnt anew."""
_KEY = "configuration:goal revision policy"


class StrategyExperience(Model):
    """How often each strategy worked for each kind of finding."""

    counts: Mapping[FindingKind, Mapping[Strategy, SuccessCounts]] = Field(default_factory=dict)

    def of(self, kind: FindingKind, strategy: Strategy) -> SuccessCounts:
        return self.counts.get(kind, {}).get(strategy, SuccessCounts())

    def plus(self, kind: FindingKind, strategy: Strategy, worked: bool) -> StrategyExperience:
        """With one more outcome."""
        counted = self.of(kind, strategy).plus(worked)
        if counted.runs > REMEMBERED:
            counted = SuccessCounts(successes=counted.successes // 2, failures=counted.failures // 2)
        return StrategyExperience(counts={**self.counts, kind: {**self.counts.get(kind, {}), strategy: counted}})

    def expected(self, kind: FindingKind, strategy: Strategy) -> float:
        """How often it is expected to work."""
        alpha, beta = self.beta(kind, strategy)
        return alpha / (alpha + beta)

    def beta(self, kind: FindingKind, strategy: Strategy) -> tuple[float, float]:
        """What is known about how often it works, as the two numbers of a Beta distribution."""
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
    """The strategy to try; None when none is possible."""
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
    """Random numbers that depend on what is revised and on nothing else, so that a choice can be checked."""
    return seeded_generator(f"{goal}:{plan}:{kind}:{step}", "revision")


def experience_record(scoped: ScopedStore) -> KeyedRecord[StrategyExperience]:
    """Return the record that holds an agent's experience. It belongs to the agent, whoever the user is."""
    return KeyedRecord.of_agent(scoped, _KEY, StrategyExperience())


def _describe(kind: FindingKind) -> str:
    return kind.replace("_", " ")


def judge_revision(
    revision: RevisionBody, later: Sequence[RevisionBody], state: GoalState, now: datetime
) -> bool | None:
    """True when what it changed was then done, False when it failed again, None while nobody can say.

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
    """Whether the same trouble, or trouble with what was put in its place, had to be answered once more."""
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
