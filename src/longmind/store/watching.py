"""Following the changes of a scope as they are made, in this process and in others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from longmind.store.base import Receipt
from longmind.store.store import Store
from longmind.types import Change, Scope

_PAGE = 200


async def watch(store: Store, scope: Scope, after: int | None, poll_seconds: float) -> AsyncIterator[Change]:
    """Yield every change after a sequence number; None begins with the next one.

    Writes of this process are noticed at once, those of other processes at the next poll.
    """
    written = asyncio.Event()

    def notice(changed: Scope, receipt: Receipt) -> None:
        if (changed.tenant, changed.agent) == (scope.tenant, scope.agent):
            written.set()

    store.listeners.append(notice)
    try:
        position = (await store.backend.head(scope)).seq if after is None else after
        while True:
            written.clear()
            head = (await store.backend.head(scope)).seq
            while position < head:
                changes = await store.journal(scope, after=position, limit=_PAGE)
                for change in changes:
                    position = change.seq
                    yield change
                if len(changes) < _PAGE:
                    position = max(position, head)
            try:
                await asyncio.wait_for(written.wait(), poll_seconds)
            except TimeoutError:
                continue
    finally:
        store.listeners.remove(notice)
