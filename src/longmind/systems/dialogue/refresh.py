"""Chains and segments quote their pages. When what a page says was changed or forgotten, they are told anew.

They are told from all of their pages as these are now, so nothing that is no longer said stays in a summary.
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
    """Tell the chains and segments of these pages anew; says which have changed."""
    found = [page for page in await scoped.store.get_all(scoped.scope, ids) if page.kind == PAGE]
    bodies = [PageBody.read(page) for page in found]
    chains = list(dict.fromkeys(body.chain for body in bodies))
    segments = list(dict.fromkeys(body.segment for body in bodies if body.segment is not None))
    writes = [*await _chains(scoped, settings, chains), *await _segments(scoped, settings, segments)]
    if writes:
        await scoped.rewrite(writes, "dialogue: told anew")
    return tuple(write.id for write in writes)


async def _chains(scoped: ScopedStore, settings: DialogueSettings, ids: Sequence[str]) -> list[Update]:
    told: list[Update] = []
    for record in await scoped.store.get_all(scoped.scope, ids) if ids else ():
        if record.kind != CHAIN:
            continue
        links = await scoped.store.all_links(scoped.scope, [record.id], relation="derived_from", direction="out")
        members = await scoped.store.get_all(scoped.scope, sorted(link.target for link in links))
        chain = LoadedChain(record.id, record, ChainBody(), ChainContext())
        for loaded in await pages.loaded_pages(scoped, [page for page in members if page.kind == PAGE]):
            chain.add(loaded)
        told += _changing(record, chain.writes(scoped, settings))
    return told


async def _segments(scoped: ScopedStore, settings: DialogueSettings, ids: Sequence[str]) -> list[Update]:
    records = (
        [record for record in await scoped.store.get_all(scoped.scope, ids) if record.kind == SEGMENT] if ids else []
    )
    if not records:
        return []
    members = await archive.page_ids(scoped, [record.id for record in records])
    assigner = SegmentAssigner(scoped, settings, await active_segments(scoped))
    told: list[Update] = []
    for record in records:
        found = await scoped.store.get_all(scoped.scope, members[record.id])
        loaded_pages = await pages.loaded_pages(scoped, [page for page in found if page.kind == PAGE])
        told += _changing(
            record, [assigner.rebuild(record, sorted(loaded_pages, key=lambda loaded: loaded.body.number))]
        )
    return told


def _changing(record: Memory, writes: Sequence[Write]) -> list[Update]:
    """Those of these updates of a record that make a difference."""
    return [
        write
        for write in writes
        if isinstance(write, Update) and any(getattr(record, name) != value for name, value in write.changes.items())
    ]
