"""``growth``: how many memories are of each day, by kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from longmind import InvalidInput, Longmind, Settings

NOW = datetime.now(UTC)


async def test_it_counts_by_day_and_kind() -> None:
    async with Longmind.open("memory:", settings=Settings.load({}), embedder="none") as longmind:
        mem = longmind.agent("a", "alice")
        for number, days in enumerate((0, 3, 3, 400)):
            await mem.remember(f"Number {number} of {days} days ago.", occurred_at=NOW - timedelta(days=days))
        await mem.semantic.learn("Alice", "lives in", "Lisbon")
        happened = await mem.growth(7, by="occurred")
        assert happened.days[-1] == NOW.date()
        assert happened.days[0] == NOW.date() - timedelta(days=6)
        assert happened.by_kind["message"] == (0, 0, 0, 2, 0, 0, 1)
        recorded = await mem.growth(1)
        assert recorded.by_kind["message"] == (4,)
        assert recorded.by_kind["fact"] == (1,)
        assert "configuration" not in recorded.by_kind


async def test_others_are_not_counted_and_days_have_a_limit() -> None:
    async with Longmind.open("memory:", settings=Settings.load({}), embedder="none") as longmind:
        await longmind.agent("a", "alice").remember("Mine.")
        assert (await longmind.agent("a", "bob").growth(3)).by_kind == {}
        assert (await longmind.agent("a", all_users=True).growth(3)).by_kind["message"][-1] == 1
        for days in (0, 100_000):
            with pytest.raises(InvalidInput):
                await longmind.agent("a").growth(days)
