"""An event as a point in time: its date is looked up, and the question is about the time before or after it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from longmind.recall.anchors import Anchor, anchor_in, span_around
from longmind.recall.query import parse_query
from longmind.testing import FakeClock, memory
from longmind.text.dates import format_day


@pytest.mark.parametrize(
    ("text", "before", "event"),
    [
        ("What did I do before I moved?", True, "I moved"),
        ("Where did she work before she moved to Lisbon?", True, "she moved to Lisbon"),
        ("Who visited us after the wedding?", False, "the wedding"),
        ("After the wedding, where did they go?", False, "the wedding"),
        ("After my surgery what did the doctor say", False, "my surgery"),
        ("what changed since Ann's accident", False, "Ann's accident"),
        ("Until the fire, who ran the shop?", True, "the fire"),
        ("Which car did he drive prior to getting married?", True, "getting married"),
    ],
)
def test_events_are_heard(text: str, before: bool, event: str) -> None:
    assert anchor_in(text) == Anchor(before, event)


@pytest.mark.parametrize(
    "text",
    [
        "What did I do?",
        "What does she do after work?",
        "What do I drink before a meal?",
        "What does he read before going to bed?",
        "How long did they date before they married?",
        "How many years passed before the wedding?",
        "Did they look after it?",
        "before",
        "before the " + "x" * 3_000,
    ],
)
def test_what_is_no_event_is_not(text: str) -> None:
    assert anchor_in(text) is None


def test_a_date_that_is_named_is_used_and_no_event_looked_for() -> None:
    asked = parse_query("What did I do in May 2023 after the wedding?", datetime(2024, 1, 1, tzinfo=UTC))
    assert asked.span is not None
    assert asked.anchor is None


@pytest.mark.parametrize(
    ("fields", "since"),
    [
        ({"content": "I moved to Lisbon"}, datetime(2024, 3, 10, tzinfo=UTC)),
        ({"content": "I moved to Lisbon two days ago"}, datetime(2024, 3, 8, tzinfo=UTC)),
        ({"content": "I moved to Lisbon in January"}, datetime(2024, 1, 1, tzinfo=UTC)),
        ({"content": "I moved before 2020"}, datetime(2024, 3, 10, tzinfo=UTC)),
        (
            {"content": "Ann lives in Lisbon", "kind": "fact", "valid_from": datetime(2023, 5, 1, tzinfo=UTC)},
            datetime(2023, 5, 1, tzinfo=UTC),
        ),
    ],
)
def test_the_date_of_an_event_is_the_one_its_memory_names_or_bears(fields: dict[str, Any], since: datetime) -> None:
    told = memory(clock=FakeClock(), occurred_at=datetime(2024, 3, 10, 15, tzinfo=UTC), **fields)
    span = span_around(Anchor(False, "I moved"), told)
    assert (span.since, span.until) == (since, None)
    assert span.text == f"after I moved: {format_day(since)}"
    assert span_around(Anchor(True, "I moved"), told).until == since


def day(month: int) -> datetime:
    return datetime(2024, month, 5, tzinfo=UTC)


async def sailing(world: Any) -> None:
    world.clock.set(datetime(2024, 12, 1, tzinfo=UTC))
    for month in (2, 4, 8, 10):
        await world.add("We went sailing with friends", occurred_at=day(month), session=f"s{month}")
    await world.add("I moved to Lisbon", occurred_at=day(6), session="s6")
    await world.add("Remember how I moved to Lisbon and cried", occurred_at=day(11), session="s11")


@pytest.mark.parametrize(("side", "months"), [("before", {2, 4}), ("after", {8, 10})])
async def test_a_question_about_the_time_around_an_event(world: Any, side: str, months: set[int]) -> None:
    await sailing(world)
    hits = await world.recaller.recall(world.scope, f"when did we go sailing {side} I moved to Lisbon?")
    sailed = [hit for hit in hits if "sailing" in hit.memory.content]
    assert {hit.memory.occurred_at.month for hit in sailed[:2]} == months
    assert f"as asked ('{side} I moved to Lisbon: 5 June 2024')" in sailed[0].why


async def test_an_event_nobody_told_of_changes_nothing(world: Any) -> None:
    await sailing(world)
    hits = await world.recaller.recall(world.scope, "when did we go sailing after the earthquake", explain=True)
    assert len(hits) >= 4
    assert all(hit.parts["time"] == 0 for hit in hits)


async def test_the_event_is_looked_for_only_where_the_question_may_look(world: Any) -> None:
    await sailing(world)
    hits = await world.recaller.recall(world.scope, "sailing before I moved to Lisbon", session="s2", explain=True)
    assert [hit.parts["time"] for hit in hits] == [0.0]
