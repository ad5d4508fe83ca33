"""Storing what a reader yields, so that an import can be killed and repeated.

Every write is idempotent: messages, notes and the statements of facts carry an operation id made of the format, the
original ids and the content; a document replaces its former version; a value that is there is kept. An import that
was cut short is completed by running it again, and one that is complete changes nothing. The source is read twice,
first without storing anything, so that a damaged one is refused before the first write.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from longmind.errors import InvalidInput, NotFound
from longmind.importing.formats import read_items
from longmind.importing.items import (
    ImportedDocument,
    ImportedFact,
    ImportedItem,
    ImportedMessage,
    ImportedNote,
    ImportedValue,
    Unmapped,
)
from longmind.types import Document, Json, Memory, Message, Model, Moment, Source

if TYPE_CHECKING:
    from longmind.agent_memory import AgentMemory
    from longmind.memory import Longmind

BATCH = 200
"""Messages of a conversation, or values, that are written in one transaction."""
_READ_AT_ONCE = 500
_SHOWN = 5
MAX_LISTED = 1_000
"""How many of the things that could not be mapped a report lists; all are counted."""
_KINDS = {
    ImportedMessage: "messages",
    ImportedNote: "notes",
    ImportedDocument: "documents",
    ImportedFact: "facts",
    ImportedValue: "values",
}


class Preview(Model):
    """What an import would store."""

    counts: dict[str, int] = Field(default_factory=dict)
    """How many items of each kind there are: messages, notes, documents, facts, values."""
    conversations: int = 0
    users: tuple[str, ...] = ()
    """The users that the source names."""
    first: Moment | None = None
    last: Moment | None = None
    """The time of the earliest and of the latest item."""
    items: tuple[Json, ...] = ()
    """The first items."""
    unmapped: tuple[Unmapped, ...] = ()
    """What has no place in Longmind; at most ``MAX_LISTED`` of them."""
    unmapped_count: int = 0

    @property
    def total(self) -> int:
        """How many items there are."""
        return sum(self.counts.values())


class ImportReport(Model):
    """What an import stored."""

    counts: dict[str, int] = Field(default_factory=dict)
    """How many items of each kind were in the source and are in the store now."""
    already_there: int = 0
    """How many of them an earlier import had stored."""
    unmapped: tuple[Unmapped, ...] = ()
    unmapped_count: int = 0


def preview(format: str, path: str | Path) -> Preview:
    """Read a source and return what importing it would store. Nothing is stored."""
    counts: Counter[str] = Counter()
    conversations: set[tuple[str | None, str]] = set()
    users: set[str] = set()
    times: list[datetime] = []
    items: list[Json] = []
    unmapped = _UnmappedList()
    for item in read_items(format, path):
        if isinstance(item, Unmapped):
            unmapped.add(item)
            continue
        counts[_KINDS[type(item)]] += 1
        if isinstance(item, ImportedMessage):
            conversations.add((item.user, item.conversation))
        if item.user is not None:
            users.add(item.user)
        if item.occurred_at is not None:
            times = [min(*times, item.occurred_at), max(*times, item.occurred_at)] if times else [item.occurred_at] * 2
        if len(items) < _SHOWN:
            items.append({"kind": _KINDS[type(item)].removesuffix("s"), **item.model_dump(mode="json")})
    return Preview(
        counts=dict(counts),
        conversations=len(conversations),
        users=tuple(sorted(users)),
        first=times[0] if times else None,
        last=times[1] if times else None,
        items=tuple(items),
        unmapped=tuple(unmapped.listed),
        unmapped_count=unmapped.count,
    )


async def import_memories(
    longmind: Longmind,
    format: str,
    path: str | Path,
    *,
    agent: str | None = None,
    user: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Store what a source holds as memories of an agent, and return what was stored and what could not be mapped.

    Everything belongs to ``user``; without one, to the users that the source names, and otherwise to no user.
    ``progress`` is called with the number of items done and the total. Running it again completes an import that was
    interrupted; one that was complete changes nothing.
    """
    total = (await asyncio.to_thread(preview, format, path)).total
    importer = _Importer(longmind, format, agent, user)
    source = read_items(format, path)
    waiting: list[ImportedItem] = []
    while chunk := await asyncio.to_thread(lambda: list(islice(source, _READ_AT_ONCE))):
        for item in chunk:
            if isinstance(item, Unmapped):
                importer.unmapped.add(item)
                continue
            if waiting and (len(waiting) == BATCH or _group(item) != _group(waiting[0])):
                await importer.store(waiting)
                waiting = []
                if progress is not None:
                    progress(importer.done, total)
            waiting.append(item)
    if waiting:
        await importer.store(waiting)
    if progress is not None:
        progress(importer.done, total)
    return importer.report()


