"""Two processes, eight tasks each, adding to and reading one file: no error, nothing lost.

``LONGMIND_TEST_SECONDS`` makes it longer than the few seconds it takes otherwise.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from longmind.store.sqlite import SqliteBackend
from longmind.types import Filter, Scope

SECONDS = float(os.environ.get("LONGMIND_TEST_SECONDS", "3"))
PROCESSES = 2
TASKS = 8

WORKER = """
import asyncio, sys, time
from longmind.clock import SystemClock
from longmind.store.base import Batch, Put, Touch
from longmind.store.sqlite import SqliteBackend
from longmind.testing import memory
from longmind.types import Filter, Scope

path, seconds, tasks = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
clock, scope, wrote = SystemClock(), Scope(agent="assistant"), []


async def work(backend, name):
    seen, until, turn = 0, time.monotonic() + seconds, 0
    while time.monotonic() < until:
        turn += 1
        id = clock.new_id()
        new = memory(f"{name} says {turn}", scope=scope, id=id, key=f"{id}")
        await backend.apply(Batch(scope, clock.new_id(), clock.now(), (Put(new, existing="fail"),)))
        wrote.append(id)
        assert [m.content for m in await backend.get(scope, [id])] == [new.content]
        reached = (await backend.head(scope)).seq
        assert reached > seen
        rows = [row async for chunk in backend.feed(scope, seen) for row in chunk.rows]
        assert id in {row.id for row in rows}
        seen = reached
        if turn % 5 == 0:
            page = await backend.scan(scope, Filter(), order="occurred", descending=True, limit=20)
            assert page.items
            await backend.apply(Batch(scope, clock.new_id(), clock.now(), (Touch((id,), clock.now()),)))


async def main():
    backend = await SqliteBackend.open(path)
    await asyncio.gather(*(work(backend, f"task {n}") for n in range(tasks)))
    await backend.close()
    print("\\n".join(wrote))


asyncio.run(main())
"""


async def _worker(path: Path) -> list[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        WORKER,
        str(path),
        str(SECONDS),
        str(TASKS),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode().split()


async def test_two_processes_share_a_file(tmp_path: Path) -> None:
    path, scope = tmp_path / "shared" / "memory.db", Scope(agent="assistant")
    wrote = [id_ for ids in await asyncio.gather(*(_worker(path) for _ in range(PROCESSES))) for id_ in ids]
    backend = await SqliteBackend.open(path)
    assert await backend.matching(scope, Filter()) == set(wrote)
    assert len(set(wrote)) == len(wrote)
    assert (await backend.head(scope)).seq == len(wrote)
    assert await backend.check() == []
    await backend.close()
    assert len(wrote) > PROCESSES * TASKS
