"""Convert the input of ``remember`` to memories: a text, a message, a list of them, or a document.

The same text in the same place is the same memory: its key is a hash of who said it, where, when (if a time was given)
and what was said, and the store keeps one live record for each key. If a message occurs twice within one call, the
second gets a key of its own. In a conversation the same words may be said again: ``turns`` gives each turn its key.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from longmind.clock import Clock
from longmind.errors import InvalidInput
from longmind.perceive.documents import split_passages
from longmind.perceive.importance import estimate_importance
from longmind.perceive.messages import is_message, message_of
from longmind.problems import first_problem
from longmind.store.base import CONTENT_KEY
from longmind.text.record_text import record_text
from longmind.types import (
    MAX_TAGS,
    TRUST,
    Document,
    Json,
    Memory,
    Message,
    Metadata,
    Model,
    Moment,
    Name,
    Role,
    Scope,
    Source,
    Tag,
    Unit,
    construct_unvalidated,
)

_log = logging.getLogger("longmind")

RECORD = "record"
"""The kind of what is stored as the fields of a dict."""
MemoryInput = str | Message | Document | Mapping[str, Any] | BaseModel
"""What ``remember`` takes, alone or in a list."""


class InputDetails(NamedTuple):
    """Details that apply to everything in one call; those of a single message take precedence."""

    session: str | None = None
    occurred_at: datetime | None = None
    importance: float | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] | None = None
    source: Source | str | None = None
    passage_chars: int = 1000
    expires_at: datetime | timedelta | str | None = None
    """A moment, or how long from now."""


class _CheckedDetails(Model):
    """Validated details: validated once for a call, not for each memory."""

    session: Name | None
    importance: Unit | None
    tags: Annotated[tuple[Tag, ...], Field(max_length=MAX_TAGS)]
    metadata: Metadata
    occurred_at: Moment | None
    expires_at: Moment | None = None

    @classmethod
    def of(cls, details: InputDetails) -> _CheckedDetails:
        if isinstance(details.tags, str):
            raise InvalidInput(
                f"The tags {details.tags[:50]!r} are one text.", hint="Give a list, such as tags=['home']."
            )
        optional = (details.importance, details.metadata, details.occurred_at, details.expires_at)
        named = details.session is None or type(details.session) is str
        if optional == (None, None, None, None) and type(details.tags) is tuple and not details.tags and named:
            return _details_of_session(details.session)
        return cls(
            session=details.session,
            importance=details.importance,
            tags=tuple(dict.fromkeys(details.tags)),
            metadata={**(details.metadata or {})},
            occurred_at=details.occurred_at,
            expires_at=details.expires_at,
        )


@lru_cache(maxsize=1_024)
def _details_of_session(session: str | None) -> _CheckedDetails:
    """Return details with a session only. Cached: most calls give nothing else, and often the same session."""
    return _CheckedDetails(session=session, importance=None, tags=(), metadata={}, occurred_at=None)


class BuiltMemories(NamedTuple):
    """The memories of one call, in order, and the ids of those whose time the caller stated."""

    memories: list[Memory]
    timed: set[str]


def build_memories(
    inputs: MemoryInput | Iterable[MemoryInput], details: InputDetails, scope: Scope, clock: Clock
) -> BuiltMemories:
    """Return the memories to store. A blank message or document of a list is left out, which the log says."""
    memories: list[Memory] = []
    blank: list[int] = []
    try:
        if details.expires_at is not None:
            details = details._replace(expires_at=_expiry(details, clock.now()))
        moment: object = details.occurred_at
        if moment is not None and not isinstance(moment, datetime):  # a text is read as one, or refused
            details = details._replace(occurred_at=_CheckedDetails.of(details).occurred_at)
        messages = _MessageConverter(details, scope, clock)
        for number, item in enumerate(_flatten(inputs), start=1):
            if not item.content.strip():
                blank.append(number)
            elif isinstance(item, Document):
                memories += _document_memories(item, details, scope, clock)
            else:
                memories.append(messages.memory(item))
    except ValidationError as error:
        where, reason = first_problem(error)
        raise InvalidInput(f"This cannot be remembered: {where or 'input'}: {reason}.", field=where) from None
    if not memories and blank:
        raise InvalidInput("An empty text cannot be remembered.")
    if not memories:
        raise InvalidInput("There is nothing to remember.", hint="Give a text, a message, a list, or a document.")
    if blank:
        _log.warning("What has no text was not remembered: %s of the list.", ", ".join(f"number {n}" for n in blank))
    return BuiltMemories(memories, messages.timed)


def _expiry(details: InputDetails, now: datetime) -> datetime:
    """Return the moment at which memories expire that are made now; one that has passed is refused."""
    if isinstance(details.expires_at, timedelta):
        details = details._replace(expires_at=expiry_after(details.expires_at, now))
    moment = _CheckedDetails.of(details).expires_at
    assert moment is not None
    if moment <= now:
        raise InvalidInput("expires_at has passed, so nothing would be remembered.", hint="Give a later moment.")
    return moment


def expiry_after(duration: timedelta, now: datetime) -> datetime:
    """Return the moment that is so long from now."""
    try:
        return now + duration
    except OverflowError:
        raise InvalidInput("expires_at is too far away.", hint="Leave it out for what does not expire.") from None


def build_keyed_memory(content: MemoryInput, key: str, details: InputDetails, scope: Scope, clock: Clock) -> Memory:
    """Return the memory to store under a key of the caller's: a text, a message, or a record of any fields."""
    if isinstance(content, Document):
        raise InvalidInput("A document has many passages and cannot have a key.", hint="Give it a uri or a title.")
    if is_content_key(key):
        raise InvalidInput(f"A key of yours must not begin with {CONTENT_KEY}")
    record = None if not isinstance(content, Mapping) or is_message(content) else dict(content)
    if record is not None and not record:
        raise InvalidInput("An empty record cannot be remembered.")
    built = build_memories([content if record is None else record_text(record)], details, scope, clock)
    (memory,) = built.memories
    fields = {**memory.__dict__, "key": key, **({} if record is None else {"kind": RECORD, "body": record})}
    try:
        return Memory.model_validate(fields)
    except ValidationError as error:
        where, reason = first_problem(error)
        raise InvalidInput(f"This cannot be remembered: {where or 'record'}: {reason}.") from error


