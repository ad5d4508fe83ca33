"""CrewAI: a ``StorageBackend`` for its memory, over the values of an agent.

    from longmind.adapters.crewai import LongmindStorage

    storage = LongmindStorage(longmind, agent="crew")
    memory = Memory(storage=storage, embedder=storage.embed)    # Longmind's own vectors: no key, no download

CrewAI searches by vectors of its own embedder, which are kept with the records and compared here; recall finds the same
records by Longmind's own. A search reads the records of the agent: it is meant for some thousands of them.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmind import AgentMemory, Longmind, Value, ValueWrite
from longmind.adapters.access import MemoryAccess
from longmind.adapters.packages import framework
from longmind.sync import Longmind as BlockingLongmind

with framework("crewai"):
    from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
    from crewai.memory.types import MemoryRecord, ScopeInfo

_NAMESPACE = ("crewai",)
_PAGE = 500
Record = Any
Test = Callable[[Record], bool]


class LongmindStorage:
    """The records of a crew's memory, of one agent and perhaps one user. Blocking and asynchronous methods do the same.

    Blocking methods need a store of ``longmind.sync``, or one that is open on the event loop of another thread.
    """

    def __init__(
        self, longmind: Longmind | BlockingLongmind, *, agent: str | None = None, user: str | None = None
    ) -> None:
        self._access = MemoryAccess(longmind, agent=agent, user=user)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return vectors of Longmind's embedder, as ``Memory(embedder=...)`` of CrewAI wants them."""
        return self._access.wait(self._embed(list(texts)))

    def save(self, records: list[Record]) -> None:
        """Store records, in one transaction."""
        self._access.wait(self._save(records))

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[Record, float]]:
        """Return the records whose vectors are nearest to that of the query, each with its score."""
        return self._access.wait(
            self._search(query_embedding, scope_prefix, categories, metadata_filter, limit, min_score)
        )

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete the records that meet all conditions, and return how many; without any, all."""
        return self._access.wait(self._delete(scope_prefix, categories, record_ids, older_than, metadata_filter))

    def update(self, record: Record) -> None:
        """Replace the record of the same id."""
        self._access.wait(self._save([record]))

    def touch_records(self, record_ids: list[str]) -> None:
        """Note that records were accessed now."""
        self._access.wait(self._touch(record_ids))

    def get_record(self, record_id: str) -> Record | None:
        """Return a record by its id, or None."""
        return self._access.wait(self._get(record_id))

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[Record]:
        """Return the records of a scope and the scopes below it, the newest first."""
        if limit <= 0 or offset < 0:
            return []
        records = self._access.wait(self._records(_in_scope(scope_prefix)))
        return sorted(records, key=lambda record: _aware(record.created_at), reverse=True)[offset : offset + limit]

    def get_scope_info(self, scope: str) -> Any:
        """Return how many records a scope holds, their categories, their dates, and the scopes below it."""
        records = self._access.wait(self._records(_in_scope(scope)))
        dates = sorted((record.created_at for record in records), key=_aware)
        return ScopeInfo(
            path=scope.rstrip("/") or "/",
            record_count=len(records),
            categories=sorted({category for record in records for category in record.categories}),
            oldest_record=dates[0] if dates else None,
            newest_record=dates[-1] if dates else None,
            child_scopes=_children(scope, records),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes directly below another."""
        return _children(parent, self._access.wait(self._records(_in_scope(parent))))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return how many records each category has, in a scope and those below it."""
        counts: dict[str, int] = {}
        for record in self._access.wait(self._records(_in_scope(scope_prefix))):
            for category in record.categories:
                counts[category] = counts.get(category, 0) + 1
        return counts

    def count(self, scope_prefix: str | None = None) -> int:
        """Return how many records a scope holds, with those below it."""
        return len(self._access.wait(self._records(_in_scope(scope_prefix))))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Delete all records of a scope and those below it."""
        self.delete(scope_prefix)

    async def asave(self, records: list[Record]) -> None:
        """Store records, in one transaction."""
        await self._access.run(self._save(records))

    async def asearch(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[Record, float]]:
        """Return the records whose vectors are nearest to that of the query, each with its score."""
        return await self._access.run(
            self._search(query_embedding, scope_prefix, categories, metadata_filter, limit, min_score)
        )

    async def adelete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete the records that meet all conditions, and return how many; without any, all."""
        return await self._access.run(self._delete(scope_prefix, categories, record_ids, older_than, metadata_filter))

    # -- on the event loop of the store --------------------------------------------------------------------------------

    @property
    def _mem(self) -> AgentMemory:
        return self._access.memory()

    async def _embed(self, texts: list[str]) -> list[list[float]]:
        vectors, _ = await self._access.longmind.embedding.embed(texts)
        return [[] if vector is None else [float(number) for number in vector] for vector in vectors]

    async def _values(self) -> list[Value]:
        values: list[Value] = []
        cursor: str | None = None
        while True:
            page = await self._mem.values.list(_NAMESPACE, limit=_PAGE, cursor=cursor)
            values += page.items
            cursor = page.cursor
            if cursor is None:
                return values

    async def _records(self, *tests: Test) -> list[Record]:
        records = map(_record, await self._values())
        return [record for record in records if all(test(record) for test in tests)]

    async def _get(self, record_id: str) -> Record | None:
        value = await self._mem.values.get(_NAMESPACE, record_id)
        return None if value is None else _record(value)

    async def _save(self, records: Sequence[Record]) -> None:
        lengths = {len(record.embedding) for record in records if record.embedding}
        stored = next((length for value in await self._first() if (length := len(_vector(value)))), None)
        for length in sorted(lengths):
            if stored is not None and length != stored:
                raise EmbeddingDimensionMismatchError(stored, length)
            stored = length
        await self._mem.values.write([_write(record) for record in records])

    async def _first(self) -> tuple[Value, ...]:
        return (await self._mem.values.list(_NAMESPACE, limit=1)).items

    async def _touch(self, record_ids: Sequence[str]) -> None:
        now = self._access.longmind.clock.now().replace(tzinfo=None)  # CrewAI's moments are UTC without saying so
        records = [record for id in record_ids if (record := await self._get(id)) is not None]
        await self._mem.values.write([_write(record.model_copy(update={"last_accessed": now})) for record in records])

    async def _search(
        self,
        query_embedding: Sequence[float],
        scope_prefix: str | None,
        categories: list[str] | None,
        metadata_filter: dict[str, Any] | None,
        limit: int,
        min_score: float,
    ) -> list[tuple[Record, float]]:
        tests = (_in_scope(scope_prefix), _in_categories(categories), _with_metadata(metadata_filter))
        records = [record for record in await self._records(*tests) if record.embedding]
        if not records or limit <= 0:
            return []
        if len(records[0].embedding) != len(query_embedding):
            raise EmbeddingDimensionMismatchError(len(records[0].embedding), len(query_embedding))
        matrix = np.array([record.embedding for record in records], np.float32)
        distances = ((matrix - np.array(query_embedding, np.float32)) ** 2).sum(axis=1)
        scores = 1.0 / (1.0 + distances)  # as CrewAI's own storage computes it
        best = np.argsort(-scores, kind="stable")[:limit]
        return [(records[number], float(scores[number])) for number in best if scores[number] >= min_score]

    async def _delete(
        self,
        scope_prefix: str | None,
        categories: list[str] | None,
        record_ids: list[str] | None,
        older_than: datetime | None,
        metadata_filter: dict[str, Any] | None,
    ) -> int:
        tests = [_in_scope(scope_prefix), _in_categories(categories), _with_metadata(metadata_filter)]
        if record_ids:
            tests.append(lambda record: record.id in record_ids)
        if older_than is not None:
            tests.append(lambda record: _aware(record.created_at) < _aware(older_than))
        records = await self._records(*tests)
        await self._mem.values.write(
            [ValueWrite(namespace=_NAMESPACE, key=record.id, value=None) for record in records]
        )
        return len(records)


def _write(record: Record) -> ValueWrite:
    value = record.model_dump(mode="json", exclude={"embedding"})
    if record.embedding:
        value["embedding"] = base64.b64encode(np.array(record.embedding, "<f4").tobytes()).decode()
    return ValueWrite(
        namespace=_NAMESPACE, key=record.id, value=value, text=record.content, at=_aware(record.created_at)
    )


def _vector(value: Value) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(value.value.get("embedding", "")), "<f4")


def _record(value: Value) -> Record:
    return MemoryRecord.model_validate({**value.value, "embedding": _vector(value).tolist() or None})


def _in_scope(prefix: str | None) -> Test:
    """Return a test whether a record is in a scope or below it; None and ``/`` are all scopes."""
    scope = "/" + (prefix or "").strip("/")
    return lambda record: scope == "/" or f"{record.scope}/".startswith(f"{scope}/")


def _in_categories(categories: list[str] | None) -> Test:
    return lambda record: not categories or any(category in record.categories for category in categories)


def _with_metadata(wanted: dict[str, Any] | None) -> Test:
    return lambda record: all(record.metadata.get(name) == value for name, value in (wanted or {}).items())


def _children(parent: str, records: Sequence[Record]) -> list[str]:
    prefix = "/" + parent.strip("/") + "/" if parent.strip("/") else "/"
    below = (record.scope[len(prefix) :] for record in records if record.scope.startswith(prefix))
    return sorted({prefix + rest.partition("/")[0] for rest in below if rest})


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
