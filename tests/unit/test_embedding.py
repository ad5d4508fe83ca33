"""A store keeps the embedder it was built with, and changes it while it is in use."""

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from longmind import Longmind, Settings
from longmind.errors import InvalidSetting, ModelError, ModelMismatch, ModelMissing
from longmind.store.base import Batch, Space, Update
from longmind.testing import START
from longmind.types import Scope


class Hashing:
    """A small deterministic embedder: each word points somewhere. ``asked`` counts the texts."""

    def __init__(self, name: str = "hashing/16", dimensions: int = 16, pause: float = 0.0) -> None:
        self.name, self.dimensions, self.pause = name, dimensions, pause
        self.asked = 0
        self.fails = False

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        if self.fails:
            raise ModelError("The embedder is down.")
        self.asked += len(texts)
        if texts:
            await asyncio.sleep(self.pause)
        made = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                made[row, hashlib.sha256((self.name + word).encode()).digest()[0] % self.dimensions] += 1
        norms = np.linalg.norm(made, axis=1, keepdims=True)
        return made / np.where(norms == 0, 1, norms)

    async def close(self) -> None:
        """Nothing to let go of."""


def quiet() -> Settings:
    return Settings.load({})


async def test_every_memory_gets_a_vector_of_the_recorded_space(face_url: str) -> None:
    async with Longmind.open(face_url, embedder=Hashing(), settings=quiet()) as longmind:
        mem = longmind.agent("a")
        await mem.remember(["one two", "three"])
        assert (await mem.stats()).vectors == 2
        assert await longmind.store.backend.space() == Space("hashing/16", 16)


async def test_a_store_built_with_another_says_so_and_keeps_its_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = str(tmp_path / "m.db")
    async with Longmind.open(url, embedder="static", settings=quiet()) as longmind:
        await longmind.agent("a").remember("the cat sat")
    with caplog.at_level(logging.WARNING, "longmind"):
        async with Longmind.open(url, embedder=Hashing(), settings=quiet()) as longmind:
            assert longmind.embedding.embedder is not None
            assert longmind.embedding.embedder.name.startswith("static/")
            assert "reembed" in (longmind.embedding.notice or "")
            assert (await longmind.agent("a").recall("cat"))[0].memory.content == "the cat sat"
    assert "keeps it" in caplog.text


async def test_reembedding_a_live_store_loses_nothing(face_url: str) -> None:
    async with Longmind.open(face_url, embedder=Hashing(), settings=quiet()) as longmind:
        mem = longmind.agent("a")
        await mem.remember([f"thing number {n}" for n in range(600)])
        new = Hashing("hashing/32", 32, pause=0.01)
        seen: list[int] = []

        async def use_it() -> None:
            for n in range(20):
                await mem.remember(f"written meanwhile {n}")
                assert await mem.recall("thing number 7", k=3)
                await asyncio.sleep(0.005)

        done, _ = await asyncio.gather(longmind.reembed(new, lambda made, total: seen.append(made)), use_it())
        assert await longmind.store.backend.space() == Space("hashing/32", 32)
        stats = await mem.stats()
        assert stats.vectors == stats.memories == 620
        assert done >= 600
        assert seen == sorted(seen)
        assert await longmind.reembed(new) == 0
        assert (await mem.recall("thing number 7", k=1))[0].memory.content == "thing number 7"


