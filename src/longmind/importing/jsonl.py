"""JSON lines of your own: a message, a conversation of messages, or a fact on each line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longmind.errors import InvalidInput, LongmindError
from longmind.importing.items import ImportedFact, ImportedMessage, ImportedNote, Read, Unmapped, item_of, moment_of
from longmind.importing.items import name_of as name
from longmind.importing.items import text_of as text
from longmind.importing.sources import lines, opened
from longmind.perceive.messages import checked_message

_MEMBER = re.compile(r".+\.(jsonl|ndjson)")
_TIMES = ("occurred_at", "created_at", "timestamp", "time", "date")
_CONVERSATIONS = ("conversation", "session", "conversation_id", "session_id", "thread_id")
_IDS = ("id", "message_id", "uuid")
_USERS = ("user", "user_id")
_OWN = {*_TIMES, *_CONVERSATIONS, *_IDS, *_USERS, "author"}


def read(path: Path) -> Iterator[Read]:
    """Yield the lines of a file, or of the ``.jsonl`` files of a folder or a zip archive."""
    with opened(path, _MEMBER) as files:
        for file, stream in files:
            for number, line in lines(stream, file):
                place = f"{file}, line {number}"
                if not isinstance(line, dict):
                    yield Unmapped(place=place, reason=f"a {type(line).__name__} is no message")
                elif number == 1 and "longmind" in line:
                    raise InvalidInput(f"{file} is an export of Longmind.", hint="Import it without --from.")
                elif isinstance(line.get("messages"), list):
                    yield from _conversation(line, file, number, place)
                elif {"subject", "predicate", "object"} <= line.keys():
                    yield _fact(line, f"{file}/{number}", place)
                else:
                    yield _message(line, {}, f"{file}/{number}", place)


def _conversation(line: dict[str, Any], file: str, number: int, place: str) -> Iterator[Read]:
    shared = {name: value for name, value in line.items() if name != "messages"}
    id = _first(line, (*_IDS, *_CONVERSATIONS)) or f"{file}/{number}"
    shared["conversation"] = id
    for index, message in enumerate(line["messages"], 1):
        where = f"{place}, message {index}"
        if isinstance(message, dict):
            yield _message(message, shared, f"{id}/{index}", where)
        else:
            yield Unmapped(place=where, reason=f"a {type(message).__name__} is no message")


def _message(line: dict[str, Any], shared: dict[str, Any], position: str, place: str) -> Read:
    try:
        message = checked_message({field: value for field, value in line.items() if field not in _OWN})
    except LongmindError as error:
        return Unmapped(place=place, reason=error.message)
    conversation = _first(line, _CONVERSATIONS) or _first(shared, _CONVERSATIONS)
    fields: dict[str, Any] = {
        "id": _first(line, _IDS) or position,
        "content": message.content,
        "role": message.role,
        "author": message.name or name(line.get("author")),
        "occurred_at": _time(line) or _time(shared),
        "user": name(_first(line, _USERS) or _first(shared, _USERS)),
        "metadata": message.metadata,
    }
    if conversation is None:
        return item_of(ImportedNote, place, **fields)
    return item_of(ImportedMessage, place, conversation=name(conversation), **fields)


def _fact(line: dict[str, Any], position: str, place: str) -> Read:
    return item_of(
        ImportedFact,
        place,
        id=_first(line, _IDS) or position,
        subject=line["subject"],
        predicate=line["predicate"],
        object=line["object"],
        statement=text(line.get("statement")),
        valid_from=moment_of(line.get("valid_from")),
        valid_to=moment_of(line.get("valid_to")),
        occurred_at=_time(line),
        user=name(_first(line, _USERS)),
    )


def _first(line: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first of these fields that holds a text or a number, as text."""
    for field in names:
        value = line.get(field)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return None


def _time(line: dict[str, Any]) -> Any:
    return next((time for field in _TIMES if (time := moment_of(line.get(field)))), None)
