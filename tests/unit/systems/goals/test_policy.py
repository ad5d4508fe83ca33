"""Which strategy is chosen: a sane order before anything was seen, what worked from then on, and never by whim."""

from __future__ import annotations

import random

import pytest

from longmind.systems.goals.models import FindingKind, Strategy
from longmind.systems.goals.policy import (
    HOPELESS,
    LAST,
    PRIORS,
    REMEMBERED,
    StrategyExperience,
    choose_strategy,
    experience_record,
    strategy_rng,
)
from longmind.systems.procedural import SuccessCounts
from longmind.systems.scoped_store import ScopedStore

ALL: tuple[Strategy, ...] = ("retry", "substitute", "decompose", "reorder", "replan", "ask", "abandon")
KINDS: tuple[FindingKind, ...] = tuple(PRIORS)


def picked(
    kind: FindingKind, possible: tuple[Strategy, ...], experience: StrategyExperience, name: str = "g"
) -> Strategy:
    choice = choose_strategy(kind, possible, experience, strategy_rng(name, "p", kind, "s1"))
    assert choice is not None
    return choice.strategy


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("failed_step", "retry"),
        ("repeated_failure", "substitute"),
        ("loop", "replan"),
        ("stall", "retry"),
        ("deadline_risk", "reorder"),
        ("broken_assumption", "replan"),
    ],
)
def test_without_experience_the_order_is_that_of_the_priors(kind: FindingKind, first: Strategy) -> None:
    assert {picked(kind, ALL, StrategyExperience(), f"g{n}") for n in range(30)} == {first}


def test_every_kind_has_a_prior_for_every_strategy_but_the_last_two() -> None:
    for kind in KINDS:
        assert set(PRIORS[kind]) == set(ALL) - set(LAST)
        assert all(0 < rate < 1 for rate in PRIORS[kind].values())


def test_a_person_is_asked_before_giving_up_and_only_when_nothing_else_is_possible() -> None:
    assert picked("failed_step", ("abandon", "ask"), StrategyExperience()) == "ask"
    assert picked("failed_step", ("abandon",), StrategyExperience()) == "abandon"
    assert picked("failed_step", ("ask", "abandon", "reorder"), StrategyExperience()) == "reorder"
    assert choose_strategy("failed_step", (), StrategyExperience(), strategy_rng("g", "p", "failed_step", None)) is None


def test_the_same_case_always_gets_the_same_choice_and_says_why() -> None:
    seen = StrategyExperience().plus("failed_step", "retry", False).plus("failed_step", "substitute", True)
    one = choose_strategy("failed_step", ALL, seen, strategy_rng("g", "p", "failed_step", "s1"))
    assert one == choose_strategy("failed_step", ALL, seen, strategy_rng("g", "p", "failed_step", "s1"))
    assert one is not None
    assert "worked" in one.why
    several = {picked("failed_step", ALL, seen, f"g{n}") for n in range(200)}
    assert len(several) > 1, "other cases draw other numbers"


def test_what_is_expected_to_work_less_than_half_as_often_is_not_tried() -> None:
    seen = StrategyExperience(
        counts={"failed_step": {"substitute": SuccessCounts(successes=4), "retry": SuccessCounts(failures=4)}}
    )
    assert seen.expected("failed_step", "retry") < 0.5 * seen.expected("failed_step", "substitute")
    assert {picked("failed_step", ("retry", "substitute"), seen, f"g{n}") for n in range(1000)} == {"substitute"}
    closer = seen.plus("failed_step", "retry", True)
    assert len({picked("failed_step", ("retry", "substitute"), closer, f"g{n}") for n in range(1000)}) == 2


def test_when_nothing_works_a_person_is_asked_but_what_was_never_tried_gets_its_chance() -> None:
    failed = {one: SuccessCounts(failures=60) for one in PRIORS["failed_step"]}
    seen = StrategyExperience(counts={"failed_step": failed})
    assert max(seen.expected("failed_step", one) for one in failed) < HOPELESS
    asked = [picked("failed_step", ALL, seen, f"g{n}") for n in range(300)]
    assert 0.8 < asked.count("ask") / 300 < 1, "now and then it is tried all the same"
    without = StrategyExperience(
        counts={"deadline_risk": {one: SuccessCounts(failures=60) for one in PRIORS["deadline_risk"]}}
    )
    untried = {one: count for one, count in without.counts["deadline_risk"].items() if one != "retry"}
    assert picked("deadline_risk", ALL, StrategyExperience(counts={"deadline_risk": untried})) == "retry"


def test_old_outcomes_fade_so_that_a_changed_world_is_learnt_anew() -> None:
    seen = StrategyExperience()
    for _ in range(10 * REMEMBERED):
        seen = seen.plus("stall", "retry", True)
    assert seen.of("stall", "retry").runs <= REMEMBERED
    for _ in range(REMEMBERED):
        seen = seen.plus("stall", "retry", False)
    assert seen.expected("stall", "retry") < PRIORS["stall"]["retry"]


@pytest.mark.parametrize("right", ["retry", "substitute", "decompose", "reorder", "replan"])
@pytest.mark.parametrize("kind", ["failed_step", "repeated_failure"])
def test_the_one_strategy_that_works_is_found(kind: FindingKind, right: Strategy) -> None:
    """300 goals in a world where one strategy works nine times in ten, and the others once in twenty."""
    world, seen = random.Random(7), StrategyExperience()
    chosen: list[Strategy] = []
    for n in range(300):
        strategy = picked(kind, ALL, seen, f"goal {n}")
        chosen.append(strategy)
        seen = seen.plus(kind, strategy, world.random() < (0.9 if strategy == right else 0.05))
    assert chosen[-100:].count(right) >= 95
    assert chosen[:100].count(right) >= 70, "and it does not take long"


async def test_experience_is_the_agents_and_outlives_the_process(scoped: ScopedStore) -> None:
    record = experience_record(scoped)
    assert (await record.read(), record.memory) == (StrategyExperience(), None)
    await record.change(lambda experience: experience.plus("stall", "replan", True), "learnt")
    other = experience_record(scoped)
    assert await other.read() == record.body
    assert other.memory is not None
    assert other.memory.user is None
    await other.change(lambda experience: experience.plus("stall", "replan", False), "learnt")
    assert str((await record.read()).of("stall", "replan")) == "1 of 2"
