"""One run at a time in a session: in one process, in two, and after a crash."""

import asyncio
import gc
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from longmind import Longmind, Settings
from longmind.agent import Agent, Call, Limits, Say, Turn
from longmind.agent.run_recorder import RunRecorder
from longmind.agent_memory import AgentMemory
from longmind.errors import Conflict
from longmind.systems.procedural import ToolRegistry


def gated(mem: AgentMemory, log: list[str], limits: Limits | None = None) -> tuple[Agent, asyncio.Event]:
    gate = asyncio.Event()

    async def policy(turn: Turn) -> Say:
        log.append(f"{turn.task} begins")
        await gate.wait()
        log.append(f"{turn.task} ends")
        return Say(text="done")

    return Agent(mem, policy=policy, limits=limits), gate


async def until(log: list[str], length: int) -> None:
    async with asyncio.timeout(30):
        while len(log) < length:  # noqa: ASYNC110  # another store's run appends to it
            await asyncio.sleep(0.001)


async def test_two_runs_of_a_session_go_one_after_the_other(mem: AgentMemory) -> None:
    log: list[str] = []
    agent, gate = gated(mem, log)
    runs = [asyncio.create_task(agent.run(name, session="s")) for name in ("first", "second")]
    await until(log, 1)
    await asyncio.sleep(0.02)
    assert log == ["first begins"]
    gate.set()
    assert [run.ending for run in await asyncio.gather(*runs)] == ["answered", "answered"]
    assert log == ["first begins", "first ends", "second begins", "second ends"]


async def test_two_sessions_go_side_by_side(mem: AgentMemory) -> None:
    log: list[str] = []
    agent, gate = gated(mem, log)
    runs = [asyncio.create_task(agent.run(name, session=name)) for name in ("one", "two")]
    await until(log, 2)
    assert sorted(log) == ["one begins", "two begins"]
    gate.set()
    await asyncio.gather(*runs)


async def test_a_run_that_waited_long_enough_is_refused(mem: AgentMemory) -> None:
    log: list[str] = []
    agent, gate = gated(mem, log, Limits(wait_seconds=0.05))
    first = asyncio.create_task(agent.run("first", session="s"))
    await until(log, 1)
    with pytest.raises(Conflict, match="Another run is at work in the session 's'"):
        await agent.run("second", session="s")
    gate.set()
    assert (await first).ending == "answered"
    assert [m.content for m in (await mem.list(kinds=["message"])).items] == ["done", "first"]


async def other_process(url: str, mem: AgentMemory) -> None:
    """Two stores that are open on the same database share nothing but the lease."""
    async with Longmind.open(url, settings=Settings.load({})) as longmind:
        theirs, ours = list[str](), list[str]()
        holder, gate = gated(longmind.agent("assistant", user="ann"), theirs)
        held = asyncio.create_task(holder.run("theirs", session="s"))
        await until(theirs, 1)
        patient, open_gate = gated(mem, ours, Limits(wait_seconds=0.2))
        open_gate.set()
        with pytest.raises(Conflict, match="Another run"):
            await patient.run("ours", session="s")
        assert ours == []
        waiting = asyncio.create_task(gated_to_wait(mem, ours).run("ours", session="s"))
        await asyncio.sleep(0.1)
        assert ours == []
        gate.set()
        assert (await held).ending == "answered"
        assert (await waiting).ending == "answered"
        assert ours == ["ours begins", "ours ends"]


def gated_to_wait(mem: AgentMemory, log: list[str]) -> Agent:
    agent, gate = gated(mem, log)
    gate.set()
    return agent


async def test_two_stores_on_one_sqlite_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    async with Longmind.open(url, settings=Settings.load({})) as longmind:
        await other_process(url, longmind.agent("assistant", user="ann"))


async def test_two_stores_on_one_postgres(postgres_store_url: str) -> None:
    async with Longmind.open(postgres_store_url, settings=Settings.load({})) as longmind:
        await other_process(postgres_store_url, longmind.agent("assistant", user="ann"))


CHILD = """
import asyncio, os, sys
from longmind import Longmind
from longmind.agent import Agent, Call, Limits, Say

async def main():
    async with Longmind.open(sys.argv[1]) as longmind:
        async def policy(turn):
            return Call(tool="hold")
        agent = Agent(longmind.agent("assistant"), policy=policy, limits=Limits(lease_seconds=1.0))
        @agent.tool
        async def hold() -> str:
            print("holding", flush=True)
            await asyncio.sleep(60)
        await agent.run("held by the child", session="s")

asyncio.run(main())
"""


async def test_another_process_excludes_us_and_its_death_frees_the_session(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    command = [sys.executable, "-c", textwrap.dedent(CHILD), url]
    child = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        assert await child.stdout.readline() == b"holding\n"
        async with Longmind.open(url, settings=Settings.load({})) as longmind:
            mem = longmind.agent("assistant")
            hasty = Agent(mem, policy=lambda turn: Say(text="mine"), limits=Limits(wait_seconds=0.2))
            with pytest.raises(Conflict, match="Another run"):
                await hasty.run("ours", session="s")
            (theirs,) = (await mem.episodic.list(open=True)).items
            child.kill()
            await child.wait()
            patient = Agent(mem, policy=lambda turn: Say(text="mine"), limits=Limits(wait_seconds=20))
            outcome = await patient.run("ours", session="s")
            assert outcome.ending == "answered"
            closed = await mem.episodic.get(theirs.id)
            assert not closed.open
            assert closed.note.startswith("abandoned")
            assert closed.outcome == "unknown"
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


async def test_a_run_that_was_begun_and_forgotten_does_not_keep_its_session_for_ever(mem: AgentMemory) -> None:
    limits = Limits(lease_seconds=0.05, tool_seconds=0.01, wait_seconds=30)
    agent = Agent(mem, policy=lambda turn: Say(text="hi"), limits=limits)
    await agent.perceive("forgotten", session="s", timeout=0.01)
    agent.current = None
    gc.collect()
    assert (await agent.run("the next", session="s")).ending == "answered"
    assert not [episode for episode in (await mem.episodic.list(type="task")).items if episode.open]


async def test_a_run_whose_lease_was_taken_stops_before_its_next_action(mem: AgentMemory) -> None:
    """A process that was frozen for longer than its lease must not go on beside the one that took over."""
    calls: list[int] = []

    def policy(turn: Turn) -> Call:
        return Call(tool="work")

    agent = Agent(mem, policy=policy, tools=ToolRegistry(), limits=Limits(lease_seconds=0.03))

    @agent.tool
    async def work() -> str:
        calls.append(1)
        (record,) = (await mem.list(kinds=["configuration"])).items
        await mem.forget(record.id)
        await asyncio.sleep(0.3)
        return "done"

    outcome = await agent.run("work", session="s")
    assert outcome.ending == "failed"
    assert "taken over the session" in outcome.text
    assert calls == [1]


async def test_a_crashed_run_with_a_key_is_run_again(mem: AgentMemory) -> None:
    told: list[str] = []
    died = mem.scoped.clock.new_id()
    await RunRecorder(mem, died, "count", "task:k", "k", told.append, mem.scoped.now()).begin()
    agent = Agent(mem, policy=lambda turn: Say(text="three", success=True))
    outcome = await agent.run("count", key="k")
    assert outcome.text == "three"
    assert outcome.problems == ()
    assert outcome.episode not in (None, died)
    closed = await mem.episodic.get(died)
    assert (closed.open, closed.outcome, closed.note[:9]) == (False, "unknown", "abandoned")
    assert (await agent.run("count", key="k")).episode == outcome.episode
    assert told == []
