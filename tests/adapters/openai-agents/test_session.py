"""``LongmindSession`` does what the SDK's own ``SQLiteSession`` does, in real runs of agents, and remembers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, ModelResponse, Runner, SQLiteSession, Usage, function_tool, set_tracing_disabled
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from longmind import Longmind
from longmind.adapters.openai_agents import LongmindSession
from longmind.sync import Longmind as BlockingLongmind

set_tracing_disabled(True)

CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Oslo"}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "minus four"}
USER = {"role": "user", "content": "Is it cold in Oslo?"}
PARTS = {
    "role": "user",
    "content": [
        {"type": "input_text", "text": "What is in the picture?"},
        {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 100_000, "detail": "auto"},
        {"type": "input_text", "text": "Be short."},
    ],
}
REPLY = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Yes.", "annotations": [], "logprobs": []}],
}
DEVELOPER = {"role": "developer", "content": "Be kind."}
REASONING = {"id": "r1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Oslo is far north."}]}
ITEMS: list[Any] = [USER, PARTS, CALL, RESULT, REASONING, REPLY, DEVELOPER]


class Scripted(Model):
    """A model that says what it is told to, and keeps what it was asked."""

    def __init__(self, *outputs: list[Any]) -> None:
        self.outputs = list(outputs)
        self.inputs: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        self.inputs.append(input)
        return ModelResponse(output=self.outputs.pop(0), usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def say(text: str) -> list[Any]:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return [ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")]


def call(name: str, arguments: str) -> list[Any]:
    return [ResponseFunctionToolCall(name=name, arguments=arguments, call_id="c", type="function_call")]


async def test_it_is_a_session(longmind: Longmind) -> None:
    assert isinstance(LongmindSession(longmind, "s"), Session)


@pytest.fixture(scope="module")
def blocking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingLongmind]:
    with BlockingLongmind.open(str(tmp_path_factory.mktemp("store") / "memory.db")) as longmind:
        yield longmind


_numbers = iter(range(10_000))
STEPS = st.lists(
    st.tuples(st.just("add_items"), st.lists(st.sampled_from(ITEMS), max_size=4))
    | st.tuples(st.just("get_items"), st.none() | st.integers(1, 5))
    | st.tuples(st.sampled_from(["pop_item", "pop_item", "clear_session"]), st.just(())),
    max_size=15,
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_random_calls_agree_with_the_sdks_own_session(blocking: BlockingLongmind, steps: list[tuple[str, Any]]) -> None:
    async def run() -> None:
        name = f"session {next(_numbers)}"
        ours, theirs = LongmindSession(blocking, name, user="alice"), SQLiteSession(name)
        for method, argument in steps:
            arguments = () if argument == () else (argument,)
            assert await getattr(ours, method)(*arguments) == await getattr(theirs, method)(*arguments)
        assert await ours.get_items() == await theirs.get_items()
        theirs.close()

    asyncio.run(run())


async def test_the_items_are_the_same_over_a_server(remote: Longmind) -> None:
    session = LongmindSession(remote, "over a server", user="alice")
    await session.add_items(ITEMS)
    assert await session.get_items() == ITEMS
    assert await session.get_items(2) == ITEMS[-2:]
    assert await session.pop_item() == ITEMS[-1]
    await session.clear_session()
    assert await session.get_items() == []


async def test_a_run_has_the_history_of_the_one_before(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")

    @function_tool
    def weather(city: str) -> str:
        """Tell the weather."""
        return f"It is cold in {city}."

    model = Scripted(call("weather", '{"city": "Oslo"}'), say("It is cold."), say("You asked about Oslo."))
    agent = Agent(name="helper", model=model, tools=[weather])
    async with Longmind.open(url) as longmind:
        session = LongmindSession(longmind, "s1", agent="helper", user="alice")
        await Runner.run(agent, "Is it cold in Oslo? I fly there on Friday.", session=session)
    async with Longmind.open(url) as longmind:
        session = LongmindSession(longmind, "s1", agent="helper", user="alice")
        result = await Runner.run(agent, "What did I ask?", session=session)
        assert result.final_output == "You asked about Oslo."
        kinds = [item.get("type", item.get("role")) for item in model.inputs[-1]]
        assert kinds == ["user", "function_call", "function_call_output", "message", "user"]
        mem = longmind.agent("helper", user="alice")
        assert (await mem.recall("When does she fly?"))[
            0
        ].memory.content == "Is it cold in Oslo? I fly there on Friday."
        assert await longmind.agent("helper", user="bob").recall("When does she fly?") == []


async def test_nothing_is_stored_twice_and_what_says_nothing_is_not_recalled(longmind: Longmind) -> None:
    session = LongmindSession(longmind, "s", agent="a")
    await session.add_items(ITEMS)
    mem = longmind.agent("a")
    assert (await mem.stats()).memories == len(ITEMS)
    listed = [(memory.source.role, memory.content) for memory in (await mem.list(descending=False)).items]
    assert listed == [
        ("user", "Is it cold in Oslo?"),
        ("user", "What is in the picture?\nBe short."),
        ("assistant", "Yes."),
    ]
    assert "Is it cold in Oslo?" not in str((await mem.list(descending=False)).items[0].body)


async def test_what_is_forgotten_or_edited_is_so_in_the_session(longmind: Longmind) -> None:
    session = LongmindSession(longmind, "s", agent="a", user="alice")
    await session.add_items([USER, REPLY])
    mem = longmind.agent("a", user="alice")
    asked, replied = (await mem.list(descending=False)).items
    await mem.forget(asked.id)
    await mem.update(replied.id, content="No, it is mild.")
    (item,) = await session.get_items()
    assert item["content"][0]["text"] == "No, it is mild."
    await longmind.erase_user("alice")
    assert await session.get_items() == []


async def test_the_limit_of_the_settings_counts(longmind: Longmind) -> None:
    session = LongmindSession(longmind, "s", session_settings=SessionSettings(limit=2))
    await session.add_items(ITEMS)
    assert await session.get_items() == ITEMS[-2:]
    assert await session.get_items(3) == ITEMS[-3:]


async def test_messages_remembered_otherwise_are_part_of_it(longmind: Longmind) -> None:
    await longmind.agent("a").conversation("s").add("Hello.")
    assert await LongmindSession(longmind, "s", agent="a").get_items() == [{"role": "user", "content": "Hello."}]


async def test_what_the_adapter_costs(measure_cost: Callable[..., Any], tmp_path: Path) -> None:
    async with Longmind.open(str(tmp_path / "memory.db")) as longmind:
        session, conversation = LongmindSession(longmind, "s", agent="a"), longmind.agent("b").conversation("s")
        await measure_cost(
            "add a message",
            lambda n: session.add_items([{"role": "user", "content": f"The number {n}."}]),
            lambda n: conversation.add(f"The number {n}."),
        )
        await measure_cost("get the last ten", lambda n: session.get_items(10), lambda n: conversation.history(10))
