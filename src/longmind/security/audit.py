"""The audit: every access as a line of one chain, in which each hash covers the line and the hash before it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import Field

from longmind.errors import InvalidInput, LongmindError, StoreError
from longmind.types import Model, Page

if TYPE_CHECKING:
    from longmind.security.access_store import AccessStore

_log = logging.getLogger(__name__)
NO_HASH = "0" * 64
"""What the first line of a chain goes on from."""
_LONGEST_NAME = 200
_PER_COMMIT = 1_000
_LOGGED_EVERY = 3_600.0
_ENDS_AT = "The audit ends at %s"


class AuditEvent(Model):
    """An access: who, what, when, from where, and how it ended. It holds no text of a request or of a memory."""

    at: datetime
    tenant: str = ""
    """Empty if nobody was known by what the request said."""
    key: str | None = None
    """The id of the key."""
    subject: str | None = None
    """The subject of the token."""
    operation: str
    agent: str | None = None
    user: str | None = None
    http: str
    status: int
    error: str = ""
    """The code of the error, if it was one."""
    address: str | None = None
    request_id: str


class AuditLine(AuditEvent):
    """An event in its place in the chain."""

    seq: int
    hash: str


class AuditHead(Model):
    """Where the chain begins and ends. ``base`` is the last line that was rotated away."""

    base_seq: int = 0
    base_hash: str = NO_HASH
    seq: int = 0
    hash: str = NO_HASH

    @property
    def anchor(self) -> str:
        """The end of the chain as a text, to be kept elsewhere."""
        return f"{self.seq}:{self.hash}"


class StoredLine(NamedTuple):
    """A row of the audit: the text of the line is what the hash covers."""

    seq: int
    tenant: str
    text: str
    hash: str

    def parsed(self) -> AuditLine:
        """Return the line as a record."""
        return AuditLine.model_validate(json.loads(self.text) | {"hash": self.hash})


class Fault(Model):
    """A place at which the chain is not what was written."""

    seq: int
    kind: Literal["changed", "removed", "reordered"]
    message: str


class Verification(Model):
    """What was found when the chain was examined."""

    lines: int
    head: str
    """The end of the chain, ``NUMBER:HASH``. Keep it elsewhere, and give it as the anchor the next time."""
    faults: tuple[Fault, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.faults


def chain(head: AuditHead, events: Iterable[AuditEvent]) -> tuple[list[StoredLine], AuditHead]:
    """Return events as the next lines of a chain, and its new end."""
    lines = []
    seq, before = head.seq, head.hash
    for event in events:
        seq += 1
        fields = event.model_dump(mode="json", exclude_none=True)
        for name in ("agent", "user", "subject"):
            if name in fields:
                fields[name] = fields[name][:_LONGEST_NAME].replace("\0", "\ufffd")
        text = json.dumps({"seq": seq, **fields}, sort_keys=True, separators=(",", ":"))
        before = hash_of(before, text)
        lines.append(StoredLine(seq, event.tenant, text, before))
    return lines, head.model_copy(update={"seq": seq, "hash": before})


def hash_of(before: str, text: str) -> str:
    """Return the hash of a line: it covers its text and the hash of the line before."""
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


async def verify(lines: AsyncIterator[StoredLine], head: AuditHead, anchors: Sequence[str] = ()) -> Verification:
    """Examine a chain from its base to its end, and that it leads through the anchors. Every fault is told."""
    wanted = dict(map(_anchor, anchors))
    faults: list[Fault] = []
    count, seq, before = 0, head.base_seq, head.base_hash

    def add(number: int, kind: Literal["changed", "removed", "reordered"], message: str) -> None:
        faults.append(Fault(seq=number, kind=kind, message=message))

    async for line in lines:
        count += 1
        if line.seq != seq + 1:
            add(seq + 1, "removed", f"{_numbered(seq + 1, line.seq - 1)} missing.")
        inner = _inner(line.text)
        if inner is None:
            add(line.seq, "changed", f"Line {line.seq} cannot be read.")
        elif inner.get("seq") != line.seq:
            add(line.seq, "reordered", f"Line {line.seq} was written as line {inner.get('seq')}.")
        elif inner.get("tenant", "") != line.tenant:
            add(line.seq, "changed", f"Line {line.seq} was given to another tenant.")
        elif line.seq == seq + 1 and hash_of(before, line.text) != line.hash:
            add(line.seq, "changed", f"Line {line.seq} was changed, or the one before it.")
        if line.seq in wanted and wanted.pop(line.seq) != line.hash:
            add(line.seq, "changed", f"Line {line.seq} has another hash than the anchor.")
        seq, before = line.seq, line.hash
    if seq < head.seq:
        add(seq + 1, "removed", f"{_numbered(seq + 1, head.seq)} missing at the end.")
    elif before != head.hash or seq != head.seq:
        add(seq, "changed", "The chain does not end as its head says.")
    for number, digest in wanted.items():
        if number > seq:
            add(number, "removed", f"The chain ends before line {number}, which the anchor names.")
        elif number == head.base_seq and digest != head.base_hash:
            add(number, "changed", f"Line {number} has another hash than the anchor.")
    return Verification(lines=count, head=head.anchor, faults=tuple(faults))


def _numbered(first: int, last: int) -> str:
    return f"Line {first} is" if first == last else f"Lines {first} to {last} are"


def _inner(text: str) -> dict[str, object] | None:
    try:
        fields = json.loads(text)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _anchor(text: str) -> tuple[int, str]:
    number, _, digest = text.strip().partition(":")
    if not number.isdigit() or len(digest) != len(NO_HASH):
        raise InvalidInput("An anchor is NUMBER:HASH, as `longmind audit verify` prints it.", field="anchor")
    return int(number), digest


class AuditLog:
    """The accesses of a tenant."""

    def __init__(self, store: AccessStore, tenant: str) -> None:
        self._store = store
        self._tenant = tenant

    async def list(
        self,
        *,
        limit: Annotated[int, Field(ge=1, le=1_000)] = 100,
        cursor: str | None = None,
        key: str | None = None,
        agent: str | None = None,
        operation: str | None = None,
    ) -> Page[AuditLine]:
        """List accesses to the tenant's memories, the newest first."""
        if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
            raise InvalidInput("This is no cursor of the audit.", field="cursor")
        if not 1 <= limit <= 1_000:
            raise InvalidInput("limit must be between 1 and 1000.", field="limit")
        asked = {"key": key, "agent": agent, "operation": operation}
        filters = {name: value for name, value in asked.items() if value is not None}
        if any("\0" in value for value in filters.values()):
            return Page[AuditLine](items=())
        before = int(cursor) if cursor is not None else 2**63 - 1
        lines = await self._store.recent(self._tenant, before, limit + 1, filters)
        following = str(lines[limit - 1].seq) if len(lines) > limit else None
        return Page[AuditLine](items=tuple(line.parsed() for line in lines[:limit]), cursor=following)


