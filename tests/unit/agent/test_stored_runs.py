"""A stored run, again, and with another policy."""

import pytest

from longmind.agent import Action, Agent, Call, ReflectiveAgent, Say, Turn, divergence, load_outcome, replay
from longmind.agent_memory import AgentMemory
from longmind.errors import InvalidInput, NotFound
from longmind.systems.procedural import ToolRegistry


def policy(turn: Turn) -> Action:
    if not turn.done:
        return Call(tool="count", args={"to": 3}, thought="I count.")
    if turn.done[-1].ok:
        return Say(text=f"{turn.done[-1].result}: {len(turn.memories)} memories, {turn.context.count('sheep')} sheep")
    return Call(tool="count", args={"to": 2})


def counting(mem: AgentMemory, calls: list[int]) -> Agent:
    agent = ReflectiveAgent(mem, policy=policy, tools=ToolRegistry())

    @agent.tool
    def count(to: int) -> list[int]:
        calls.append(to)
        if to > 2:
            raise ValueError("too far")
        return list(range(to))

    return agent


async def test_a_run_is_replayed_without_doing_it_again(mem: AgentMemory) -> None:
    await mem.remember("Ann counts sheep at night.")
    calls: list[int] = []
    agent = counting(mem, calls)
    await agent.run("Count the sheep", session="s")
    ran = await agent.run("Count the sheep for Ann", session="s")
    before = list(calls)
    assert ran.episode is not None
    steps = await replay(mem, ran.episode)
    assert calls == before
    assert [step.observation for step in steps] == [*ran.done, None]
    assert steps[-1].action == Say(text=ran.text)
    assert steps[-1].turn.done == ran.done
    assert steps[0].turn.conversation[0].content == "Count the sheep"
    assert [hit.memory.id for hit in steps[0].turn.memories] == [hit.memory.id for hit in ran.memories]
    assert [tool.name for tool in steps[0].turn.tools] == ["count"]
    assert await divergence(mem, ran.episode, policy) is None
    stored = await load_outcome(mem, ran.episode)
    assert stored.model_dump(exclude={"memories", "seconds"}) == ran.model_dump(exclude={"memories", "seconds"})


async def test_another_policy_diverges_where_it_does(mem: AgentMemory) -> None:
    ran = await counting(mem, []).run("Count the sheep")
    assert ran.episode is not None

    def timid(turn: Turn) -> Action:
        return policy(turn) if not turn.done else Say(text="Enough.")

    found = await divergence(mem, ran.episode, timid)
    assert found is not None
    assert (found.at, found.was, found.now) == (2, Call(tool="count", args={"to": 2}), Say(text="Enough."))


async def test_a_decision_made_over_is_replayed_with_its_objection(mem: AgentMemory) -> None:
    def stubborn(turn: Turn) -> Action:
        if turn.critique is not None:
            return Say(text="I see.")
        return Call(tool="fail")

    agent = ReflectiveAgent(mem, policy=stubborn, tools=ToolRegistry())

    @agent.tool
    def fail() -> None:
        raise ValueError("always")

    ran = await agent.run("Try it")
    assert ran.text == "I see."
    assert ran.episode is not None
    assert await divergence(mem, ran.episode, stubborn) is None


async def test_what_is_no_run_is_not_replayed(mem: AgentMemory) -> None:
    with pytest.raises(NotFound):
        await replay(mem, "01a1df20-f2a1-7753-8eda-485f8e158448")
    other = await mem.episodic.start("A walk")
    with pytest.raises(NotFound, match="not a run"):
        await replay(mem, other.id)
    agent = counting(mem, [])
    run = await agent.perceive("Count")
    (open_one,) = (await mem.episodic.list(type="task", open=True)).items
    with pytest.raises(InvalidInput, match="has not ended"):
        await load_outcome(mem, open_one.id)
    assert await replay(mem, open_one.id) == []
    await run.cancel()
