"""Validation errors are told in our words everywhere: no prefix of the library's, and no value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError, field_validator

import longmind
from longmind import InvalidInput, Longmind
from longmind.agent import Say
from longmind.agent.policies import action_problem
from longmind.problems import first_problem
from longmind.systems.procedural import ToolRegistry


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("must be even")
        return value


def test_a_problem_has_a_place_and_a_reason_without_prefix() -> None:
    with pytest.raises(ValidationError) as caught:
        Even(number=3)
    assert first_problem(caught.value) == ("number", "must be even")


def test_only_one_module_reads_the_messages_of_the_library() -> None:
    root = Path(longmind.__file__).parent
    reading = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if re.search(r"\[['\"]msg['\"]\]|Value error", path.read_text(encoding="utf-8"))
    }
    assert reading == {"problems.py"}


def test_an_answer_that_cannot_be_stored() -> None:
    assert action_problem(Say(text="a\x00b")) == (
        "The answer cannot be stored: must not contain the NUL character, which no database stores."
    )


async def test_a_function_of_a_procedure() -> None:
    tools = ToolRegistry()

    @tools.tool
    def halve(given: Even) -> int:
        """Halve a number."""
        return given.number // 2

    with pytest.raises(InvalidInput, match=r"does not take this: given\.number: must be even\.$"):
        await tools.get("halve").call({"given": {"number": 3}}, "key")


async def test_metadata_of_an_update() -> None:
    async with Longmind.open("memory:") as opened:
        mem = opened.agent("a")
        stored = await mem.remember("x")
        with pytest.raises(InvalidInput, match=r"cannot be stored: must not hold more than"):
            await mem.update(stored.id, metadata={"n": list(range(5_000))})
