"""ChatGPT's data export: a zip archive with ``conversations.json``, each conversation a tree of messages.

The branch that the conversation shows is imported: from ``current_node`` up to the root. What ChatGPT was told to keep
(its memory and the custom instructions) are notes, and the first version of a canvas is a document.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

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
from longmind.importing.sources import decode, document, elements, is_archive, opened, other_files

_MEMBER = re.compile(r"conversations(-\d+)?\.json")
_ACCOUNT = re.compile(r"user\.json")
_KNOWN = re.compile(rf"{_MEMBER.pattern}|{_ACCOUNT.pattern}|chat\.html")
"""Files that are read, and the page that shows the same conversations."""
_ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}
_REASONING = ("thoughts", "reasoning_recap")
_MEMORY, _CANVAS = "bio", "canmore.create_textdoc"
"""The tools by which ChatGPT keeps a memory and writes a document."""
_INSTRUCTIONS = {
    "user_editable_context": ("user_profile", "user_instructions"),
    "user_context_message_data": ("about_user_message", "about_model_message"),
}
"""Where the custom instructions of a user are, in today's exports and in earlier ones."""


class _About(NamedTuple):
    """What the messages of a conversation share."""

    conversation: str
    title: str | None
    user: str | None


def read(path: Path) -> Iterator[Read]:
    """Yield the messages of an export: the zip archive, its unpacked folder, or ``conversations.json``."""
    accounts = _accounts(path)
    several = len(set(accounts.values())) > 1
    instructions: set[str] = set()
    with opened(path, _MEMBER) as files:
        for name, stream in files:
            user = accounts.get(name.rpartition("/")[0]) if several else None
            for number, element in elements(stream, name):
                listed = element.get("conversations") if isinstance(element, dict) else None
                for part, conversation in enumerate(listed if isinstance(listed, list) else [element]):
                    place = f"{name}, conversation {number + part}"
                    yield from _conversation(conversation, place, user, instructions)
    for name in other_files(path, _KNOWN):
        yield Unmapped(place=name, reason="a file that is not read")


def _accounts(path: Path) -> dict[str, str]:
    """Return the accounts whose exports these are, by folder: a folder may hold several exports."""
    accounts: dict[str, str] = {}
    if path.is_dir() or is_archive(path):
        with opened(path, _ACCOUNT, required=False) as files:
            for name, stream in files:
                account = document(stream, name)
                if isinstance(account, dict) and (id := name_of(account.get("id"))):
                    accounts[name.rpartition("/")[0]] = id
    return accounts


def _conversation(conversation: Any, place: str, user: str | None, instructions: set[str]) -> Iterator[Read]:
    mapping = conversation.get("mapping") if isinstance(conversation, dict) else None
    if not isinstance(mapping, dict):
        yield Unmapped(place=place, reason="it is no conversation: it has no mapping")
        return
    id = name_of(conversation.get("conversation_id") or conversation.get("id"))
    if id is None:
        yield Unmapped(place=place, reason="the conversation has no id")
        return
    about = _About(id, text_of(conversation.get("title")), user)
    branch = _branch(mapping, conversation.get("current_node"))
    time = moment_of(conversation.get("create_time")) or moment_of(conversation.get("update_time"))
    kept: list[Read] = []  # beside the messages: these stay together, to be stored in one transaction
    for node in branch:
        message, where = mapping[node].get("message"), f"{place}, message {node}"
        if isinstance(message, dict):
            time = moment_of(message.get("create_time")) or time  # without one, it follows the message before
            for item in _message(message, node, about, time, where):
                if isinstance(item, ImportedMessage | Unmapped):
                    yield item
                elif not (isinstance(item, ImportedNote) and item.id in instructions):
                    instructions |= {item.id} if isinstance(item, ImportedNote) else set()
                    kept.append(item)
        elif message is not None:
            yield Unmapped(place=where, reason="it is no object")
    yield from kept
    shown = set(branch)
    for key, node in mapping.items():
        message = node.get("message") if isinstance(node, dict) else None
        if key not in shown and isinstance(message, dict) and any(_parts(message)):
            yield Unmapped(place=f"{place}, message {key}", reason="of a branch that the conversation does not show")


