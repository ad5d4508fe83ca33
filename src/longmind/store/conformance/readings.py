"""Answers of two backends in a form in which they can be compared."""

from __future__ import annotations

import json
from typing import Any

from longmind.store.base import Backend, Feed, Space
from longmind.types import Filter, Scope


async def scopes(backend: Backend) -> set[str]:
    return {str(scope) for scope in await backend.scopes()}


async def whole_feed(backend: Backend, scope: Scope, after: int) -> Any:
    """A feed in one piece and in an order; its times to a tenth of a millisecond, since they are floats."""
    chunks: list[Feed] = [chunk async for chunk in backend.feed(scope, after)]
    rows = [row for chunk in chunks for row in chunk.rows]
    times = ("occurred_at", "recorded_at", "valid_from", "valid_to")
    for row in rows:
        for name in times:
            moment = getattr(row, name)
            setattr(row, name, None if moment is None else f"{moment:.4f}")
    told = rows if after == 0 else sorted(rows, key=lambda row: row.id)
    return chunks[0].head, told, sorted(id for chunk in chunks for id in chunk.gone)


async def pages(
    backend: Backend, scope: Scope, where: Filter, order: Any, descending: bool, limit: int
) -> list[list[str]]:
    """The ids of a listing, page by page."""
    told: list[list[str]] = []
    cursor: str | None = None
    while not told or cursor is not None:
        page = await backend.scan(scope, where, order=order, descending=descending, limit=limit, cursor=cursor)
        told.append([m.id for m in page.items])
        cursor = page.cursor
    return told


async def everything_missing(backend: Any, space: Space) -> list[tuple[str, str, str, str]]:
    missing = await backend.missing_vectors(space, 1_000)
    return sorted((scope.tenant, scope.agent, id, text) for scope, id, text in missing)


def plain(value: Any) -> Any:
    """An answer as something that tells true from 1 when compared."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return json.dumps(value.model_dump(mode="json", exclude={"cursor"}), sort_keys=True)
    if hasattr(value, "memories"):
        return [value.operation, plain(value.memories), value.created, value.replayed]
    return value
