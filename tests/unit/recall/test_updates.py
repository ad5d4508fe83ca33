"""A turn that tells of a change ranks above the earlier turns about the same, and nothing else is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from longmind import Longmind
from longmind.recall.query import asks_for_now
from longmind.recall.rerank import SCALE
from longmind.recall.updates import RankedTurn, find_updated
from longmind.text.change_words import tells_of_change

START = datetime(2026, 1, 1, tzinfo=UTC)
OTHERS = ["The weather was lovely today.", "I read a book about whales.", "My neighbour plays the trumpet."]


@pytest.mark.parametrize("session", [None, "s"])
@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        ("I'm vegan.", "I'm not vegan anymore.", "Is she vegan?"),
        ("I'm vegan, so no cheese for me.", "I'm not vegan any more, I eat fish again.", "Is she vegan?"),
        ("I work at Acme as an accountant.", "I started a new job at Globex.", "Where do I work?"),
        ("I live in Berlin with my cat.", "I've moved to Lisbon.", "Where do I live?"),
        ("I drive a red Volvo.", "We sold the Volvo yesterday.", "Does she drive a Volvo?"),
        ("I am married to Tom.", "Tom and I are divorced now.", "Is she married to Tom?"),
        ("I play tennis every Monday.", "I stopped playing tennis.", "Does she play tennis?"),
        ("The meeting is on Tuesday at ten.", "The meeting has been postponed to Friday.", "When is the meeting?"),
    ],
)
async def test_what_was_said_later_comes_first(
    longmind: Longmind, earlier: str, later: str, question: str, session: str | None
) -> None:
    mem = longmind.agent("a", user="ann")
    for text in (earlier, *OTHERS, later):
        await mem.remember(text, session=session)
    hits = await mem.recall(question)
    contents = [hit.memory.content for hit in hits]
    assert contents.index(later) < contents.index(earlier)


@pytest.mark.parametrize(
    "question",
    ["Was she vegan?", "What did she eat before?", "Where did I work in 2020?", "Did she ever live in Berlin?"],
)
async def test_a_question_for_the_past_is_left_alone(longmind: Longmind, question: str) -> None:
    mem = longmind.agent("a", user="ann")
    await mem.remember("I'm vegan.", occurred_at=START)
    await mem.remember("I'm not vegan anymore.", occurred_at=START + timedelta(days=40))
    assert not any("a change since" in hit.why for hit in await mem.recall(question))


async def test_another_person_is_not_brought_up_to_date(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    said: list[dict[str, Any]] = [
        {"content": "Marta works at the bakery.", "occurred_at": START},
        {"content": "Paul has a new job at the bank now.", "occurred_at": START + timedelta(days=3)},
    ]
    await mem.remember(said, session="s")
    assert (await mem.recall("Where does Marta work?"))[0].memory.content == "Marta works at the bakery."


@pytest.mark.parametrize(
    ("number", "moved"), [(-1.0, True), (None, True), (-1.0 - 2 * SCALE, True), (-1.1 - 2 * SCALE, False)]
)
async def test_what_the_reranker_finds_to_be_no_answer_brings_nothing_up_to_date(
    longmind: Longmind, number: float | None, moved: bool
) -> None:
    mem = longmind.agent("a", user="ann")
    earlier = await mem.remember("The meeting is on Tuesday at ten.", occurred_at=START)
    later = await mem.remember("The meeting has been postponed to Friday.", occurred_at=START + timedelta(days=40))
    same = np.array([1.0], np.float32)
    turns = [RankedTurn(earlier, 0.5, same, -1.0), RankedTurn(later, 0.4, same, number)]
    assert find_updated(turns, "When is the meeting?") == ({0: 1} if moved else {})


async def test_the_hits_say_what_changed(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    await mem.remember("I'm vegan.", occurred_at=START)
    await mem.remember("I'm not vegan anymore.", occurred_at=START + timedelta(days=40))
    new, old = await mem.recall("Is she vegan?")
    assert "tells of a change since" in new.why
    assert "may have changed: see what was said on 10 February 2026" in old.why
    (then,) = await mem.recall("Is she vegan?", as_of=START + timedelta(days=1))
    assert then.memory.content == "I'm vegan."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("where does she live?", True),
        ("is he still a pilot?", True),
        ("her diet", True),
        ("who teaches the class?", True),
        ("where did she live?", False),
        ("has she ever been to rome?", False),
        ("which cities has she visited?", False),
        ("what are her hobbies?", False),
        ("where was she born?", False),
    ],
)
def test_questions_for_now(text: str, expected: bool) -> None:
    assert asks_for_now(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I no longer smoke", True),
        ("New job!", True),
        ("a new car", True),
        ("New York is loud", False),
        ("I like tea", False),
        ("We broke up", True),
    ],
)
def test_words_of_change(text: str, expected: bool) -> None:
    assert tells_of_change(text) is expected
