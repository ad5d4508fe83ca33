"""The stores of the tenants: a file for each on SQLite, of which only some are open."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from longmind import Longmind, Settings
from longmind.errors import LongmindError
from longmind.recall.engine import Recaller
from longmind.server.tenants import Tenants, TenantView

CANARY = "xylophone"


def tenants(folder: Path, limit: int) -> Tenants:
    settings = Settings.load({"LONGMIND_EMBEDDER": "none"})
    return Tenants(str(folder / "memory.db"), settings, open_limit=limit, consolidation=False)


def read_all(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


async def test_each_tenant_has_a_file_of_its_own(tmp_path: Path) -> None:
    stores = tenants(tmp_path, 8)
    for name in ("default", "acme", "globex"):
        async with stores.open(name) as longmind:
            await longmind.agent("a").remember(f"{CANARY} of {name}")
    for name in ("default", "acme", "globex"):
        async with stores.open(name) as longmind:
            assert [m.content for m in (await longmind.agent("a").list()).items] == [f"{CANARY} of {name}"]
    await stores.close()
    contents = [content for content in read_all(tmp_path) if CANARY.encode() in content]
    assert len(contents) == 3
    for name in ("default", "acme", "globex"):
        assert sum(f"{CANARY} of {name}".encode() in content for content in contents) == 1


async def test_those_not_in_use_are_closed_first_and_none_in_use_is(tmp_path: Path) -> None:
    stores = tenants(tmp_path, 2)
    async with stores.open("busy") as busy:
        for name in ("one", "two", "three"):
            async with stores.open(name) as longmind:
                await longmind.agent("a").remember(name)
            assert stores.count <= 2
        await busy.agent("a").remember("It is open still.")
        async with stores.open("one") as longmind:
            assert [m.content for m in (await longmind.agent("a").list()).items] == ["one"]
    await stores.close()
    assert stores.count == 0


async def test_many_at_once_open_a_store_once(tmp_path: Path) -> None:
    stores = tenants(tmp_path, 1)

    async def write(number: int) -> None:
        async with stores.open(f"tenant-{number % 3}") as longmind:
            await longmind.agent("a").remember(f"Number {number}.")

    await asyncio.gather(*(write(number) for number in range(12)))
    assert stores.count <= 1
    for number in range(3):
        async with stores.open(f"tenant-{number}") as longmind:
            assert len((await longmind.agent("a").list()).items) == 4
    await stores.close()


async def test_a_store_that_cannot_be_opened_is_tried_again(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    folder.write_text("in the way")
    stores = tenants(folder, 2)
    with pytest.raises(LongmindError):
        async with stores.open("default"):
            pass
    assert stores.count == 0
    folder.unlink()
    folder.mkdir()
    async with stores.open("default") as longmind:
        await longmind.agent("a").remember("Now it is there.")
    await stores.close()


async def test_an_erasure_of_one_tenant_lets_go_of_what_recall_has_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten: list[Recaller] = []

    async def forget_texts(recaller: Recaller) -> None:
        forgotten.append(recaller)

    monkeypatch.setattr(Recaller, "forget_texts", forget_texts)
    async with Longmind.open(str(tmp_path / "memory.db"), embedder="none") as whole:
        tenant = TenantView(whole, "acme")
        stored = await tenant.agent("a", "ana").remember(CANARY)
        await tenant.agent("a", "ana").recall(CANARY)
        await tenant.agent("a", "ana").forget(stored.id, erase=True)
        await tenant.erase_user("ana")
        assert forgotten == [await whole.recaller()] * 4  # before and after each
