"""Pydantic AI: a ``MemoryStore`` for the ``Memory`` capability of its harness, over the values of an agent.

    from longmind.adapters.pydantic_ai import LongmindMemoryStore

    agent = Agent(model, capabilities=[Memory(store=LongmindMemoryStore(longmind, agent="assistant", user="alice"))])

Files are values, so recall finds what they hold, and the journal keeps their versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from secrets import token_hex
from typing import Any

from longmind import AgentMemory, InvalidInput, Longmind, Value, ValueWrite, VersionConflict
from longmind.adapters.access import MemoryAccess
from longmind.adapters.packages import framework
from longmind.sync import Longmind as BlockingLongmind

with framework("pydantic-ai"):
    from pydantic_ai_harness.memory import (
        MemoryConflictError,
        MemoryFile,
        MemoryMutation,
        MemoryOperation,
        MemoryOperationConflictError,
        MemorySearchMatch,
        MemorySearchResult,
    )
    from pydantic_ai_harness.memory._store import encode_metadata, validate_store_path, validate_store_prefix

_FILES, _RECEIPTS = "pydantic-ai", "pydantic-ai-operations"
_RECEIPTS_KEPT = timedelta(days=7)
_PAGE = 200
_MOST_FOUND = 200
Namespace = tuple[str, ...]


class LongmindMemoryStore:
    """Versioned files of one agent and user, with idempotent operations, metadata of writes, and search.

    It is a ``MetadataMemoryStore`` and a ``SearchableMemoryStore`` of the harness. Search ranks as recall does.
    """

    def __init__(
        self, longmind: Longmind | BlockingLongmind, *, agent: str | None = None, user: str | None = None
    ) -> None:
        self._access = MemoryAccess(longmind, agent=agent, user=user)

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """Return the file at a path, cut to ``max_chars``; None if there is none."""
        validate_store_path(path)
        if max_chars <= 0:
            raise ValueError("max_chars must be positive")
        value = await self._access.run(self._file(path))
        if value is None:
            return None
        content = str(value.value["content"])
        return MemoryFile(
            content=content[:max_chars],
            version=value.value["version"],
            operation_id=value.value.get("operation_id"),
            truncated=len(content) > max_chars,
            metadata=value.value.get("metadata"),
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return what an operation did, if it was done; another one of the same id is refused."""
        return await self._access.run(self._receipt(operation))

    async def write(
        self, path: str, content: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Make or replace a file, if its version is the expected one."""
        return await self.write_with_metadata(
            path, content, expected_version=expected_version, metadata=None, operation=operation
        )

    async def write_with_metadata(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        metadata: Mapping[str, str] | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Make or replace a file, and record something about the write."""
        validate_store_path(path)
        encode_metadata(metadata)  # checks it
        value: dict[str, Any] = {"content": content, "version": token_hex(12)}
        value |= {"metadata": dict(metadata)} if metadata else {}
        return await self._access.run(self._mutate(path, value, expected_version, operation))

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Delete a file, if its version is the expected one."""
        validate_store_path(path)
        return await self._access.run(self._mutate(path, None, expected_version, operation))

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """Return the paths that begin with a prefix, sorted."""
        validate_store_prefix(prefix)
        if limit <= 0:
            raise ValueError("limit must be positive")
        return await self._access.run(self._paths(prefix, limit))

    async def search(
        self, prefix: str, query: str, *, limit: int, max_files: int, max_chars: int, max_file_chars: int
    ) -> MemorySearchResult:
        """Return the files directly below a prefix that fit a query best, each with the part that fits."""
        validate_store_prefix(prefix)
        if not query.split() or min(limit, max_files, max_chars, max_file_chars) <= 0:
            return MemorySearchResult(matches=[], scanned=0, truncated=False)
        return await self._access.run(self._search(prefix, query, limit, max_files, max_chars, max_file_chars))

    # -- on the event loop of the store --------------------------------------------------------------------------------

    @property
    def _mem(self) -> AgentMemory:
        return self._access.memory()

    async def _file(self, path: str) -> Value | None:
        namespace, key = _name(path)
        return await self._mem.values.get(namespace, key)

    async def _receipt(self, operation: MemoryOperation) -> MemoryMutation | None:
        stored = await self._mem.values.get((_RECEIPTS,), operation.id)
        if stored is None:
            return None
        if stored.value["fingerprint"] != operation.fingerprint:
            raise MemoryOperationConflictError(f"operation id {operation.id!r} was reused with different arguments")
        return MemoryMutation(version=stored.value["version"], replayed=True, existed=stored.value["existed"])

    async def _mutate(
        self, path: str, value: dict[str, Any] | None, expected: str | None, operation: MemoryOperation | None
    ) -> MemoryMutation:
        """Write or delete a file, with the receipt of its operation, in one transaction."""
        if operation is not None and (receipt := await self._receipt(operation)) is not None:
            return receipt
        current = await self._file(path)
        conflict = MemoryConflictError(
            f"memory path {path!r} changed before it could be {'written' if value else 'deleted'}"
        )
        if (None if current is None else current.value["version"]) != expected:
            # the same operation may have been done between the two reads
            if operation is not None and (receipt := await self._receipt(operation)) is not None:
                return receipt
            raise conflict
        mutation = MemoryMutation(
            version=value["version"] if value else None, replayed=False, existed=current is not None
        )
        writes = self._writes(path, value, current, operation, mutation)
        try:
            if writes:
                await self._mem.values.write(writes)
        except VersionConflict:
            if operation is not None and (receipt := await self._receipt(operation)) is not None:
                return receipt
            raise conflict from None
        except InvalidInput as error:
            raise ValueError(error.message) from error
        return mutation

    def _writes(
        self,
        path: str,
        value: dict[str, Any] | None,
        current: Value | None,
        operation: MemoryOperation | None,
        mutation: MemoryMutation,
    ) -> list[ValueWrite]:
        namespace, key = _name(path)
        writes: list[ValueWrite] = []
        if value is not None or current is not None:
            if value is not None and operation is not None:
                value["operation_id"] = operation.id
            writes.append(
                ValueWrite(
                    namespace=namespace,
                    key=key,
                    value=value,
                    text=None if value is None else f"{path}\n{value['content']}",
                    expected_version=0 if current is None else current.version,
                )
            )
        if operation is not None:
            done = {"fingerprint": operation.fingerprint, "version": mutation.version, "existed": mutation.existed}
            writes.append(
                ValueWrite(
                    namespace=(_RECEIPTS,),
                    key=operation.id,
                    value=done,
                    text="",  # nothing that recall should find
                    expires_at=self._access.longmind.clock.now() + _RECEIPTS_KEPT,
                    expected_version=0,
                )
            )
        return writes

    async def _below(self, prefix: str) -> list[Value]:
        """Return all files whose path begins with a prefix."""
        folder = prefix.rpartition("/")[0]
        namespace: Namespace = (_FILES, *(folder.split("/") if folder else ()))
        files: list[Value] = []
        cursor: str | None = None
        while True:
            page = await self._mem.values.list(namespace, limit=_PAGE, cursor=cursor)
            files += (value for value in page.items if _path(value).startswith(prefix))
            cursor = page.cursor
            if cursor is None:
                return files

    async def _paths(self, prefix: str, limit: int) -> list[str]:
        return sorted(map(_path, await self._below(prefix)))[:limit]

    async def _search(
        self, prefix: str, query: str, limit: int, max_files: int, max_chars: int, max_file_chars: int
    ) -> MemorySearchResult:
        below = [value for value in await self._below(prefix) if "/" not in _path(value).removeprefix(prefix)]
        scanned = sorted(below, key=_path)[:max_files]
        ids = {value.id for value in scanned}
        folder = prefix.rpartition("/")[0]
        namespace: Namespace = (_FILES, *(folder.split("/") if folder else ()))
        hits = await self._mem.values.search(query, min(_MOST_FOUND, max(limit * 4, 20)), prefix=namespace)
        found = [hit for hit in hits if hit.value.id in ids]
        matches: list[MemorySearchMatch] = []
        left = max_chars
        for hit in found[:limit]:
            path = _path(hit.value)
            room = left - len(path.removeprefix(prefix))
            if room <= 0:
                break
            snippet = _snippet(str(hit.value.value["content"])[:max_file_chars], query, room)
            matches.append(MemorySearchMatch(path=path, snippet=snippet, score=hit.score))
            left = room - len(snippet)
        cut = any(len(str(value.value["content"])) > max_file_chars for value in scanned)
        truncated = cut or len(below) > len(scanned) or len(found) > len(matches)
        return MemorySearchResult(matches=matches, scanned=len(scanned), truncated=truncated)


def _name(path: str) -> tuple[Namespace, str]:
    *folders, key = path.split("/")
    return (_FILES, *folders), key


def _path(value: Value) -> str:
    return "/".join((*value.namespace[1:], value.key))


def _snippet(text: str, query: str, length: int) -> str:
    """Return the part of a text around the first word of the query that is in it."""
    lower = text.lower()
    places = [place for word in query.lower().split() if (place := lower.find(word)) >= 0]
    start = max(0, min(min(places, default=0) - length // 3, len(text) - length))
    part = text[start : start + length]
    before, after = "..." if start else "", "..." if start + length < len(text) else ""
    kept = part[len(before) : len(part) - len(after)] if length > 6 else part
    return f"{before}{kept}{after}" if length > 6 else part
