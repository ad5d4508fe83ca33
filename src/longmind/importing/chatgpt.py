"""ChatGPT's data export: a zip archive with ``conversations.json``, each conversation a tree of messages.

The branch that the conversation shows is imported: from ``current_node`` up to the root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longmind.importing.items import ImportedMessage, Read, Unmapped, item_of, moment_of, name_of, text_of
from longmind.importing.sources import elements, opened

_MEMBER = re.compile(r"conversations(-\d+)?\.json")
_ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}


def read(path: Path) -> Iterator[Read]:
    """Yield the messages of an export: the zip archive, its unpacked folder, or ``conversations.json``."""
    with opened(path, _MEMBER) as files:
        for name, stream in files:
            for number, conversation in elements(stream, name):
                yield from _conversation(conversation, f"{name}, conversation {number}")


def _conversation(conversation: Any, place: str) -> Iterator[Read]:
    mapping = conversation.get("mapping") if isinstance(conversation, dict) else None
    if not isinstance(mapping, dict):
        yield Unmapped(place=place, reason="it is no conversation: it has no mapping")
        return
    id = name_of(conversation.get("conversation_id") or conversation.get("id"))
    if id is None:
        yield Unmapped(place=place, reason="the conversation has no id")
        return
    branch = _branch(mapping, conversation.get("current_node"))
    began = moment_of(conversation.get("create_time"))
    title = text_of(conversation.get("title"))
    for node in branch:
        message = mapping[node].get("message")
        if isinstance(message, dict):
            yield from _message(message, node, id, title, began, f"{place}, message {node}")
        elif message is not None:
            yield Unmapped(place=f"{place}, message {node}", reason="it is no object")
    others = sum(
        isinstance(node, dict) and isinstance(node.get("message"), dict) and bool(_texts(node["message"])[0])
        for key, node in mapping.items()
        if key not in set(branch)
    )
    if others:
        yield Unmapped(place=place, reason=f"{others} messages of branches that the conversation does not show")


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


def _message(
    message: dict[str, Any], node: str, conversation: str, title: str | None, began: Any, place: str
) -> Iterator[Read]:
    texts, others = _texts(message)
    for other in others:
        yield Unmapped(place=place, reason=other)
    if not texts:
        return
    author, about = _object(message.get("author")), _object(message.get("metadata"))
    if about.get("is_visually_hidden_from_conversation"):
        yield Unmapped(place=place, reason="a message that the conversation hides")
        return
    role = _ROLES.get(str(author.get("role")))
    if role is None:
        yield Unmapped(place=place, reason=f"the role {author.get('role')!r} is not known")
        return
    metadata = {"title": title, "model": text_of(about.get("model_slug"))}
    yield item_of(
        ImportedMessage,
        place,
        id=text_of(message.get("id")) or node,
        conversation=conversation,
        content="\n".join(texts),
        role=role,
        author=name_of(author.get("name")),
        occurred_at=moment_of(message.get("create_time")) or began,
        metadata={name: value for name, value in metadata.items() if value},
    )


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(message: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the texts of a message, and what it holds that is no text."""
    content = message.get("content")
    if isinstance(content, str):
        return ([content] if content.strip() else []), []
    if not isinstance(content, dict):
        return [], []
    parts = content.get("parts")
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
    kind = content.get("content_type")
    if not texts and not others and kind not in ("text", "multimodal_text", None) and set(content) - {"content_type"}:
        others.append(f"a content that is no text: {kind}")
    return texts, others
