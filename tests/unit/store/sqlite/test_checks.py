"""What is wrong is found, told with what to do, and what can be read of a damaged file is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from longmind.errors import ForeignStore, StoreCorrupt, StoreUnavailable
from longmind.store.base import Checkable, Delete, Touch, Update
from longmind.store.conformance.steps import AGENT, SMALL, apply, link, put, unit_vector, update
from longmind.store.sqlite import SqliteBackend, salvage
from longmind.types import Memory


async def filled(store: SqliteBackend, count: int = 8) -> list[Memory]:
    await store.declare_space(SMALL)
    kept = [await put(store, f"number {n}", vector=unit_vector(1, 2, 3, n)) for n in range(count)]
    await link(store, kept[0], "about", kept[1])
    await update(store, kept[0].id, tags=("t",))
    return kept


async def test_a_sound_store_has_no_faults(store: SqliteBackend) -> None:
    assert isinstance(store, Checkable)
    assert await store.check() == []
    await filled(store)
    assert await store.check() == []


FAULTS = {
    "UPDATE memories SET scope = 9 WHERE row & 255 = 1": "memories do not fit the journal",
    "UPDATE journal SET action = 'update' WHERE action = 'put'": "memories do not fit the journal",
    "UPDATE memories SET body = '{' WHERE row & 255 = 1": "not JSON",
    "UPDATE memories SET terms = x'' WHERE row & 255 = 2": "cannot be found by their words",
    "UPDATE memories SET terms = x'FF00000000' WHERE row & 255 = 2": "cannot be found by their words",
    "UPDATE links SET target = 'nobody'": "links begin or end",
    "DELETE FROM journal WHERE row & 255 = 3": "journal with a gap",
    "UPDATE scopes SET head = 99": "journal with a gap",
    "DELETE FROM batches WHERE row & 255 = 1": "who made them",
    "UPDATE vectors_a SET vector = x'00'": "wrong length",
    "INSERT INTO vectors_b VALUES (7, x'00')": "belong to no memory",
    "UPDATE spaces SET epoch = NULL": "which is read",
}


@pytest.mark.parametrize(("tampering", "told"), FAULTS.items())
async def test_what_does_not_fit_is_found(store: SqliteBackend, path: Path, tampering: str, told: str) -> None:
    await filled(store)
    other = apsw.Connection(str(path))
    other.execute(tampering)
    assert other.changes()
    other.close()
    matching_ids = await store.check()
    assert any(told in line for line in matching_ids), matching_ids
    remedies = ("longmind export", "longmind reembed", "longmind doctor --salvage")
    assert all(str(path) in line and any(remedy in line for remedy in remedies) for line in matching_ids)


COLUMNS = {
    "content": "'number 9'",
    "body": "'{}'",
    "metadata": """'{"a": 1}'""",
    "tags": """'["x"]'""",
    "importance": "0.75",
    "trust": "0.1",
    "valence": "0.1",
    "occurred_at": "occurred_at + 1",
    "recorded_at": "recorded_at + 1",
    "valid_from": "0",
    "valid_to": "0",
    "version": "2",
    "session": "'other'",
    "kind": "'fact'",
    "state": "'archived'",
    "key": "'k'",
    "role": "'system'",
    "speaker": "'Ann'",
    "uri": "'a'",
    "span_start": "0",
    "span_end": "0",
    "checksum": "checksum + 1",
}


@pytest.mark.parametrize(("column", "value"), COLUMNS.items())
async def test_a_changed_column_is_told_on_read_and_by_the_check(
    store: SqliteBackend, path: Path, column: str, value: str
) -> None:
    kept = await filled(store)
    other = apsw.Connection(str(path))
    other.execute(f"UPDATE memories SET {column} = {value} WHERE id = ?", (kept[2].id,))
    other.close()
    with pytest.raises(StoreCorrupt, match=f"{kept[2].id}.* is damaged") as refusal:
        await store.get(AGENT, [kept[2].id])
    assert "--salvage" in refusal.value.hint
    assert await store.get(AGENT, [kept[3].id]) == [kept[3]]
    assert any("1 memory is damaged" in line and kept[2].id in line for line in await store.check())
    with pytest.raises(StoreCorrupt):
        await update(store, kept[2].id, trust=0.5)


async def test_changed_terms_are_told_by_the_check(store: SqliteBackend, path: Path) -> None:
    kept = await filled(store)
    other = apsw.Connection(str(path))
    other.execute("UPDATE memories SET terms = CAST(terms || x'00' AS BLOB) WHERE id = ?", (kept[2].id,))
    other.close()
    assert await store.get(AGENT, [kept[2].id]) == [kept[2]]
    assert any("found by wrong words" in line and kept[2].id in line for line in await store.check())


async def test_reads_that_are_counted_and_a_minus_zero_leave_the_checksum_right(store: SqliteBackend) -> None:
    kept = await put(store, "one", valence=-0.0)
    await apply(store, Touch((kept.id,), kept.recorded_at, 1.0))
    assert (await store.get(AGENT, [kept.id]))[0].access_count == 1
    assert await store.check() == []


async def test_no_flipped_bit_of_a_text_goes_unnoticed(path: Path) -> None:
    words = "Grüße aus 東京, said Ann."
    store = await SqliteBackend.open(path)
    kept = [await put(store, f"{words} {n}") for n in range(3)]
    await store.close()
    sound = content_of(path)
    at = sound.index(f"{words} 1".encode())
    for bit in range(8 * len(words.encode())):
        damaged = bytearray(sound)
        damaged[at + bit // 8] ^= 1 << bit % 8
        rewrite(path, damaged)
        store = await SqliteBackend.open(path)
        with pytest.raises(StoreCorrupt, match="is damaged"):
            await store.get(AGENT, [kept[1].id])
        assert await store.get(AGENT, [kept[0].id, kept[2].id]) == [kept[0], kept[2]]
        await store.close()
    rescue = salvage(str(path))
    assert [m.id for m in rescue] == [kept[0].id, kept[2].id]
    assert len(rescue.lost) == 1


def rewrite(path: Path, content: bytes | bytearray) -> None:
    path.write_bytes(content)


def spoil(path: Path, where: str, pick: Callable[[int], bool] = lambda _: True) -> int:
    """Overwrite leaf pages of a table or index; how many."""
    connection = apsw.Connection(str(path))
    pages = [
        p for (p,) in connection.execute("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (where,))
    ]
    connection.close()
    content, hit = bytearray(path.read_bytes()), [page for n, page in enumerate(pages) if pick(n)]
    for page in hit:
        content[(page - 1) * 4096 : page * 4096] = b"\xfe" * 4096
    path.write_bytes(content)
    return len(hit)


async def damaged(path: Path, where: str, pick: Callable[[int], bool] = lambda _: True) -> dict[str, Memory]:
    """A store of 300 memories with some of its pages overwritten; what it held."""
    store = await SqliteBackend.open(path)
    kept = {m.id: m for m in [await put(store, f"{n} " * 50, key=f"k{n}") for n in range(300)]}
    await store.close()
    assert spoil(path, where, pick)
    return kept


async def test_damage_is_told_with_what_to_do(path: Path) -> None:
    await damaged(path, "memories", lambda n: n == 3)
    store = await SqliteBackend.open(path)
    matching_ids = await store.check()
    assert matching_ids
    assert all("damaged" in line and f"longmind doctor --url {path}" in line for line in matching_ids)
    await store.close()


def content_of(path: Path) -> bytes:
    return path.read_bytes()


@pytest.mark.parametrize("where", ["memories_id", "memories_kind", "journal", "memories_occurred"])
async def test_damage_elsewhere_costs_no_memory(path: Path, where: str) -> None:
    kept = await damaged(path, where)
    before = content_of(path)
    rescue = salvage(str(path))
    assert {m.id: m for m in rescue} == kept
    assert rescue.read == 300
    assert rescue.lost == []
    assert content_of(path) == before


async def test_damage_in_the_middle_costs_only_what_lay_there(path: Path) -> None:
    kept = await damaged(path, "memories", lambda n: n in (3, 9))
    rescue = salvage(str(path))
    matching_ids = {m.id: m for m in rescue}
    assert len(kept) - 60 < len(matching_ids) < len(kept)
    assert all(matching_ids[id_] == kept[id_] for id_ in matching_ids)
    assert len(rescue.lost) == len(kept) - len(matching_ids)
    for id_ in kept.keys() - matching_ids.keys():
        assert any(f"(memory {id_})" in line for line in rescue.lost)


async def test_an_agent_whose_name_is_lost_is_still_read(path: Path) -> None:
    kept = await damaged(path, "scopes")
    rescue = salvage(str(path))
    matching_ids = list(rescue)
    assert [m.content for m in matching_ids] == [m.content for m in kept.values()]
    assert {(m.tenant, m.agent) for m in matching_ids} == {("recovered", "agent-1")}


async def test_rows_that_make_no_memory_are_passed_over_and_told(store: SqliteBackend, path: Path) -> None:
    kept = await filled(store)
    other = apsw.Connection(str(path))
    other.execute("UPDATE memories SET body = '{', kind = 'UPPER' WHERE id = ?", (kept[2].id,))
    other.execute("UPDATE memories SET importance = 7 WHERE id = ?", (kept[3].id,))
    other.close()
    rescue = salvage(str(path))
    assert [m.id for m in rescue] == [m.id for m in kept if m not in kept[2:4]]
    assert len(rescue.lost) == 2


async def test_a_log_that_was_not_moved_yet_is_read(store: SqliteBackend, path: Path) -> None:
    kept = await put(store)
    assert [m.id for m in salvage(str(path))] == [kept.id]


def test_what_is_no_store_cannot_be_salvaged(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database " * 100)
    with pytest.raises(ForeignStore):
        list(salvage(str(tmp_path / "text")))
    with pytest.raises(StoreUnavailable):
        list(salvage(str(tmp_path / "missing.db")))


async def test_erased_content_is_not_in_the_files(path: Path) -> None:
    secret = "the-word-nobody-may-find " * 300
    store = await SqliteBackend.open(path)
    kept = await put(store, "kept")
    gone = await put(store, secret, metadata={"note": "the-word-nobody-may-find"}, key="the-word-nobody-may-find")
    await update(store, gone.id, content=secret.upper())
    await link(store, kept, "the-word-nobody-may-find", gone)
    assert leaked(path)
    await apply(store, Delete(gone.id, erase=True))
    assert not leaked(path)
    assert [c.action for c in await store.journal(AGENT)] == ["put", "put", "update", "link", "erase"]
    await store.close()
    assert not leaked(path)


async def test_why_something_erased_was_changed_is_not_in_the_files(path: Path) -> None:
    store = await SqliteBackend.open(path)
    kept, gone = await put(store, "kept"), await put(store, "gone")
    await apply(store, Update(gone.id, {"tags": ("a",)}), reason="the-word-nobody-may-find was stolen")
    await apply(store, Update(gone.id, {"tags": ("b",)}), Update(kept.id, {"tags": ("b",)}), reason="tags")
    assert leaked(path)
    await apply(store, Delete(gone.id, erase=True))
    assert not leaked(path)
    told = [(change.action, change.reason) for change in await store.journal(AGENT)]
    assert told == [("put", ""), ("put", ""), ("update", ""), ("update", ""), ("update", ""), ("erase", "")]
    assert await store.check() == []
    await store.close()
    assert not leaked(path)


async def test_what_erased_content_was_before_is_not_in_free_pages(path: Path) -> None:
    """A long text has pages of its own; replacing it frees them, and they must not keep what they held."""
    store = await SqliteBackend.open(path)
    gone = await put(store, "the-word-nobody-may-find " * 2_000)
    await apply(store, Update(gone.id, {"content": "short"}))
    await apply(store, Update(gone.id, {"tags": ("b",)}))
    await apply(store, Delete(gone.id, erase=True))
    await store.close()
    assert not leaked(path)


def leaked(path: Path) -> bool:
    word = b"the-word-nobody-may-find"
    files = [path, path.with_name(f"{path.name}-wal")]
    return any(w in f.read_bytes() for f in files if f.exists() for w in (word, word.upper()))


async def test_links_between_what_was_read_are_read_too(store: SqliteBackend, path: Path) -> None:
    kept = await filled(store)
    await link(store, kept[2], "about", kept[3])
    other = apsw.Connection(str(path))
    other.execute("UPDATE memories SET importance = 7 WHERE id = ?", (kept[3].id,))
    other.close()
    rescue = salvage(str(path))
    list(rescue)
    assert [(scope.agent, one.source, one.target) for scope, one in rescue.links] == [
        (kept[0].agent, kept[0].id, kept[1].id)
    ]
