"""Making memories of what a caller gives: a text, a message, a list of them, or a document.

The same text in the same place is the same memory: its key is a hash of who said it, where, when (if that was given)
and what was said, and the store keeps one live record per key. Within one call the second of two equal messages is
another turn, so it gets a key of its own, and giving the whole list again still adds nothing.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from recollect.clock import Clock
from recollect.errors import InvalidInput
from recollect.perceive.documents import passages
from recollect.perceive.importance import importance_of
from recollect.types import TRUST, Document, Json, Memory, Message, Scope, Source

_PLACE = "said:"
Told = str | Message | Document | Mapping[str, Any]
"""One thing to remember."""


@dataclass(frozen=True, slots=True)
class About:
    """What the caller says of everything in one call; what a message says of itself goes before it."""

    session: str | None = None
    occurred_at: datetime | None = None
    importance: float | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] | None = None
    source: Source | str | None = None
    passage_chars: int = 1000


def memories_of(told: Told | Iterable[Told], about: About, scope: Scope, clock: Clock) -> list[Memory]:
    """The memories to store, in order."""
    seen: Counter[str] = Counter()
    made: list[Memory] = []
    try:
        for one in _each(told):
            if isinstance(one, Document):
                made += _of_document(one, about, scope, clock)
            else:
                made.append(_of_message(one, about, scope, clock, seen))
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, problem["loc"])) or "input"
        raise InvalidInput(f"This cannot be remembered: {where}: {problem['msg']}.") from error
    if not made:
        raise InvalidInput("There is nothing to remember.", hint="Give a text, a message, a list, or a document.")
    return made


def _each(told: Told | Iterable[Told]) -> Iterable[Message | Document]:
    if isinstance(told, str):
        yield Message(content=told)
    elif isinstance(told, Message | Document):
        yield told
    elif isinstance(told, Mapping):
        yield Message.model_validate(dict(told))
    elif isinstance(told, Iterable):
        for one in told:
            yield from _each(one)
    else:
        raise InvalidInput(
            f"A {type(told).__name__} cannot be remembered.",
            hint="Give a text, a message ({'role': ..., 'content': ...}), a list of these, or a Document.",
        )


def _of_message(message: Message, about: About, scope: Scope, clock: Clock, seen: Counter[str]) -> Memory:
    if not message.content.strip():
        raise InvalidInput("An empty text cannot be remembered.")
    given_time = message.occurred_at or about.occurred_at
    source = _source(about.source, message)
    key = _key(scope.user, about.session, "message", source, given_time, message.content)
    seen[key] += 1
    return _memory(
        scope,
        clock,
        about,
        kind="message",
        key=key if seen[key] == 1 else f"{key}:{seen[key]}",
        content=message.content,
        session=about.session,
        source=source,
        occurred_at=given_time,
        metadata={**(about.metadata or {}), **message.metadata},
    )


def _of_document(document: Document, about: About, scope: Scope, clock: Clock) -> list[Memory]:
    given_time = document.occurred_at or about.occurred_at
    place = document.uri or document.title or hashlib.sha256(document.content.encode()).hexdigest()[:16]
    session = about.session or f"document:{place}"[:200].rstrip()
    made: list[Memory] = []
    for number, passage in enumerate(passages(document.content, about.passage_chars)):
        headings = [document.title, *passage.headings] if document.title else list(passage.headings)
        source = Source(role="document", name=None, uri=document.uri, span=(passage.start, passage.end))
        body: Json = {"title": document.title, "headings": headings, "passage": number}
        made.append(
            _memory(
                scope,
                clock,
                about,
                kind="document",
                key=_key(scope.user, session, "document", source, given_time, passage.text),
                content=passage.text,
                session=session,
                source=source,
                occurred_at=given_time,
                metadata={**(about.metadata or {}), **document.metadata},
                body=body,
            )
        )
    if not made:
        raise InvalidInput("An empty document cannot be remembered.")
    return made


def _memory(
    scope: Scope,
    clock: Clock,
    about: About,
    *,
    content: str,
    source: Source,
    occurred_at: datetime | None,
    **fields: Any,
) -> Memory:
    now = clock.now()
    return Memory(
        id=clock.new_id(),
        tenant=scope.tenant,
        agent=scope.agent,
        user=scope.user,
        content=content,
        source=source,
        trust=TRUST[source.role],
        importance=importance_of(content) if about.importance is None else about.importance,
        tags=tuple(dict.fromkeys(about.tags)),
        occurred_at=occurred_at or now,
        recorded_at=now,
        **fields,
    )


def _source(given: Source | str | None, message: Message) -> Source:
    if isinstance(given, Source):
        return given
    return Source(role=message.role, name=message.name, uri=given)


def _key(user: str | None, session: str | None, kind: str, source: Source, at: datetime | None, content: str) -> str:
    place = [user, session, kind, source.role, source.name, source.uri, source.span, at.isoformat() if at else None]
    return _PLACE + hashlib.sha256(f"{place}\n{content}".encode()).hexdigest()[:32]


def is_place(key: str | None) -> bool:
    """Whether a key says what was said where, so that a memory that now says something else must give it up."""
    return key is not None and key.startswith(_PLACE)
