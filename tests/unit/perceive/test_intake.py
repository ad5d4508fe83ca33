"""Whatever is given becomes memories with a source and a place; the same thing in the same place has the same key."""

import re
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind.errors import InvalidInput
from longmind.perceive.importance import _NAME, estimate_importance
from longmind.perceive.intake import InputDetails, build_memories
from longmind.testing import FakeClock
from longmind.types import Document, Memory, Message, Scope, Source

SCOPE = Scope(agent="a", user="u")
MAY = datetime(2023, 5, 8, tzinfo=UTC)


def take(told: Any, **about: Any) -> list[Memory]:
    return build_memories(told, InputDetails(**about), SCOPE, FakeClock()).memories


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


def test_keys_are_those_of_every_release_before() -> None:
    """A store holds keys of every release that wrote to it: what was said then and is said again is one memory."""
    turns = [
        "Hello Bob",
        {"role": "assistant", "content": 'I\'m "fine"\nthanks', "name": "O'Neil"},
        {"content": "Hello Bob", "occurred_at": MAY},
        {"content": "Später", "occurred_at": MAY.replace(hour=3, microsecond=7)},
        Document(content="# One\n\nText.\n\n# Two\n\nMore.", title="It's"),
        "Hello Bob",
    ]
    noon = datetime(2023, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    abouts = [
        InputDetails(),
        InputDetails(session='it\'s "é"', occurred_at=noon),
        InputDetails(source="https://example.org/o'x", occurred_at=datetime(2023, 1, 1)),  # noqa: DTZ001
        InputDetails(source=Source(role="tool", name="crm", span=(1, 9)), session="s"),
    ]
    scopes = [SCOPE, Scope(agent="a")]
    made = [
        m for about in abouts for scope in scopes for m in build_memories(turns, about, scope, FakeClock()).memories
    ]
    keys = sha256("\n".join(str(m.key) for m in made).encode()).hexdigest()
    assert keys == "cd4b8611c2ec6a06e487961f883976665ec57eac61990125ace637cc53774185"


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


def test_a_blank_message_of_a_list_is_left_out_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    no_content, no_text = {"role": "assistant", "content": None}, {"role": "user", "content": "\n"}
    blank: list[Any] = ["  ", no_content, no_text, Document(content="")]
    made = take(["I live in Oslo.", *blank, "I have a cat."])
    assert [memory.content for memory in made] == ["I live in Oslo.", "I have a cat."]
    assert "number 2, number 3, number 4, number 5" in caplog.text


@pytest.mark.parametrize("bad", ["nul \x00", "lone \ud800", "x" * 1_000_001])
def test_text_no_database_stores_is_refused(bad: str) -> None:
    with pytest.raises(InvalidInput, match="content"):
        take(bad)


def test_importance_is_given_or_scored() -> None:
    assert take("x y z", importance=0.9)[0].importance == 0.9
    assert estimate_importance("I'm allergic to nuts, never give me any") > 0.7
    assert estimate_importance("haha ok, thanks!") == 0.1
    assert estimate_importance("My dog Rex was born in 2019") > estimate_importance("that sounds fine then")


@given(st.text("aB,; é\n", max_size=12))
def test_a_name_is_a_capital_within_a_sentence(text: str) -> None:
    assert (_NAME.search(text) is None) == (re.search(r"[a-z,;] [A-Z][a-z]", text) is None)


def test_scored_importance_is_that_of_every_release_before() -> None:
    texts = (
        "Hey, it's good to see you!",
        "I went to a support group yesterday with Ann, because I promised.",
        "You’re welcome!",
        "I mustn't forget: 3 pills a day, never more",
        "don't 'always' trust foo_bar'x, OK?",
        "Très bien, merci à toi Paul",
        "I'm moving, I've decided: my wife's birthday is on May 4th, and we love Lisbon",
        "x" * 5000,
    )
    assert [estimate_importance(text) for text in texts] == [0.3, 0.52, 0.2, 0.63, 0.45, 0.37, 0.8, 0.2]


@pytest.mark.parametrize(
    ("about", "where"),
    [
        ({"session": " s"}, "session"),
        ({"session": ["s"]}, "session"),
        ({"importance": 1.5}, "importance"),
        ({"importance": [1]}, "importance"),
        ({"tags": ["ok", ""]}, "tags.1"),
        ({"metadata": {"n": float("nan")}}, "metadata"),
        ({"metadata": {"n": object()}}, "metadata"),
        ({"source": "nul \x00"}, "uri"),
        ({"source": ["list"]}, "uri"),
    ],
)
def test_what_the_call_says_of_all_is_checked(about: dict[str, Any], where: str) -> None:
    with pytest.raises(InvalidInput, match=f"cannot be remembered: {where}: "):
        take("fine", **about)


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": "nul \x00"},
        {"metadata": {"n": object()}},
        {"name": " x"},
        {"role": "king"},
        {"occurred_at": "never"},
    ],
)
def test_a_message_made_without_validation_is_validated(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        take(Message(content="fine").model_copy(update=wrong))


def test_what_is_made_of_valid_parts_is_a_valid_memory() -> None:
    told = {"role": "assistant", "name": "Ann", "content": "Hello", "metadata": {"n": 1}}
    about = {"session": "s", "tags": ["a", "a", "b"], "occurred_at": MAY.replace(tzinfo=None), "importance": 1}
    (made,) = take(told, **about)
    assert made == Memory.model_validate(made.model_dump())
    assert (made.importance, made.tags, made.occurred_at) == (1.0, ("a", "b"), MAY)
    assert set(made.__dict__) == set(Memory.model_fields)
    first, second = take([told, told])
    assert first.metadata == second.metadata
    assert first.metadata is not second.metadata
    assert first.body is not second.body