def _flatten(inputs: MemoryInput | Iterable[MemoryInput]) -> Iterable[Message | Document]:
    """Yield every message and document, validated; a ``Message`` too, since it can be constructed unvalidated."""
    if isinstance(inputs, str):
        yield Message(content=inputs)
    elif isinstance(inputs, Document):
        yield inputs
    elif isinstance(inputs, (dict, Mapping, BaseModel)):
        yield message_of(inputs)
    elif isinstance(inputs, Iterable):
        for item in inputs:
            yield from _flatten(item)
    else:
        raise InvalidInput(
            f"A {type(inputs).__name__} cannot be remembered.",
            hint="Give a text, a message ({'role': ..., 'content': ...}), a list of these, or a Document.",
        )


class _MessageConverter:
    """Converts the messages of one call to memories.

    Message, details and scope have been validated, so the memory built from them is not validated again.
    """

    def __init__(self, details: InputDetails, scope: Scope, clock: Clock) -> None:
        self._details, self._scope, self._clock = details, scope, clock
        self._content_key = _ContentKey(scope.user, details.session, "message")
        self._seen: dict[str, int] = {}
        self.timed: set[str] = set()
        self._checked: _CheckedDetails | None = None

    def memory(self, message: Message) -> Memory:
        details = self._details
        stated_time = message.occurred_at or details.occurred_at
        source, source_key = _source(details.source, message)
        key = self._content_key.key(source_key, stated_time, message.content)
        if self._checked is None:
            self._checked = _CheckedDetails.of(details)
        checked = self._checked
        times = self._seen[key] = self._seen.get(key, 0) + 1
        fields = _fields(
            self._scope,
            self._clock,
            kind="message",
            key=key if times == 1 else f"{key}:{times}",
            content=message.content,
            session=checked.session,
            source=source,
            importance=checked.importance,
            tags=checked.tags,
            expires_at=checked.expires_at,
            occurred_at=message.occurred_at or checked.occurred_at,
            metadata={**checked.metadata, **message.metadata},
            body={},
        )
        if stated_time is not None:
            self.timed.add(fields["id"])
        return construct_unvalidated(Memory, fields)


