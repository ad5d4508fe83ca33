"""Extreme values are read back exactly as they were stored."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from longmind.store.base import Backend, Put, Update
from longmind.store.conformance.steps import AGENT, NOON, apply, feed, get, journal, link, links, put, update
from longmind.testing import memory
from longmind.types import MAX_CONTENT, MAX_TAGS, Filter, Scope

FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
TEXTS = {
    "empty": "",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 é",
    "right to left": "\u202eשלום مرحبا\u202c",
    "quotes": "' '' \" ` ; -- /* */ \\ \\n %s %(x)s {0} $1 ?",
    "whitespace": "\t\r\n \u00a0\u2028\u3000",
    "controls": "\x01\x1f\x7f\x85",
    "edges of Unicode": "\ufeff\ufffd\uffff\U0010ffff",
    "looks like JSON": '{"a": [1, "\\u0000"]}',
    "not composed": "e\u0301 is not \u00e9",
}
NAMES = (
    "o'neil",
    'say "x"',
    "100%",
    "a;b",
    "drop -- table",
    "a\\b",
    "名前",
    "😀",
    "A",
    "a",
    "_",
    "x" * 200,
    "NULL",
    "ı",
)
NUMBERS = (
    0,
    -1,
    2**53 + 1,
    2**63 - 1,
    -(2**63) + 1,
    0.1,
    -2.5,
    1e-300,
    5e-324,
    1e300,
    1.7976931348623157e308,
    1e16,
    1.0,
)
JSON = {
    "scalars": [None, True, False, "", "text", *NUMBERS],
    "nested": {"a": {"b": [[], {}, [[{"c": None}]]]}},
    **{text: text for text in TEXTS.values()},
}


class Values:
    """What the types allow is stored and comes back the same: every text, every moment from the year 1 to 9999 to the
    microsecond, every JSON value with its type."""

    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
    async def test_every_text(self, backend: Backend, text: str) -> None:
        new = await put(backend, text, body={"text": text}, metadata={"text": text})
        assert await get(backend, new.id) == new
        await update(backend, new.id, content=text + "!")
        assert (await journal(backend))[-1].before == {"content": text}
        assert (await feed(backend)).rows[0].id == new.id

    async def test_a_megabyte(self, backend: Backend) -> None:
        long = ("word 😀 'x' " * MAX_CONTENT)[:MAX_CONTENT]
        new = await put(backend, long)
        assert await get(backend, new.id) == new
        await update(backend, new.id, content="short")
        put_line, update_line = await journal(backend)
        assert update_line.before == {"content": long}
        assert put_line.after is not None
        assert put_line.after["content"] == long

    async def test_every_json_value(self, backend: Backend) -> None:
        new = memory(scope=AGENT, body=JSON, metadata=JSON)
        other = await put(backend)
        await apply(backend, Put(new))
        await link(backend, new, "x", new, metadata=JSON)
        await apply(backend, Update(other.id, {"body": JSON, "metadata": JSON}))
        (loop,) = await links(backend, new.id)
        stored, changed = await backend.get(AGENT, [new.id, other.id])
        for told in (stored.body, stored.metadata, changed.body, changed.metadata, loop.metadata):
            assert _text(told) == _text(JSON)
        put_line, link_line, update_line = (await journal(backend))[1:]
        assert put_line.after is not None
        assert link_line.after is not None
        assert update_line.after is not None
        for told in (put_line.after["body"], link_line.after["metadata"], update_line.after["metadata"]):
            assert _text(told) == _text(JSON)

    async def test_json_at_the_greatest_depth(self, backend: Backend) -> None:
        deep: dict[str, Any] = {}
        for _ in range(31):
            deep = {"a": deep}
        new = await put(backend, body=deep)
        assert await get(backend, new.id) == new

    @pytest.mark.parametrize(
        "moment", [FIRST, LAST, NOON + timedelta(microseconds=1), datetime(1969, 12, 31, 23, 59, 59, 1, UTC)]
    )
    async def test_every_moment(self, backend: Backend, moment: datetime) -> None:
        times: dict[str, Any] = {"occurred_at": moment, "recorded_at": moment, "valid_from": moment, "valid_to": moment}
        times["expires_at"] = moment
        new = await put(backend, **times, last_accessed_at=moment)
        assert await get(backend, new.id) == new
        loop = await link(backend, new, "x", new, valid_from=moment, valid_to=moment)
        assert await links(backend, new.id) == [loop]
        (row,) = (await feed(backend)).rows
        for told in (row.occurred_at, row.recorded_at, row.valid_from, row.valid_to):
            assert told == pytest.approx(moment.timestamp(), abs=1e-4)
        changed = await update(backend, new.id, valid_to=None, occurred_at=NOON)
        assert await get(backend, new.id) == changed
        before = (await journal(backend))[-1].before
        assert before is not None
        assert datetime.fromisoformat(before["occurred_at"]) == moment
        assert await backend.matching(AGENT, Filter(since=FIRST, until=LAST, recorded_since=moment)) == {new.id}

    async def test_moments_of_other_zones_are_told_in_utc(self, backend: Backend) -> None:
        there = NOON.astimezone(timezone(timedelta(hours=-7, minutes=-30)))
        new = await put(backend, occurred_at=there)
        stored = await get(backend, new.id)
        assert stored is not None
        assert stored.model_dump(mode="json")["occurred_at"] == "2026-01-01T12:00:00Z"
        assert await backend.matching(AGENT, Filter(since=there, until=there + timedelta(microseconds=1))) == {new.id}

    @pytest.mark.parametrize("name", NAMES)
    async def test_every_name(self, backend: Backend, name: str) -> None:
        scope = Scope(tenant=name, agent=name, user=name)
        new = await put(backend, scope=scope, session=name, key=name, tags=(name[:100],), source={"name": name})
        await put(backend, scope=Scope(tenant=name, agent=name, user="somebody else"))
        assert await get(backend, new.id, scope) == new
        where = Filter(users=(name,), sessions=(name,), keys=(name,), tags_all=(name[:100],), speakers=(name,))
        assert await backend.matching(scope, where) == {new.id}
        assert [c.memory_id for c in await journal(backend, scope)] == [new.id]
        assert await backend.scopes() == [Scope(tenant=name, agent=name, all_users=True)]

    async def test_names_that_look_alike_are_different(self, backend: Backend) -> None:
        for name in NAMES:
            await put(backend, name, scope=Scope(tenant="t", agent=name), key=name)
        for name in NAMES:
            page = await backend.scan(Scope(tenant="t", agent=name), Filter())
            assert [(m.content, m.agent) for m in page.items] == [(name, name)]

    async def test_numbers_keep_every_bit(self, backend: Backend) -> None:
        new = await put(backend, importance=0.1, trust=1 / 3, valence=-2 / 3, interaction=1e15 / 7, access_count=2**31)
        assert await get(backend, new.id) == new
        loop = await link(backend, new, "x", new, weight=1e300 / 3)
        assert await links(backend, new.id) == [loop]

    async def test_as_many_tags_as_there_may_be_in_their_order(self, backend: Backend) -> None:
        new = await put(backend, tags=tuple(f"tag {n * 7919 % 1000}" for n in range(MAX_TAGS)))
        assert await get(backend, new.id) == new
        again = await put(backend, tags=("b", "a", "b"))
        assert await get(backend, again.id) == again


def _text(value: Any) -> str:
    """JSON text, in which 1, 1.0 and true are different."""
    return json.dumps(value, sort_keys=True)
