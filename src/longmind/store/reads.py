"""Reads of any size over a backend: all matching records, all records by id, all links, one step over links.

A backend answers in pages and with limits. These functions ask it as often as needed, for ``Store`` and for whoever
has a backend only.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Literal

from longmind.store.base import MAX_PAGE, Backend, ErasureBackend
from longmind.types import Direction, Filter, Link, Memory, Neighbour, Order, Scope

LinkKey = tuple[str, str, str]
"""The source, relation and target of a link, which identify it."""


async def scan_all(
    backend: Backend, scope: Scope, where: Filter, *, order: Order = "recorded"
) -> AsyncIterator[Memory]:
    """Yield all memories that match, read page by page."""
    cursor: str | None = None
    while True:
        page = await backend.scan(scope, where, order=order, limit=MAX_PAGE, cursor=cursor)
        for memory in page.items:
            yield memory
        cursor = page.cursor
        if cursor is None:
            return


async def get_all(backend: Backend, scope: Scope, ids: Iterable[str]) -> list[Memory]:
    """Return those of these memories that exist in the scope, in the order of ``ids``, each once."""
    return [memory for batch in _batches(ids) for memory in await backend.get(scope, batch)]


async def all_links(
    backend: Backend, scope: Scope, ids: Iterable[str], *, relation: str | None = None, direction: Direction = "out"
) -> list[Link]:
    """Return every link that leaves (out) or reaches (in) these memories, each once, in the order of ``Backend.links``.

    However many ids there are, the order is that of a single read: heaviest first, then by source, relation, target.
    """
    batches = _batches(ids)
    if len(batches) == 1:
        return await _links(backend, scope, batches[0], relation, direction)
    links = {
        link_key(link): link for batch in batches for link in await _links(backend, scope, batch, relation, direction)
    }
    return sorted(links.values(), key=lambda link: (-link.weight, *link_key(link)))


async def _links(
    backend: Backend, scope: Scope, ids: Sequence[str], relation: str | None, direction: Direction
) -> list[Link]:
    return await backend.links(scope, ids, relation=relation, direction=direction, limit=sys.maxsize)


async def past_links(
    backend: ErasureBackend, scope: Scope, ids: Iterable[str], direction: Literal["out", "in"], relation: str | None
) -> list[Link]:
    """Return every link that leaves or reaches these memories or ever did. Any number of ids, read in batches."""
    return [
        link
        for batch in _batches(ids)
        for link in await backend.past_links(scope, batch, direction=direction)
        if relation is None or link.relation == relation
    ]


def _batches(ids: Iterable[str]) -> list[list[str]]:
    unique = list(dict.fromkeys(ids))
    return [unique[start : start + MAX_PAGE] for start in range(0, len(unique), MAX_PAGE)]


def link_key(link: Link) -> LinkKey:
    """What identifies a link."""
    return link.source, link.relation, link.target


def step_over_links(
    start: Sequence[str], links: Sequence[Link], depth: int, seen: set[str], direction: Direction
) -> list[Neighbour]:
    """Return the memories that one step over these links newly reaches from ``start``, and add them to ``seen``."""
    frontier = set(start)
    neighbours: list[Neighbour] = []
    for link in links:
        ends: list[str] = []
        if direction in ("out", "both") and link.source in frontier:
            ends.append(link.target)
        if direction in ("in", "both") and link.target in frontier:
            ends.append(link.source)
        for end in ends:
            if end not in seen:
                seen.add(end)
                neighbours.append(Neighbour(id=end, depth=depth, link=link))
    return neighbours
