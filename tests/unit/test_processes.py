"""One store and several processes, event loops and runs: each works, waits or says at once why it does not."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from longmind import Longmind, Settings, sync
from longmind.errors import StoreUnavailable

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def in_fork(work: Callable[[], str]) -> str:
    """Run a function in a forked child and return what it returns, or what it raises."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = work()
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        answer = answers.read()
    os.waitpid(child, 0)
    return answer


@posix
@pytest.mark.parametrize("verb", ["remember", "recall", "get"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_is_refused_at_once_and_the_parent_works_on(tmp_path: Path, verb: str) -> None:
    url = str(tmp_path / "memory.db")
    longmind = asyncio.run(_opened(url))
    memory = longmind.agent("a")

    def use() -> str:
        async def call() -> None:
            await getattr(memory, verb)("Something else.")

        asyncio.run(call())
        return "used"

    assert in_fork(use).startswith("StoreUnavailable: The store was opened by process")

    def close() -> str:
        asyncio.run(longmind.close())
        return "closed"

    assert in_fork(close) == "closed"
    with sync.Longmind.open(url, embedder="none") as again:
        assert [hit.memory.content for hit in again.agent("a").recall("first")] == ["The first."]
        assert again.check() == []


async def _opened(url: str) -> Longmind:
    longmind = await Longmind.open(url, embedder="none")
    await longmind.agent("a").remember("The first.")
    return longmind


@posix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_of_the_blocking_client_is_refused(tmp_path: Path) -> None:
    with sync.Longmind.open(str(tmp_path / "memory.db"), embedder="none") as longmind:
        memory = longmind.agent("a")
        memory.remember("The first.")
        refusal = in_fork(lambda: str(memory.remember("In the child.")))
        assert refusal.startswith("StoreUnavailable: The store was opened by process")
        memory.remember("The second.")
        assert memory.stats().memories == 2


@posix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_may_open_the_store_anew(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    with sync.Longmind.open(url, embedder="none") as longmind:
        longmind.agent("a").remember("The first.")

        def anew() -> str:
            with sync.Longmind.open(url, embedder="none") as own:
                own.agent("a").remember("The second.")
                return str(own.agent("a").stats().memories)

        assert in_fork(anew) == "2"
        assert longmind.agent("a").stats().memories == 2
        assert longmind.check() == []


@pytest.mark.parametrize("url", ["memory:", "memory.db"])
def test_another_event_loop_is_refused(tmp_path: Path, url: str) -> None:
    async def use(longmind: Longmind) -> None:
        await longmind.agent("a").recall("first")

    async def write(longmind: Longmind) -> None:
        await longmind.agent("a").remember("The second.")

    longmind = asyncio.run(_opened(url if url == "memory:" else str(tmp_path / url)))
    for work in (use, write, Longmind.close):
        with pytest.raises(StoreUnavailable, match="another event loop"):
            asyncio.run(work(longmind))


SAID = ("I live in Lisbon.", "I work as a nurse.", "My dog is called Rex.", "I like tea.")


async def test_consolidations_of_one_agent_take_turns(tmp_path: Path) -> None:
    async with Longmind.open(str(tmp_path / "memory.db"), embedder="none") as longmind:
        everyone = longmind.agent("a")
        for user in ("ann", "ben", "cem"):
            for text in SAID:
                await longmind.agent("a", user).remember(text)
        runs = [longmind.agent("a", user) for user in ("ann", "ben", "cem")] + [everyone] * 3
        reports = await asyncio.gather(*(memory.consolidate() for memory in runs))
        assert [report.stopped for report in reports] == [None] * len(runs)
        assert not (await everyone.consolidate()).proposed


RUNS = """
import asyncio, json, sys
from longmind import Longmind

async def main():
    reports = []
    async with Longmind.open(sys.argv[1], embedder="none") as longmind:
        memory = longmind.agent("a")
        for n in range(5):
            await memory.remember(f"I like tea number {n} of {sys.argv[2]}.")
            reports.append((await memory.consolidate()).stopped)
    print(json.dumps(reports))

asyncio.run(main())
"""


def test_consolidations_in_several_processes_raise_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RUNS, str(tmp_path / "memory.db")]
    processes = [
        subprocess.Popen([*command, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for name in ("one", "two", "three")
    ]
    for process in processes:
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        assert {*json.loads(output)} <= {None, "another process consolidates this agent"}


def test_the_time_to_wait_for_postgres_is_a_setting() -> None:
    assert Settings.load({}).connect_seconds == 4
    assert Settings.load({"LONGMIND_CONNECT_SECONDS": "2.5"}).connect_seconds == 2.5


_WRITER = """
import sys
from longmind import sync
with sync.Longmind.open(sys.argv[1], embedder="none") as longmind:
    mem = longmind.agent("a")
    stored = mem.remember("Said in the other process.")
    mem.update(stored.id, importance=0.9)
    mem.forget(stored.id)
"""


async def test_watch_tells_the_changes_that_another_process_makes(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    async with Longmind.open(url, embedder="none") as longmind:
        mem = longmind.agent("a")
        await mem.remember("Said here.")
        changes = mem.watch(after=1, poll_seconds=0.01)
        writer = await asyncio.create_subprocess_exec(sys.executable, "-c", _WRITER, url)
        told = [await anext(changes) for _ in range(3)]
        assert await writer.wait() == 0
        assert [change.action for change in told] == ["put", "update", "delete"]
        assert [change.seq for change in told] == [2, 3, 4]
        assert len({change.memory_id for change in told}) == 1
        await changes.aclose()
