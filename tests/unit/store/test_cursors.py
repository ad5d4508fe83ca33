"""A cursor is read back as it was written, and anything else is refused."""

from __future__ import annotations

import base64
import json

import pytest

from longmind.errors import InvalidInput
from longmind.store import cursors
from longmind.types import Order


@pytest.mark.parametrize(
    ("value", "order"),
    [(7, "recorded"), (-62_135_596_800_000_000, "occurred"), (0.25, "importance"), (cursors.NEVER, "accessed")],
)
@pytest.mark.parametrize("descending", [False, True])
def test_what_was_written_is_read(value: float, order: Order, descending: bool) -> None:
    assert cursors.read_cursor(cursors.write_cursor(value, "an id", order, descending), order, descending) == (
        value,
        "an id",
    )


@pytest.mark.parametrize("told", [[], ["recorded", False, 1], "text", {"a": 1}, [1, 2, 3, 4, 5]])
def test_other_text_is_no_cursor(told: object) -> None:
    with pytest.raises(InvalidInput):
        cursors.read_cursor(base64.urlsafe_b64encode(json.dumps(told).encode()).decode(), "recorded", False)


@pytest.mark.parametrize("text", ["", "ü", "=", "AAAA", base64.b64encode(b"[" * 100_000).decode()])
def test_what_cannot_be_read_is_no_cursor(text: str) -> None:
    with pytest.raises(InvalidInput, match="not one of this store"):
        cursors.read_cursor(text, "recorded", False)


@pytest.mark.parametrize(
    ("value", "order"),
    [
        (None, "recorded"),
        (True, "recorded"),
        (0.5, "recorded"),
        (2**63, "occurred"),
        ("1", "accessed"),
        (float("nan"), "importance"),
        (float("inf"), "importance"),
        ([1], "importance"),
    ],
)
def test_a_value_that_no_memory_has_is_damage(value: object, order: Order) -> None:
    damaged = base64.urlsafe_b64encode(json.dumps([order, False, value, "an id"]).encode()).decode()
    with pytest.raises(InvalidInput, match="damaged"):
        cursors.read_cursor(damaged, order, False)
