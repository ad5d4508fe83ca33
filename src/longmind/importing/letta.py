"""Letta agent files (``.af``): JSON with the blocks, messages and files of one or more agents.

Both shapes are read: that of ``AgentFileSchema``, with a list of agents, and the earlier one, with one agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longmind.errors import InvalidInput
from longmind.importing.items import (
    ImportedDocument,
    ImportedMessage,
    ImportedNote,
    Read,
    Unmapped,
    item_of,
    moment_of,
    name_of,
    text_of,
)
from longmind.importing.sources import decode, document, opened

_MEMBER = re.compile(r".+\.(af|json)")
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_REPLY = "send_message"
"""The tool by which an agent of Letta speaks to its user."""
_NOT_READ = ("tools", "mcp_servers", "groups", "sources", "skills")
_APPROVAL, _SUMMARY = "approval", "summary"
"""Roles of Letta's own: a word on a call that waits for it, and what became of earlier messages."""


def read(path: Path) -> Iterator[Read]:
    """Yield what agent files hold: one file, or those of a folder or zip archive."""
    with opened(path, _MEMBER) as files:
        for name, stream in files:
            content = document(stream, name)
            agents = content.get("agents") if isinstance(content, dict) else None
            if isinstance(agents, list):
                yield from _file(content, agents, name)
            elif isinstance(content, dict) and ("core_memory" in content or "messages" in content):
                yield from _agent(content, name, name_of(content.get("name")) or name)
                yield from _blocks(content.get("core_memory"), f"{name}, core_memory", name_of(content.get("name")))
                yield from _not_read(content, name)
            else:
                raise InvalidInput(f"{name}: this is no agent file of Letta.", hint="It has agents, or core_memory.")


def _file(content: dict[str, Any], agents: list[Any], name: str) -> Iterator[Read]:
    yield from _blocks(content.get("blocks"), f"{name}, blocks", None)
    titles: set[str] = set()
    for number, agent in enumerate(agents, 1):
        place = f"{name}, agent {number}"
        if isinstance(agent, dict):
            title = name_of(agent.get("name")) or name_of(agent.get("id")) or f"agent {number}"
            if title in titles:  # the conversations of two agents of one name are two
                title = name_of(f"{title[:100]} {agent.get('id') or number}") or title
            titles.add(title)
            yield from _agent(agent, place, title)
            yield from _blocks(agent.get("memory_blocks"), f"{place}, memory_blocks", title)
        else:
            yield Unmapped(place=place, reason="it is no object")
    for number, file in enumerate(_list(content.get("files")), 1):
        place = f"{name}, file {number}"
        text = text_of(file.get("content")) if isinstance(file, dict) else None
        if not isinstance(file, dict) or text is None:
            yield Unmapped(place=place, reason="a file without its text")
            continue
        file_title = text_of(file.get("original_file_name")) or text_of(file.get("file_name"))
        id = text_of(file.get("id")) or file_title or str(number)
        at = moment_of(file.get("file_creation_date")) or moment_of(file.get("created_at"))
        yield item_of(ImportedDocument, place, id=id, title=file_title, content=text, occurred_at=at)
    yield from _not_read(content, name)


def _not_read(content: dict[str, Any], name: str) -> Iterator[Unmapped]:
    for kind in _NOT_READ:
        if count := len(_list(content.get(kind))):
            yield Unmapped(place=f"{name}, {kind}", reason=f"{count} {kind}: Longmind stores no code or connections")


def _blocks(blocks: object, place: str, agent: str | None) -> Iterator[Read]:
    for number, block in enumerate(_list(blocks), 1):
        where = f"{place} {number}"
        if not isinstance(block, dict):
            yield Unmapped(place=where, reason="it is no object")
            continue
        label = text_of(block.get("label")) or f"block {number}"
        if not text_of(block.get("value")):
            continue
        about = {"label": label, "description": text_of(block.get("description")), "agent": agent}
        yield item_of(
            ImportedNote,
            where,
            id=text_of(block.get("id")) or f"{agent or 'agent'}/{label}",
            content=block["value"],
            role="assistant",
            occurred_at=moment_of(block.get("created_at")),
            metadata={field: value for field, value in about.items() if value},
        )


