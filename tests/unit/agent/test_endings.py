"""However a run ends, it is written down: bad tools, bad policies, no time, no budget, no memory, a cancellation."""

import asyncio
import random
from typing import Any

import pytest

from longmind import Longmind
from longmind.agent import Agent, Call, Limits, Outcome, ReflectiveAgent, Say, Turn
from longmind.agent_memory import AgentMemory
from longmind.errors import BudgetSpent, StoreFull
from longmind.types import Filter


def call_then_tell(tool: str, **args: Any) -> Any:
    def policy(turn: Turn) -> Call | Say:
        if not turn.done:
            return Call(tool=tool, args=args)
        done = turn.done[-1]
        return Say(text=str(done.result) if done.ok else f"It failed: {done.error}")

    return policy


async def note_of(mem: AgentMemory, outcome: Outcome) -> str:
    assert outcome.episode is not None
    episode = await mem.episodic.get(outcome.episode)
    assert not episode.open
    return episode.note


async def leases(mem: AgentMemory) -> list[str]:
    page = await mem.list(kinds=["configuration"], where=Filter(states=None))
    return [m.key for m in page.items if m.key and m.key.startswith("lease:")]


async def test_a_tool_that_raises_is_an_observation(mem: AgentMemory) -> None:
    agent = Agent(mem, policy=call_then_tell("divide", by=0))

    @agent.tool
    def divide(by: int) -> float:
        return 1 / by

    outcome = await agent.run("divide")
    assert outcome.text == "It failed: ZeroDivisionError: division by zero"
    assert outcome.ending == "answered"


@pytest.mark.parametrize("deaf", [False, True])
async def test_a_tool_that_hangs_is_left(mem: AgentMemory, deaf: bool) -> None:
    agent = Agent(mem, policy=call_then_tell("hang"), limits=Limits(tool_seconds=0.05))
    free = asyncio.Event()

    @agent.tool
    async def hang() -> str:
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                if not deaf:
                    raise
        return "late"

    outcome = await agent.run("hang")
    assert outcome.text == "It failed: hang did not come back within 0.05 seconds."
    free.set()


@pytest.mark.parametrize("size", [10_000_000, 30])
async def test_what_a_tool_returns_is_bounded(mem: AgentMemory, size: int) -> None:
    agent = Agent(mem, policy=call_then_tell("flood"), limits=Limits(result_chars=1_000))

    @agent.tool
    def flood() -> str:
        return "x" * size

    outcome = await agent.run("flood")
    assert outcome.done[0].truncated is (size > 1_000)
    assert len(str(outcome.done[0].result)) < 1_100
    assert ("cut: 1,000 of 10,000,000" in outcome.text) is (size > 1_000)


async def test_odd_results(mem: AgentMemory) -> None:
    agent = Agent(mem, policy=lambda turn: Say(text="unused"))

    @agent.tool
    def listed() -> list[int]:
        return list(range(100_000))

    @agent.tool
    def odd() -> object:
        return object()

    @agent.tool
    def nul() -> str:
        return "a\x00b\ud800"

    told = {}
    for name in ("listed", "odd", "nul"):
        agent._policy.function = call_then_tell(name)  # type: ignore[union-attr]
        told[name] = (await agent.run(name)).done[0]
    assert told["listed"].ok
    assert told["listed"].truncated
    assert "not plain JSON" in told["odd"].error
    assert told["nul"].result == "a␀b?"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("not an action", "not for str"),
        (Say(text="  "), "empty"),
        (Say(text="nul \x00"), "cannot be stored"),
        (Call(tool="no_such_tool"), "no tool 'no_such_tool'"),
        (Call(tool="send", args={"to": 1, "shout": True}), "does not take this"),
        (Call(tool="send", args={"to": object()}), "not plain JSON"),
    ],
)
async def test_garbage_ten_times_is_a_clear_failure(mem: AgentMemory, answer: Any, why: str) -> None:
    attempts: list[tuple[int, str]] = []

    def policy(turn: Turn) -> Any:
        attempts.append((turn.attempt, turn.problem))
        return answer

    agent = Agent(mem, policy=policy, limits=Limits(bad_answers=10))

    @agent.tool
    def send(to: str) -> str:
        raise AssertionError("must not be called")

    outcome = await agent.run("send it", session="s")
    assert outcome.ending == "failed"
    assert outcome.success is False
    assert why in outcome.text
    assert [number for number, _ in attempts] == list(range(1, 11))
    assert why in attempts[-1][1]
    assert why in await note_of(mem, outcome)
    assert len((await mem.list(kinds=["message"])).items) == 1
    assert await leases(mem) == []


async def test_a_policy_that_never_answers_runs_out_of_actions(mem: AgentMemory) -> None:
    agent = Agent(mem, policy=lambda turn: Call(tool="again"), limits=Limits(actions=3))

    @agent.tool
    def again() -> str:
        return "and again"

    outcome = await agent.run("forever")
    assert outcome.ending == "failed"
    assert outcome.text == "There was no answer after 3 actions."
    assert outcome.steps == 3


async def test_a_policy_that_breaks(mem: AgentMemory) -> None:
    def policy(turn: Turn) -> Say:
        raise KeyError("oops")

    outcome = await Agent(mem, policy=policy).run("break")
    assert outcome.ending == "failed"
    assert "KeyError: 'oops'" in outcome.text


