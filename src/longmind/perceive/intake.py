"""Making memories of what a caller gives: a text, a message, a list of them, or a document.

The same text in the same place is the same memory: its key is a hash of who said it, where, when (if that was given)
and what was said, and the store keeps one live record per key. Within one call the second of two equal messages is
another turn, so it gets a key of its own, and giving the whole list again still adds nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import Field, ValidationError

from longmind.clock import Clock
from longmind.errors import InvalidInput
from longmind.perceive.documents import passages
from longmind.perceive.importance import importance_of
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

_PLACE = "said:"
MemoryInput = str | Message | Document | Mapping[str, Any]
"""What ``remember`` takes, alone or in a list."""


class About(NamedTuple):
    """What the caller says of everything in one call; what a message says of itself goes before it."""

    session: str | None = None
    occurred_at: datetime | None = None
    importance: float | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] | None = None
    source: Source | str | None = None
    passage_chars: int = 1000


class _Checked(Model):
    """The same, validated: once for a call, not again for each of its memories."""

    session: Name | None
    importance: Unit | None
    tags: Annotated[tuple[Tag, ...], Field(max_length=MAX_TAGS)]
    metadata: Metadata
    occurred_at: Moment | None

    @classmethod
    def of(cls, about: About) -> _Checked:
        if isinstance(about.tags, str):
            raise InvalidInput(
                f"The tags {about.tags[:50]!r} are one text.", hint="Give a list, such as tags=['home']."
            )
        details = (about.importance, about.metadata, about.occurred_at)
        named = about.session is None or type(about.session) is str
        if details == (None, None, None) and type(about.tags) is tuple and not about.tags and named:
            return _of_session(about.session)
        return cls(
            session=about.session,
            importance=about.importance,
            tags=tuple(dict.fromkeys(about.tags)),
            metadata={**(about.metadata or {})},
            occurred_at=about.occurred_at,
        )


@lru_cache(maxsize=1_024)
def _of_session(session: str | None) -> _Checked:
    """Most calls say nothing but the session, and many in a row the same."""
    return _Checked(session=session, importance=None, tags=(), metadata={}, occurred_at=None)


def memories_of(inputs: MemoryInput | Iterable[MemoryInput], about: About, scope: Scope, clock: Clock) -> list[Memory]:
    """Return the memories to store, in order."""
    memories: list[Memory] = []
    try:
        moment: object = about.occurred_at
        if moment is not None and not isinstance(moment, datetime):  # a text is read as one, or refused
            about = about._replace(occurred_at=_Checked.of(about).occurred_at)
        messages = _Messages(about, scope, clock)
        for item in _each(inputs):
            if isinstance(item, Document):
                memories += _of_document(item, about, scope, clock)
            else:
                memories.append(messages.memory(item))
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, problem["loc"])) or "input"
        raise InvalidInput(f"This cannot be remembered: {where}: {problem['msg']}.") from error
    if not memories:
        raise InvalidInput("There is nothing to remember.", hint="Give a text, a message, a list, or a document.")
    return memories


def _each(inputs: MemoryInput | Iterable[MemoryInput]) -> Iterable[Message | Document]:
    """Every message and document, validated here: a ``Message`` too, since one can be made without."""
    if isinstance(inputs, str):
        yield Message(content=inputs)
    elif isinstance(inputs, Document):
        yield inputs
    elif isinstance(inputs, Message):
        yield Message.model_validate({name: getattr(inputs, name) for name in Message.model_fields})
    elif isinstance(inputs, (dict, Mapping)):
        yield Message.model_validate(dict(inputs))
    elif isinstance(inputs, Iterable):
        for item in inputs:
            yield from _each(item)
    else:
        raise InvalidInput(
            f"A {type(inputs).__name__} cannot be remembered.",
            hint="Give a text, a message ({'role': ..., 'content': ...}), a list of these, or a Document.",
        )


class _Messages:
    """Makes memories of the messages of one call.

    Their parts have been validated: what the message says, what the caller says of all, and the scope. So the memory
    that is put together of them is not validated once more.
    """

    def __init__(self, about: About, scope: Scope, clock: Clock) -> None:
        self._about, self._scope, self._clock = about, scope, clock
        self._place = _Place(scope.user, about.session, "message")
        self._seen: dict[str, int] = {}
        self._checked: _Checked | None = None

    def memory(self, message: Message) -> Memory:
        if not message.content.strip():
            raise InvalidInput("An empty text cannot be remembered.")
        about = self._about
        given_time = message.occurred_at or about.occurred_at
        source, source_key = _source(about.source, message)
        key = self._place.key(source_key, given_time, message.content)
        if self._checked is None:
            self._checked = _Checked.of(about)
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
            occurred_at=message.occurred_at or checked.occurred_at,
            metadata={**checked.metadata, **message.metadata},
            body={},
        )
        return construct_unvalidated(Memory, fields)


def _of_document(document: Document, about: About, scope: Scope, clock: Clock) -> list[Memory]:
    given_time = document.occurred_at or about.occurred_at
    place = document.uri or document.title or hashlib.sha256(document.content.encode()).hexdigest()[:16]
    session = about.session or f"document:{place}"[:200].rstrip()
    said = _Place(scope.user, session, "document")
    memories: list[Memory] = []
    for number, passage in enumerate(passages(document.content, about.passage_chars)):
        headings = [document.title, *passage.headings] if document.title else list(passage.headings)
        source = Source(role="document", name=None, uri=document.uri, span=(passage.start, passage.end))
        body: Json = {"title": document.title, "headings": headings, "passage": number}
        fields = _fields(
            scope,
            clock,
            kind="document",
            key=said.key(_source_key(source), given_time, passage.text),
            content=passage.text,
            session=session,
            source=source,
            importance=about.importance,
            tags=tuple(dict.fromkeys(about.tags)),
            occurred_at=given_time,
            metadata={**(about.metadata or {}), **document.metadata},
            body=body,
        )
        memories.append(Memory(**fields))
    if not memories:
        raise InvalidInput("An empty document cannot be remembered.")
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
    occurred_at: datetime | None,
    metadata: Json,
    body: Json,
) -> Json:
    """Every field of a new memory."""
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
        "importance": importance_of(content) if importance is None else importance,
        "valence": 0.0,
        "tags": tags,
        "metadata": metadata,
        "source": source,
        "trust": TRUST[source.role],
        "occurred_at": occurred_at or now,
        "recorded_at": now,
        "valid_from": None,
        "valid_to": None,
        "access_count": 0,
        "last_accessed_at": None,
        "interaction": 0.0,
        "state": "active",
    }


def _source(stated: Source | str | None, message: Message) -> tuple[Source, str]:
    """Return who said a message, and the same as text for its key."""
    if stated is None:
        return _said_by(message.role, message.name)
    source = stated if isinstance(stated, Source) else Source(role=message.role, name=message.name, uri=stated)
    return source, _source_key(source)


@lru_cache(maxsize=4_096)
def _said_by(role: Role, name: str | None) -> tuple[Source, str]:
    """Cached: a conversation has few speakers and many messages."""
    source = Source(role=role, name=name)
    return source, _source_key(source)


def _source_key(source: Source) -> str:
    return f"{source.role!r}, {source.name!r}, {source.uri!r}, {source.span!r}"


class _Place:
    """Where something is said, which is most of a key: much is said in one place, and often at one time."""

    def __init__(self, user: str | None, session: str | None, kind: str) -> None:
        self._where = f"{user!r}, {session!r}, {kind!r}"
        self._at: datetime | None = None
        self._when = "None"

    def key(self, source: str, at: datetime | None, content: str) -> str:
        if at is not self._at:
            self._at, self._when = at, repr(at.isoformat() if at else None)
        said = f"[{self._where}, {source}, {self._when}]\n{content}"
        return _PLACE + hashlib.sha256(said.encode()).hexdigest()[:32]


def is_place(key: str | None) -> bool:
    """Whether a key says what was said where, so that a memory that now says something else must give it up."""
    return key is not None and key.startswith(_PLACE)