def _agent(agent: dict[str, Any], place: str, name: str) -> Iterator[Read]:
    for number, message in enumerate(_list(agent.get("messages")), 1):
        where = f"{place}, message {number}"
        if not isinstance(message, dict):
            yield Unmapped(place=where, reason="it is no object")
            continue
        yield from _message(message, name, text_of(message.get("id")) or f"{name}/{number}", where)


def _message(message: dict[str, Any], agent: str, id: str, place: str) -> Iterator[Read]:
    stated = message.get("role")
    role, time = _ROLES.get(str(stated)), moment_of(message.get("created_at"))
    content = _content(message)
    if stated == _SUMMARY and content is not None:
        yield item_of(ImportedNote, place, id=id, content=content, role="assistant", occurred_at=time, session=agent)
        return
    replies, calls = _calls(message)
    if (reason := _why_not_said(stated, role, content)) is not None:
        yield Unmapped(place=place, reason=reason)
        return
    others = [f"a call of the tool {call}" for call in calls]
    others += [f"a part that is no text: {kind}" for kind in _other_parts(message)]
    if replies and content is not None:
        others.append("what the agent thought")
    text = "\n".join(replies) or content
    if text is None and not others:
        others.append("an empty message")
    for other in others:
        yield Unmapped(place=place, reason=other)
    if text is None:
        return
    yield item_of(
        ImportedMessage,
        place,
        id=id,
        conversation=agent,
        content=text,
        role=role,
        author=name_of(message.get("name")) or (agent if role == "assistant" else None),
        occurred_at=time,
        metadata={"model": message["model"]} if text_of(message.get("model")) else {},
    )


def _why_not_said(stated: object, role: str | None, content: str | None) -> str | None:
    """Return why a message is not one of a conversation; None if it is."""
    if stated == _APPROVAL:
        return "a word on whether a tool may be called"
    if role is None:
        return f"the role {stated!r} is not known"
    if role == "system":
        return "the instructions of the agent"
    if role == "tool":
        return "the result of a tool"
    if role == "user" and content is None:
        return "an event of Letta's own"
    return None


def _other_parts(message: dict[str, Any]) -> list[str]:
    """Return the types of the parts that are no text, such as images and reasoning; calls are told by their names."""
    parts = [part for part in _list(message.get("content")) if isinstance(part, dict)]
    return [str(part.get("type"))[:100] for part in parts if part.get("type", "text") not in ("text", "tool_call")]


def _content(message: dict[str, Any]) -> str | None:
    """Return the text of a message; that of a user may be wrapped in JSON. None for an event that nobody said."""
    content = message.get("content", message.get("text"))
    if isinstance(content, list):
        parts = [text_of(part.get("text")) for part in content if isinstance(part, dict)]
        content = "\n".join(part for part in parts if part)
    text = text_of(content)
    if text is None or not text.lstrip().startswith("{"):
        return text
    try:
        wrapped, _ = decode(text.strip())
    except (ValueError, RecursionError):
        return text
    if not isinstance(wrapped, dict) or "type" not in wrapped:
        return text
    return text_of(wrapped.get("message")) if wrapped["type"] == "user_message" else None


def _calls(message: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return what an agent said to its user by a tool, and the names of the other tools it called."""
    replies: list[str] = []
    others: list[str] = []
    in_parts = [part for part in _list(message.get("content")) if isinstance(part, dict)]
    others += [str(part.get("name"))[:100] for part in in_parts if part.get("type") == "tool_call"]
    for call in _list(message.get("tool_calls")):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            others.append("without a name")
            continue
        arguments = function.get("arguments")
        try:
            values = json.loads(arguments) if isinstance(arguments, str) else arguments
        except (ValueError, RecursionError):
            values = None
        said = text_of(values.get("message")) if isinstance(values, dict) else None
        if function.get("name") == _REPLY and said:
            replies.append(said)
        else:
            others.append(str(function.get("name"))[:100])
    return replies, others


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
