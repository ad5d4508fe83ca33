"""What the consolidation cycle costs: pages per second and core, CPU time by stage, and calls of the store.

Each case is remembered as one agent's memory and consolidated once. Time is CPU time of the whole process, threads
included, so that other work on the machine does not count. The embedder's time is subtracted.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from benchmarks.cases import Case
from benchmarks.quality import Figure, Progress, load
from benchmarks.speed import cpu_ms
from longmind.consolidate.cycle import Cycle
from longmind.memory import AgentMemory, Longmind
from longmind.types import Filter

if TYPE_CHECKING:
    from longmind.models.embed import Embedder, Vectors
    from longmind.store.base import Backend

_STORE_METHODS = frozenset({"get", "scan", "links", "journal", "stats", "head", "feed", "matching", "apply"})
_UNCHANGED_RUNS = 50
"""How many runs over an unchanged agent are averaged."""


class TimedEmbedder:
    """An embedder that adds up the CPU time of the embedder it wraps."""

    def __init__(self, wrapped: Embedder) -> None:
        self.name = wrapped.name
        self.wrapped = wrapped
        self.seconds = 0.0

    @property
    def dimensions(self) -> int:
        return self.wrapped.dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        began = time.process_time()
        try:
            return await self.wrapped.embed(texts)
        finally:
            self.seconds += time.process_time() - began

    async def close(self) -> None:
        await self.wrapped.close()


class CountingBackend:
    """A backend that counts the calls of the backend it wraps."""

    def __init__(self, wrapped: Backend) -> None:
        self.wrapped = wrapped
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += name in _STORE_METHODS
        return getattr(self.wrapped, name)


@dataclass(slots=True)
class StageClock:
    """CPU seconds of a run by stage, embedding subtracted."""

    embedder: TimedEmbedder
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _last: float = 0.0
    _stage: str = ""

    def watch(self, point: str) -> None:
        """Note that the run reached a point: the time since the point before belongs to the stage it was in."""
        now = self._now()
        if self._stage:
            self.seconds[self._stage] += now - self._last
        stage, _, step = point.partition(": ")
        self._stage = f"{stage}, writing" if step == "write" else stage if step in ("begin", "proposed") else "between"
        self._last = now

    def begin(self) -> None:
        """Start the clock."""
        self._last, self._stage = self._now(), "between"

    def _now(self) -> float:
        return time.process_time() - self.embedder.seconds


async def measure(
    longmind: Longmind,
    embedder: TimedEmbedder,
    cases: Sequence[Case],
    progress: Progress,
    *,
    statement_reader: bool = True,
) -> list[Figure]:
    """Remember and consolidate each case, with the trained reader of statements or without, and return what it cost.

    ``embedder`` is the embedder that ``longmind`` was opened with. A first small case is consolidated before anything
    is measured, because imports and compiled patterns are paid for once per process.
    """
    await _cycle(
        longmind, await load(longmind, "cycle warm", Case("up", True, cases[0].items[:20])), StageClock(embedder)
    )
    clock, calls = StageClock(embedder), Counter[str]()
    pages = turns = 0
    seconds = 0.0
    mems: list[AgentMemory] = []
    for case in cases:
        mem = await load(longmind, "cycle", case)
        await mem.configure(statement_reader=statement_reader)
        mems.append(mem)
        counting = CountingBackend(longmind.store.backend)
        longmind.store.backend = cast("Backend", counting)
        try:
            seconds += await _cycle(longmind, mem, clock)
        finally:
            longmind.store.backend = counting.wrapped
        calls.update(counting.calls)
        pages += await _pages(mem)
        turns += len(case.items)
        progress(0.9 * len(mems) / len(cases))
    unchanged = await _unchanged(longmind, mems[0])
    progress(1.0)
    return [
        ("pages", pages, "pages"),
        ("pages a second and core", round(pages / seconds, 1), "pages/s"),
        ("turns a second and core", round(turns / seconds, 1), "turns/s"),
        *((f"{name}, CPU", round(1_000 * taken / pages, 4), "ms a page") for name, taken in clock.seconds.items()),
        *((f"calls of {name}", round(calls[name] / len(cases), 1), "a run") for name in sorted(calls) if calls[name]),
        ("a run over an unchanged agent, CPU", unchanged, "ms"),
    ]


async def _cycle(longmind: Longmind, mem: AgentMemory, clock: StageClock) -> float:
    """Run the cycle once and return its CPU seconds, embedding subtracted."""
    settings = await mem.configuration()
    cycle = Cycle(longmind.store, mem.scope, settings, longmind.clock, longmind.embedding.embed, watch=clock.watch)
    began = time.process_time() - clock.embedder.seconds
    clock.begin()
    await cycle.run()
    clock.watch("end")
    return time.process_time() - clock.embedder.seconds - began


async def _unchanged(longmind: Longmind, mem: AgentMemory) -> float:
    """Return the CPU milliseconds of a run that has nothing to do."""
    settings = await mem.configuration()
    began = time.process_time()
    for _ in itertools.repeat(None, _UNCHANGED_RUNS):
        await Cycle(longmind.store, mem.scope, settings, longmind.clock, longmind.embedding.embed).run()
    return cpu_ms(began, _UNCHANGED_RUNS)


async def _pages(mem: AgentMemory) -> int:
    where = Filter(kinds=("page",), states=None)
    return len([None async for _ in mem.scoped.store.scan_all(mem.scoped.scope, where)])
