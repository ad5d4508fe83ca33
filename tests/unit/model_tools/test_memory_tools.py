"""``mem.tools()``: definitions that the real clients accept, and calls that are run for one memory only."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anthropic
import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from tests.unit.adapters.model_server import Answer
from tests.unit.models.chat.conftest import Server, serving

from longmind import AgentMemory, InvalidInput, Longmind, sync
from longmind.model_tools import ToolAnswer
from longmind.model_tools.tools import GROUPS, TOOLS

VERBS = ("remember", "recall", "ask", "context", "forget", "undo")


@pytest.fixture
async def longmind() -> AsyncIterator[Longmind]:
    async with Longmind.open("memory:", embedder="none") as opened:
        yield opened


@pytest.fixture
def mem(longmind: Longmind) -> AgentMemory:
    return longmind.agent("assistant", user="alice")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


async def test_tools_are_chosen_by_name_and_group(mem: AgentMemory) -> None:
    assert mem.tools().names == VERBS
    assert mem.tools("recall", "facts").names == ("recall", *(tool.name for tool in GROUPS["facts"]))
    assert set(mem.tools(*GROUPS).names) == {tool.name for tool in TOOLS}
    assert mem.tools(read_only=True).names == ("recall", "ask", "context")
    with pytest.raises(InvalidInput, match="no tool or group 'recal'"):
        mem.tools("recal")


async def test_definitions_have_the_shape_of_the_providers_own_types(mem: AgentMemory) -> None:
    tools = mem.tools(*GROUPS)
    TypeAdapter(list[openai.types.chat.ChatCompletionFunctionToolParam]).validate_python(tools.openai())
    TypeAdapter(list[openai.types.responses.FunctionToolParam]).validate_python(tools.openai("responses"))
    TypeAdapter(list[anthropic.types.ToolParam]).validate_python(tools.anthropic())
    remember = tools.openai()[0]["function"]
    assert remember["parameters"] == tools.anthropic()[0]["input_schema"]
    assert remember["parameters"]["required"] == ["content"]
    text = json.dumps([tools.openai(), tools.anthropic()])
    assert "$ref" not in text
    assert not {"user", "agent", "tenant"} & set(remember["parameters"]["properties"]), "the scope is not the model's"


async def test_calls_are_run_for_this_memory_only(longmind: Longmind, mem: AgentMemory) -> None:
    stored = await mem.tools().call("remember", {"content": "Nora lives in Lisbon.", "tags": ["home"]})
    assert not stored.is_error
    assert (await mem.get(stored.data["id"])).tags == ("home",)  # type: ignore[union-attr]
    recalled = await mem.tools().call("recall", '{"query": "Where does Nora live?"}')
    assert "Nora lives in Lisbon." in str(recalled)
    assert "data, not instructions" in recalled.text
    bob = longmind.agent("assistant", user="bob").tools()
    assert (await bob.call("recall", {"query": "Where does Nora live?"})).text == "Nothing fits."
    assert (await bob.call("forget", {"which": [stored.data["id"]]})).is_error
    assert (await bob.call("recall", {"query": "Nora", "user": "alice"})).is_error
    assert await mem.get(stored.data["id"]) is not None


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("recall", {}, "query: Field required"),
        ("recall", '{"query": ', "not JSON"),
        ("recall", "[1]", "no object"),
        ("recall", {"query": "x", "k": "many"}, "k: "),
        ("recall", {"query": "x", "agent": "other"}, "agent: Extra inputs"),
        ("remember", {"content": " "}, "An empty text cannot be remembered."),
        ("forget", {"which": ["no-such-id"]}, "no-such-id"),
        ("erase_everything", {}, "There are: remember, recall"),
    ],
)
async def test_what_is_wrong_comes_back_in_words(mem: AgentMemory, name: str, arguments: Any, words: str) -> None:
    answer = await mem.tools().call(name, arguments)
    assert answer.is_error
    assert words in answer.text
    assert "Traceback" not in answer.text
    assert answer.data["error"]


async def test_a_fault_of_ours_is_logged_and_told_as_one(
    mem: AgentMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*args: Any, **kwargs: Any) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(type(mem), "recall", broken)
    answer = await mem.tools().call("recall", {"query": "x"})
    assert answer.is_error
    assert "secret detail" not in answer.text
    assert "secret detail" in caplog.text


async def _results(client: Any, interface: str, tools: Any) -> list[dict[str, Any]]:
    if interface == "chat":
        response = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "?"}], tools=tools.openai()
        )
    elif interface == "responses":
        response = await client.responses.create(model="m", input="?", tools=tools.openai("responses"))
    else:
        response = await client.messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "?"}], tools=tools.anthropic()
        )
    results: list[dict[str, Any]] = await tools.results(response)
    return results


@pytest.mark.parametrize("interface", ["chat", "responses", "messages"])
async def test_the_calls_of_a_response_are_run_and_answered(server: Server, mem: AgentMemory, interface: str) -> None:
    calls = (("remember", '{"content": "Nora lives in Lisbon."}'), ("weather", "{}"), ("recall", '{"k": 1}'))
    server.plan(Answer("", calls=calls, finish="tool_calls"))
    cls: Any = anthropic.AsyncAnthropic if interface == "messages" else openai.AsyncOpenAI
    address = server.address if interface == "messages" else f"{server.address}/v1"
    async with cls(api_key="k", base_url=address) as client:
        results = await _results(client, interface, mem.tools())
    ids = [result.get("tool_call_id") or result.get("call_id") or result.get("tool_use_id") for result in results]
    assert ids == ["call-0", "call-2"], "a tool of somebody else's is left alone"
    told = [result.get("output") or result.get("content") for result in results]
    assert told[0].startswith("Remembered as ")
    assert "query: Field required" in told[1]
    if interface == "messages":
        assert [result.get("is_error") for result in results] == [None, True]
    assert len((await mem.list()).items) == 1


async def test_the_results_are_accepted_by_the_providers_types(mem: AgentMemory) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "recall", "arguments": '{"query": "x"}'}}
    (result,) = await mem.tools().results({"choices": [{"message": {"tool_calls": [call]}}]})
    TypeAdapter(openai.types.chat.ChatCompletionToolMessageParam).validate_python(result)
    assert await mem.tools().results({"choices": [{"message": {"content": "No call."}}]}) == []
    assert await mem.tools().results({"content": "plain text"}) == []


def test_the_blocking_memory_has_tools_too() -> None:
    with sync.Longmind.open("memory:", embedder="none") as longmind:
        tools = longmind.agent("assistant").tools("remember", "recall")
        assert tools.names == ("remember", "recall")
        assert [tool["name"] for tool in tools.anthropic()] == ["remember", "recall"]
        assert tools.call("remember", {"content": "I like tea."}).text.startswith("Remembered")
        block = {"type": "tool_use", "id": "t", "name": "recall", "input": {"query": "What do I like?"}}
        (result,) = tools.results({"content": [block]})
        assert "I like tea." in result["content"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from([tool.name for tool in TOOLS]), data=st.data())
async def test_no_arguments_of_a_model_raise(name: str, data: st.DataObject) -> None:
    tool = next(tool for tool in TOOLS if tool.name == name)
    names = st.sampled_from([*tool.schema["properties"], "user", ""])
    arguments = data.draw(st.dictionaries(names, _JSON, max_size=4) | st.text(max_size=30))
    async with Longmind.open("memory:", embedder="none") as longmind:
        answer = await longmind.agent("assistant").tools(name).call(name, arguments)
    assert isinstance(answer, ToolAnswer)
    assert answer.text
    assert answer.data.get("error") != "internal"
