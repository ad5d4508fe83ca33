"""Heat: a little more for what is recalled often and lately, and nothing of it stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from longmind.recall.heat import HALF_HEAT_READS, HALF_LIFE_SECONDS, MAX_GAIN, heat, warmed
from longmind.testing import FakeClock, memory

NOW = datetime(2024, 6, 1, tzinfo=UTC)


def read(times: int, ago: timedelta) -> float:
    made = memory("x", clock=FakeClock(), access_count=times, last_accessed_at=NOW - ago if times else None)
    return heat(made, NOW)


def test_heat_grows_with_reads_and_cools_by_itself() -> None:
    assert read(0, timedelta()) == 0
    assert read(int(HALF_HEAT_READS), timedelta()) == pytest.approx(0.5)
    assert read(1, timedelta()) < read(5, timedelta()) < read(500, timedelta()) < 1
    assert read(3, timedelta(seconds=HALF_LIFE_SECONDS)) == pytest.approx(read(3, timedelta()) / 2)
    assert read(1_000, timedelta(days=365)) < 1e-9
    assert read(3, timedelta(days=-1)) == read(3, timedelta()), "a clock that went back makes nothing hotter"


def test_heat_is_bounded() -> None:
    assert warmed(0.5, 1.0) == pytest.approx(0.5 * (1 + MAX_GAIN))
    assert warmed(0.999, 1.0) == 1.0
    assert warmed(0.4, 0.0) == 0.4


async def test_of_two_that_fit_alike_the_warmer_comes_first_until_it_has_cooled(world: Any) -> None:
    world.recaller.counts_reads = False
    first = await world.add("a red kite over the beach", session="a")
    second = await world.add("a red kite over the beach", session="b")
    same_time = {"k": 2}
    cold = await world.recaller.recall(world.scope, "when was a red kite there", **same_time)
    assert [hit.memory.id for hit in cold] == [first.id, second.id]
    for _ in range(3):
        await world.store.touch(world.scope, [second.id])
    warm = await world.recaller.recall(world.scope, "when was a red kite there", **same_time)
    assert [hit.memory.id for hit in warm] == [second.id, first.id]
    assert "recalled 3 times before" in warm[0].why
    assert warm[0].parts["heat"] > 0
    assert "heat" not in warm[1].parts
    world.clock.advance(365 * 86_400)
    later = await world.recaller.recall(world.scope, "when was a red kite there", **same_time)
    assert later[0].fit == pytest.approx(later[1].fit, rel=1e-6)


async def test_heat_lifts_nothing_over_what_fits_better(world: Any) -> None:
    await world.add("a red kite over the beach")
    other = await world.add("a boat near the beach")
    for _ in range(100):
        await world.store.touch(world.scope, [other.id])
    assert (await world.ask("red kite over the beach"))[0] == "a red kite over the beach"


async def test_as_of_a_moment_heat_does_not_count(world: Any) -> None:
    made = await world.add("a red kite")
    await world.store.touch(world.scope, [made.id])
    world.clock.advance(60)
    (hit,) = await world.recaller.recall(world.scope, "kite", as_of=world.clock.now())
    assert "heat" not in hit.parts


async def test_a_recall_is_counted_unless_reads_are_not(world: Any) -> None:
    made = await world.add("a red kite")
    await world.ask("kite")
    await world.recaller.flush()
    world.recaller.counts_reads = False
    await world.ask("kite")
    await world.recaller.flush()
    assert (await world.store.get(world.scope, made.id)).access_count == 1