def _group(item: ImportedItem) -> tuple[object, ...]:
    """Return what items must share to be stored in one call."""
    conversation = item.conversation if isinstance(item, ImportedMessage) else None
    return type(item), item.user, conversation


class _UnmappedList:
    def __init__(self) -> None:
        self.listed: list[Unmapped] = []
        self.count = 0

    def add(self, unmapped: Unmapped) -> None:
        self.count += 1
        if len(self.listed) < MAX_LISTED:
            self.listed.append(unmapped)


class _Importer:
    """One run of an import."""

    def __init__(self, longmind: Longmind, format: str, agent: str | None, user: str | None) -> None:
        self._longmind, self._format, self._user = longmind, format, user
        self._agent = agent or longmind.settings.agent
        self._began = longmind.clock.now()
        self._memories: dict[str | None, AgentMemory] = {}
        self._stored: dict[tuple[str | None, str], str] = {}
        """The memories of messages and notes, by user and original id, for facts that were taken from them."""
        self._counts: Counter[str] = Counter()
        self._already_there = 0
        self.unmapped = _UnmappedList()

    @property
    def done(self) -> int:
        return sum(self._counts.values())

    def report(self) -> ImportReport:
        return ImportReport(
            counts=dict(self._counts),
            already_there=self._already_there,
            unmapped=tuple(self.unmapped.listed),
            unmapped_count=self.unmapped.count,
        )

    async def store(self, items: Sequence[ImportedItem]) -> None:
        """Store items of one group."""
        user = self._user or items[0].user
        mem = self._memories.get(user)
        if mem is None:
            mem = self._memories[user] = self._longmind.agent(self._agent, user)
        if messages := [item for item in items if isinstance(item, ImportedMessage)]:
            await self._store_messages(mem, messages)
        elif values := [item for item in items if isinstance(item, ImportedValue)]:
            await self._store_values(mem, values)
        for item in items:
            try:
                if isinstance(item, ImportedNote):
                    self._count(item, await self._store_note(mem, item))
                elif isinstance(item, ImportedDocument):
                    self._count(item, await self._store_document(mem, item))
                elif isinstance(item, ImportedFact):
                    self._count(item, await self._store_fact(mem, item))
            except InvalidInput as error:
                self.unmapped.add(Unmapped(place=f"{self._format} {item.id}", reason=error.message))

    def _count(self, item: ImportedItem, recorded_at: datetime | None) -> None:
        """Count an item that is stored since a time; None for one that was forgotten since an earlier import."""
        self._counts[_KINDS[type(item)]] += 1
        self._already_there += recorded_at is None or recorded_at < self._began

    async def _store_messages(self, mem: AgentMemory, items: Sequence[ImportedMessage]) -> None:
        session = items[0].conversation
        messages = [
            Message(
                role=item.role,
                content=item.content,
                name=item.author,
                occurred_at=item.occurred_at,
                metadata=self._metadata(item),
            )
            for item in items
        ]
        stored = await mem.remember(
            messages, session=session, source=f"{self._format}:{session}", operation=self._operation(items)
        )
        by_id = self._keep(mem, stored)
        for item in items:
            memory = by_id.get(item.id)
            self._count(item, memory.recorded_at if memory else None)

    async def _store_note(self, mem: AgentMemory, item: ImportedNote) -> datetime | None:
        try:
            memory = await mem.remember(
                Message(role=item.role, content=item.content, name=item.author, metadata=self._metadata(item)),
                key=self._key(item.id),
                session=item.session,
                occurred_at=item.occurred_at,
                expires_at=item.expires_at,
                source=self._uri(item.id),
                operation=self._operation([item]),
            )
        except NotFound:  # an earlier import stored it, and it was forgotten since
            return None
        self._keep(mem, [memory])
        return memory.recorded_at

    async def _store_document(self, mem: AgentMemory, item: ImportedDocument) -> datetime | None:
        author = {"author": item.author} if item.author else {}
        document = Document(
            content=item.content,
            title=item.title,
            uri=self._uri(item.id),
            occurred_at=item.occurred_at,
            metadata={**author, **item.metadata, "id": item.id, "imported_from": self._format},
        )
        passages = await mem.remember(document, tags=item.tags)
        return max((passage.recorded_at for passage in passages), default=None)

    async def _store_fact(self, mem: AgentMemory, item: ImportedFact) -> datetime | None:
        """Store the sentence of a fact, and the fact with that sentence as its evidence."""
        statement = item.statement or f"{item.subject} {item.predicate} {item.object}."
        note = ImportedNote(id=item.id, content=statement, occurred_at=item.occurred_at or item.valid_from)
        recorded = await self._store_note(mem, note)
        user = mem.scope.user
        said_in = [self._stored.get((user, id)) for id in (item.id, *item.said_in)]
        evidence = [id for id in said_in if id is not None]
        if not evidence:
            return recorded
        await mem.semantic.relate(
            item.subject,
            item.predicate,
            item.object,
            valid_from=item.valid_from or item.occurred_at,
            valid_to=item.valid_to,
            evidence=evidence,
            source=Source(uri=self._uri(item.id)),
        )
        return recorded

    async def _store_values(self, mem: AgentMemory, items: Sequence[ImportedValue]) -> None:
        from longmind.systems.values import ValueWrite

        writes = [
            ValueWrite(
                namespace=item.namespace,
                key=item.key,
                value=item.value,
                at=item.occurred_at,
                expires_at=item.expires_at,
                ttl=item.ttl,
                keep=True,
            )
            for item in items
        ]
        for item, value in zip(items, await mem.values.write(writes), strict=True):
            self._count(item, value.created_at if value else None)

    def _keep(self, mem: AgentMemory, stored: Sequence[Memory]) -> dict[str, Memory]:
        by_id = {str(memory.metadata["id"]): memory for memory in stored}
        self._stored.update({(mem.scope.user, id): memory.id for id, memory in by_id.items()})
        return by_id

    def _metadata(self, item: ImportedMessage | ImportedNote) -> Json:
        return {**item.metadata, "id": item.id, "imported_from": self._format}

    def _uri(self, id: str) -> str:
        return f"{self._format}:{id}"

    def _key(self, id: str) -> str:
        """Return the key of a note: its id, or a hash of one that cannot be part of a name."""
        plain = len(id) <= 150 and id.isprintable() and id == id.strip()
        return f"{self._format}:{id if plain else '#' + hashlib.sha256(id.encode(errors='replace')).hexdigest()}"

    def _operation(self, items: Sequence[ImportedMessage | ImportedNote]) -> str:
        """Return the id of the operation that stores these items: another one when anything of them differs."""
        content = json.dumps([item.model_dump(mode="json") for item in items], sort_keys=True)
        return f"import:{self._format}:{hashlib.sha256(content.encode()).hexdigest()[:32]}"
