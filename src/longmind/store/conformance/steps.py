"""What the tests are made of: scopes, writes in one line, and complete reads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from longmind.store.base import AddLink, Backend, Batch, Feed, Put, Receipt, ReembedBackend, Space, Update, Write
from longmind.testing import FakeClock, memory
from longmind.types import Change, Filter, Link, Memory, Order, Scope

if TYPE_CHECKING:
    from longmind.store.base import Vector

AGENT = Scope(tenant="acme", agent="assistant", all_users=True)
NOBODY = Scope(tenant="acme", agent="assistant")
"""The same agent without a user: what belongs to no user."""
ALICE = Scope(tenant="acme", agent="assistant", user="alice")
BOB = Scope(tenant="acme", agent="assistant", user="bob")
OTHER_AGENT = Scope(tenant="acme", agent="other", all_users=True)
OTHER_TENANT = Scope(tenant="globex", agent="assistant", all_users=True)

ANY = Filter(states=None)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"
"""A well-formed id that no memory has."""

SMALL = Space("small", 4)
LARGE = Space("large", 6)

Reopen = Callable[[Backend], Awaitable[Backend]]

clock = FakeClock(NOON, tick=timedelta(milliseconds=1), seed=2)
"""Its seed differs from that of any other clock here: clocks of one seed and one time make the same ids."""


async def apply(
    backend: Backend,
    *writes: Write,
    scope: Scope = AGENT,
    operation: str | None = None,
    idempotent: bool = False,
    at: datetime = NOON,
    actor: str = "user",
    reason: str = "",
) -> Receipt:
    """Make these writes in one batch."""
    batch = Batch(scope, operation or clock.new_id(), at, tuple(writes), actor, reason, idempotent)
    return await backend.apply(batch)


async def put(
    backend: Backend,
    content: str = "A thing to remember.",
    *,
    scope: Scope = AGENT,
    vector: Vector | None = None,
    **fields: Any,
) -> Memory:
    """Store one new memory and return it as the receipt told it."""
    new = memory(content, scope=scope, clock=clock, **fields)
    receipt = await apply(backend, Put(new, vector), scope=scope)
    assert receipt.created == (True,)
    return receipt.memories[0]


async def update(backend: Backend, id: str, scope: Scope = AGENT, **changes: Any) -> Memory:
    """Change fields of one memory and return it as the receipt told it."""
    return (await apply(backend, Update(id, changes), scope=scope)).memories[0]


async def link(
    backend: Backend, source: Memory, relation: str, target: Memory, *, scope: Scope = AGENT, **fields: Any
) -> Link:
    """Link two memories."""
    new = Link(source=source.id, relation=relation, target=target.id, **fields)
    await apply(backend, AddLink(new), scope=scope)
    return new


async def get(backend: Backend, id: str, scope: Scope = AGENT) -> Memory | None:
    """One memory, or None."""
    memories = await backend.get(scope, [id])
    return memories[0] if memories else None


async def matching_ids(backend: Backend, where: Filter, scope: Scope = AGENT) -> set[str]:
    """The ids that pass a filter; a scan and ``matching`` must agree on them."""
    ids = await backend.matching(scope, where)
    scanned = [m.id for m in (await backend.scan(scope, where, limit=1_000)).items]
    assert len(scanned) == len(set(scanned))
    assert set(scanned) == ids
    return ids


async def scan_pages(
    backend: Backend, *, order: Order, descending: bool = False, limit: int = 2, where: Filter = ANY
) -> list[str]:
    """The ids of a whole listing, read page by page; every page but the last must be full."""
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page = await backend.scan(AGENT, where, order=order, descending=descending, limit=limit, cursor=cursor)
        ids += [m.id for m in page.items]
        if page.cursor is None:
            return ids
        assert len(page.items) == limit
        cursor = page.cursor


async def links(backend: Backend, *ids: str, scope: Scope = AGENT, limit: int = 100, **which: Any) -> list[Link]:
    """Links at these memories, in both directions unless ``which`` says otherwise."""
    asked = {"relation": None, "direction": "both"} | which
    return await backend.links(scope, ids, limit=limit, **asked)


async def journal(backend: Backend, scope: Scope = AGENT, **which: Any) -> list[Change]:
    """The journal, all of it unless ``which`` says otherwise."""
    return await backend.journal(scope, **({"limit": 1_000} | which))


async def actions(backend: Backend, scope: Scope = AGENT, **which: Any) -> list[str]:
    """What happened, in order."""
    return [change.action for change in await journal(backend, scope, **which)]


async def feed(backend: Backend, scope: Scope = AGENT, after: int = 0) -> Feed:
    """The whole feed in one piece; its chunks must tell the same head and no memory twice."""
    whole: Feed | None = None
    async for chunk in backend.feed(scope, after):
        if whole is None:
            whole = Feed(chunk.head)
        assert chunk.head == whole.head
        whole.rows += chunk.rows
        whole.gone += chunk.gone
    assert whole is not None, "a feed has at least one chunk"
    told = [row.id for row in whole.rows] + whole.gone
    assert len(told) == len(set(told))
    return whole


def unit_vector(*numbers: float) -> Vector:
    """A vector of length one in this direction."""
    vector = np.array(numbers, np.float32)
    return vector / np.linalg.norm(vector)


def float16_bytes(vector: Vector) -> bytes:
    """A vector as a feed tells it."""
    return vector.astype("<f2").tobytes()


def require_reembed(backend: Backend) -> ReembedBackend:
    """The backend as one that can change its vector space; skips the test if it cannot."""
    if not isinstance(backend, ReembedBackend):
        pytest.skip("this backend is no ReembedBackend")
    return backend


async def with_space(backend: Backend, space: Space = SMALL) -> ReembedBackend:
    """The backend with an active space."""
    able = require_reembed(backend)
    await able.declare_space(space)
    return able