def _document_memories(document: Document, details: InputDetails, scope: Scope, clock: Clock) -> list[Memory]:
    checked = _CheckedDetails.of(details)
    stated_time = document.occurred_at or details.occurred_at
    place = document.uri or document.title or hashlib.sha256(document.content.encode()).hexdigest()[:16]
    session = details.session or f"document:{place}"[:200].rstrip()
    content_key = _ContentKey(scope.user, session, "document")
    # Neither place in the document nor time is part of the key: an unchanged passage of a new version stays.
    identity = f"{document.uri!r}, {None if document.uri else document.title!r}"
    seen: Counter[str] = Counter()
    memories: list[Memory] = []
    for number, passage in enumerate(split_passages(document.content, details.passage_chars)):
        headings = [document.title, *passage.headings] if document.title else list(passage.headings)
        source = Source(role="document", name=None, uri=document.uri, span=(passage.start, passage.end))
        body: Json = {"title": document.title, "headings": headings, "passage": number}
        key = content_key.key(identity, None, passage.text)
        seen[key] += 1
        fields = _fields(
            scope,
            clock,
            kind="document",
            key=key if seen[key] == 1 else f"{key}:{seen[key]}",
            content=passage.text,
            session=session,
            source=source,
            importance=details.importance,
            tags=checked.tags,
            expires_at=checked.expires_at,
            occurred_at=stated_time,
            metadata={**checked.metadata, **document.metadata},
            body=body,
        )
        memories.append(Memory(**fields))
    return memories


def _fields(
    scope: Scope,
    clock: Clock,
    *,
    kind: str,
    key: str,
    content: str,
    session: str | None,
    source: Source,
    importance: float | None,
    tags: tuple[str, ...],
    expires_at: datetime | None,
    occurred_at: datetime | None,
    metadata: Json,
    body: Json,
) -> Json:
    """Return all fields of a new memory."""
    now = clock.now()
    return {
        "id": clock.new_id(),
        "version": 1,
        "tenant": scope.tenant,
        "agent": scope.agent,
        "user": scope.user,
        "session": session,
        "kind": kind,
        "key": key,
        "content": content,
        "body": body,
        "importance": estimate_importance(content) if importance is None else importance,
        "valence": 0.0,
        "tags": tags,
        "metadata": metadata,
        "source": source,
        "trust": TRUST[source.role],
        "occurred_at": occurred_at or now,
        "recorded_at": now,
        "valid_from": None,
        "valid_to": None,
        "expires_at": expires_at,
        "access_count": 0,
        "last_accessed_at": None,
        "interaction": 0.0,
        "state": "active",
    }


def _source(stated: Source | str | None, message: Message) -> tuple[Source, str]:
    """Return who said a message, and the same as text for its key."""
    if stated is None:
        return _speaker(message.role, message.name)
    source = stated if isinstance(stated, Source) else Source(role=message.role, name=message.name, uri=stated)
    return source, source_key(source)


@lru_cache(maxsize=4_096)
def _speaker(role: Role, name: str | None) -> tuple[Source, str]:
    """Return the source of a speaker and its text for keys. Cached: a conversation has few speakers, many messages."""
    source = Source(role=role, name=name)
    return source, source_key(source)


def source_key(source: Source) -> str:
    """Return a source as text, for keys and comparisons."""
    return f"{source.role!r}, {source.name!r}, {source.uri!r}, {source.span!r}"


class _ContentKey:
    """Computes content keys for one place; the parts that are equal for many messages are formatted once."""

    def __init__(self, user: str | None, session: str | None, kind: str) -> None:
        self._where = f"{user!r}, {session!r}, {kind!r}"
        self._at: datetime | None = None
        self._when = "None"

    def key(self, source: str, at: datetime | None, content: str) -> str:
        if at is not self._at:
            self._at, self._when = at, repr(at.isoformat() if at else None)
        identity = f"[{self._where}, {source}, {self._when}]\n{content}"
        return CONTENT_KEY + hashlib.sha256(identity.encode()).hexdigest()[:32]


def is_content_key(key: str | None) -> bool:
    """Return whether a key was computed from the content, so that the memory loses it when its content changes."""
    return key is not None and key.startswith(CONTENT_KEY)


class _ChangedMetadata(Model):
    """New metadata of a memory."""

    metadata: Metadata


def check_metadata(changes: Mapping[str, Any]) -> None:
    """Refuse changes of a memory that would give it metadata larger than a new memory may have."""
    if isinstance(changes.get("metadata"), dict):
        try:
            _ChangedMetadata(metadata=changes["metadata"])
        except ValidationError as error:
            raise InvalidInput(f"The metadata cannot be stored: {first_problem(error)[1]}.") from error
