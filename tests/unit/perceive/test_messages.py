"""Messages as the packages of OpenAI and Anthropic give and take them."""

from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage
from openai.types.chat import ChatCompletionMessage

from longmind.errors import InvalidInput
from longmind.perceive.messages import checked_message, is_message

CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Lisbon"}'}}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}


@pytest.mark.parametrize(
    ("given", "role", "content", "metadata"),
    [
        ({"role": "user", "content": "Hello."}, "user", "Hello.", {}),
        ({"role": "developer", "content": "Be brief."}, "system", "Be brief.", {}),
        (
            {"role": "user", "content": [{"type": "text", "text": "What is this?"}, IMAGE]},
            "user",
            "What is this?",
            {"parts": [IMAGE]},
        ),
        ({"role": "user", "content": [IMAGE]}, "user", "(image url)", {"parts": [IMAGE]}),
        (
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            "assistant",
            'Called get_weather with {"city": "Lisbon"}.',
            {"tool_calls": [CALL]},
        ),
        (
            {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
            "tool",
            "18 degrees",
            {"tool_call_id": "call_1"},
        ),
        ({"role": "assistant", "content": None, "refusal": "I cannot."}, "assistant", "I cannot.", {}),
        ({"id": "m1", "role": "user", "content": "Hi."}, "user", "Hi.", {"id": "m1"}),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "cats"}},
                ],
            },
            "assistant",
            "I look.",
            {"parts": [{"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "cats"}}]},
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "12 cats"}]}
                ],
            },
            "tool",
            "12 cats",
            {"parts": [{"type": "tool_result", "tool_use_id": "t1"}]},
        ),
        (
            {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}"},
            "assistant",
            "Called search with {}.",
            {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}"},
        ),
        (
            {"type": "function_call_output", "call_id": "c", "output": "12 cats"},
            "tool",
            "12 cats",
            {"type": "function_call_output", "call_id": "c"},
        ),
    ],
)
def test_a_message_is_taken_as_it_comes(
    given: dict[str, Any], role: str, content: str, metadata: dict[str, Any]
) -> None:
    message = checked_message(given)
    assert (message.role, message.content, message.metadata) == (role, content, metadata)


def test_objects_of_the_packages_are_messages() -> None:
    answer = checked_message(
        ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [CALL]})
    )
    assert answer.content == 'Called get_weather with {"city": "Lisbon"}.'
    said = AnthropicMessage.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": "Hello."}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 2},
        }
    )
    message = checked_message(said)
    assert (message.role, message.content, message.metadata["id"]) == ("assistant", "Hello.", "msg_1")


def test_the_bytes_of_an_image_are_kept_as_a_hash() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 1_000_000}}
    message = checked_message({"role": "user", "content": [{"type": "text", "text": "Look."}, image]})
    assert message.content == "Look."
    assert message.metadata["parts"][0]["source"]["data"].startswith("sha256:")
    assert message.metadata["parts"][0]["source"]["media_type"] == "image/png"


def test_what_is_no_message_is_refused_with_a_hint() -> None:
    assert not is_message({"theme": "dark"})
    with pytest.raises(InvalidInput, match="theme") as refused:
        checked_message({"theme": "dark"})
    assert "key=" in refused.value.hint
    with pytest.raises(InvalidInput, match="role"):
        checked_message({"role": "narrator", "content": "Once."})
    with pytest.raises(InvalidInput, match="int"):
        checked_message({"role": "user", "content": 5})
