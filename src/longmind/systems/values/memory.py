"""``ValueMemory`` and ``StateMemory``: exact values by namespace and key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal

from longmind.arguments import checked_arguments
from longmind.errors import InvalidInput, VersionConflict
from longmind.store.base import Delete, Put, Update, Write
from longmind.systems.ownership import marks, mine
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.systems.values.models import Value, ValueHit, ValueName, ValueWrite, ttl_of
from longmind.systems.values.paths import below, path_of, record_key
from longmind.text.record_text import record_text
from longmind.types import Filter, Json, Memory, Page

_PAGE = 200
_MOST_READ = 1_000
"""How many records are asked for in one query by their keys."""
Names = list[tuple[str, ...]]
Values = list[Value | None]
Hits = list[ValueHit]


class _OtherVersion(Exception):
    """The caller expected another version: not to be tried again, unlike the conflict of two writers."""


@checked_arguments
class StateMemory:
    """Exact values that a program keeps for itself, such as checkpoints: durable, scoped, and never recalled.

    A value is a JSON object with a name: a namespace, which is a path of labels, and a key. It belongs to exactly the
    user of this memory, or to no user. Writes of one call are one transaction.
    """

    _kind: ClassVar[str] = "state"
    _is_found: ClassVar[bool] = False

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Json,
        *,
        text: str | None = None,
        session: str | None = None,
        at: datetime | None = None,
        expires_at: datetime | timedelta | None = None,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
    ) -> Value:
        """Store a value under its name and return it. With ``expected_version`` it must replace that one; 0 is none.

        ``text`` is what recall finds it by, where values are recalled: by default a line for each field. From
        ``expires_at`` on it is gone; with ``ttl`` it lasts that long, and again as long after each ``refresh``.
        """
        if isinstance(expires_at, timedelta):
            expires_at = _moment_after(expires_at, self._scoped.now())
        fields = {"text": text, "session": session, "at": at, "expires_at": expires_at, "ttl": ttl}
        named = {"namespace": tuple(namespace), "key": key, "value": value, "expected_version": expected_version}
        (stored,) = await self.write([validated(ValueWrite, named | fields)])
        assert stored is not None
        return stored

    async def get(self, namespace: Sequence[str], key: str) -> Value | None:
        """Return the value under a name, or None."""
        (value,) = await self.read([validated(ValueName, {"namespace": tuple(namespace), "key": key})])
        return value

    async def read(self, names: Sequence[ValueName]) -> Values:
        """Return the values under these names, in their order; None where there is none."""
        now = self._scoped.now()
        found = await self._records(names)
        return [
            None if memory is None or memory.has_expired(now) else Value.of(memory)
            for memory in (found.get(self._key(name)) for name in names)
        ]

    async def refresh(self, names: Sequence[ValueName]) -> int:
        """Let the values under these names that have a ``ttl`` last that long from now; return how many do.

        What would end less than a hundredth of its ``ttl`` later is left as it is, and counts.
        """

        async def extend() -> int:
            now = self._scoped.now()
            live = [memory for memory in (await self._records(names)).values() if not memory.has_expired(now)]
            lasting = [(memory, Value.of(memory)) for memory in live if ttl_of(memory) is not None]
            updates: list[Write] = [
                Update(memory.id, {"expires_at": now + value.ttl}, expected_version=memory.version)
                for memory, value in lasting
                if value.ttl is not None and value.needs_refresh(now)
            ]
            if updates:
                await self._scoped.rewrite(updates, f"refresh {self._kind}")
            return len(lasting)

        return await retry_on_conflict(extend)

    async def delete(
        self, namespace: Sequence[str], key: str, *, expected_version: int | None = None, erase: bool = False
    ) -> bool:
        """Remove the value under a name, and return whether there was one. With ``erase`` no history of it stays."""
        named = {"namespace": tuple(namespace), "key": key, "value": None}
        write = validated(ValueWrite, {**named, "expected_version": expected_version, "erase": erase})
        before = await self.get(namespace, key)
        await self.write([write])
        return before is not None

    async def write(self, writes: Sequence[ValueWrite]) -> Values:
        """Make these writes in one transaction; return what each left under its name, None after a removal.

        Of two writes of one name only the later one is made.
        """
        if not writes:
            return []
        last = {self._key(write): write for write in writes}
        try:
            return await retry_on_conflict(lambda: self._write(writes, last))
        except _OtherVersion as error:
            raise VersionConflict(str(error), hint="Read it again.") from None

    async def _write(self, writes: Sequence[ValueWrite], last: dict[str, ValueWrite]) -> Values:
        found = await self._records(list(last.values()))
        planned: list[Write] = []
        results: dict[str, Memory | None] = {}
        written: list[str] = []
        now = self._scoped.now()
        for key, write in last.items():
            memory = found.get(key)
            live = memory is not None and not memory.has_expired(now)
            if write.expected_version is not None:
                _check_version(write, memory.version if memory is not None and live else 0)
            if memory is not None and ((write.keep and live) or write.value is None):
                results[key] = memory if write.value is not None else None
                if write.value is None:
                    planned.append(Delete(memory.id, memory.version, erase=write.erase))
            elif write.value is not None:
                planned.append(self._change(key, write, memory, now))
                written.append(key)
        if planned:
            receipt = await self._scoped.rewrite(planned, f"write {self._kind}")
            results |= dict(zip(written, receipt.memories, strict=True))
        stored = (results.get(self._key(write)) for write in writes)
        return [None if memory is None else Value.of(memory) for memory in stored]

    def _change(self, key: str, write: ValueWrite, memory: Memory | None, now: datetime) -> Write:
        text = write.text
        if not self._is_found:
            text = ""
        elif text is None:
            text = record_text(write.value or {})
        fields: dict[str, Any] = {
            "content": text,
            "body": write.value,
            "session": write.session,
            "occurred_at": write.at or now,
            "expires_at": write.expires_at or (now + write.ttl if write.ttl else None),
        }
        lasts = {} if write.ttl is None else {"ttl": write.ttl.total_seconds()}
        if memory is not None:
            same = {"content"} if memory.content == text else set()
            changes = {name: value for name, value in fields.items() if name not in same}
            if ttl_of(memory) != write.ttl:
                kept = {name: value for name, value in memory.metadata.items() if name != "ttl"}
                changes["metadata"] = kept | lasts
            return Update(memory.id, changes, expected_version=memory.version)
        named = {"namespace": path_of(write.namespace), "labels": list(write.namespace), "key": write.key, **lasts}
        metadata = marks(self._scoped.scope, **named)
        made = self._scoped.new(self._kind, text, key=key, metadata=metadata, trust=0.7, **_without_content(fields))
        return Put(made, existing="fail")

    async def list(
        self,
        prefix: Sequence[str] = (),
        *,
        session: str | None = None,
        order: Literal["created", "updated"] = "created",
        descending: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Value]:
        """Return a page of the values in all namespaces that begin with a prefix."""
        page = await self._scoped.store.scan(
            self._scoped.scope,
            self._within(prefix, session),
            order="recorded" if order == "created" else "occurred",
            descending=descending,
            limit=limit,
            cursor=cursor,
        )
        return Page(items=tuple(Value.of(memory) for memory in page.items), cursor=page.cursor)

    async def namespaces(self, prefix: Sequence[str] = (), *, limit: int = 100, offset: int = 0) -> Names:
        """Return the namespaces that begin with a prefix and hold a value, sorted."""
        if limit < 1 or offset < 0:
            raise InvalidInput("limit must be at least 1, and offset must not be negative.")
        known = {tuple(memory.metadata["labels"]) async for memory in self._scan(prefix, None)}
        return sorted(known)[offset : offset + limit]

    async def clear(
        self,
        prefix: Sequence[str] = (),
        *,
        session: str | None = None,
        expired: bool = False,
        erase: bool = False,
    ) -> int:
        """Remove all values in namespaces that begin with a prefix, in one transaction; return how many.

        With a ``session`` only those of that session; with ``expired`` only those whose time is over. With ``erase`` no
        history of them stays. One of the first three must say what is meant: none would remove everything.
        """
        if not prefix and session is None and not expired:
            raise InvalidInput("Say what to remove: a prefix, a session, or what has expired.")

        async def remove() -> int:
            memories = [memory async for memory in self._scan(prefix, session, expired=expired or None)]
            if memories:
                deletes = [Delete(memory.id, memory.version, erase=erase) for memory in memories]
                await self._scoped.rewrite(deletes, f"clear {self._kind}")
            return len(memories)

        return await retry_on_conflict(remove)

    def _key(self, name: ValueName | ValueWrite) -> str:
        return record_key(self._scoped.scope, self._kind, name.namespace, name.key)

    async def _records(self, names: Sequence[ValueName | ValueWrite]) -> dict[str, Memory]:
        """Return the records under these names, by their keys."""
        keys = list(dict.fromkeys(self._key(name) for name in names))
        found: dict[str, Memory] = {}
        scope = self._scoped.scope
        for start in range(0, len(keys), _MOST_READ):
            where = mine(scope, keys=tuple(keys[start : start + _MOST_READ]), states=None, expired=None)
            async for memory in self._scoped.store.scan_all(scope, where):
                if memory.user == scope.user and memory.key is not None:
                    found[memory.key] = memory
        return found

    def _within(self, prefix: Sequence[str], session: str | None, *, expired: bool | None = False) -> Filter:
        return mine(
            self._scoped.scope,
            metadata={"namespace": below(prefix)},
            kinds=(self._kind,),
            sessions=None if session is None else (session,),
            states=None,
            expired=expired,
        )

    async def _scan(
        self, prefix: Sequence[str], session: str | None, *, expired: bool | None = False
    ) -> AsyncIterator[Memory]:
        cursor: str | None = None
        where = self._within(prefix, session, expired=expired)
        while True:
            page = await self._scoped.store.scan(self._scoped.scope, where, limit=_PAGE, cursor=cursor)
            for memory in page.items:
                yield memory
            cursor = page.cursor
            if cursor is None:
                return


@checked_arguments
class ValueMemory(StateMemory):
    """Exact values by namespace and key that recall finds too: what an application stores and reads back as it was."""

    _kind: ClassVar[str] = "record"
    _is_found: ClassVar[bool] = True

    async def search(self, query: str, k: int = 10, *, prefix: Sequence[str] = ()) -> Hits:
        """Return the k values that fit a query best, of those in namespaces that begin with a prefix."""
        hits = await self._scoped.search(query, k=k, kinds=(self._kind,), where=self._within(prefix, None))
        return [ValueHit(value=Value.of(hit.memory), score=hit.score) for hit in hits]


def _check_version(write: ValueWrite, stored: int) -> None:
    if write.expected_version != stored:
        there = f"version {stored}" if stored else "none"
        raise _OtherVersion(f"Under {write.key!r} there is {there}, and {write.expected_version} was expected.")


def _without_content(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "content"}


def _moment_after(duration: timedelta, now: datetime) -> datetime:
    try:
        return now + duration
    except OverflowError:
        raise InvalidInput("expires_at is too far away.", hint="Leave it out for what does not expire.") from None
