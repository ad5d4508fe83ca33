"""Random histories with words of one user, then an erasure: no byte of any file of the store holds such a word.

The same histories on the other backends, where every text of every table is looked at.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from longmind import Longmind, Settings
from longmind.agent_memory import AgentMemory
from longmind.errors import Conflict, NotFound
from longmind.testing import FakeClock
from longmind.types import Filter

HISTORIES = 30
STEPS = 14
WRITER = """
import asyncio, sys
from longmind import Longmind, Settings

async def main():
    async with Longmind.open(sys.argv[1], settings=Settings.load({}), embedder="none") as longmind:
        mem = longmind.agent("a", user="alice")
        told = await mem.remember(sys.argv[2], operation=sys.argv[3])
        await mem.update(told.id, content=sys.argv[2] + " Indeed.", reason=sys.argv[3])
        await longmind.agent("b", user="bob").remember("The other process was here.")

asyncio.run(main())
"""
_TEXTS = (
    "I live in {0}.",
    "I work at {0} as a {1}.",
    "My sister {0} lives in {1}.",
    "I am allergic to {0} and I like {1}.",
    "We talked about {0} for hours, and {1} came up.",
    "My dog is called {0}. I moved to {1} last May.",
)


class Hashing:
    """A small embedder: each word points somewhere."""

    def __init__(self, name: str) -> None:
        self.name, self.dimensions = name, 8

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            for word in text.split():
                vectors[row, sha256((self.name + word).encode()).digest()[0] % self.dimensions] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    async def close(self) -> None:
        """Nothing to let go of."""


class History:
    """One random history of a store. ``canaries`` are the words that must be gone in the end."""

    def __init__(self, longmind: Longmind, seed: int) -> None:
        self.longmind, self.random = longmind, random.Random(seed)
        self.seed = seed
        self.canaries: list[str] = []
        self.said: list[str] = []
        """The ids of what the user said, in any agent, with the agent's name before each."""
        self.operations: list[tuple[str, str]] = []

    def word(self) -> str:
        """A word that nothing else holds, and that begins like a name."""
        letters = "".join(self.random.choice("bdfgklmnprstvz") + self.random.choice("aeiou") for _ in range(3))
        self.canaries.append(f"Qx{letters}{len(self.canaries)}q")
        return self.canaries[-1]

    def text(self) -> str:
        return self.random.choice(_TEXTS).format(self.word(), self.word())

    def mem(self) -> AgentMemory:
        return self.longmind.agent(self.random.choice("ab"), user="alice")

    async def run(self) -> None:
        """Take random steps. One that does not fit, such as an undo that is refused, changes nothing."""
        for user in ("bob", None):
            for agent in "ab":
                await self.longmind.agent(agent, user=user).remember(
                    f"I live in Lisbon, says {user or 'nobody'} to {agent}."
                )
        await self.remember()
        steps = [self.remember, self.remember, self.edit, self.forget, self.undo, self.consolidate, self.consolidate]
        steps += [self.consolidate_and_undo, self.reembed, self.export, self.systems, self.learn]
        for _ in range(STEPS):
            try:
                await self.random.choice(steps)()
            except (Conflict, NotFound):
                continue

    def note(self, mem: AgentMemory, ids: Sequence[str]) -> None:
        self.said += [f"{mem.scope.agent}/{id}" for id in ids]

    async def some(self) -> tuple[AgentMemory, str]:
        agent, _, id = self.random.choice(self.said).partition("/")
        return self.longmind.agent(agent, user="alice"), id

    async def remember(self) -> None:
        mem = self.mem()
        texts = [self.text() for _ in range(self.random.randint(1, 4))]
        operation = self.word() if self.random.random() < 0.5 else None
        stored = await mem.remember(texts, session=self.word(), tags=[self.word()], operation=operation)
        self.note(mem, [memory.id for memory in stored])

    async def edit(self) -> None:
        mem, id = await self.some()
        await mem.update(id, content=self.text(), reason=f"it was {self.word()}")

    async def forget(self) -> None:
        mem, id = await self.some()
        await mem.forget(id, reason=f"no longer {self.word()}")

    async def undo(self) -> None:
        mem, id = await self.some()
        changes = await mem.history(id)
        await mem.undo(self.random.choice(changes).operation)

    async def consolidate(self) -> None:
        agent = self.random.choice("ab")
        everybody = self.random.random() < 0.5
        mem = self.longmind.agent(agent, all_users=True) if everybody else self.longmind.agent(agent, user="alice")
        report = await mem.consolidate()
        self.operations.append((agent, report.id))

    async def consolidate_and_undo(self) -> None:
        mem = self.mem()
        report = await mem.consolidate()
        await mem.undo(report.id)

    async def reembed(self) -> None:
        await self.longmind.reembed(Hashing(f"hashing/{self.random.randint(0, 3)}"))

    async def export(self) -> None:
        lines = [line async for line in self.longmind.export()]
        assert lines
        await self.longmind.load(lines)

    async def learn(self) -> None:
        mem, id = await self.some()
        learned = await mem.semantic.learn(self.word(), f"is {self.word()} of", self.word(), evidence=id)
        await mem.semantic.learn(self.word(), "knows", self.word(), derived_from=[learned.fact])
        await mem.persona.observe("home", self.word(), evidence=[id])
        await mem.persona.learn(self.text(), evidence=[id])

    async def systems(self) -> None:
        mem = self.mem()
        match self.random.randrange(4):
            case 0:
                placed = await mem.working.put("note", self.text(), source=None)
                self.note(mem, [placed.item.id])
            case 1:
                talk = mem.conversation("talk", window=2)
                for _ in range(6):
                    self.note(mem, [(await talk.add(self.text())).id])
                await talk.context()
            case 2:
                goal = await mem.goals.create(self.text(), criteria=[self.word()])
                self.note(mem, [goal.id])
            case 3:
                async with mem.episodic.episode(self.text()) as episode:
                    await episode.record(self.text())
                self.note(mem, [episode.id])

    # -- the end -----------------------------------------------------------------------------------------------------

    async def erase(self) -> None:
        """Erase the user; or, in other histories, each thing that was said, those that were forgotten included."""
        if self.seed % 3:
            receipt = await self.longmind.erase_user("alice")
            assert receipt.memories
            check = await self.longmind.verify_erasure(receipt)
            assert check.ok, check
            return
        for entry in self.said:
            agent, _, id = entry.partition("/")
            with suppress(NotFound):  # it went with another
                await self.longmind.agent(agent, user="alice").forget(id, erase=True)


