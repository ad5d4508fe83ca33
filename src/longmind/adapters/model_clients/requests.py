"""The three interfaces: where a request holds its messages, and what of a response was said.

Only texts of the user and the assistant are turns. Instructions, calls of tools and their results are not: a result may
be what memory itself returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel

Json = dict[str, Any]
_TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Parts of a content that are text, and the field that holds it."""
_OPEN, _CLOSE = "<longmind-memory>", "</longmind-memory>"
_CONTEXT = re.compile(rf"{_OPEN}\n.*?\n{_CLOSE}\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Turn:
    """A text of a conversation, and the index of its message in the request."""

    role: str
    text: str
    index: int = -1

    def message(self) -> Json:
        return {"role": self.role, "content": self.text}


class Interface(Protocol):
    """One of the interfaces of a provider."""

    def turns(self, body: Mapping[str, Any]) -> list[Turn]:
        """Return what was said, of the messages of a request."""
        ...

    def with_context(self, body: Mapping[str, Any], context: str, index: int) -> Json:
        """Return the body with a context before the text of a message, or in the instructions if ``index`` is -1."""
        ...

    def reply(self, response: Any) -> str:
        """Return the text of a response."""
        ...

    def received(self, event: Any) -> str:
        """Return the text that an event of a stream adds."""
        ...


def marked(context: str) -> str:
    """Return a context between marks, by which a model and ``without_context`` tell it from what was said.

    Text from memory is quoted in it, and ``<`` before a letter or a slash is escaped there: it cannot hold a mark.
    """
    return f"{_OPEN}\n{context}\n{_CLOSE}"


def without_context(text: str) -> str:
    """Return a text without contexts that were put into it, such as in a request that was recorded as it was sent."""
    return _CONTEXT.sub("", text) if _OPEN in text else text


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_none=True) if isinstance(value, BaseModel) else value


def _text(content: Any) -> str:
    """Return the text of a content: its own, or that of its parts."""
    content = _plain(content)
    if isinstance(content, str):
        return content
    parts = [_plain(part) for part in content] if isinstance(content, Iterable) else []
    texts = [
        part if isinstance(part, str) else part.get(_TEXTS.get(str(part.get("type", "text")), ""))
        for part in parts
        if isinstance(part, str | Mapping)
    ]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _listed(messages: Any) -> list[Any]:
    return [_plain(message) for message in messages] if isinstance(messages, Iterable) else []


def _turns(messages: Any) -> list[Turn]:
    turns: list[Turn] = []
    for index, message in enumerate(_listed(messages)):
        role = message.get("role") if isinstance(message, Mapping) else None
        if role in ("user", "assistant"):
            text = without_context(_text(message.get("content") or message.get("refusal"))).strip()
            turns += [Turn(str(role), text, index)] if text else []
    return turns


def _before_text(original: Any, context: str, part_type: str) -> Json:
    """Return a message with a context before its text. What stands before the text, such as tool results, stays."""
    message: Json = dict(_plain(original))
    content = message["content"]
    if isinstance(content, str):
        return message | {"content": f"{context}\n\n{content}"}
    parts = [_plain(part) for part in content]
    first = next(
        (n for n, part in enumerate(parts) if isinstance(part, str) or str(part.get("type", "text")) in _TEXTS), 0
    )
    return message | {"content": [*parts[:first], {"type": part_type, "text": context}, *parts[first:]]}


def _replaced(messages: Any, index: int, context: str, part_type: str) -> list[Any]:
    listed = list(messages)
    listed[index] = _before_text(listed[index], context, part_type)
    return listed


def _get(value: Any, *names: str) -> Any:
    """Return a field inside fields of an object or a mapping; None where one is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value


class ChatCompletions:
    """OpenAI's ``chat.completions``."""

    def turns(self, body: Mapping[str, Any]) -> list[Turn]:
        return _turns(body.get("messages"))

    def with_context(self, body: Mapping[str, Any], context: str, index: int) -> Json:
        messages = list(body["messages"])
        if index >= 0:
            return {**body, "messages": _replaced(messages, index, context, "text")}
        first = next((n for n, m in enumerate(messages) if _plain(m).get("role") not in ("system", "developer")), 0)
        if first == 0:
            return {**body, "messages": [{"role": "system", "content": context}, *messages]}
        last = dict(_plain(messages[first - 1]))  # after the instructions, which are the part that stays the same
        content = last["content"]
        part = {"type": "text", "text": context}
        last["content"] = f"{content}\n\n{context}" if isinstance(content, str) else [*content, part]
        return {**body, "messages": [*messages[: first - 1], last, *messages[first:]]}

    def reply(self, response: Any) -> str:
        choices = _get(response, "choices") or ()
        message = _get(choices[0], "message") if choices else None
        return _text(_get(message, "content") or _get(message, "refusal") or "")

    def received(self, event: Any) -> str:
        choices = [choice for choice in _get(event, "choices") or () if _get(choice, "index") == 0]
        delta = _get(choices[0], "delta") if choices else None
        return _get(delta, "content") or _get(delta, "refusal") or ""


class Responses:
    """OpenAI's ``responses``."""

    def turns(self, body: Mapping[str, Any]) -> list[Turn]:
        given = body.get("input")
        return _turns([{"role": "user", "content": given}] if isinstance(given, str) else given)

    def with_context(self, body: Mapping[str, Any], context: str, index: int) -> Json:
        if index < 0 or body.get("previous_response_id") or body.get("conversation"):
            # OpenAI keeps the input of such a chain, where contexts would pile up; instructions hold for one call
            instructions = body.get("instructions")
            return {
                **body,
                "instructions": f"{instructions}\n\n{context}" if isinstance(instructions, str) else context,
            }
        given = body["input"]
        if isinstance(given, str):
            return {**body, "input": f"{context}\n\n{given}"}
        return {**body, "input": _replaced(given, index, context, "input_text")}

    def reply(self, response: Any) -> str:
        messages = [item for item in _get(response, "output") or () if _get(item, "type") == "message"]
        return "\n".join(filter(None, (_text(_get(message, "content") or "") for message in messages)))

    def received(self, event: Any) -> str:
        kind = _get(event, "type")
        return _get(event, "delta") or "" if kind in ("response.output_text.delta", "response.refusal.delta") else ""


class Messages:
    """Anthropic's ``messages``."""

    def turns(self, body: Mapping[str, Any]) -> list[Turn]:
        return _turns(body.get("messages"))

    def with_context(self, body: Mapping[str, Any], context: str, index: int) -> Json:
        if index >= 0:
            return {**body, "messages": _replaced(body["messages"], index, context, "text")}
        system = body.get("system")
        part = {"type": "text", "text": context}
        if isinstance(system, str):
            return {**body, "system": f"{system}\n\n{context}"}
        return {**body, "system": [*(system if isinstance(system, Sequence) else ()), part]}

    def reply(self, response: Any) -> str:
        return _text(_get(response, "content") or "")

    def received(self, event: Any) -> str:
        if _get(event, "type") == "content_block_start":
            return "\n" if _get(event, "index") and _get(event, "content_block", "type") == "text" else ""
        return _get(event, "delta", "text") or "" if _get(event, "delta", "type") == "text_delta" else ""
