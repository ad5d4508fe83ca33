"""``longmind ask``."""

from typing import Any

import pytest


@pytest.fixture
def filled(cli: Any) -> Any:
    cli.remember("The boiler was repaired by Zoe two days ago.", "--name", "Tim", "--at", "2026-07-12")
    return cli


def test_the_answer_and_its_evidence_are_shown(filled: Any) -> None:
    shown = " ".join(filled("ask", "When was the boiler repaired?").stdout.split())
    for part in ("10 July 2026", "confidence", "2026-07-12", "Tim", "repaired by Zoe two days ago"):
        assert part in shown


def test_as_data(filled: Any) -> None:
    answer = filled.json("ask", "When was the boiler repaired?")
    assert answer["known"] is True
    assert answer["text"] == "10 July 2026"
    (citation,) = answer["evidence"]
    assert citation["memory"]["content"][citation["start"] : citation["end"]] == citation["quote"] == "two days ago"


def test_what_is_not_known_is_no_error(filled: Any) -> None:
    assert filled("ask", "Who painted the fence?").stdout == "Not known.\n"
    assert filled.json("ask", "Who painted the fence?")["known"] is False
