"""Whatever is given becomes memories with a source and a place; the same thing in the same place has the same key."""

from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.errors import InvalidInput
from recollect.perceive.importance import importance_of
from recollect.perceive.intake import About, memories_of
from recollect.testing import FakeClock
from recollect.types import Document, Memory, Message, Scope, Source

SCOPE = Scope(agent="a", user="u")
MAY = datetime(2023, 5, 8, tzinfo=UTC)


def take(told: Any, **about: Any) -> list[Memory]:
    return memories_of(told, About(**about), SCOPE, FakeClock())


def test_a_text_a_message_and_a_dictionary_say_the_same() -> None:
    said = [take("Hello Bob")[0], take(Message(content="Hello Bob"))[0], take({"content": "Hello Bob"})[0]]
    assert len({m.key for m in said}) == 1
    assert {m.source.role for m in said} == {"user"}
    assert all(m.user == "u" and m.kind == "message" for m in said)


def test_what_a_message_says_of_itself_goes_before_what_the_call_says() -> None:
    messages = [{"content": "one", "occurred_at": MAY, "metadata": {"n": 1}}, {"content": "two"}]
    one, two = take(messages, occurred_at=datetime(2024, 1, 1, tzinfo=UTC), metadata={"n": 0, "x": 1})
    assert (one.occurred_at, one.metadata) == (MAY, {"n": 1, "x": 1})
    assert (two.occurred_at.year, two.metadata) == (2024, {"n": 0, "x": 1})


def test_the_same_turn_twice_in_a_call_is_two_turns_and_again_the_same_two() -> None:
    turns = [{"role": "assistant", "content": "ok"}, {"role": "assistant", "content": "ok"}]
    first, again = take(turns, session="s"), take(turns, session="s")
    assert first[0].key != first[1].key
    assert [m.key for m in first] == [m.key for m in again]


@pytest.mark.parametrize(
    "other",
    [
        {"session": "t"},
        {"occurred_at": MAY},
        {"source": "mail"},
        {"source": Source(role="tool", name="crm")},
    ],
)
def test_another_place_is_another_memory(other: dict[str, Any]) -> None:
    assert take("same", session="s")[0].key != take("same", **{"session": "s", **other})[0].key


def test_trust_follows_the_source() -> None:
    trust = {role: take({"role": role, "content": "x"})[0].trust for role in ("system", "user", "tool")}
    assert trust["system"] > trust["user"] > trust["tool"]


def test_a_document_becomes_passages_in_line() -> None:
    made = take(Document(content="# A\n\nfirst\n\n# B\n\nsecond", title="Manual", uri="file:m.md"), tags=["t"])
    assert [m.body["passage"] for m in made] == [0, 1]
    assert made[1].body["headings"] == ["Manual", "B"]
    assert made[0].session == made[1].session == "document:file:m.md"
    assert made[0].source.role == "document"
    assert made[0].tags == ("t",)


@pytest.mark.parametrize("bad", ["", "   ", [], [{"content": ""}], {"text": "x"}, 7, {"role": "king", "content": "x"}])
def test_what_cannot_be_remembered_is_refused_with_a_reason(bad: Any) -> None:
    with pytest.raises(InvalidInput, match=r"\w+"):
        take(bad)


@pytest.mark.parametrize("bad", ["nul \x00", "lone \ud800", "x" * 1_000_001])
def test_text_no_database_stores_is_refused(bad: str) -> None:
    with pytest.raises(InvalidInput, match="content"):
        take(bad)


def test_importance_is_given_or_scored() -> None:
    assert take("x y z", importance=0.9)[0].importance == 0.9
    assert importance_of("I'm allergic to nuts, never give me any") > 0.7
    assert importance_of("haha ok, thanks!") == 0.1
    assert importance_of("My dog Rex was born in 2019") > importance_of("that sounds fine then")