def found(data: bytes, canaries: Sequence[str]) -> list[str]:
    """The canaries that bytes hold, in any case and in both common encodings of text."""
    folded = data.lower()
    wide = folded.decode("utf-16-le", "ignore")
    return [word for word in canaries if word.lower().encode() in folded or word.lower() in wide]


def opened(url: str, seed: int) -> Longmind:
    clock = FakeClock(tick=timedelta(seconds=1), seed=seed)
    return Longmind.open(url, clock=clock, settings=Settings.load({}), embedder=Hashing("hashing/0"))


@pytest.mark.parametrize("seed", range(HISTORIES))
async def test_no_byte_of_the_files_holds_what_was_erased(tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "store"
    path = folder / "memory.db"
    async with opened(str(path), seed) as longmind:
        history = History(longmind, seed)
        await history.run()
        if seed % 5 == 0:
            await _other_process(history, path)
        held = [word for file in folder.iterdir() for word in found(file.read_bytes(), history.canaries)]
        assert held, "the history wrote nothing"
        await history.erase()
        left = {str(file.name): found(file.read_bytes(), history.canaries) for file in folder.iterdir()}
        assert not any(left.values()), left
        assert await longmind.check() == []
        for agent in "ab":
            texts = [
                m.content
                async for m in longmind.store.scan_all(longmind.agent(agent, user="bob").scope, Filter(states=None))
            ]
            assert any("Lisbon" in text for text in texts), "what belongs to others was erased"
    left = {str(file.name): found(file.read_bytes(), history.canaries) for file in folder.iterdir()}
    assert not any(left.values()), left


async def _other_process(history: History, path: Path) -> None:
    """Let another process write words of the same user into the same file."""
    text, word = history.text(), history.word()
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, str(path), text, word)
    assert await program.wait() == 0
    mem = history.longmind.agent("a", user="alice")
    stored = [m async for m in history.longmind.store.scan_all(mem.scope, Filter(states=None))]
    history.note(mem, [memory.id for memory in stored if memory.content == f"{text} Indeed."])


async def _texts_of_postgres(url: str) -> bytes:
    """Every column of every table as text."""
    parts: list[bytes] = []
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        tables = await (
            await connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'longmind'")
        ).fetchall()
        for (table,) in tables:
            rows = await (await connection.execute(f'SELECT t::text FROM longmind."{table}" t'.encode())).fetchall()
            parts += [row[0].encode() for row in rows]
    assert parts
    return b"\n".join(parts)


async def _texts_in_memory(longmind: Longmind) -> bytes:
    backend: Any = longmind.store.backend
    return repr(backend.snapshot()).encode()


@pytest.mark.parametrize("seed", range(HISTORIES, HISTORIES + 6))
@pytest.mark.parametrize("kind", ["inmem", "postgres"])
async def test_no_text_of_any_table_holds_what_was_erased(request: pytest.FixtureRequest, kind: str, seed: int) -> None:
    url = "memory:" if kind == "inmem" else str(request.getfixturevalue("postgres_store_url"))
    async with opened(url, seed) as longmind:
        texts: Callable[[], Awaitable[bytes]] = (
            (lambda: _texts_in_memory(longmind)) if kind == "inmem" else (lambda: _texts_of_postgres(url))
        )
        history = History(longmind, seed)
        await history.run()
        assert found(await texts(), history.canaries)
        await history.erase()
        assert found(await texts(), history.canaries) == []
