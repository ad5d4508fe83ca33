"""Claude's data export: a zip archive with conversations, projects and memories, as JSON.

Of a conversation that was edited, the branch that it shows is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from longmind.importing.artifacts import Artifacts
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
from longmind.importing.sources import document, elements, is_archive, opened, other_files

_ACCOUNTS = re.compile(r"users\.json")
_MEMBER = re.compile(rf"(?!{_ACCOUNTS.pattern}).+\.json")
_KNOWN = re.compile(rf"{_MEMBER.pattern}|{_ACCOUNTS.pattern}")
_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
_SAID = ("text", "voice_note")
"""Types of blocks whose text was said."""
_ROOT = re.compile(r"0{8}-0{4}-[04]0{3}-[08]0{3}-0{12}")
"""The parent of a first message, as Claude writes it."""


class _About(NamedTuple):
    """What the messages of a conversation share."""

    conversation: str
    metadata: dict[str, Any]
    user: str | None


def read(path: Path) -> Iterator[Read]:
    """Yield what an export holds: the zip archive, its unpacked folder, or one of its files."""
    several = _has_several_accounts(path)
    with opened(path, _MEMBER) as files:
        for name, stream in files:
            for number, element in elements(stream, name):
                place = f"{name}, element {number}"
                if not isinstance(element, dict):
                    yield Unmapped(place=place, reason="it is no object")
                    continue
                user = _account(element) if several else None
                if "chat_messages" in element:
                    yield from _conversation(element, f"{name}, conversation {number}", user)
                elif "docs" in element or "prompt_template" in element:
                    yield from _project(element, f"{name}, project {number}", user)
                elif "conversations_memory" in element or "project_memories" in element:
                    yield from _memories(element, place, user)
                else:
                    yield Unmapped(place=place, reason="it is no conversation, no project and no memory")
    for name in other_files(path, _KNOWN):
        yield Unmapped(place=name, reason="a file that is not read")


def _has_several_accounts(path: Path) -> bool:
    """Whether an export is that of a team. Its file of users says so; without it, the conversations do."""
    accounts: set[str] = set()
    if path.is_dir() or is_archive(path):
        with opened(path, _ACCOUNTS, required=False) as files:
            for name, stream in files:
                users = document(stream, name)
                accounts |= (
                    {str(user.get("uuid")) for user in users if isinstance(user, dict)}
                    if isinstance(users, list)
                    else set()
                )
    if accounts:
        return len(accounts) > 1
    with opened(path, _MEMBER) as files:
        for name, stream in files:
            for _, element in elements(stream, name):
                if isinstance(element, dict) and (account := _account(element)):
                    accounts.add(account)
                if len(accounts) > 1:
                    return True
    return False


def _account(element: dict[str, Any]) -> str | None:
    """Return the account that a conversation, a project or a memory belongs to."""
    for field in ("account", "creator"):
        if isinstance(element.get(field), dict):
            return name_of(element[field].get("uuid"))
    return name_of(element.get("account_uuid"))


def _conversation(conversation: dict[str, Any], place: str, user: str | None) -> Iterator[Read]:
    id, messages = name_of(conversation.get("uuid")), conversation["chat_messages"]
    if id is None or not isinstance(messages, list):
        yield Unmapped(place=place, reason="the conversation has no uuid, or its chat_messages are no list")
        return
    project = conversation.get("project_uuid") or _object(conversation.get("project")).get("uuid")
    fields = {"title": conversation.get("name"), "model": conversation.get("model"), "project": project}
    about = _About(id, {name: value for name, value in fields.items() if text_of(value)}, user)
    time = moment_of(conversation.get("created_at"))
    shown = _branch(messages, conversation.get("current_leaf_message_uuid"))
    artifacts = Artifacts(id)
    files: list[Read] = []  # after the messages: these stay together, to be stored in one transaction
    for number, message in enumerate(messages, 1):
        where = f"{place}, message {number}"
        if not isinstance(message, dict):
            yield Unmapped(place=where, reason="it is no object")
        elif not shown or text_of(message.get("uuid")) in shown:
            time = moment_of(message.get("created_at")) or time  # without one, it follows the message before
            yield from _message(message, about, time, where, number, artifacts)
            files += _files(message, about, time, where, number)
        else:
            yield Unmapped(place=where, reason="of a branch that the conversation does not show")
    yield from files
    yield from artifacts.documents(place, user)
    if text_of(conversation.get("summary")):
        yield Unmapped(place=place, reason="a summary by Claude: Longmind makes its own")


def _branch(messages: list[Any], leaf: object) -> set[str]:
    """Return the ids of the messages from the first to the last one shown; none if the messages are a plain list."""
    by_id = {id: message for message in map(_object, messages) if (id := text_of(message.get("uuid")))}
    parents = {id: message.get("parent_message_uuid") for id, message in by_id.items()}
    known = [parent for parent in parents.values() if isinstance(parent, str) and not _ROOT.fullmatch(parent)]
    if len(by_id) < len(messages) or not known or any(parent not in by_id for parent in known):
        return set()
    if not isinstance(leaf, str) or leaf not in by_id:
        leaves = [id for id in by_id if id not in set(known)]
        leaf = max(leaves, key=lambda id: str(by_id[id].get("created_at")), default=None)
    branch: set[str] = set()
    while isinstance(leaf, str) and leaf in by_id and leaf not in branch:
        branch.add(leaf)
        leaf = parents[leaf]
    return branch


def _message(
    message: dict[str, Any], about: _About, time: datetime | None, place: str, number: int, artifacts: Artifacts
) -> Iterator[Read]:
    texts, others = _texts(message, artifacts, time)
    for other in others:
        yield Unmapped(place=place, reason=other)
    role = _ROLES.get(str(message.get("sender")))
    if role is None:
        yield Unmapped(place=place, reason=f"the sender {message.get('sender')!r} is not known")
    elif texts:
        yield item_of(
            ImportedMessage,
            place,
            id=text_of(message.get("uuid")) or f"{about.conversation}/{number}",
            conversation=about.conversation,
            content="\n".join(texts),
            role=role,
            occurred_at=time,
            user=about.user,
            metadata=about.metadata,
        )
    elif not others and _is_empty(message):
        yield Unmapped(place=place, reason="an empty message")


def _files(message: dict[str, Any], about: _About, time: datetime | None, place: str, number: int) -> Iterator[Read]:
    """Yield the texts of attached files. A text that was pasted is a file without a name."""
    id = text_of(message.get("uuid")) or f"{about.conversation}/{number}"
    known: set[str] = set()
    for kind in ("attachments", "files", "files_v2"):
        attached = message.get(kind)
        for file in map(_object, attached if isinstance(attached, list) else []):
            named = text_of(file.get("file_name")) or "attachment"
            content = text_of(file.get("extracted_content"))
            names = {named, text_of(file.get("file_uuid")) or named}
            if kind == "files_v2" and names & known:
                continue  # the same file in a newer form
            known |= names if kind == "files" else set()
            if content is None:
                yield Unmapped(
                    place=place, reason=f"a file without its text: {text_of(file.get('file_name')) or 'unnamed'}"
                )
                continue
            unique = _unused(f"{id}/{named}", known)
            known.add(unique)
            yield item_of(
                ImportedDocument, place, id=unique, title=named, content=content, occurred_at=time, user=about.user
            )


def _unused(id: str, used: set[str]) -> str:
    number = 2
    unique = id
    while unique in used:
        unique, number = f"{id}/{number}", number + 1
    return unique


def _texts(message: dict[str, Any], artifacts: Artifacts, time: datetime | None) -> tuple[list[str], list[str]]:
    """Return the texts of a message, and what its other parts are."""
    parts = message.get("content")
    blocks = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    if not blocks:  # beside blocks it repeats them, with a word on those that it cannot show
        return ([text] if (text := text_of(message.get("text"))) else []), []
    texts: list[str] = []
    others: list[str] = []
    for block in blocks:
        kind = block.get("type", "text")
        if kind in _SAID:
            texts += [text] if (text := text_of(block.get("text"))) else []
        elif kind == "tool_use":
            if not artifacts.apply(block, time):
                others.append(f"a call of the tool {name_of(block.get('name')) or 'without a name'}")
        elif kind == "tool_result":
            if block.get("name") != artifacts.TOOL:
                others.append(f"the result of the tool {name_of(block.get('name')) or 'without a name'}")
        else:
            others.append(f"a part that is no text: {kind}")
    return texts, others


def _is_empty(message: dict[str, Any]) -> bool:
    """Whether a message without a text holds nothing else either: no file, and no call that wrote an artifact."""
    parts = message.get("content")
    calls = (
        [part for part in parts if _object(part).get("type", "text") not in _SAID] if isinstance(parts, list) else []
    )
    return not calls and not any(message.get(kind) for kind in ("attachments", "files", "files_v2"))


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _project(project: dict[str, Any], place: str, user: str | None) -> Iterator[Read]:
    id, name = text_of(project.get("uuid")) or "project", text_of(project.get("name"))
    time = moment_of(project.get("created_at"))
    metadata = {"project": name} if name else {}
    for field in ("prompt_template", "description"):
        if text := text_of(project.get(field)):
            yield item_of(
                ImportedNote, place, id=f"{id}/{field}", content=text, occurred_at=time, user=user, metadata=metadata
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
            user=user,
            metadata=metadata,
        )


def _memories(memories: dict[str, Any], place: str, user: str | None) -> Iterator[Read]:
    account = text_of(memories.get("account_uuid")) or "account"
    if text := text_of(memories.get("conversations_memory")):
        yield item_of(ImportedNote, place, id=f"{account}/memory", content=text, role="assistant", user=user)
    projects = memories.get("project_memories")
    for project, memory in projects.items() if isinstance(projects, dict) else ():
        where = f"{place}, project {project}"
        yield item_of(ImportedNote, where, id=f"{project}/memory", content=memory, role="assistant", user=user)
