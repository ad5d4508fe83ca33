"""Archiving from mid-term memory: the coldest segments beyond capacity, and pages by age and importance.

Archived segments keep their pages, and a recall that includes the archive finds them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from longmind.store.base import Update, Write
from longmind.systems.dialogue.heat import as_segment
from longmind.systems.dialogue.models import PAGE, SegmentBody
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.ownership import mine
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Memory, State


def coldest_segments(
    settings: DialogueSettings, records: Sequence[Memory], count: int, now: datetime, spared: Collection[str] = ()
) -> list[Memory]:
    """Return this many segments to archive, the coldest first.

    The newest segments and those that just grew are spared: a new topic has had no time to be visited, and would always
    be archived first.
    """
    if count < 1:
        return []
    young = max(1, min(settings.newest_kept, settings.segments // 10))
    by_age = sorted(records, key=lambda record: (record.recorded_at, record.id))
    old = [record for record in by_age[:-young] if record.id not in spared]
    heats = {record.id: as_segment(record, settings, now).heat for record in old}
    return sorted(old, key=lambda record: (heats[record.id], SegmentBody.read(record).joined_at, record.id))[:count]


async def page_ids(scoped: ScopedStore, segments: Sequence[str]) -> dict[str, list[str]]:
    """Return the ids of the pages of each segment."""
    pages_by_segment: dict[str, list[str]] = {id: [] for id in segments}
    if segments:
        links = await scoped.store.all_links(scoped.scope, segments, relation="part_of", direction="in")
        for link in links:
            pages_by_segment[link.target].append(link.source)
    return {id: sorted(pages) for id, pages in pages_by_segment.items()}


async def state_writes(scoped: ScopedStore, segments: Sequence[Memory], state: State) -> list[Write]:
    """Return the writes that archive or restore segments with all their pages."""
    pages = await page_ids(scoped, [record.id for record in segments])
    known = await scoped.store.get_all(scoped.scope, [id for own in pages.values() for id in own])
    return [
        *(Update(record.id, {"state": state}, expected_version=record.version) for record in segments),
        *(Update(page.id, {"state": state}) for page in known if page.kind == PAGE and page.state != state),
    ]


async def pages_to_archive(scoped: ScopedStore, settings: DialogueSettings, kept: Collection[str]) -> list[Memory]:
    """Return the pages to archive: too old, too unimportant, or too many in their segment."""
    now = scoped.now()
    since = None if settings.retention_days is None else now - timedelta(days=settings.retention_days)
    unread = now - timedelta(days=settings.prune_days)
    old: dict[str, Memory] = {}
    crowded: dict[str, list[Memory]] = {}
    async for page in scoped.store.scan_all(scoped.scope, mine(scoped.scope, kinds=(PAGE,), states=("active",))):
        segment = page.body.get("segment")
        if page.id in kept or segment is None:
            continue
        unimportant = page.importance < settings.prune_below and page.access_count == 0
        if (since is not None and page.occurred_at < since) or (unimportant and page.occurred_at < unread):
            old[page.id] = page
        else:
            crowded.setdefault(str(segment), []).append(page)
    for pages in crowded.values():
        if (over := len(pages) - settings.segment_pages) > 0:
            pages.sort(key=lambda page: (page.importance, page.occurred_at, page.id))
            old.update((page.id, page) for page in pages[:over])
    return list(old.values())
