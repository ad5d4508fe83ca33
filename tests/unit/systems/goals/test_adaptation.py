"""Fitting a plan to another goal: which names differ, and what is exchanged."""

from __future__ import annotations

from typing import Any

import pytest

from longmind.systems.goals.adaptation import name_changes, replace_names, unused_id
from longmind.systems.goals.models import PlanStep, order_steps
from longmind.systems.goals.steps import without_steps


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("Book a flight to Lisbon", "Book a flight to Porto", {"Lisbon": "Porto"}),
        ("Book a flight to New York for Ann", "Book a flight to Porto for Bob", {"New York": "Porto", "Ann": "Bob"}),
        ("Pay invoice 17 of ACME", "Pay invoice 18 of ACME", {"17": "18"}),
        ("Mail ann@example.org the list", "Mail bob@example.org the list", {"ann@example.org": "bob@example.org"}),
        ("Book a flight", "Cancel a flight", {}),
        ("Buy apples at the market", "Buy pears at the market", {}),
        ("Ask Ann to meet Bob", "Ask Bob to meet Ann", {}),
        ("Fly from Rome to Rome", "Fly from Oslo to Bern", {}),
        ("Paint the whole house", "Write a long letter to Ann", {}),
        ("Travel to Lisbon", "Travel to Lisbon", {}),
        ("", "Travel", {}),
    ],
)
def test_names_that_differ(old: str, new: str, found: dict[str, str]) -> None:
    assert name_changes(old, new) == found


def test_names_are_exchanged_as_whole_words_and_all_at_once() -> None:
    told: Any = {"city": "Lisbon", "also": ["Lisbonne, Lisbon!", 3, None], "Lisbon": "Ann"}
    changed = replace_names(told, {"Lisbon": "Ann", "Ann": "Bob"})
    assert changed == {"city": "Ann", "also": ["Lisbonne, Ann!", 3, None], "Lisbon": "Bob"}
    assert replace_names("Lisbon", {}) == "Lisbon"


def test_taking_steps_out_keeps_the_order_of_the_rest() -> None:
    """Forty-eight layers of two, each after both of the layer before: a path for each way through would never end."""
    steps = [PlanStep(id="first", description="x")]
    layer = ["first"]
    for n in range(48):
        after = tuple(layer)
        layer = [f"a{n}", f"b{n}"]
        steps += [PlanStep(id=name, description="x", after=after) for name in layer]
    steps.append(PlanStep(id="last", description="x", after=tuple(layer)))
    kept = without_steps(steps, {step.id for step in steps[1:-1]})
    assert [(step.id, step.after) for step in order_steps(kept)] == [("first", ()), ("last", ("first",))]


def test_an_id_is_free() -> None:
    assert unused_id("s1", {"s1", "s1_2"}) == "s1_3"
    assert unused_id("s1", set()) == "s1"
