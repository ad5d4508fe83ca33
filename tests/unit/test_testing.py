"""The fake clock and the memory factory."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from longmind.clock import Clock
from longmind.testing import START, FakeClock, memory
from longmind.types import Scope


def test_time_stands_still_until_it_is_moved() -> None:
    clock = FakeClock()
    assert clock.now() == clock.now() == START
    assert clock.advance(90) == START + timedelta(seconds=90)
    assert clock.advance(timedelta(days=1)) == clock.now() == START + timedelta(days=1, seconds=90)
    clock.set(datetime(1999, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))))
    assert clock.now() == datetime(1999, 1, 1, tzinfo=UTC)


def test_a_ticking_clock_moves_each_time_it_is_asked() -> None:
    clock = FakeClock(tick=timedelta(seconds=2))
    assert [clock.now() - START for _ in range(3)] == [timedelta(seconds=n) for n in (0, 2, 4)]


def test_ids_are_uuid7_of_the_time_shown() -> None:
    made = uuid.UUID(FakeClock().new_id())
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == int(START.timestamp() * 1000)


def test_ids_repeat_with_the_seed_and_differ_without() -> None:
    def ids(seed: int) -> list[str]:
        clock = FakeClock(seed=seed)
        return [clock.new_id() for _ in range(5)]

    assert ids(1) == ids(1)
    assert not {*ids(1)} & {*ids(2)}


def test_ids_sort_in_the_order_they_were_made_even_if_the_clock_is_set_back() -> None:
    clock = FakeClock()
    made = [clock.new_id() for _ in range(5_000)]
    for moment in (START + timedelta(days=1), START - timedelta(days=1), datetime(1, 1, 1, tzinfo=UTC)):
        clock.set(moment)
        made += [clock.new_id() for _ in range(3)]
    assert made == sorted(made)
    assert len({*made}) == len(made)


def test_it_is_a_clock() -> None:
    clock: Clock = FakeClock()
    assert clock.now().tzinfo is UTC


def test_a_memory_of_a_scope() -> None:
    scope = Scope(tenant="acme", agent="a", user="u")
    made = memory("text", scope=scope, clock=FakeClock(), kind="fact", recorded_at=datetime(2000, 1, 1, tzinfo=UTC))
    assert scope.sees(made)
    assert (made.content, made.kind, made.user, made.occurred_at) == ("text", "fact", "u", START)
    assert made.recorded_at.year == 2000


def test_memories_have_ids_of_their_own() -> None:
    assert len({memory().id for _ in range(100)}) == 100


def test_a_memory_is_validated() -> None:
    with pytest.raises(ValidationError):
        memory(importance=2)
