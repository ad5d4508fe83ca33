"""What came from a memory: everything derived from it, at any time, and what nothing else supports."""

from __future__ import annotations

from collections.abc import Iterable

from longmind.kinds import owned_by
from longmind.store import journal
from longmind.store.store import Store
from longmind.systems.semantic import find_unsupported
from longmind.types import Scope

DERIVED_FROM, PART_OF = "derived_from", "part_of"
EPISODIC = owned_by("episodic")
"""The kinds that go with what they are part of: the events of an episode, and the episodes within it."""


async def with_derived(store: Store, scope: Scope, ids: Iterable[str]) -> list[str]:
    """Return the ids together with those of everything that came from them, sources before what was derived.

    That is what was derived from them, the events of an episode, and what nothing supports without them. Links that
    were removed count: the journal tells them. So a source that was forgotten leads to its facts, and facts that were
    undone are found though they are gone. ``scope`` is that of the whole agent.
    """
    reached = dict.fromkeys(ids)
    frontier = list(reached)
    while frontier:
        links = await store.past_links(scope, frontier, direction="in")
        parts = [link.source for link in links if link.relation == PART_OF]
        kinds = {id: record.kind for id, record in (await journal.last_records(store.backend, scope, parts)).items()}
        derived = [link.source for link in links if link.relation == DERIVED_FROM or kinds.get(link.source) in EPISODIC]
        if not any(id not in reached for id in derived):
            derived = await find_unsupported(store, scope, reached.keys())
        frontier = [id for id in dict.fromkeys(derived) if id not in reached]
        reached.update(dict.fromkeys(frontier))
    return list(reached)
