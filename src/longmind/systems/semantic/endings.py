"""Why a fact has ended: the link from it to the memory that says so, and taking the ending back."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from longmind.clock import as_utc
from longmind.store.base import Update
from longmind.store.store import Store
from longmind.systems.semantic.timelines import with_next_revision
from longmind.types import Link, Memory, Scope

ENDED_BY = "ended_by"
"""The relation of a fact to the memory that says that it no longer holds."""


def ending_link(fact: Memory, moment: datetime, memory: str) -> Link:
    """Return the link from a fact to the memory that ends it. It tells until when the fact held before."""
    before = None if fact.valid_to is None else as_utc(fact.valid_to).isoformat()
    metadata = {"ended_at": as_utc(moment).isoformat(), "valid_to": before}
    return Link(source=fact.id, relation=ENDED_BY, target=memory, metadata=metadata)


async def reopening_writes(store: Store, scope: Scope, erased: Collection[str]) -> list[Update]:
    """Return the writes by which facts hold again that ended only because of memories which are erased."""
    links = await store.past_links(scope, erased, direction="in", relation=ENDED_BY)
    endings = {link.source: link for link in links if link.source not in set(erased)}
    writes: list[Update] = []
    for fact in await store.get_all(scope, endings):
        told = endings[fact.id].metadata
        others = await store.all_links(scope, [fact.id], relation=ENDED_BY)
        ended_here = fact.valid_to is not None and as_utc(fact.valid_to).isoformat() == told.get("ended_at")
        if ended_here and all(link.target in erased for link in others):
            before = told.get("valid_to")
            changes = {"valid_to": before and datetime.fromisoformat(before), "body": with_next_revision(fact)}
            writes.append(Update(fact.id, changes, fact.version))
    return writes