class AuditWriter:
    """Writes events to the chain. Those that wait at the same moment are one commit."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store
        self._waiting: list[tuple[AuditEvent, asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None
        self._logged_at = time.monotonic()

    async def write(self, event: AuditEvent) -> None:
        """Write an event; return when it is stored durably."""
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((event, stored))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._commit(), name="longmind audit")
        await stored

    async def close(self) -> None:
        """Wait until everything is stored, and log the end of the chain, to be found outside of the store."""
        if self._task is not None:
            await self._task
            try:
                _log.info(_ENDS_AT, (await self._store.head()).anchor)
            except StoreError as error:  # what was noted is stored; only the copy in the log is missing
                _log.warning("The end of the audit could not be read: %s", error.message)

    async def _commit(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_PER_COMMIT], self._waiting[_PER_COMMIT:]
            try:
                head = await self._store.append([event for event, _ in batch])
            except LongmindError as error:
                _fail(batch, error)
            except BaseException as error:
                _fail(batch, StoreError("The audit could not be written."))
                if not isinstance(error, Exception):
                    raise
                _log.exception("The audit could not be written.")
            else:
                for _, stored in batch:
                    if not stored.done():
                        stored.set_result(None)
                if time.monotonic() - self._logged_at > _LOGGED_EVERY:
                    self._logged_at = time.monotonic()
                    _log.info(_ENDS_AT, head.anchor)


def _fail(batch: Sequence[tuple[AuditEvent, asyncio.Future[None]]], error: LongmindError) -> None:
    for _, stored in batch:
        if not stored.done():
            stored.set_exception(error)
