"""Many writers at once, as tasks and as processes: one open value, no overlap, nothing lost."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from longmind import Longmind
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import Fact, SemanticMemory
from longmind.systems.semantic.intervals import EVER

WRITER = """
import asyncio, sys
from datetime import datetime, UTC
from longmind import Longmind
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory

async def main(path, name, count):
    async with Longmind.open(path, embedder="none") as longmind:
        mem = longmind.agent("assistant")
        scoped = ScopedStore(longmind.store, mem.scope, longmind.clock, longmind.embedding.embed, search=mem.recall)
        semantic = SemanticMemory(scoped)
        for n in range(count):
            await semantic.learn("Alice", "lives in", f"{name} {n}", valid_from=datetime(1990 + n, 1, 1, tzinfo=UTC))
            await semantic.learn("Alice", "likes", f"thing {n}")

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def check_apart(facts: list[Fact]) -> None:
    """No two held at once."""
    current = sorted((f for f in facts if f.valid_from != f.valid_to), key=lambda f: f.valid_from or EVER)
    for one, other in pairwise(current):
        assert one.valid_to is not None
        assert other.valid_from is not None
        assert one.valid_to <= other.valid_from, f"{one} and {other} held at once"


def check_timeline(facts: list[Fact]) -> None:
    """No two held at once, and exactly one is open."""
    check_apart(facts)
    assert sum(fact.open for fact in facts) == 1


async def test_tasks(semantic: SemanticMemory) -> None:
    years = [datetime(2000 + n % 10, 1, 1, tzinfo=UTC) for n in range(16)]
    learned = await asyncio.gather(
        *(semantic.learn("Alice", "lives in", f"city {n}", valid_from=years[n]) for n in range(16)),
    )
    facts = await semantic.history("Alice", "lives in")
    assert {one.fact.id for one in learned} <= {fact.id for fact in facts}, "every statement is kept"
    check_timeline(facts)
    names = {concept.name for concept in (await semantic.concepts()).items}
    assert names == {"Alice", *(f"city {n}" for n in range(16))}


async def test_the_same_thing_learnt_at_once_is_one_fact(semantic: SemanticMemory) -> None:
    learned = await asyncio.gather(*(semantic.learn("Alice", "likes", "Tea") for _ in range(8)))
    assert len({one.fact.id for one in learned}) == 1
    assert sorted(one.outcome for one in learned) == ["confirmed"] * 7 + ["new"]


async def test_closed_periods_at_once_do_not_overlap(semantic: SemanticMemory) -> None:
    def at(year: int) -> datetime:
        return datetime(year, 1, 1, tzinfo=UTC)

    await asyncio.gather(
        *(semantic.learn("Al", "works at", f"firm {n}", valid_from=at(2000), valid_to=at(2005 + n)) for n in range(6)),
        semantic.learn("Al", "works at", "Acme", valid_from=at(2003)),
    )
    check_apart(await semantic.history("Al", "works at"))
    for year in range(2000, 2005):
        assert len(await semantic.know("Al", "works at", as_of=at(year))) == 1


async def test_declaring_while_learning(semantic: SemanticMemory) -> None:
    await semantic.learn("Alice", "nickname", "Al")
    await asyncio.gather(
        semantic.declare("nickname", many=True), *(semantic.learn("Alice", "nickname", f"n{n}") for n in range(5))
    )
    await semantic.learn("Alice", "nickname", "last")
    told = [f.object for f in await semantic.know("Alice", "nickname")]
    assert "last" in told
    assert len(told) == len(set(told))
    assert (await semantic.learn("Alice", "nickname", "last")).outcome == "confirmed"


async def test_two_stores_on_one_database(scoped_stores: Any) -> None:
    first = await scoped_stores.open()
    second = first if scoped_stores.backend == "inmem" else await scoped_stores.another()
    one, other = SemanticMemory(first), SemanticMemory(second)
    for n in range(5):
        await asyncio.gather(one.learn("Alice", "age", n), other.learn("Alice", "age", n + 100))
    check_timeline(await one.history("Alice", "age"))
    assert await one.history("Alice", "age") == await other.history("Alice", "age")


async def test_processes_on_sqlite(tmp_path: Path) -> None:
    path, count = str(tmp_path / "memory.db"), 12
    async with Longmind.open(path, embedder="none"):
        pass  # the file is there, so that both begin at once
    running = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, path, name, str(count), stderr=PIPE)
        for name in ("red", "blue")
    ]
    failures = [(await process.communicate())[1].decode() for process in running]
    assert [process.returncode for process in running] == [0, 0], failures
    async with Longmind.open(path, embedder="none") as longmind:
        mem = longmind.agent("assistant")
        semantic = SemanticMemory(
            ScopedStore(
                store=longmind.store,
                scope=mem.scope,
                clock=longmind.clock,
                embed=longmind.embedding.embed,
                search=mem.recall,
            )
        )
        facts = await semantic.history("Alice", "lives in")
        assert len(facts) == 2 * count
        check_timeline(facts)
        assert len(await semantic.know("Alice", "likes")) == count
        assert await longmind.check() == []


async def test_what_is_derived_while_its_premise_changes_is_not_missed(
    semantic: SemanticMemory, scoped: ScopedStore
) -> None:
    for n in range(6):
        premise = (await semantic.learn("Alice", "home", f"city {n}")).fact
        derived, change = await asyncio.gather(
            semantic.learn("Alice", f"tax office {n}", n, derived_from=[premise]),
            semantic.learn("Alice", "home", f"town {n}"),
        )
        (now,) = await scoped.store.get_all(scoped.scope, [derived.fact.id])
        before = await scoped.store.history(scoped.scope, premise.id)
        ended = next(c.seq for c in before if c.action == "update" and (c.after or {}).get("state") == "superseded")
        made = (await scoped.store.history(scoped.scope, now.id))[0].seq
        assert (now.state == "stale") == (made < ended), "stale if it was made before the change, and only then"
        assert (now.id in change.stale) == (made < ended)


async def test_a_reader_never_finds_nothing_between_two_values(semantic: SemanticMemory) -> None:
    await semantic.learn("Alice", "mood", "calm")

    async def change() -> None:
        for n in range(10):
            await semantic.learn("Alice", "mood", f"mood {n}")

    async def read() -> list[int]:
        return [len(await semantic.know("Alice", "mood")) for _ in range(30)]

    _, counts = await asyncio.gather(change(), read())
    assert set(counts) == {1}
