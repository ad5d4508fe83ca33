"""What is learnt must do no harm: labelled statements, half of which the rules were not written for."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from longmind.consolidate.rules.claims import Claim
from longmind.consolidate.rules.extraction import extract

DAY = datetime(2026, 6, 1, tzinfo=UTC)
SETS = json.loads(Path(__file__).with_name("statements.json").read_text(encoding="utf-8"))


def claims_of(text: str) -> list[Claim]:
    return extract(text, "Ann", DAY).claims


def is_right(category: str, text: str, predicate: str, object: str = "") -> bool:
    """Whether the rules read a statement as its label says."""
    claims = claims_of(text)
    affirmed = [claim for claim in claims if claim.predicate == predicate and not claim.ended]
    if category == "harmful":
        return not affirmed
    if category == "endings":
        ended = [claim for claim in claims if claim.ended and claim.predicate == predicate]
        return not affirmed and any(object.casefold() in claim.object.casefold() for claim in ended)
    return set(object.split(";")) <= {claim.object for claim in affirmed}


def misread(half: str, category: str) -> list[str]:
    return [row[0] for row in SETS[half][category] if not is_right(category, *row)]


def test_there_are_enough_of_each_half_and_none_is_in_both() -> None:
    halves = [[row[0] for rows in SETS[half].values() for row in rows] for half in ("seen", "unseen")]
    assert sum(map(len, halves)) >= 150
    assert not set(halves[0]) & set(halves[1])


@pytest.mark.parametrize("category", ["harmful", "harmless", "endings", "lists"])
def test_every_statement_that_was_looked_at_is_read_right(category: str) -> None:
    assert misread("seen", category) == []


@pytest.mark.parametrize(("category", "most"), [("harmful", 2), ("harmless", 0), ("endings", 0), ("lists", 1)])
def test_of_those_that_were_not_looked_at_few_are_misread(category: str, most: int) -> None:
    assert len(misread("unseen", category)) <= most


def test_a_diet_is_no_occupation_and_past_work_is_past() -> None:
    assert [(c.predicate, c.object) for c in claims_of("I'm a vegetarian.")] == [("diet", "vegetarian")]
    assert [(c.predicate, c.object) for c in claims_of("I worked as a waitress in college.")] == [
        ("worked as", "waitress")
    ]


def test_a_move_long_ago_is_dated_and_a_recent_one_is_not() -> None:
    (long_ago,) = claims_of("In 2015 I moved to Brno.")
    assert long_ago.start == datetime(2015, 1, 1, tzinfo=UTC)
    (recent,) = claims_of("I moved to Brno last month.")
    assert recent.start is None
