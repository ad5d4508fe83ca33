"""``context_lines``: the lines of a context, each with its memory and why it is there."""

from __future__ import annotations

import pytest

from longmind import InvalidInput, Longmind, Settings


async def test_they_are_the_lines_of_the_context() -> None:
    async with Longmind.open("memory:", settings=Settings.load({}), embedder="none") as longmind:
        mem = longmind.agent("a", "alice")
        said = [
            await mem.remember(text, session="s")
            for text in ("I am allergic to peanuts.", "The train to Porto leaves at nine.", "My sister lives in Porto.")
        ]
        goal = await mem.goals.create("Visit Porto in June")
        lines = await mem.context_lines("When does the train to Porto leave?")
        text = await mem.context("When does the train to Porto leave?")
        assert [line.text for line in lines] == [line for line in text.splitlines() if line.startswith("- ")]
        headings = list(dict.fromkeys(line.heading for line in lines))
        assert [f"## {heading}" for heading in headings] == [line for line in text.splitlines() if line[:3] == "## "]
        by_memory = {line.memory_id: line for line in lines}
        assert by_memory[said[0].id].standing
        assert by_memory[said[0].id].why == "stands in every context: health"
        assert by_memory[said[0].id].score is None
        assert by_memory[goal.id].why == "stands in every context: goal"
        assert not by_memory[said[1].id].standing
        assert "train" in by_memory[said[1].id].why
        assert by_memory[said[1].id].score is not None


async def test_the_budget_holds_and_nothing_gives_no_lines() -> None:
    async with Longmind.open("memory:", settings=Settings.load({}), embedder="none") as longmind:
        mem = longmind.agent("a", "alice")
        assert await mem.context_lines("anything") == []
        for number in range(40):
            await mem.remember(f"Train number {number} leaves at {number} past nine.")
        assert len(await mem.context_lines("Which trains leave?", 120)) < 10
        with pytest.raises(InvalidInput):
            await mem.context_lines("anything", 0)
