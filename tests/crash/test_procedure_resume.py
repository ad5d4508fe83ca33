"""Runs that are cut off anywhere are resumed where they stopped, and each step has its effect exactly once.

A cut can come before or after every write to the store, and before or after every effect of a function. Most cuts here
are an exception that nothing catches ("power cut") in one process; a few dozen are a real kill -9 of a process that
works on a SQLite file. This file is also the script that forks those processes.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from longmind import Longmind
from longmind.clock import SystemClock
from longmind.config import Settings
from longmind.store.base import Batch, Put, Receipt
from longmind.store.inmem import InmemBackend
from longmind.store.store import Store
from longmind.systems.procedural import ProceduralMemory, Run, ToolRegistry
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Hit, Scope

RANDOM_POINTS = 200
TIMED_KILLS = 12
SCOPE = Scope(agent="runner")
INNER: dict[str, Any] = {
    "name": "inner",
    "purpose": "Two effects.",
    "parameters": {"type": "object", "properties": {"who": {"type": "string"}}},
    "steps": [
        {"name": "a", "use": "effect", "args": {"what": "{{ params.who }}"}},
        {"name": "b", "use": "effect", "args": {"what": "{{ steps.a }}"}},
    ],
}
OUTER: dict[str, Any] = {
    "name": "outer",
    "purpose": "Effects of every kind.",
    "steps": [
        {"name": "first", "use": "effect", "args": {"what": "x"}},
        {"name": "never", "use": "effect", "args": {"what": "y"}, "when": {"left": 1, "op": "eq", "right": 2}},
        {"name": "loop", "use": "effect", "args": {"what": "{{ item }}"}, "for_each": ["p", "q", "r"]},
        {"name": "shaky", "use": "shaky", "args": {"what": "{{ steps.first }}"}, "retry": {"attempts": 3, "delay": 0}},
        {"name": "in", "procedure": "inner", "args": {"who": "{{ steps.loop[1] }}"}},
        {"name": "ins", "procedure": "inner", "args": {"who": "{{ item }}"}, "for_each": ["s", "t"]},
        {"name": "last", "use": "effect", "args": {"what": "{{ steps.in }}"}},
    ],
}
SAGA: dict[str, Any] = {
    "name": "saga",
    "purpose": "All or nothing.",
    "steps": [
        {
            "name": f"s{n}",
            "use": "effect",
            "args": {"what": str(n)},
            "compensate": {"use": "effect", "args": {"what": "undo {{ result }}"}},
        }
        for n in range(3)
    ]
    + [{"name": "end", "use": "broken", "on_error": "compensate"}],
}
OUTER_EFFECTS = 1 + 3 + 1 + 2 + 4 + 1
SAGA_EFFECTS = 3 + 3


class PowerCut(BaseException):
    """Everything stops here; nobody catches it."""


class World:
    """What the functions do, kept by key as a function that honours its key does, and where the power is cut."""

    def __init__(self, effects: Callable[[str, str], None]) -> None:
        self._effect = effects
        self.points = 0
        self.cut_at: int | None = None
        self.recorded: set[str] = set()
        self.repeated: list[str] = []
        self.tools = ToolRegistry()
        self.cut: Callable[[], None] = self._raise
        self._register()

    def point(self) -> None:
        """A moment at which the power may be cut."""
        self.points += 1
        if self.cut_at is not None and self.points == self.cut_at:
            self.cut()

    @staticmethod
    def _raise() -> None:
        raise PowerCut

    def _called(self, what: str, key: str) -> str:
        if key in self.recorded:
            self.repeated.append(key)
        self.point()
        self._effect(key, what)
        self.point()
        return f"{what}!"

    def _register(self) -> None:
        @self.tools.tool
        async def effect(what: str, idempotency_key: str) -> str:
            """Has an effect, once for each key."""
            return self._called(what, idempotency_key)

        tried: Counter[str] = Counter()

        @self.tools.tool
        async def shaky(what: str, idempotency_key: str) -> str:
            """Has its effect, and then says that it failed, the first time."""
            answer = self._called(what, idempotency_key)
            tried[idempotency_key] += 1
            if tried[idempotency_key] == 1:
                raise ConnectionError("the answer was lost")
            return answer

        @self.tools.tool
        async def broken() -> None:
            """Never works."""
            raise RuntimeError("sold out")


class Cuttable:
    """A backend whose power may be cut before or after each write."""

    def __init__(self, backend: Any, world: World) -> None:
        self._backend = backend
        self._world = world

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    async def apply(self, batch: Batch) -> Receipt:
        self._world.point()
        receipt: Receipt = await self._backend.apply(batch)
        for write in batch.writes:
            if isinstance(write, Put) and write.memory.kind == "step" and write.memory.body.get("idempotency_key"):
                self._world.recorded.add(write.memory.body["idempotency_key"])
        self._world.point()
        return receipt


async def _no_search(
    query: str, *, k: int = 10, kinds: Sequence[str] | None = None, where: Filter | None = None
) -> list[Hit]:
    return []


async def _no_vectors(texts: Sequence[str]) -> tuple[list[None], None]:
    return [None] * len(texts), None


def memory_on(backend: Any, world: World) -> ProceduralMemory:
    clock = SystemClock()
    store = Store(Cuttable(backend, world), clock)
    scoped = ScopedStore(store=store, scope=SCOPE, clock=clock, embed=_no_vectors, search=_no_search)
    return ProceduralMemory(scoped, world.tools, poll_seconds=60)


async def go_on(procedures: ProceduralMemory, name: str) -> Run:
    """What a program does after a crash: begin, or find what was begun and go on with it."""
    run = await procedures.execute(name, key="job")
    return run if run.finished else await procedures.resume(run.id, take_over=True)


# -- power cuts in one process ---------------------------------------------------------------------------------------


class Effects:
    """Effects that are counted by key; the second with one key is none."""

    def __init__(self) -> None:
        self.done: dict[str, str] = {}

    def __call__(self, key: str, what: str) -> None:
        assert self.done.setdefault(key, what) == what, "one key, two different effects"


async def _until_done(name: str, cuts: Sequence[int]) -> tuple[Run, World, Effects, int]:
    """Work on one run, cutting the power at these points one after the other; says how many cuts really came."""
    backend, effects = await InmemBackend.open(), Effects()
    world = World(effects)
    procedures = memory_on(backend, world)
    for definition in (INNER, OUTER, SAGA):
        await procedures.store(definition)
    happened = 0
    for cut in [*cuts, None]:
        world.points, world.cut_at = 0, cut
        try:
            run = await go_on(memory_on(backend, world), name)
        except PowerCut:
            happened += 1
            continue
        return run, world, effects, happened
    raise AssertionError("the last round has no cut")


def _check(name: str, run: Run, world: World, effects: Effects) -> None:
    assert run.status == ("succeeded" if name == "outer" else "failed")
    assert len(effects.done) == (OUTER_EFFECTS if name == "outer" else SAGA_EFFECTS)
    assert world.repeated == [], "a step that was recorded as finished was done again"
    paths = [step.path for step in run.steps]
    assert len(paths) == len(set(paths))


@pytest.fixture(scope="module")
def points() -> dict[str, int]:
    """How many points a run without a cut passes."""

    async def count(name: str) -> int:
        run, world, effects, _ = await _until_done(name, ())
        _check(name, run, world, effects)
        return world.points

    return {name: asyncio.run(count(name)) for name in ("outer", "saga")}


@pytest.mark.parametrize("name", ["outer", "saga"])
async def test_a_cut_at_every_boundary(name: str, points: dict[str, int]) -> None:
    assert points[name] > 30
    for cut in range(1, points[name] + 1):
        run, world, effects, happened = await _until_done(name, [cut])
        assert happened == 1, f"no cut at point {cut}"
        _check(name, run, world, effects)


async def test_cuts_at_random_points_again_and_again(points: dict[str, int]) -> None:
    rng, total = random.Random(11), 0
    while total < RANDOM_POINTS:
        name = rng.choice(["outer", "saga"])
        cuts = [rng.randint(1, points[name]) for _ in range(rng.randint(1, 6))]
        run, world, effects, happened = await _until_done(name, cuts)
        _check(name, run, world, effects)
        total += happened


async def test_every_run_is_counted_once_whatever_was_cut(points: dict[str, int]) -> None:
    rng = random.Random(5)
    for _ in range(20):
        backend, world = await InmemBackend.open(), World(Effects())
        procedures = memory_on(backend, world)
        for definition in (INNER, OUTER):
            await procedures.store(definition)
        for cut in [rng.randint(1, points["outer"]), rng.randint(1, points["outer"]), None]:
            world.points, world.cut_at = 0, cut
            try:
                await go_on(memory_on(backend, world), "outer")
            except PowerCut:
                continue
        told = await procedures.statistics("outer"), await procedures.statistics("inner")
        assert [one.version(1).successes for one in told] == [1, 3]


# -- kill -9 of a process --------------------------------------------------------------------------------------------


def _effects_in(path: Path) -> Callable[[str, str], None]:
    def effect(key: str, what: str) -> None:
        with sqlite3.connect(path, timeout=30) as connection:
            connection.execute("INSERT OR IGNORE INTO effects (key, what) VALUES (?, ?)", (key, what))
        connection.close()

    return effect


async def _child(folder: Path, cut: int | None) -> None:
    """Work on the run of this folder; at point ``cut`` of this process, die."""
    world = World(_effects_in(folder / "effects.db"))
    world.cut = lambda: os.kill(os.getpid(), signal.SIGKILL)
    settings = Settings.load(environment={})
    async with Longmind.open(str(folder / "memory.db"), embedder="none", settings=settings) as longmind:
        procedures = memory_on(longmind.store.backend, world)
        for definition in (INNER, OUTER):
            await procedures.store(definition)
        world.points, world.cut_at = 0, cut
        run = await go_on(procedures, "outer")
    os._exit(0 if run.status == "succeeded" else 7)


def _forked(folder: Path, cut: int | None, kill_after: float | None = None) -> int:
    """A process that works on the run, and how it ended."""
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(_child(folder, cut))
        finally:
            os._exit(9)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _folder(root: Path, name: str) -> Path:
    folder = root / name
    folder.mkdir()
    with sqlite3.connect(folder / "effects.db") as connection:
        connection.execute("CREATE TABLE effects (key TEXT PRIMARY KEY, what TEXT NOT NULL)")
    connection.close()
    return folder


def _finish(folder: Path) -> None:
    code = _forked(folder, None)
    connection = sqlite3.connect(folder / "effects.db")
    (count,) = connection.execute("SELECT count(*) FROM effects").fetchone()
    connection.close()
    if code != 0 or count != OUTER_EFFECTS:
        raise SystemExit(f"{folder.name}: ended with {code} and {count} effects in place of {OUTER_EFFECTS}")


def main(root: Path, points: int) -> None:
    """Kill a worker at every fourth point, and others at random moments; each run must then come to its end."""
    rng, kills = random.Random(3), 0
    for cut in range(1, points + 1, 4):
        folder = _folder(root, f"point-{cut}")
        kills += _forked(folder, cut) == -signal.SIGKILL
        kills += _forked(folder, rng.randint(1, 12)) == -signal.SIGKILL
        _finish(folder)
    for n in range(TIMED_KILLS):
        folder = _folder(root, f"moment-{n}")
        for _ in range(2):
            kills += _forked(folder, None, kill_after=rng.uniform(0.01, 0.12)) == -signal.SIGKILL
        _finish(folder)
    sys.stdout.write(f"{kills}\n")


def test_kill_9_of_the_process(tmp_path: Path, points: dict[str, int]) -> None:
    command = [sys.executable, __file__, str(tmp_path), str(points["outer"])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) >= 40, "too few of the kills hit a living process to prove anything"


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
