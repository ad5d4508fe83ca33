"""The audit: one chain whatever the number of writers, and every way to change it is found."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from longmind.clock import SystemClock
from longmind.config import Settings
from longmind.errors import InvalidInput, StoreUnavailable
from longmind.security import AccessStore, AuditEvent, AuditHead, AuditLog, AuditWriter, StoredLine
from longmind.security.archive import read_archives, write_archive
from longmind.security.audit import chain, hash_of, verify
from longmind.store.access import access_store

_CLOCK = SystemClock()


def event(tenant: str = "acme", **more: object) -> AuditEvent:
    fields = {"operation": "recall.recall", "http": "POST", "status": 200, "request_id": _CLOCK.new_id(), **more}
    return AuditEvent(at=_CLOCK.now(), tenant=tenant, **fields)  # type: ignore[arg-type]


async def each(lines: list[StoredLine]) -> AsyncIterator[StoredLine]:
    for line in lines:
        yield line


async def all_lines(access: AccessStore) -> list[StoredLine]:
    return [line async for line in access.lines(0)]


async def test_the_lines_of_many_writers_are_one_chain(store_url: str) -> None:
    stores = [access_store(store_url, Settings.load({})) for _ in range(3)]
    writers = [AuditWriter(store) for store in stores]
    await asyncio.gather(*(writer.write(event(agent=f"a{n}")) for n in range(40) for writer in writers))
    head = await stores[0].head()
    lines = await all_lines(stores[1])
    assert [line.seq for line in lines] == [*range(1, 121)]
    assert len({line.parsed().request_id for line in lines}) == 120
    found = await verify(each(lines), head)
    assert (found.ok, found.lines, found.head) == (True, 120, f"120:{lines[-1].hash}")
    for store in stores:
        await store.close()


async def test_events_that_wait_together_are_one_commit(access: AccessStore, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[int] = []
    append = access.append

    async def counted(events: list[AuditEvent]) -> AuditHead:
        commits.append(len(events))
        return await append(events)

    monkeypatch.setattr(access, "append", counted)
    writer = AuditWriter(access)
    await asyncio.gather(*(writer.write(event()) for _ in range(50)))
    assert sum(commits) == 50
    assert len(commits) <= 2


async def test_a_writer_fails_who_waits_and_goes_on(access: AccessStore, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(events: object) -> None:
        raise StoreUnavailable("no")

    writer = AuditWriter(access)
    with monkeypatch.context() as patched:
        patched.setattr(access, "append", full)
        with pytest.raises(StoreUnavailable):
            await writer.write(event())
    await writer.write(event())
    assert (await access.head()).seq == 1


def edited(lines: list[StoredLine], place: int, **fields: object) -> list[StoredLine]:
    line = lines[place]
    text = json.dumps(json.loads(line.text) | fields, sort_keys=True, separators=(",", ":"))
    return [*lines[:place], line._replace(text=text), *lines[place + 1 :]]


def rehashed(lines: list[StoredLine], place: int) -> list[StoredLine]:
    """Change a line and give it a hash that fits."""
    lines = edited(lines, place, agent="innocent")
    line = lines[place]._replace(hash=hash_of(lines[place - 1].hash, lines[place].text))
    return [*lines[:place], line, *lines[place + 1 :]]


def swapped(lines: list[StoredLine], place: int) -> list[StoredLine]:
    """Exchange two lines and leave their numbers in order."""
    first, second = lines[place], lines[place + 1]
    pair = [second._replace(seq=first.seq), first._replace(seq=second.seq)]
    return [*lines[:place], *pair, *lines[place + 2 :]]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda lines: edited(lines, 4, agent="innocent"), "changed"),
        (lambda lines: edited(lines, 4, tenant="other"), "changed"),
        (lambda lines: rehashed(lines, 4), "changed"),
        (lambda lines: [*lines[:4], lines[4]._replace(tenant="other"), *lines[5:]], "changed"),
        (lambda lines: [*lines[:4], lines[4]._replace(text="{"), *lines[5:]], "changed"),
        (lambda lines: rehashed(lines, 9), "changed"),
        (lambda lines: [*lines[:4], *lines[5:]], "removed"),
        (lambda lines: lines[3:], "removed"),
        (lambda lines: lines[:-1], "removed"),
        (lambda lines: [], "removed"),
        (lambda lines: swapped(lines, 4), "reordered"),
        (lambda lines: swapped(lines, 8), "reordered"),
    ],
)
async def test_every_change_is_found(change: Callable[[list[StoredLine]], list[StoredLine]], kind: str) -> None:
    lines, head = chain(AuditHead(), [event(agent=f"a{n}") for n in range(10)])
    assert (await verify(each(lines), head)).ok
    assert kind in {fault.kind for fault in (await verify(each(change(lines)), head)).faults}


async def test_an_anchor_finds_a_chain_that_was_written_anew() -> None:
    events = [event(agent=f"a{n}") for n in range(10)]
    _, head = chain(AuditHead(), events)
    forged, forged_head = chain(AuditHead(), events[:4] + events[5:])
    assert (await verify(each(forged), forged_head)).ok
    assert not (await verify(each(forged), forged_head, [head.anchor])).ok
    cut, cut_head = chain(AuditHead(), events[:8])
    assert [f.kind for f in (await verify(each(cut), cut_head, [head.anchor])).faults] == ["removed"]
    assert (await verify(each(cut), cut_head, [cut_head.anchor])).ok
    with pytest.raises(InvalidInput):
        await verify(each(cut), cut_head, ["nonsense"])


async def test_old_lines_go_into_a_file_that_continues_the_chain(access: AccessStore, tmp_path: Path) -> None:
    await access.append([event(agent=f"a{n}") for n in range(5)])
    later = _CLOCK.now() + timedelta(seconds=1)
    head = await access.head()
    path = tmp_path / "old.jsonl"
    moved = await write_archive(path, access.lines(0), later)
    assert moved is not None
    assert moved.seq == 5
    await access.rotate(head.model_copy(update={"base_seq": moved.seq, "base_hash": moved.hash}))
    await access.append([event(agent="new")])
    rest = await all_lines(access)
    assert [line.seq for line in rest] == [6]
    assert (await verify(each(rest), await access.head(), [head.anchor])).ok
    archived = [line async for line in read_archives([path])]
    whole = (await access.head()).model_copy(update={"base_seq": 0, "base_hash": "0" * 64})
    assert (await verify(each([*archived, *rest]), whole)).lines == 6
    assert (await verify(each([*archived, *rest]), whole)).ok
    assert not (await verify(each([]), await access.head())).ok
    with pytest.raises(InvalidInput):
        await write_archive(path, access.lines(0), later)
    assert await write_archive(tmp_path / "none.jsonl", access.lines(0), later - timedelta(days=1)) is None
    assert not (tmp_path / "none.jsonl").exists()


async def test_a_tenant_sees_its_own_lines_the_newest_first(access: AccessStore) -> None:
    await access.append([event(["acme", "umbrella"][n % 2], agent=f"a{n}\0", key=f"k{n % 3}") for n in range(20)])
    log = AuditLog(access, "acme")
    first = await log.list(limit=6)
    second = await log.list(limit=6, cursor=first.cursor)
    assert [line.agent for line in (*first.items, *second.items)] == [f"a{n}\ufffd" for n in range(18, -1, -2)]
    assert second.cursor is None
    assert {line.key for line in (await log.list(key="k1")).items} == {"k1"}
    assert len((await log.list(agent="a4\ufffd", operation="recall.recall")).items) == 1
    assert (await log.list(operation="other")).items == ()
    assert (await AuditLog(access, "nobody").list()).items == ()
    with pytest.raises(InvalidInput):
        await log.list(cursor="x")
