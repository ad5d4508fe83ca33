"""A run whose words are heard as they come, and a listener who leaves."""

import asyncio
import gc

import pytest

from longmind.agent import Agent, Call, Limits, Say, Stream, Turn
from longmind.agent_memory import AgentMemory
from longmind.errors import Conflict
from longmind.models.chat import Answer, ToolCall, Usage
from longmind.testing import ScriptedModel


async def drained(stream: Stream) -> list[str]:
    return [piece async for piece in stream]


def calling(name: str, text: str = "", **arguments: object) -> Answer:
    usage = Usage(input_tokens=10, output_tokens=5, requests=1)
    return Answer(
        text=text, tool_calls=(ToolCall(id="1", name=name, arguments=arguments),), finish="tools", usage=usage
    )


async def test_a_model_is_heard_word_by_word(mem: AgentMemory) -> None:
    model = ScriptedModel(calling("look_up", "Let me look.", city="Lisbon"), "It is sunny.")
    agent = Agent(mem, chat=model.chat())

    @agent.tool
    def look_up(city: str) -> str:
        return "sunny"

    stream = agent.stream("What is the weather in Lisbon?", session="s")
    assert stream.outcome is None
    assert await drained(stream) == ["Let ", "me ", "look.", "It ", "is ", "sunny."]
    assert stream.outcome is not None
    assert stream.outcome.text == "It is sunny."
    assert stream.outcome.usage.requests == 2
    assert stream.outcome == agent.last == await stream.result()


async def test_what_has_no_pieces_comes_whole(mem: AgentMemory) -> None:
    agent = Agent(mem, policy=lambda turn: Say(text="all at once"))
    assert await drained(agent.stream("hello")) == ["all at once"]
    failing = Agent(mem, policy=lambda turn: Call(tool="no_such_tool"))
    (told,) = await drained(failing.stream("hello"))
    assert "no tool" in told


class Endless:
    """A policy that never stops talking."""

    async def decide(self, turn: Turn) -> Say:
        raise AssertionError("it is only heard")

    async def speak(self, turn: Turn):  # type: ignore[no-untyped-def]
        while True:
            await asyncio.sleep(0)
            yield "word "


async def ended(mem: AgentMemory) -> str:
    """How the only run was recorded, once it was."""
    for _ in range(2_000):
        episodes = (await mem.episodic.list(type="task", open=False)).items
        if episodes:
            return episodes[0].note
        await asyncio.sleep(0.005)
    raise AssertionError("the run was never recorded")


@pytest.mark.parametrize("way", ["dropped", "closed", "context"])
async def test_a_listener_who_leaves_leaves_a_record(mem: AgentMemory, way: str) -> None:
    agent = Agent(mem, policy=Endless())
    stream = agent.stream("talk", session="s")
    heard = []
    if way == "context":
        async with stream:
            async for piece in stream:
                heard.append(piece)
                if len(heard) == 3:
                    break
    else:
        async for piece in stream:
            heard.append(piece)
            if len(heard) == 3:
                break
    if way == "closed":
        await stream.aclose()
    if way == "dropped":
        del stream
        gc.collect()
    assert (await ended(mem)).startswith("cancelled")
    answers = [m for m in (await mem.list(kinds=["message"])).items if m.source.role == "assistant"]
    assert len(answers) == 1
    assert answers[0].metadata["partial"] is True
    assert answers[0].content.startswith("word word word")
    talk = Agent(mem, policy=lambda turn: Say(text="short"))
    assert (await talk.run("again", session="s")).text == "short"


async def test_time_ends_a_stream_that_nobody_reads(mem: AgentMemory) -> None:
    stream = Agent(mem, policy=Endless()).stream("talk", timeout=0.1)
    outcome = await stream.result()
    assert outcome.ending == "timed_out"
    assert (await drained(stream))[-1].lstrip("\n").startswith("The task was not done")


async def test_what_keeps_a_stream_from_beginning_is_raised(mem: AgentMemory) -> None:
    agent = Agent(mem, policy=lambda turn: Say(text="hi"))
    run = await agent.perceive("busy", session="s")
    hasty = Agent(mem, policy=lambda turn: Say(text="hi"), limits=Limits(wait_seconds=0.01))
    with pytest.raises(Conflict):
        await drained(hasty.stream("hello", session="s"))
    await run.cancel()
