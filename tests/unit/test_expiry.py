"""Memories that expire: no read returns them unless it is asked to, and consolidation removes them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from longmind import Document, InvalidInput, Longmind, Settings
from longmind.testing import FakeClock

DAY = timedelta(days=1)
CODE = "The door code is heron."


async def test_until_it_expires_a_memory_is_like_any_other(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a", user="ann")
    stored = await mem.remember(CODE, expires_at=DAY)
    assert stored.expires_at is not None
    assert timedelta(0) <= DAY - (stored.expires_at - stored.recorded_at) < timedelta(minutes=1)
    assert await mem.get(stored.id) == stored
    assert [hit.memory.id for hit in await mem.recall("door code")] == [stored.id]
    assert "heron" in await mem.context("the door code")


async def test_then_no_read_returns_it_unless_it_is_asked_for(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a", user="ann")
    lasting = await mem.remember("The door is green.", session="s", tags=["door"])
    stored = await mem.remember(CODE, expires_at=DAY, session="s", tags=["door"], metadata={"n": 1})
    keyed = await mem.remember({"code": "heron"}, key="door", expires_at=datetime(2026, 1, 2, tzinfo=UTC))
    await mem.recall("door code")  # the rows that pass are cached from here on
    face_clock.advance(2 * DAY)
    assert [hit.memory.id for hit in await mem.recall("door code")] == [lasting.id]
    assert [hit.memory.id for hit in await mem.recall("door code", where={"tags_any": ["door"]})] == [lasting.id]
    assert "heron" not in await mem.context("the door code")
    assert [memory.id for memory in (await mem.list()).items] == [lasting.id]
    assert [memory.id for memory in await mem.conversation("s").history()] == [lasting.id]
    assert await mem.get(stored.id) is None
    assert await mem.get(key="door") is None
    assert await mem.get(stored.id, include_expired=True) == stored
    assert await mem.get(key="door", include_expired=True) == keyed
    expired = (await mem.list(where={"expired": True})).items
    assert {memory.id for memory in expired} == {stored.id, keyed.id}
    assert len((await mem.list(where={"expired": None})).items) == 3
    hits = await mem.recall("door code", where={"expired": True})
    assert hits[0].memory.id == stored.id
    assert (await mem.history(stored.id))[0].after is not None


async def test_what_will_have_expired_can_be_asked_for(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a")
    stored = await mem.remember(CODE, expires_at=DAY)
    await mem.remember("The door is green.")
    later = face_clock.now() + 2 * DAY
    page = await mem.list(where={"expired": True, "expired_at": later})
    assert [memory.id for memory in page.items] == [stored.id]


async def test_the_next_consolidation_removes_it_and_says_so(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a")
    stored = await mem.remember(CODE, expires_at=DAY)
    await mem.consolidate()
    assert await mem.get(stored.id) is not None
    assert (await mem.consolidate()).stages == ()  # nothing new, nothing due
    face_clock.advance(2 * DAY)
    report = await mem.consolidate()
    assert [(change.action, change.memory_id, change.why) for change in report.proposed] == [
        ("delete", stored.id, "it has expired")
    ]
    assert await mem.get(stored.id, include_expired=True) is None


async def test_nothing_lasting_is_learnt_from_what_expires(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a", user="ann")
    temporary = "I live in Lisbon."
    await mem.remember([{"role": "user", "content": temporary, "name": "Ann"}], session="s", expires_at=DAY)
    await mem.remember([{"role": "assistant", "content": "Nice."}], session="s", expires_at=DAY)
    await mem.consolidate()
    everything = [memory async for memory in longmind.store.scan_all(mem.scope)]
    assert [memory.kind for memory in everything if "Lisbon" in memory.content + json.dumps(memory.body)] == ["message"]


async def test_remembered_again_it_lives_as_long_as_the_later_call_wants(
    longmind: Longmind, face_clock: FakeClock
) -> None:
    mem = longmind.agent("a")
    stored = await mem.remember(CODE, expires_at=DAY)
    longer = await mem.remember(CODE, expires_at=3 * DAY)
    assert longer.id == stored.id
    assert longer.expires_at is not None
    assert stored.expires_at is not None
    assert longer.expires_at > stored.expires_at
    assert (await mem.remember(CODE, expires_at=DAY)).expires_at == longer.expires_at
    face_clock.advance(9 * DAY)
    assert await mem.get(stored.id) is None
    again = await mem.remember(CODE)
    assert (again.id, again.expires_at) == (stored.id, None)
    assert [hit.memory.id for hit in await mem.recall("door code")] == [stored.id]


async def test_what_is_under_a_key_expires_as_was_said_last(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a")
    await mem.remember({"code": 1}, key="door")
    stored = await mem.remember({"code": 1}, key="door", expires_at=DAY)
    assert stored.expires_at is not None
    face_clock.advance(2 * DAY)
    assert await mem.get(key="door") is None
    assert (await mem.remember({"code": 1}, key="door")).expires_at is None
    assert await mem.get(key="door") is not None


async def test_a_document_expires_with_all_its_passages(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a")
    text = "# One\n\nThe menu of today.\n\n# Two\n\nThe wine of today."
    passages = await mem.remember(Document(content=text, title="Menu"), expires_at=DAY)
    assert len({passage.expires_at for passage in passages}) == 1
    face_clock.advance(2 * DAY)
    assert not (await mem.list()).items
    again = await mem.remember(Document(content=text, title="Menu"))
    assert [(m.id, m.expires_at) for m in again] == [(m.id, None) for m in passages]


async def test_expiry_can_be_changed_and_is_forgotten_and_undone_like_the_rest(
    longmind: Longmind, face_clock: FakeClock
) -> None:
    mem = longmind.agent("a")
    stored = await mem.remember(CODE)
    changed = await mem.update(stored.id, expires_at=DAY)
    assert changed.expires_at is not None
    face_clock.advance(2 * DAY)
    assert await mem.get(stored.id) is None
    assert (await mem.forget(where={"kinds": ["message"]})).ids == (stored.id,)
    other = await mem.remember("Another.", expires_at=DAY)
    face_clock.advance(2 * DAY)
    assert (await mem.forget(where={"expired": True}, erase=True)).ids == (other.id,)


@pytest.mark.parametrize(
    "where", [{"expired": False}, {"expired": None}, {"expired_at": datetime(2026, 1, 1, tzinfo=UTC)}]
)
async def test_leaving_expired_ones_out_is_no_filter_to_forget_by(longmind: Longmind, where: dict[str, object]) -> None:
    mem = longmind.agent("a")
    await mem.remember(CODE)
    with pytest.raises(InvalidInput, match="would forget everything"):
        await mem.forget(where=where)


async def test_an_export_keeps_the_moment(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a")
    stored = await mem.remember(CODE, expires_at=DAY)
    lines = [line async for line in longmind.export()]
    async with Longmind.open("memory:", clock=face_clock, settings=Settings.load({})) as other:
        await other.load(lines)
        assert await other.agent("a").get(stored.id) == stored
        face_clock.advance(2 * DAY)
        assert await other.agent("a").get(stored.id) is None


@pytest.mark.parametrize(
    ("expires_at", "message"),
    [
        (datetime(2020, 1, 1, tzinfo=UTC), "has passed"),
        (timedelta(0), "has passed"),
        (timedelta(days=-1), "has passed"),
        (timedelta(days=999_999_999), "too far away"),
        ("soon", "expires_at"),
        (60, "expires_at"),
    ],
)
async def test_a_moment_that_cannot_be_is_refused(longmind: Longmind, expires_at: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        await longmind.agent("a").remember(CODE, expires_at=expires_at)  # type: ignore[call-overload]
    assert not (await longmind.agent("a").list()).items