async def test_no_budget(mem: AgentMemory) -> None:
    def policy(turn: Turn) -> Say:
        raise BudgetSpent("Nothing left today.")

    outcome = await Agent(mem, policy=policy).run("think")
    assert outcome.ending == "out_of_budget"
    assert "Nothing left today." in await note_of(mem, outcome)


async def test_no_time(mem: AgentMemory) -> None:
    async def policy(turn: Turn) -> Call:
        return Call(tool="sleep")

    agent = ReflectiveAgent(mem, policy=policy)

    @agent.tool
    async def sleep() -> None:
        await asyncio.sleep(60)

    outcome = await agent.run("sleep", timeout=2, session="s")
    assert outcome.ending == "timed_out"
    assert outcome.text == "The task was not done in the time it had (2 seconds)."
    assert [done.ok for done in outcome.done] == [False]
    assert outcome.reflection is not None
    assert (await note_of(mem, outcome)).startswith("timed_out")
    assert await leases(mem) == []


async def test_a_timeout_of_the_policys_own_is_not_the_runs(mem: AgentMemory) -> None:
    def policy(turn: Turn) -> Say:
        raise TimeoutError("mine")

    outcome = await Agent(mem, policy=policy).run("x")
    assert (outcome.ending, outcome.text) == ("failed", "The policy failed: TimeoutError: mine")


async def test_a_store_that_is_closed_does_not_fail_the_task(opened: Longmind, mem: AgentMemory) -> None:
    agent = ReflectiveAgent(mem, policy=call_then_tell("add", a=1))

    @agent.tool
    def add(a: int) -> int:
        return a + 1

    await opened.close()
    outcome = await agent.run("add")
    assert (outcome.ending, outcome.text) == ("answered", "2")
    assert outcome.episode is None
    assert any("not open" in problem or "closed" in problem for problem in outcome.problems)
    assert any("could not store the task" in problem for problem in outcome.problems)


async def test_what_could_not_be_stored_is_stored_when_the_store_is_back(
    mem: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = mem.store.backend.apply
    full = True

    async def sometimes(batch: Any) -> Any:
        if full:
            raise StoreFull
        return await apply(batch)

    agent = Agent(mem, policy=call_then_tell("free"))

    @agent.tool
    async def free() -> str:
        nonlocal full
        full = False
        return "there is space"

    monkeypatch.setattr(mem.store.backend, "apply", sometimes)
    outcome = await agent.run("make space", session="s")
    assert outcome.text == "there is space"
    assert any("no space left" in problem for problem in outcome.problems)
    assert outcome.episode is not None
    assert [event.type for event in (await mem.episodic.events(outcome.episode)).items] == ["call", "answer"]
    assert len((await mem.list(kinds=["message"])).items) == 2
    assert not (await mem.episodic.get(outcome.episode)).open


async def test_a_critic_that_breaks_is_told(mem: AgentMemory) -> None:
    class Broken:
        async def before(self, turn: Turn, action: Any) -> None:
            raise ValueError("before")

        async def after(self, turn: Turn, outcome: Outcome) -> None:
            raise ValueError("after")

    outcome = await Agent(mem, policy=lambda turn: Say(text="hi"), critic=Broken()).run("x")
    assert outcome.text == "hi"
    assert "before" in outcome.problems[0]
    assert "after" in outcome.problems[1]


async def test_a_tool_that_stops_the_program_leaves_a_record(mem: AgentMemory) -> None:
    def policy(turn: Turn) -> Say:
        raise KeyboardInterrupt

    run = await Agent(mem, policy=policy).perceive("stop", session="s")
    with pytest.raises(KeyboardInterrupt):
        await run.step()
    assert run.outcome is not None
    assert "KeyboardInterrupt" in await note_of(mem, run.outcome)
    assert await leases(mem) == []


async def test_a_cancellation_at_any_point_leaves_a_consistent_record(mem: AgentMemory) -> None:
    """Wherever a run is cancelled: no episode open, no lease left, and with an episode there is its message."""
    chance = random.Random(7)

    async def policy(turn: Turn) -> Call | Say:
        await asyncio.sleep(0)
        return Call(tool="nap", args={"n": len(turn.done)}) if len(turn.done) < 2 else Say(text="done", success=True)

    agent = ReflectiveAgent(mem, policy=policy)

    @agent.tool
    async def nap(n: int) -> int:
        await asyncio.sleep(0.001)
        return n

    ended = {"cancelled": 0, "answered": 0}
    for number in range(40):
        task = asyncio.create_task(agent.run(f"nap number {number}", session="s"))
        for _ in range(chance.randrange(1, 60)):
            await asyncio.sleep(0.0005 if chance.random() < 0.3 else 0)
        task.cancel()
        if chance.random() < 0.3:  # impatience must not help
            await asyncio.sleep(0)
            task.cancel()
        try:
            await task
            ended["answered"] += 1
        except asyncio.CancelledError:
            ended["cancelled"] += 1
        assert await leases(mem) == []
    assert ended["cancelled"] > 10
    episodes = (await mem.episodic.list(type="task", limit=100)).items
    assert episodes
    assert not [episode for episode in episodes if episode.open]
    asked = {m.content for m in (await mem.list(kinds=["message"], limit=200)).items if m.source.role == "user"}
    assert {episode.title for episode in episodes} == asked
    assert (await agent.run("the last", session="s")).ending == "answered"
