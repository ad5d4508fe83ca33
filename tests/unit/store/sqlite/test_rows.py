"""A memory read from its row is the memory that was written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind.store.sqlite import rows
from longmind.testing import memory
from longmind.types import Link, Memory, Scope, Source

FULL = memory(
    "All fields.",
    scope=Scope(tenant="acme", agent="assistant", user="alice"),
    version=7,
    session="s1",
    kind="fact",
    key="k",
    body={"a": [1, 2.5, None, True, {"ü": "\n"}]},
    importance=0.25,
    valence=-1.0,
    tags=("one", "zwei"),
    metadata={"n": 1, "f": 1.0, "t": True},
    source=Source(role="document", name="Caroline", uri="file:x", span=(0, 3)),
    trust=0.4,
    occurred_at=datetime(1, 1, 1, tzinfo=UTC),
    recorded_at=datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    valid_from=datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    valid_to=datetime(2000, 2, 29, 12, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    expires_at=datetime(2031, 5, 6, tzinfo=UTC),
    access_count=3,
    last_accessed_at=datetime(2024, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
    interaction=0.1,
    state="superseded",
)


def again(given: Memory) -> Memory:
    row = rows.memory_row(given)
    return rows.memory((*row[:12], *row[13:24], *row[25:], row[24]), given.tenant, given.agent)


@pytest.mark.parametrize("record", [memory(), FULL], ids=["plain", "full"])
def test_memory(record: Memory) -> None:
    read = again(record)
    assert read == record
    assert read.model_dump_json() == record.model_dump_json()
    assert Memory.model_validate(read.model_dump()) == record
    assert read.model_copy(update={"version": 9}).version == 9
    assert repr(read) == repr(record)
    with pytest.raises(ValueError, match="frozen"):
        read.version = 2


def test_memories_share_no_body() -> None:
    record = memory(body={"a": []}, metadata={})
    first, second = again(record), again(record)
    first.body["a"].append(1)
    first.metadata["b"] = 1
    assert second == record


@pytest.mark.parametrize("metadata", [{}, {"why": ["x"]}])
def test_link(metadata: dict[str, object]) -> None:
    record = Link(
        source=memory().id,
        relation="is ü",
        target=memory().id,
        weight=0.3,
        valid_from=FULL.valid_from,
        metadata=metadata,
    )
    assert rows.link(rows.link_row(record)) == record
    assert rows.link(rows.link_row(record)).model_dump_json() == record.model_dump_json()


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_are_exact(moment: datetime) -> None:
    assert rows.moment(rows.micros(moment)) == moment
    assert rows.micros(moment) / 1_000_000 == moment.timestamp()


def test_what_no_text_can_be_is_sought_as_bytes() -> None:
    assert rows.lookup_text("ü") == "ü"
    assert rows.lookup_text(None) is None
    assert isinstance(rows.lookup_text("\ud800"), bytes)


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_every_microsecond_of_every_year_is_told_apart(value: int) -> None:
    assert rows.micros(rows.moment(value)) == value


@pytest.mark.parametrize("value", [0, 1, 2**32 * 1_000_000 - 1, 2**32 * 1_000_000, 1_715_170_000_123_457])
def test_moments_at_the_edges_of_the_fast_way(value: int) -> None:
    assert rows.moment(value) == rows.EPOCH + timedelta(microseconds=value)


@pytest.mark.parametrize("damaged", ["{", "", '{"a":1}}', "nonsense"])
def test_json_that_is_damaged_is_not_taken_for_something_else(damaged: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        rows.parsed(damaged)
