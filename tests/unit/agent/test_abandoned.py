"""Runs that nobody ended: their process died or their task was killed. They are closed when their lease has ended."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from datetime import timedelta
from pathlib import Path

from longmind import Longmind, Settings
from longmind.agent import Agent, Call, Limits, Say, Turn, load_outcome
from longmind.agent.abandoned import close_abandoned_runs
from longmind.agent_memory import AgentMemory
from longmind.systems.procedural import ToolRegistry
from longmind.testing import FakeClock
from longmind.worker.service import ConsolidationService

CHILD = """
import asyncio, sys
from longmind import Longmind
from longmind.agent import Agent, Call, Limits

async def main():
    async with Longmind.open(sys.argv[1]) as longmind:
        agent = Agent(longmind.agent("assistant", user="ann"), policy=lambda turn: Call(tool="hold"),
                      limits=Limits(lease_seconds=0.5))
        @agent.tool
        async def hold() -> str:
            print("holding", flush=True)
            await asyncio.sleep(60)
        await agent.run("held by the child")

asyncio.run(main())
"""


async def killed_run(url: str) -> None:
    """Begin a run in another process and kill that process."""
    command = [sys.executable, "-c", textwrap.dedent(CHILD), url]
    child = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        assert await child.stdout.readline() == b"holding\n"
    finally:
        child.kill()
        await child.wait()


async def lease_is_over(mem: AgentMemory) -> None:
    """Wait until no lease is held, as a look at the records tells."""
    async with asyncio.timeout(30):
        while True:
            leases = [m for m in (await mem.list(kinds=["configuration"])).items if (m.key or "").startswith("lease:")]
            if all(m.body["until"] < mem.scoped.now().isoformat() for m in leases):
                return
            await asyncio.sleep(0.05)


async def test_the_next_run_closes_one_whose_process_died(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    await killed_run(url)
    async with Longmind.open(url, settings=Settings.load({})) as longmind:
        mem = longmind.agent("assistant", user="ann")
        (theirs,) = (await mem.episodic.list(open=True)).items
        assert {item.key for item in await mem.working.items()} == {"goal", "plan"}
        await lease_is_over(mem)
        outcome = await Agent(mem, policy=lambda turn: Say(text="mine")).run("another task, in another session")
        assert outcome.problems == ()
        closed = await mem.episodic.get(theirs.id)
        assert (closed.open, closed.outcome) == (False, "unknown")
        assert closed.note.startswith("abandoned: ")
        assert (await load_outcome(mem, theirs.id)).ending == "abandoned"
        assert await mem.working.items() == ()
        leases = [m.key for m in (await mem.list(kinds=["configuration"])).items if (m.key or "").startswith("lease:")]
        assert leases == []


async def test_the_service_closes_one_whose_process_died(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    await killed_run(url)
    async with Longmind.open(url, settings=Settings.load({})) as longmind:
        mem = longmind.agent("assistant", user="ann")
        service = ConsolidationService(longmind)
        await service.run_now()
        await lease_is_over(mem)
        done = await service.run_now()
        assert done.failures == ()
        assert (await mem.episodic.list(open=True, type="task")).items == ()
        assert await mem.working.items() == ()


async def test_a_task_that_was_killed_is_closed_when_its_lease_ends(opened: Longmind) -> None:
    """Its end cannot be recorded: the store refuses all writes from the moment of the cancellation on."""
    mem = opened.agent("assistant", user="ann")
    reached = asyncio.Event()
    agent = Agent(mem, policy=lambda turn: Call(tool="hold"), tools=ToolRegistry(), limits=Limits(lease_seconds=0.2))

    @agent.tool
    async def hold() -> None:
        reached.set()
        await asyncio.sleep(60)

    task = asyncio.create_task(agent.run("hold", session="s"))
    await reached.wait()
    apply = opened.store.backend.apply

    async def refuse(*args: object, **kwargs: object) -> None:
        raise OSError("the disk is gone")

    opened.store.backend.apply = refuse  # type: ignore[method-assign,assignment]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    opened.store.backend.apply = apply  # type: ignore[method-assign]
    (left,) = (await mem.episodic.list(open=True)).items
    await lease_is_over(mem)
    report = await close_abandoned_runs(mem.scoped)
    assert report.closed == (left.id,)
    assert (await load_outcome(mem, left.id)).ending == "abandoned"
    assert await mem.working.items() == ()
    assert (await close_abandoned_runs(mem.scoped)).closed == ()


async def test_a_cancelled_run_is_closed_at_once(mem: AgentMemory) -> None:
    reached = asyncio.Event()

    async def policy(turn: Turn) -> Say:
        reached.set()
        await asyncio.sleep(60)
        return Say(text="never")

    task = asyncio.create_task(Agent(mem, policy=policy).run("wait", session="s"))
    await reached.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    (episode,) = (await mem.episodic.list(type="task")).items
    assert (await load_outcome(mem, episode.id)).ending == "cancelled"
    assert await mem.working.items() == ()


async def test_a_run_that_lives_is_left_alone_and_tells_when_to_look_again(mem: AgentMemory, opened: Longmind) -> None:
    run = await Agent(mem, policy=lambda turn: Say(text="ok")).perceive("think long", session="s")
    everyone = opened.agent("assistant", all_users=True)
    report = await close_abandoned_runs(everyone.scoped, thorough=True)
    assert report.closed == ()
    assert report.next_end is not None
    assert report.next_end > mem.scoped.now()
    assert (await run.to_end()).ending == "answered"
    assert await close_abandoned_runs(everyone.scoped, thorough=True) == type(report)()


async def test_a_run_without_a_lease_is_closed_after_an_hour() -> None:
    clock = FakeClock()
    async with Longmind.open("memory:", settings=Settings.load({}), clock=clock) as longmind:
        mem = longmind.agent("assistant", user="ann")
        run = await Agent(mem, policy=lambda turn: Say(text="ok")).perceive("think", session="s")
        await run._lease.release()
        everyone = longmind.agent("assistant", all_users=True)
        assert (await close_abandoned_runs(everyone.scoped, thorough=True)).closed == ()
        clock.advance(timedelta(hours=2))
        (closed,) = (await close_abandoned_runs(everyone.scoped, thorough=True)).closed
        assert (await load_outcome(mem, closed)).ending == "abandoned"