async def test_reembedding_ends_though_others_write_faster_than_it_embeds(face_url: str) -> None:
    async with (
        Longmind.open(face_url, embedder=Hashing(), settings=quiet()) as one,
        Longmind.open(face_url, embedder=Hashing(), settings=quiet()) as other,
    ):
        mem = one.agent("a")
        await mem.remember([f"thing number {n}" for n in range(300)])
        new = Hashing("hashing/32", 32, pause=0.1)
        over = asyncio.Event()

        async def write(longmind: Longmind, who: str) -> int:
            count = 0
            while not over.is_set():
                try:
                    await longmind.agent("a").remember([f"{who} {count + n}" for n in range(200)])
                except ModelMissing:
                    break  # it cannot follow: the new embedder is ours alone
                count += 200
                await asyncio.sleep(0)
            return count

        async def read() -> None:
            while not over.is_set():
                assert await mem.recall("thing number 7", k=1)
                await asyncio.sleep(0.01)

        others = () if face_url == "memory:" else ((other, "other"),)  # there it is another store
        writers = [asyncio.create_task(write(longmind, who)) for longmind, who in ((one, "one"), *others)]
        reader = asyncio.create_task(read())
        told: list[tuple[int, int]] = []
        async with asyncio.timeout(120):
            done = await one.reembed(new, lambda made, total: told.append((made, total)))
        over.set()
        await reader
        written = sum(await asyncio.gather(*writers))
        assert await one.store.backend.space() == Space("hashing/32", 32)
        stats = await mem.stats()
        assert stats.vectors == stats.memories == 300 + written
        assert 300 < done <= stats.memories
        assert told[-1] == (done, done)
        assert await one.store.backend.check() == []  # type: ignore[attr-defined]


async def test_another_process_follows_the_switch(tmp_path: Path) -> None:
    url = str(tmp_path / "m.db")
    async with (
        Longmind.open(url, embedder="static", settings=quiet()) as one,
        Longmind.open(url, settings=quiet()) as other,
    ):
        await one.agent("a").remember("cats purr")
        assert await other.agent("a").recall("purr")
        await one.reembed("minilm-int8")
        assert (await other.agent("a").recall("purr"))[0].memory.content == "cats purr"
        await other.agent("a").remember("dogs bark")
        assert other.embedding.embedder is not None
        assert other.embedding.embedder.name.startswith("minilm")
        stats = await one.agent("a").stats()
        assert stats.vectors == stats.memories == 2


async def test_a_batch_of_another_space_is_refused_inside_the_store(face_url: str) -> None:
    async with Longmind.open(face_url, embedder=Hashing(), settings=quiet()) as longmind:
        mem = longmind.agent("a")
        stored = await mem.remember("one")
        with pytest.raises(ModelMismatch):
            await longmind.store.backend.apply(_of_another_space(mem.scope, stored.id))
        assert (await mem.get(stored.id)) == stored


def _of_another_space(scope: Scope, id: str) -> Batch:
    write = Update(id, {"content": "two"}, vector=np.eye(16, dtype=np.float32)[0])
    return Batch(scope=scope, operation="o", at=START, writes=(write,), space="hashing/of-somebody-else")


async def test_nothing_is_stored_when_the_embedder_fails(face_url: str) -> None:
    embedder = Hashing()
    async with Longmind.open(face_url, embedder=embedder, settings=quiet()) as longmind:
        mem = longmind.agent("a")
        embedder.fails = True
        with pytest.raises(ModelError):
            await mem.remember("lost?")
        embedder.fails = False
        assert (await mem.stats()).memories == 0
        await mem.remember("lost?")


async def test_undoing_brings_the_vector_back(face_url: str) -> None:
    async with Longmind.open(face_url, embedder=Hashing(), settings=quiet()) as longmind:
        mem = longmind.agent("a")
        stored = await mem.remember("one two")
        await mem.forget(stored.id)
        await mem.undo((await mem.history(stored.id))[-1].operation)
        assert (await mem.stats()).vectors == 1


async def test_a_store_works_without_an_embedder(face_url: str) -> None:
    async with Longmind.open(face_url, embedder="none", settings=quiet()) as longmind:
        mem = longmind.agent("a")
        await mem.remember("cats purr")
        assert (await mem.recall("purring cat"))[0].memory.content == "cats purr"
        assert (await mem.stats()).vectors == 0
        with pytest.raises(InvalidSetting):
            await longmind.reembed("none")