def _branch(mapping: dict[str, Any], current: object) -> list[str]:
    """Return the nodes from the root to the current node; without one, to the latest leaf."""
    if not isinstance(current, str) or current not in mapping:
        leaves = [key for key, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        current = max(leaves, key=lambda key: (_time(mapping[key]), key), default=None)
    branch: list[str] = []
    seen: set[str] = set()
    while isinstance(current, str) and current not in seen and isinstance(mapping.get(current), dict):
        seen.add(current)
        branch.append(current)
        current = mapping[current].get("parent")
    return branch[::-1]


def _time(node: dict[str, Any]) -> float:
    message = node.get("message")
    time = message.get("create_time") if isinstance(message, dict) else None
    return float(time) if isinstance(time, int | float) else 0.0


def _message(message: dict[str, Any], node: str, about: _About, time: datetime | None, place: str) -> Iterator[Read]:
    author, metadata = _object(message.get("author")), _object(message.get("metadata"))
    id = text_of(message.get("id")) or node
    texts, others = _parts(message)
    for other in others:
        yield Unmapped(place=place, reason=other)
    if instructions := list(_instructions(message, metadata, place, about, time)):
        yield from instructions
        return
    tool = text_of(message.get("recipient")) if author.get("role") == "assistant" else None
    if tool not in (None, "all"):
        yield _call(str(tool), "\n".join(texts), id, about, time, place)
        return
    role = _ROLES.get(str(author.get("role")))
    reason = None
    if not texts:  # a message of the system without a text begins every conversation
        reason = "an empty message" if not others and role in ("user", "assistant") else None
    elif metadata.get("is_visually_hidden_from_conversation"):
        reason = "a message that the conversation hides"
    elif role is None:
        reason = f"the role {author.get('role')!r} is not known"
    if reason is not None:
        yield Unmapped(place=place, reason=reason)
    if reason is not None or not texts:
        return
    fields = {"title": about.title, "model": text_of(metadata.get("model_slug"))}
    yield item_of(
        ImportedMessage,
        place,
        id=id,
        conversation=about.conversation,
        content="\n".join(texts),
        role=role,
        author=name_of(author.get("name")),
        occurred_at=time,
        user=about.user,
        metadata={name: value for name, value in fields.items() if value},
    )


def _call(tool: str, text: str, id: str, about: _About, time: datetime | None, place: str) -> Read:
    """Return what an assistant had a tool keep: a memory, or a document. Other calls have no place here."""
    if tool == _MEMORY and text.strip():
        return item_of(
            ImportedNote,
            place,
            id=id,
            content=text,
            role="assistant",
            occurred_at=time,
            session=about.conversation,
            user=about.user,
            metadata={"title": about.title} if about.title else {},
        )
    if tool == _CANVAS:
        try:
            canvas = _object(decode(text.strip())[0])
        except (ValueError, RecursionError):
            canvas = {}
        if content := text_of(canvas.get("content")):
            title = text_of(canvas.get("name"))
            return item_of(
                ImportedDocument, place, id=id, content=content, title=title, occurred_at=time, user=about.user
            )
    return Unmapped(place=place, reason=f"a call of the tool {tool[:100]}")


def _instructions(
    message: dict[str, Any], metadata: dict[str, Any], place: str, about: _About, time: datetime | None
) -> Iterator[Read]:
    """Yield the custom instructions that a message repeats; each text is one note, however often it is repeated."""
    content = _object(message.get("content"))
    stated = content if content.get("content_type") == "user_editable_context" else {}
    sources = {
        "user_editable_context": stated,
        "user_context_message_data": _object(metadata.get("user_context_message_data")),
    }
    for source, fields in _INSTRUCTIONS.items():
        for field in fields:
            if text := text_of(sources[source].get(field)):
                digest = hashlib.sha256(json.dumps([about.user, text]).encode()).hexdigest()[:32]
                yield item_of(
                    ImportedNote,
                    place,
                    id=f"custom instructions/{digest}",
                    content=text,
                    occurred_at=time,
                    user=about.user,
                    metadata={"field": field},
                )


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _parts(message: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the texts of a message, and what it holds that is no text."""
    texts, others = _texts(message.get("content"))
    attached = _object(message.get("metadata")).get("attachments")
    for file in attached if isinstance(attached, list) else []:
        others.append(f"a file that is not read: {name_of(_object(file).get('name')) or 'unnamed'}")
    return texts, others


def _texts(content: object) -> tuple[list[str], list[str]]:
    if isinstance(content, str):
        return ([content] if content.strip() else []), []
    if not isinstance(content, dict):
        return [], []
    kind, parts = content.get("content_type"), content.get("parts")
    if kind in _REASONING:
        return [], [f"what the model thought: {kind}"]
    candidates = parts if isinstance(parts, list) else [content.get("text") or content.get("result")]
    texts: list[str] = []
    others: list[str] = []
    for part in candidates:
        if isinstance(part, str):
            texts += [part] if part.strip() else []
        elif isinstance(part, dict):
            text = text_of(part.get("text"))
            if text:
                texts.append(text)
            else:
                others.append(f"a part that is no text: {part.get('content_type', 'unknown')}")
        elif part is not None:
            others.append(f"a part that is no text: {type(part).__name__}")
    plain = ("text", "multimodal_text", "user_editable_context", None)
    if not texts and not others and kind not in plain and set(content) - {"content_type"}:
        others.append(f"a content that is no text: {kind}")
    return texts, others
