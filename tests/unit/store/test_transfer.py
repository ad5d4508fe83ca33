"""An export round-trips to the same content hash, across backends, and a damaged one is refused with its line."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from longmind import Document, Longmind, Settings
from longmind.errors import Forbidden, InvalidInput
from longmind.types import Link


def quiet() -> Settings:
    return Settings.load({})


async def filled(longmind: Longmind) -> list[str]:
    mem = longmind.agent("assistant", user="alice")
    one = await mem.remember("I moved to Lisbon — 東京 🙂", metadata={"n": 1.5, "t": True}, tags=["b", "a"])
    two = await mem.remember({"role": "assistant", "content": "noted", "occurred_at": datetime(1999, 1, 1, tzinfo=UTC)})
    await mem.remember(Document(content="# A\n\ntext", title="T"))
    await mem.store.link(mem.scope, Link(source=two.id, relation="derived_from", target=one.id, weight=0.25))
    await mem.update(one.id, importance=0.125)
    gone = await longmind.agent("other").remember("gone")
    await longmind.agent("other").forget(gone.id)
    await longmind.agent("other").configure(recall_k=3)
    return [line async for line in longmind.export()]


async def hashes(longmind: Longmind) -> dict[str, str]:
    return {s.agent: await longmind.store.content_hash(s) for s in await longmind.agents()}


async def test_it_round_trips_into_every_backend(longmind: Longmind, tmp_path: Path) -> None:
    lines = await filled(longmind)
    before = await hashes(longmind)
    for url in ("memory:", str(tmp_path / "copy.db")):
        async with Longmind.open(url, settings=quiet()) as copy:
            done = await copy.load(lines)
            assert (done.memories, done.already_there, done.links) == (4, 0, 1)
            assert await hashes(copy) == before
            again = await copy.load(lines)
            assert (again.memories, again.already_there) == (0, 4)
            assert await hashes(copy) == before
            mem = copy.agent("assistant", user="alice")
            assert (await mem.recall("who moved to Lisbon?", k=1))[0].memory.content.startswith("I moved")
            end = json.loads(lines[-1])["end"]
            assert end["content_hash"] == {f"default/{agent}": value for agent, value in before.items()}


async def test_a_cut_export_is_noticed_and_can_be_repeated() -> None:
    async with Longmind.open("memory:", settings=quiet()) as longmind:
        lines = await filled(longmind)
    async with Longmind.open("memory:", settings=quiet()) as copy:
        with pytest.raises(InvalidInput, match="cut short"):
            await copy.load(lines[:-1])
        assert (await copy.load(lines)).already_there == 4


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["{"], "Line 1 is not JSON"),
        (['{"something": 1}'], "first line"),
        (['{"longmind": 1}', "[]"], "Line 2 is not a JSON object"),
        (['{"longmind": 1}', '{"memory": {"id": "x"}}'], "Line 2: "),
        (['{"longmind": 1}', '{"end": {}}', '{"memory": {}}'], "Line 3 comes after the end"),
    ],
)
async def test_what_is_not_an_export_is_refused_with_its_line(lines: list[str], said: str) -> None:
    async with Longmind.open("memory:", embedder="none", settings=quiet()) as longmind:
        with pytest.raises(InvalidInput, match=said):
            await longmind.load(lines)


async def test_an_import_writes_only_into_its_own_tenant_unless_an_administrator_asks() -> None:
    async with Longmind.open("memory:", embedder="none") as source:
        await source.agent("a", tenant="other").remember("theirs")
        await source.agent("a").shared.propose("Tomatoes need six hours of sun.")
        lines = [line async for line in source.export(across_tenants=True)]
        assert [line async for line in source.export()][1:-1] == [], "neither another tenant nor shared memory"
    async with Longmind.open("memory:", embedder="none") as target:
        for line in lines[1:-1]:
            with pytest.raises(Forbidden, match="tenant"):
                await target.load([lines[0], line, lines[-1]])
        assert await target.store.backend.scopes() == []
        done = await target.load(lines, across_tenants=True)
        assert done.agents == {("other", "a"), ("default", "@shared")}


@pytest.mark.parametrize("line", ['{"link": 5}', '{"memory": 5}', "5", "[" * 100_000, 5, None, b"{}"])
async def test_a_malformed_line_is_our_error(line: Any) -> None:
    async with Longmind.open("memory:", embedder="none") as longmind:
        with pytest.raises(InvalidInput, match="Line 2"):
            await longmind.load(iter(['{"longmind": 1}', line]))
