"""Reading messages in the form in which OpenAI and Anthropic give and take them.

The text of a message becomes its content. Everything else that it carries is kept as metadata: ids, tool calls, tool
results beside a text, images. A message without any text, such as a call of a tool, gets a short description of what it
carries as its content, so that it can be found.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from longmind.errors import InvalidInput
from longmind.problems import first_problem
from longmind.types import MAX_METADATA_BYTES, Json, Message

_FIELDS = frozenset(Message.model_fields)
_ROLES = {"developer": "system", "function": "tool"}
"""Roles of other vocabularies, and what they are here."""
_ROLE_OF_ITEM = {"function_call": "assistant", "function_call_output": "tool"}
"""Items of OpenAI's Responses API that have a type in place of a role."""
_TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Content parts that are text, and the field that holds it."""
_LONGEST_STRING, _SHORTENED = 10_000, 500
"""How long a string in the metadata may be: usually, and in a message that carries very much."""
_CALLS = frozenset({"tool_use", "server_tool_use", "function_call", "function", "custom"})
_HINT = (
    "A message is {'role': ..., 'content': ...}, as OpenAI and Anthropic have it. "
    "To store any other dict, give it a key: remember({...}, key='settings')."
)


def message_of(message: Message | Mapping[str, Any] | BaseModel) -> Message:
    """Return the message that a mapping, or an object of a provider's package, describes."""
    if isinstance(message, Message):  # validated here too, since one can be constructed without validation
        return Message.model_validate({name: getattr(message, name) for name in _FIELDS})
    fields = _plain(message)
    if fields.keys() <= _FIELDS and isinstance(fields.get("content"), str) and fields.get("role") not in _ROLES:
        return Message.model_validate(fields)
    if not is_message(fields):
        raise InvalidInput(f"A dict with {_named(fields)} is not a message.", hint=_HINT)
    return _read(fields)


def checked_message(message: Message | Mapping[str, Any] | BaseModel) -> Message:
    """Return the message that is described; ``InvalidInput`` names the field that is wrong."""
    try:
        return message_of(message)
    except ValidationError as error:
        where, reason = first_problem(error)
        raise InvalidInput(f"The message is not valid: {where or 'message'}: {reason}.", hint=_HINT) from error


def is_message(value: object) -> bool:
    """Whether a mapping or an object is meant as a message, rather than as a record of the caller's own."""
    if isinstance(value, Message):
        return True
    if not isinstance(value, (Mapping, BaseModel)):
        return False
    fields = value if isinstance(value, Mapping) else value.__dict__
    if "role" in fields or fields.get("type") in _ROLE_OF_ITEM:
        return True
    return "content" in fields and all(name in _FIELDS for name in fields)


def _plain(message: Mapping[str, Any] | BaseModel) -> Json:
    if isinstance(message, BaseModel):
        return message.model_dump(mode="json", exclude_none=True)
    return dict(message)


def _read(fields: Json) -> Message:
    if not any(fields.get(name) for name in fields.keys() - _FIELDS | {"content"}):
        # nothing is said; if the content is missing, the error says so
        own = {name: fields[name] for name in fields.keys() & _FIELDS}
        return Message.model_validate({**own, "content": ""} if "content" in fields else own)
    content = fields.pop("content", None)
    kind = fields.get("type")
    role = fields.pop("role", None) or _ROLE_OF_ITEM.get(str(kind), "user")
    if kind == "function_call_output" and content is None:
        content = fields.pop("output", None)
    own = {name: fields.pop(name) for name in ("name", "occurred_at", "metadata") if name in fields}
    texts, parts = _split(content)
    results = [part for part in parts if str(part.get("type", "")).endswith("tool_result")]
    if not texts and results and len(results) == len(parts):
        role, texts = "tool", [text for part in results for text in _split(part.get("content"))[0]]
        parts = [{name: value for name, value in part.items() if name != "content"} for part in results]
    carried = {name: value for name, value in fields.items() if value not in (None, [], {})}
    if isinstance(carried.get("refusal"), str) and not texts:
        texts = [carried.pop("refusal")]
    if parts:
        carried["parts"] = parts
    if kind == "function_call" and "name" in own:
        carried["name"] = own.pop("name")
    carried = _json(carried, _LONGEST_STRING)
    if len(json.dumps(carried, default=str)) > MAX_METADATA_BYTES // 2:
        carried = _json(carried, _SHORTENED)
    return Message.model_validate(
        {
            **own,
            "role": _ROLES.get(role, role),
            "content": "\n".join(texts) or _description(carried),
            "metadata": {**carried, **(own.get("metadata") or {})},
        }
    )


def _split(content: Any) -> tuple[list[str], list[Json]]:
    """Return the texts of a content, and its parts that are no text."""
    if content is None:
        return [], []
    if isinstance(content, str):
        return ([content] if content else []), []
    if isinstance(content, (Mapping, BaseModel)):
        content = [content]
    if not isinstance(content, Iterable):
        raise InvalidInput(f"The content of a message is a {type(content).__name__}.", hint=_HINT)
    texts: list[str] = []
    parts: list[Json] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
            continue
        if not isinstance(part, (Mapping, BaseModel)):
            raise InvalidInput(f"A part of a message is a {type(part).__name__}.", hint=_HINT)
        fields = _plain(part)
        text = fields.get(_TEXTS.get(str(fields.get("type", "text")), ""))
        if isinstance(text, str):
            texts.append(text)
        else:
            parts.append(fields)
    return [text for text in texts if text], parts


def _description(carried: Json) -> str:
    """Describe a message that has no text: the tools it calls, and what else it holds."""
    return "\n".join(dict.fromkeys(_descriptions(carried)))


def _descriptions(carried: Json) -> Iterator[str]:
    calls = [*carried.get("tool_calls", ()), *carried.get("parts", ())]
    if isinstance(carried.get("function_call"), dict):
        calls.append({"type": "function_call", **carried["function_call"]})
    if carried.get("type") == "function_call":
        calls.append(carried)
    for part in calls:
        kind = str(part.get("type", "part")) if isinstance(part, dict) else "part"
        if kind in _CALLS:
            called = part.get(kind) if isinstance(part.get(kind), dict) else part
            arguments: Any = called.get("arguments", called.get("input", {}))
            rendered = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            yield f"Called {called.get('name', 'a tool')} with {rendered}."
        elif "thinking" not in kind:
            yield f"({kind.replace('_', ' ')})"


def _json(value: Any, longest: int) -> Any:
    """Return a value as plain JSON. A very long string, such as an image's bytes, is kept as its hash only."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return {str(name): _json(item, longest) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(item, longest) for item in value]
    if isinstance(value, str) and len(value) > longest:
        return f"sha256:{hashlib.sha256(value.encode()).hexdigest()} ({len(value)} characters left out)"
    return value


def _named(fields: Mapping[str, Any]) -> str:
    names = ", ".join(str(name) for name in list(fields)[:5])
    return f"the keys {names}" if names else "no keys"
