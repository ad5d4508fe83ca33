"""Rebuild the summaries of chains and segments after messages of their pages were changed or forgotten.

They are rebuilt from all of their pages as these are now, so nothing that was removed stays in a summary.
"""

from __future__ import annotations

from collections.abc import Sequence

from longmind.store.base import Update, Write
from longmind.systems.dialogue import archive, pages
from longmind.systems.dialogue.chains import ChainContext, LoadedChain
from longmind.systems.dialogue.models import CHAIN, PAGE, SEGMENT, ChainBody, PageBody
from longmind.systems.dialogue.segments import SegmentAssigner, active_segments
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Memory


async def refresh_quotes(scoped: ScopedStore, settings: DialogueSettings, ids: Sequence[str]) -> tuple[str, ...]:
    """Rebuild the chains and segments of these pages; return the ids of those that changed."""
    records = [page for page in await scoped.store.get_all(scoped.scope, ids) if page.kind == PAGE]
    bodies = [PageBody.read(page) for page in records]
    chains = list(dict.fromkeys(body.chain for body in bodies))
    segments = list(dict.fromkeys(body.segment for body in bodies if body.segment is not None))
    writes = [*await _chains(scoped, settings, chains), *await _segments(scoped, settings, segments)]
    if writes:
        await scoped.rewrite(writes, "dialogue: told anew")
    return tuple(write.id for write in writes)


async def _chains(scoped: ScopedStore, settings: DialogueSettings, ids: Sequence[str]) -> list[Update]:
    updates: list[Update] = []
    for record in await scoped.store.get_all(scoped.scope, ids) if ids else ():
        if record.kind != CHAIN:
            continue
        links = await scoped.store.all_links(scoped.scope, [record.id], relation="derived_from", direction="out")
        members = await scoped.store.get_all(scoped.scope, sorted(link.target for link in links))
        chain = LoadedChain(record.id, record, ChainBody(), ChainContext())
        for loaded in await pages.load_pages(scoped, [page for page in members if page.kind == PAGE]):
            chain.add(loaded)
        updates += _changing(record, chain.writes(scoped, settings))
    return updates


async def _segments(scoped: ScopedStore, settings: DialogueSettings, ids: Sequence[str]) -> list[Update]:
    records = (
        [record for record in await scoped.store.get_all(scoped.scope, ids) if record.kind == SEGMENT] if ids else []
    )
    if not records:
        return []
    members = await archive.page_ids(scoped, [record.id for record in records])
    assigner = SegmentAssigner(scoped, settings, await active_segments(scoped))
    updates: list[Update] = []
    for record in records:
        pages_found = await scoped.store.get_all(scoped.scope, members[record.id])
        loaded_pages = await pages.load_pages(scoped, [page for page in pages_found if page.kind == PAGE])
        updates += _changing(
            record, [assigner.rebuild(record, sorted(loaded_pages, key=lambda loaded: loaded.body.number))]
        )
    return updates


def _changing(record: Memory, writes: Sequence[Write]) -> list[Update]:
    """Keep the updates that change something in the record."""
    return [
        write
        for write in writes
        if isinstance(write, Update) and any(getattr(record, name) != value for name, value in write.changes.items())
    ]
