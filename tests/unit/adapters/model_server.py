"""Answers of a model in the three interfaces, for the loopback server that the tests of the model clients use."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.unit.models.chat.conftest import (
    Handler,
    Say,
    anthropic_answer,
    anthropic_events,
    openai_answer,
    openai_events,
)


@dataclass
class Answer(Say):
    """A proper answer, in ``responses`` too."""

    def __call__(self, handler: Handler, body: dict[str, Any]) -> None:
        path = handler.path.partition("?")[0]
        if path.endswith("/responses"):
            events, whole = responses_events(self), responses_answer(self)
        elif path.endswith("/messages"):
            events, whole = anthropic_events(self), anthropic_answer(self)
        else:
            events, whole = openai_events(self), openai_answer(self)
        if body.get("stream"):
            handler.stream(events, self)
        else:
            handler.send(200, whole)


def responses_answer(say: Say, *, status: str = "completed") -> dict[str, Any]:
    content = [{"type": "output_text", "text": say.text, "annotations": []}]
    output: list[dict[str, Any]] = []
    if say.text:
        output = [{"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content}]
    output += [
        {"id": f"fc_{n}", "type": "function_call", "call_id": f"call-{n}", "name": name, "arguments": arguments}
        for n, (name, arguments) in enumerate(say.calls)
    ]
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "test-model-2026",
        "status": status,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def responses_events(say: Say) -> list[str]:
    number = iter(range(1000))

    def event(type: str, **fields: Any) -> str:
        return f"event: {type}\ndata: " + json.dumps({"type": type, "sequence_number": next(number), **fields}) + "\n\n"

    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    started = responses_answer(say) | {"output": [], "status": "in_progress"}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    events = [
        event("response.created", response=started),
        event("response.output_item.added", output_index=0, item=item),
        event("response.content_part.added", **place, part=part),
    ]
    words = say.text.split(" ")
    events += [event("response.output_text.delta", **place, delta=word, logprobs=[]) for word in words]
    events.append(event("response.output_text.done", **place, text=say.text, logprobs=[]))
    whole = responses_answer(say)
    events.append(event("response.output_item.done", output_index=0, item=whole["output"][0]))
    return [*events, event("response.completed", response=whole)]
