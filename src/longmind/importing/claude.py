"""Claude's data export: a zip archive with ``conversations.json``, ``projects.json`` and ``memories.json``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
from longmind.importing.sources import elements, opened

_MEMBER = re.compile(r"(conversations|projects|memories)\.json")
_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


def read(path: Path) -> Iterator[Read]:
    """Yield what an export holds: the zip archive, its unpacked folder, or one of its files."""
    with opened(path, _MEMBER) as files:
        for name, stream in files:
            for number, element in elements(stream, name):
                place = f"{name}, element {number}"
                if not isinstance(element, dict):
                    yield Unmapped(place=place, reason="it is no object")
                elif "chat_messages" in element:
                    yield from _conversation(element, f"{name}, conversation {number}")
                elif "docs" in element or "prompt_template" in element:
                    yield from _project(element, f"{name}, project {number}")
                elif "conversations_memory" in element or "project_memories" in element:
                    yield from _memories(element, place)
                else:
                    yield Unmapped(place=place, reason="it is no conversation, no project and no memory")


def _conversation(conversation: dict[str, Any], place: str) -> Iterator[Read]:
    id, messages = name_of(conversation.get("uuid")), conversation["chat_messages"]
    if id is None or not isinstance(messages, list):
        yield Unmapped(place=place, reason="the conversation has no uuid, or its chat_messages are no list")
        return
    for number, message in enumerate(messages, 1):
        where = f"{place}, message {number}"
        if not isinstance(message, dict):
            yield Unmapped(place=where, reason="it is no object")
            continue
        yield from _message(message, id, conversation, where, number)


def _message(
    message: dict[str, Any], conversation: str, about: dict[str, Any], place: str, number: int
) -> Iterator[Read]:
    time = moment_of(message.get("created_at")) or moment_of(about.get("created_at"))
    id = text_of(message.get("uuid")) or f"{conversation}/{number}"
    texts, others = _texts(message)
    for other in others:
        yield Unmapped(place=place, reason=f"a part that is no text: {other}")
    role = _ROLES.get(str(message.get("sender")))
    if role is None:
        yield Unmapped(place=place, reason=f"the sender {message.get('sender')!r} is not known")
    elif texts:
        title = text_of(about.get("name"))
        yield item_of(
            ImportedMessage,
            place,
            id=id,
            conversation=conversation,
            content="\n".join(texts),
            role=role,
            occurred_at=time,
            metadata={"title": title} if title else {},
        )
    for kind in ("attachments", "files"):
        attached = message.get(kind)
        for file in attached if isinstance(attached, list) else []:
            name = text_of(file.get("file_name")) if isinstance(file, dict) else None
            content = text_of(file.get("extracted_content")) if isinstance(file, dict) else None
            if content is None:
                yield Unmapped(place=place, reason=f"a file without its text: {name or 'unnamed'}")
                continue
            named = name or "attachment"
            yield item_of(ImportedDocument, place, id=f"{id}/{named}", title=named, content=content, occurred_at=time)


def _texts(message: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the texts of a message, and the types of its parts that are no text."""
    parts = message.get("content")
    blocks = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    texts = [text for block in blocks if block.get("type", "text") == "text" and (text := text_of(block.get("text")))]
    others = [str(block.get("type")) for block in blocks if block.get("type", "text") != "text"]
    if not texts and (text := text_of(message.get("text"))):
        texts = [text]
    return texts, others


def _project(project: dict[str, Any], place: str) -> Iterator[Read]:
    id, name = text_of(project.get("uuid")) or "project", text_of(project.get("name"))
    time = moment_of(project.get("created_at"))
    if instructions := text_of(project.get("prompt_template")):
        yield item_of(
            ImportedNote,
            place,
            id=f"{id}/prompt_template",
            content=instructions,
            occurred_at=time,
            metadata={"project": name} if name else {},
        )
    docs = project.get("docs")
    for number, doc in enumerate(docs if isinstance(docs, list) else [], 1):
        where = f"{place}, document {number}"
        if not isinstance(doc, dict):
            yield Unmapped(place=where, reason="it is no object")
            continue
        yield item_of(
            ImportedDocument,
            where,
            id=f"{id}/{text_of(doc.get('uuid')) or text_of(doc.get('filename')) or number}",
            title=text_of(doc.get("filename")),
            content=doc.get("content") or "",
            occurred_at=moment_of(doc.get("created_at")) or time,
            metadata={"project": name} if name else {},
        )


def _memories(memories: dict[str, Any], place: str) -> Iterator[Read]:
    account = text_of(memories.get("account_uuid")) or "account"
    if text := text_of(memories.get("conversations_memory")):
        yield item_of(ImportedNote, place, id=f"{account}/memory", content=text, role="assistant")
    projects = memories.get("project_memories")
    for project, memory in projects.items() if isinstance(projects, dict) else ():
        where = f"{place}, project {project}"
        yield item_of(ImportedNote, where, id=f"{project}/memory", content=memory, role="assistant")
