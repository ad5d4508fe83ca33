"""Both protocols, through the real SDKs, against a real server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from longmind.errors import InvalidAnswer, ModelError, ModelUnavailable
from longmind.models.chat import ChatMessage, ChatTool, ToolCall
from longmind.models.chat_model import ChatModel, Prices

Open = Callable[..., ChatModel]
WEATHER = ChatTool(
    name="weather",
    description="The weather of a city.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


async def text_of(chat: ChatModel, *words: Any, **options: Any) -> tuple[str, Any]:
    """The pieces of a stream put together, and the answer at its end."""
    said, last = "", None
    async for piece in chat.stream(*words, **options):
        said += piece.text
        last = piece.answer or last
    return said, last


async def test_an_answer_with_what_it_cost(opened: Open, server: Any, protocol: str) -> None:
    chat = opened(prices=Prices(input=1.0, output=10.0, cached=0.1))
    answer = await chat.complete("Hello?", max_tokens=20, prompts=["greeting@2"])
    assert (answer.text, answer.finish, answer.model) == ("Hello there.", "stop", "test-model-2026")
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.cached_tokens) == (11, 7, 3)
    assert answer.usage.cost == pytest.approx((8 * 1.0 + 3 * 0.1 + 7 * 10.0) / 1e6)
    assert answer.prompts == ("greeting@2",)
    assert chat.name == f"{protocol}/test-model"
    assert (chat.counts.calls, chat.counts.failed, chat.counts.usage.tokens) == (1, 0, 18)
    await chat.close()


async def test_the_cost_is_unknown_without_a_price(opened: Open) -> None:
    assert (await opened().complete("Hello?")).usage.cost is None


async def test_a_conversation_with_tools_is_told_in_the_protocols_own_way(
    opened: Open, server: Any, protocol: str
) -> None:
    conversation = [
        {"role": "system", "content": "Be brief."},
        ChatMessage(role="user", content="Weather in Paris?"),
        ChatMessage(role="assistant", tool_calls=(ToolCall(id="c1", name="weather", arguments={"city": "Paris"}),)),
        ChatMessage(role="tool", call_id="c1", content="rain"),
        ChatMessage(role="user", content="And?"),
    ]
    await opened().complete(conversation, tools=[WEATHER], tool_choice="required", max_tokens=9)
    body = server.bodies[0]
    if protocol == "openai":
        assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool", "user"]
        assert body["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"city": "Paris"}'
        assert body["messages"][3]["tool_call_id"] == "c1"
        assert (body["tool_choice"], body["max_tokens"]) == ("required", 9)
    else:
        assert body["system"] == "Be brief."
        assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
        assert body["messages"][1]["content"][0]["input"] == {"city": "Paris"}
        assert [block["type"] for block in body["messages"][2]["content"]] == ["tool_result", "text"]
        assert (body["tool_choice"], body["max_tokens"]) == ({"type": "any"}, 9)


@pytest.mark.parametrize("streamed", [False, True])
async def test_tool_calls_come_back(opened: Open, server: Any, streamed: bool) -> None:
    server.plan(server.Say("", calls=(("weather", '{"city": "Paris"}'), ("weather", "{}")), finish="tool_calls"))
    chat = opened()
    if streamed:
        _, answer = await text_of(chat, "Weather?", tools=[WEATHER])
    else:
        answer = await chat.complete("Weather?", tools=[WEATHER])
    assert [(call.id, call.name, call.arguments) for call in answer.tool_calls] == [
        ("call-0", "weather", {"city": "Paris"}),
        ("call-1", "weather", {}),
    ]
    assert answer.finish == "tools"


@pytest.mark.parametrize("protocol", ["openai"], indirect=True)
async def test_broken_arguments_are_mended_or_told(opened: Open, server: Any) -> None:
    chat = opened()
    server.plan(server.Say("", calls=(("weather", "{'city': 'Paris',"),), finish="tool_calls"))
    assert (await chat.complete("?", tools=[WEATHER])).tool_calls[0].arguments == {"city": "Paris"}
    server.plan(server.Say("", calls=(("weather", "Paris, please"),), finish="tool_calls"))
    with pytest.raises(InvalidAnswer, match="weather") as caught:
        await chat.complete("?", tools=[WEATHER])
    assert caught.value.details["text"] == "Paris, please"
    assert chat.counts.usage.requests == 2  # it cost all the same


async def test_a_stream_comes_in_pieces_and_ends_with_the_whole(opened: Open, server: Any) -> None:
    server.plan(server.Say("one two three"))
    pieces = [piece async for piece in opened().stream("Count.")]
    assert [piece.text for piece in pieces] == ["one", "two", "three", ""]
    answer = pieces[-1].answer
    assert answer is not None
    assert (answer.text, answer.finish, answer.usage.tokens) == ("onetwothree", "stop", 18)


async def test_a_cut_stream_is_an_error_with_what_had_come(opened: Open, server: Any, protocol: str) -> None:
    server.plan(server.Say("one two three four", cut_after=2 if protocol == "openai" else 5))
    chat = opened()
    with pytest.raises(ModelUnavailable, match="broke off") as caught:
        await text_of(chat, "Count.")
    assert caught.value.details["text"] == "onetwo"
    assert len(server.seen) == 1  # what was said cannot be unsaid: no second try
    assert chat.counts.failed == 1
    assert chat.counts.usage.output_tokens > 0  # about what it cost


async def test_a_stream_cut_before_its_first_word_is_tried_again(opened: Open, server: Any) -> None:
    server.plan(server.Say(cut_after=0))
    said, _ = await text_of(opened(), "Hello?")
    assert (said, len(server.seen)) == ("Hellothere.", 2)


async def test_a_stream_that_is_given_up_is_accounted_for(opened: Open, server: Any) -> None:
    server.plan(server.Say("one two three four", chunk_pause=0.02))
    chat = opened()
    stream = chat.stream("Count.")
    async for piece in stream:
        assert piece.text == "one"
        break
    await stream.aclose()  # type: ignore[attr-defined]
    assert (chat.counts.calls, chat.counts.failed) == (1, 0)
    assert chat.counts.usage.tokens > 0


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "payload",
    [b"<html>hello</html>", b"{", b"[]", b'{"choices": 3, "content": 3}', b'{"choices": []}', b"null", b"[" * 90_000],
)
async def test_an_answer_that_is_none(opened: Open, server: Any, payload: bytes, streamed: bool) -> None:
    chat = opened()
    if streamed:
        server.plan(server.raw(b"data: " + payload + b"\n\n", "text/event-stream"))
        server.plan(*[server.status(400)] * 4)
    else:
        server.plan(server.raw(payload))
    with pytest.raises(ModelError):
        await (text_of(chat, "Hello?") if streamed else chat.complete("Hello?"))
    assert chat.counts.failed == 1


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_huge_answer_is_broken_off(opened: Open, server: Any, streamed: bool) -> None:
    server.plan(server.huge(12))
    with pytest.raises(InvalidAnswer, match="bytes"):
        await (text_of(opened(), "Hello?") if streamed else opened().complete("Hello?"))


async def test_a_packed_answer_is_not_unpacked(opened: Open, server: Any) -> None:
    server.plan(server.raw(b"x", Content_Encoding="gzip"))
    with pytest.raises(InvalidAnswer):
        await opened().complete("Hello?")


async def test_a_redirect_is_not_followed(opened: Open, server: Any) -> None:
    server.plan(server.status(307, Location=f"{server.address}/elsewhere"))
    with pytest.raises(ModelError, match="307"):
        await opened().complete("Hello?")
    assert len(server.seen) == 1


async def test_the_server_tells_its_models_and_counts_tokens(opened: Open, protocol: str) -> None:
    chat = opened()
    provider: Any = chat.provider
    assert await provider.models() == ["alpha", "zeta"]
    assert await chat.count("How many?") == (42 if protocol == "anthropic" else 7)


async def test_half_characters_and_nul_do_no_harm(opened: Open, server: Any) -> None:
    server.plan(server.Say("bad \ud800 \x00 end"))
    answer = await opened().complete("half \udc00 a\x00b")
    assert answer.text.encode() == b"bad ?  end"
    assert "half ? ab" in str(server.bodies[0])


@pytest.mark.parametrize("protocol", ["openai"], indirect=True)
async def test_what_a_server_does_not_take_is_left_out_and_remembered(opened: Open, server: Any) -> None:
    def refusing(param: str) -> Any:
        told = {"error": {"message": "no", "type": "invalid_request_error", "code": "unsupported", "param": param}}
        return server.status(400, told)

    chat = opened()
    server.plan(refusing("temperature"), refusing("max_tokens"))
    await chat.complete("Hello?", temperature=0.5, max_tokens=5)
    await chat.complete("Hello?", temperature=0.5, max_tokens=5)
    sent = [{"temperature", "max_tokens", "max_completion_tokens"} & set(body) for body in server.bodies]
    assert sent == [
        {"temperature", "max_tokens"},
        {"max_tokens"},
        {"max_completion_tokens"},
        {"max_completion_tokens"},
    ]


async def test_a_refusal_says_why_in_the_servers_codes(opened: Open, server: Any) -> None:
    server.plan(server.status(400, {"error": {"message": "x", "type": "invalid_request_error", "code": "too_long"}}))
    with pytest.raises(ModelError, match="invalid_request_error") as caught:
        await opened().complete("Hello?")
    assert caught.value.details["status"] == 400
    server.plan(server.status(429, {"error": {"message": "x", "type": "insufficient_quota", "code": "x"}}))
    with pytest.raises(ModelError, match="insufficient_quota") as caught:
        await opened().complete("Hello?")
    assert "credit" in caught.value.hint
    assert len(server.seen) == 2
