"""Two servers on one store: each sees what the other has acknowledged, and a feed hears the writes of both."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from benchmarks.serve.server import served
from longmind import Longmind
from longmind.errors import VersionConflict


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def addresses(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The addresses of two servers on one store; each test has an agent of its own."""
    folder = tmp_path_factory.mktemp("store")
    if request.param == "sqlite":
        url = str(folder / "memory.db")
    else:
        url = str(request.getfixturevalue("start_postgres")().url)
    options = (url, folder / "log", "--no-consolidation")
    with served(*options) as one, served(*options) as two:
        yield one.address, two.address


async def test_each_reads_what_the_other_wrote(addresses: tuple[str, str]) -> None:
    async with Longmind.open(addresses[0]) as one, Longmind.open(addresses[1]) as two:
        faces = [one.agent("reader"), two.agent("reader")]
        for number in range(10):
            writer, reader = faces[number % 2], faces[1 - number % 2]
            stored = await writer.remember(f"Parcel {number} is in the {'cellar attic garden'.split()[number % 3]}.")
            assert await reader.get(stored.id) == stored
            hits = await reader.recall(f"where is parcel {number}?", k=3)
            assert stored.id in {hit.memory.id for hit in hits}
            await writer.update(stored.id, content=f"Parcel {number} was delivered.")
            hits = await reader.recall(f"where is parcel {number}?", k=10)
            assert f"Parcel {number} was delivered." in {hit.memory.content for hit in hits}
            await reader.forget(stored.id)
            assert stored.id not in {hit.memory.id for hit in await writer.recall(f"parcel {number}", k=10)}


async def test_a_change_that_the_other_made_meanwhile_is_not_overwritten(addresses: tuple[str, str]) -> None:
    async with Longmind.open(addresses[0]) as one, Longmind.open(addresses[1]) as two:
        stored = await one.agent("changer").remember("Tea at four.")
        await two.agent("changer").update(stored.id, content="Tea at five.", expected_version=stored.version)
        with pytest.raises(VersionConflict):
            await one.agent("changer").update(stored.id, content="Tea at six.", expected_version=stored.version)


async def test_a_request_repeated_at_the_other_is_carried_out_once(addresses: tuple[str, str]) -> None:
    async with Longmind.open(addresses[0]) as one, Longmind.open(addresses[1]) as two:
        first = await one.agent("repeater").remember("Tea at four.", operation="once")
        again = await two.agent("repeater").remember("Tea at four.", operation="once")
        assert (await two.agent("repeater").stats()).memories == 1
        assert again.id == first.id


async def test_a_feed_hears_the_writes_of_both_in_their_order(addresses: tuple[str, str]) -> None:
    async with Longmind.open(addresses[0]) as one, Longmind.open(addresses[1]) as two:
        faces = [one.agent("listener"), two.agent("listener")]
        async with aclosing(faces[0].watch(after=0)) as feed:  # type: ignore[type-var]
            stored = [await faces[number % 2].remember(f"Number {number}.") for number in range(6)]
            async with asyncio.timeout(60):
                heard = [await anext(feed) for _ in stored]
    assert [change.memory_id for change in heard] == [memory.id for memory in stored]
    assert [change.seq for change in heard] == sorted({change.seq for change in heard})
