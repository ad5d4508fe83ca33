"""What the consolidation cycle costs: pages a second and core with embedding left out, where the time goes, and how
often the store is asked.

A case is remembered as one agent's memory and consolidated once. Time is CPU time of the whole process, threads
included, so that other work on the machine does not count; what the embedder used is taken off.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from longmind.bench.datasets import Case
from longmind.bench.quality import Progress, load
from longmind.bench.speed import Figure, cpu_ms
from longmind.consolidate.cycle import Cycle
from longmind.memory import AgentMemory, Longmind
from longmind.types import Filter

if TYPE_CHECKING:
    from longmind.models.base import Embedder, Vectors
    from longmind.store.base import Backend

_ASKED = frozenset({"get", "scan", "links", "journal", "stats", "head", "feed", "matching", "apply"})
_UNCHANGED = 50
"""Runs over an unchanged agent that are averaged."""


class Timed:
    """An embedder in front of another that adds up the CPU time it takes."""

    def __init__(self, behind: Embedder) -> None:
        self.name = behind.name
        self.behind = behind
        self.seconds = 0.0

    @property
    def dimensions(self) -> int:
        return self.behind.dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        began = time.process_time()
        try:
            return await self.behind.embed(texts)
        finally:
            self.seconds += time.process_time() - began

    async def close(self) -> None:
        await self.behind.close()


class Counted:
    """A backend in front of another that counts what it is asked."""

    def __init__(self, behind: Backend) -> None:
        self.behind = behind
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += name in _ASKED
        return getattr(self.behind, name)


@dataclass(slots=True)
class StageClock:
    """CPU seconds between the points that a run passes, by the stage that was on at that time."""

    embedder: Timed
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _last: float = 0.0
    _on: str = ""

    def watch(self, point: str) -> None:
        """A point is passed: the time since the one before belongs to what was on."""
        now = self._now()
        if self._on:
            self.seconds[self._on] += now - self._last
        stage, _, step = point.partition(": ")
        self._on = f"{stage}, writing" if step == "write" else stage if step in ("begin", "proposed") else "between"
        self._last = now

    def begin(self) -> None:
        self._last, self._on = self._now(), "between"

    def _now(self) -> float:
        return time.process_time() - self.embedder.seconds


async def measure(rc: Longmind, embedder: Timed, cases: Sequence[Case], progress: Progress) -> list[Figure]:
    """Remember each case, consolidate it, and tell what that cost. ``embedder`` is the one that ``rc`` was opened with.

    A first small case is consolidated before anything is measured: importing and compiling are done once a process.
    """
    await _cycle(rc, await load(rc, "cycle warm", Case("up", True, cases[0].items[:20])), StageClock(embedder))
    clock, calls = StageClock(embedder), Counter[str]()
    pages = turns = 0
    seconds = 0.0
    mems: list[AgentMemory] = []
    for case in cases:
        mem = await load(rc, "cycle", case)
        mems.append(mem)
        counted = Counted(rc.store.backend)
        rc.store.backend = cast("Backend", counted)
        try:
            seconds += await _cycle(rc, mem, clock)
        finally:
            rc.store.backend = counted.behind
        calls.update(counted.calls)
        pages += await _pages(mem)
        turns += len(case.items)
        progress(0.9 * len(mems) / len(cases))
    unchanged = await _unchanged(rc, mems[0])
    progress(1.0)
    return [
        ("pages", pages, "pages"),
        ("pages a second and core", round(pages / seconds, 1), "pages/s"),
        ("turns a second and core", round(turns / seconds, 1), "turns/s"),
        *((f"{name}, CPU", round(1_000 * taken / pages, 4), "ms a page") for name, taken in clock.seconds.items()),
        *((f"calls of {name}", round(calls[name] / len(cases), 1), "a run") for name in sorted(calls) if calls[name]),
        ("a run over an unchanged agent, CPU", unchanged, "ms"),
    ]


async def _cycle(rc: Longmind, mem: AgentMemory, clock: StageClock) -> float:
    """CPU seconds of one run, embedding left out."""
    settings = await mem.configuration()
    cycle = Cycle(rc.store, mem.scope, settings, rc.clock, rc.embedding.embed, watch=clock.watch)
    began = time.process_time() - clock.embedder.seconds
    clock.begin()
    await cycle.run()
    clock.watch("end")
    return time.process_time() - clock.embedder.seconds - began


async def _unchanged(rc: Longmind, mem: AgentMemory) -> float:
    """CPU milliseconds of a run that has nothing to do."""
    settings = await mem.configuration()
    began = time.process_time()
    for _ in itertools.repeat(None, _UNCHANGED):
        await Cycle(rc.store, mem.scope, settings, rc.clock, rc.embedding.embed).run()
    return cpu_ms(began, _UNCHANGED)


async def _pages(mem: AgentMemory) -> int:
    where = Filter(kinds=("page",), states=None)
    return len([None async for _ in mem.scoped.store.scan_all(mem.scoped.scope, where)])
