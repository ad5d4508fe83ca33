"""The registry: what a function tells about itself, and what it is given."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from longmind.errors import InvalidInput, NotFound
from longmind.systems.procedural.tools import ToolRegistry
from longmind.systems.procedural.values import MAX_VALUE


class Guest(BaseModel):
    name: str
    born: date


async def test_type_hints_become_the_schema_and_check_the_arguments() -> None:
    tools = ToolRegistry()

    @tools.tool
    def book(
        city: str,
        guest: Guest,
        kind: Literal["room", "flat"] = "room",
        nights: Annotated[int, Field(ge=1)] = 2,
        *,
        schema: bool = False,
    ) -> dict[str, Any]:
        """Book a place."""
        return {"city": city, "year": guest.born.year, "kind": kind, "nights": nights, "schema": schema}

    told = tools.described()[0]
    assert (told.name, told.description, told.pure) == ("book", "Book a place.", False)
    assert set(told.parameters["properties"]) == {"city", "guest", "kind", "nights", "schema"}
    assert told.parameters["required"] == ["city", "guest"]
    args = {"city": "Rome", "guest": {"name": "Ann", "born": "1990-05-01"}, "nights": 3, "schema": True}
    result = await tools.get("book").call(args, "key")
    assert result == {"city": "Rome", "year": 1990, "kind": "room", "nights": 3, "schema": True}
    for bad in ({"city": "Rome"}, {**args, "nights": 0}, {**args, "town": "x"}, {**args, "kind": "tent"}):
        with pytest.raises(InvalidInput, match="book does not take this"):
            await tools.get("book").call(bad, "key")


async def test_the_key_is_given_to_those_that_ask_for_it_and_is_no_argument() -> None:
    tools = ToolRegistry()

    @tools.tool(name="mail.send", description="Send.")
    async def send(to: str, idempotency_key: str) -> str:
        return f"{to} {idempotency_key}"

    tool = tools.get("mail.send")
    assert await tool.call({"to": "ann"}, "run/step") == "ann run/step"
    assert set(tool.described().parameters["properties"]) == {"to"}
    with pytest.raises(InvalidInput):
        await tool.call({"to": "ann", "idempotency_key": "forged"}, "run/step")


async def test_results_are_plain_and_bounded() -> None:
    tools = ToolRegistry()
    answers: list[Any] = []

    @tools.tool
    def answer() -> Any:
        return answers.pop()

    answers.append((1, Guest(name="Ann", born=date(1990, 5, 1)), {"a": [None, True]}))
    assert await tools.get("answer").call({}, "") == [1, {"name": "Ann", "born": "1990-05-01"}, {"a": [None, True]}]
    deep: list[Any] = []
    for _ in range(40):
        deep = [deep]
    for bad in (object(), {1: 2}, float("nan"), {"a": {1, 2}}, b"bytes", 2**70, "\x00", "\ud800", deep):
        answers.append(bad)
        with pytest.raises(InvalidInput, match=r"What answer returned is (not plain JSON|nested deeper)"):
            await tools.get("answer").call({}, "")
    answers.append("x" * 10_000_000)
    with pytest.raises(InvalidInput, match=f"more than {MAX_VALUE:,} bytes of JSON"):
        await tools.get("answer").call({}, "")


def test_what_cannot_be_described_cannot_be_registered() -> None:
    tools = ToolRegistry()

    def bare(x):  # type: ignore[no-untyped-def]
        return x

    def many(*xs: int) -> int:
        return len(xs)

    def odd(x: object) -> None:
        return None

    class Opaque:
        pass

    def opaque(x: Opaque) -> None:
        return None

    for function in (bare, many, opaque):
        with pytest.raises(InvalidInput):
            tools.register(function)
    tools.register(odd)
    assert "odd" in tools
    assert len(tools) == 1


def test_names_are_taken_once() -> None:
    tools = ToolRegistry()

    @tools.tool
    def one() -> None:
        return None

    tools.register(one)
    with pytest.raises(InvalidInput, match="registered as one"):
        tools.register(lambda: None, name="one")
    with pytest.raises(InvalidInput):
        tools.register(lambda: None, name="a name with spaces")
    with pytest.raises(NotFound, match="Registered are: one"):
        tools.get("two")
