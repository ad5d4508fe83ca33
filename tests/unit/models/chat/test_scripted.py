"""The model that keeps to a script, which other tests build on."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from longmind.errors import InvalidInput
from longmind.models.chat import Answer, ChatMessage, ToolCall, messages_of
from longmind.models.resilience import Transient
from longmind.testing import ScriptedModel


class Point(BaseModel):
    x: int


async def test_every_kind_of_line() -> None:
    called = Answer(tool_calls=(ToolCall(id="1", name="look"),), finish="tools")
    model = ScriptedModel(
        "text", {"x": 1}, Point(x=2), called, Transient("down"), lambda asked: asked.messages[-1].content.upper()
    )
    chat = model.chat()
    said = [await chat.complete("hello") for _ in range(5)]
    assert [answer.text for answer in said] == ["text", '{"x": 1}', '{"x": 2}', "", "HELLO"]
    assert (said[3].finish, chat.retries, len(model.requests)) == ("tools", 1, 6)
    with pytest.raises(AssertionError, match="no answer to request 7"):
        await chat.complete("more")


async def test_it_streams_and_gives_objects() -> None:
    chat = ScriptedModel("one two", {"x": 3}).chat()
    assert [piece.text async for piece in chat.stream("Hi")] == ["one ", "two", ""]
    assert (await chat.structured("A point.", Point)).value == Point(x=3)


def test_messages_in_any_convenient_form() -> None:
    expected = (ChatMessage(role="user", content="Hi"),)
    assert messages_of("Hi") == messages_of([{"role": "user", "content": "Hi"}]) == messages_of(expected) == expected


@pytest.mark.parametrize("given", [[], [{"role": "robot", "content": "x"}], [{"content": "x"}], [3], ["text"]])
def test_messages_that_are_none(given: list[object]) -> None:
    with pytest.raises(InvalidInput):
        messages_of(given)  # type: ignore[arg-type]


async def test_options_that_cannot_be() -> None:
    with pytest.raises(InvalidInput, match="max_tokens"):
        await ScriptedModel("x").chat().complete("Hi", max_tokens=0)
    with pytest.raises(InvalidInput, match="temperature"):
        await ScriptedModel("x").chat().complete("Hi", temperature=-1.0)
