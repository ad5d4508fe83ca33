"""Who has a say in how a question is answered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from longmind.errors import InvalidInput
from longmind.recall.policy import BUILT_IN, RecallPlan, Weights, checked_policy, make_plan
from longmind.recall.query import Query, parse_query

NOW = datetime(2026, 11, 15, tzinfo=UTC)


@dataclass
class Fixed:
    """A policy that always applies and sets one weight."""

    name: str
    priority: int
    recency: float

    def applies(self, query: Query) -> bool:
        return True

    def choose(self, query: Query, plan: RecallPlan) -> RecallPlan:
        return plan.weigh(recency=self.recency)


def test_the_highest_priority_decides_and_all_are_named() -> None:
    plan = make_plan(parse_query("anything", NOW), [Fixed("high", 5, 0.9), Fixed("low", 1, 0.1)])
    assert plan.weights.recency == 0.9
    assert plan.policies == ("low", "high")


@pytest.mark.parametrize(
    ("text", "name", "changed"),
    [
        ("When was it?", "when", "dated"),
        ("How many were there?", "how many", "counted"),
        ("What is the latest price?", "latest", "recency"),
        ("I finally signed up for the course.", "statement", "session"),
        ("What did you recommend?", "what the assistant said", "reply"),
    ],
)
def test_built_in_policies_change_what_their_question_needs(text: str, name: str, changed: str) -> None:
    plan = make_plan(parse_query(text, NOW), BUILT_IN)
    assert name in plan.policies
    assert getattr(plan.weights, changed) != getattr(Weights(), changed)


def test_a_plain_question_is_answered_with_the_plain_plan() -> None:
    assert make_plan(parse_query("red house", NOW), BUILT_IN) == RecallPlan()


def test_kinds_of_memory_are_boosted_for_procedures_and_preferences() -> None:
    assert make_plan(parse_query("How do I deploy?", NOW), BUILT_IN).boosts["procedure"] > 0
    assert make_plan(parse_query("What does she like?", NOW), BUILT_IN).boosts["trait"] > 0


@pytest.mark.parametrize("wrong", [object(), Fixed("x", "high", 1.0), Fixed(3, 1, 1.0)])  # type: ignore[arg-type]
def test_what_is_no_policy_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="recall policy"):
        checked_policy(wrong)


def test_a_policy_that_chooses_no_plan_is_named() -> None:
    class Broken(Fixed):
        def choose(self, query: Query, plan: RecallPlan) -> Any:
            return {"weights": 1}

    with pytest.raises(InvalidInput, match="'broken' chose dict"):
        make_plan(parse_query("x", NOW), [Broken("broken", 1, 0.0)])
