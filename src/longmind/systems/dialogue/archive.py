"""Archiving from mid-term memory: segments that went cold or are too many, and pages by age and importance.

Archived segments keep their pages, and a recall that includes the archive finds them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from longmind.store.base import Update, Write
from longmind.systems.dialogue.heat import as_segment, is_due
from longmind.systems.dialogue.models import PAGE, SegmentBody
from longmind.systems.dialogue.segments import active_segments
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


def unused_segments(settings: DialogueSettings, records: Sequence[Memory], now: datetime) -> list[Memory]:
    """Return the segments that went cold: nobody visited or added to them for ``cold_days``.

    The days are counted back from the last time any of the user's segments was in use, so that a user who was away for
    long finds everything as it was. What is due to move to long-term memory is spared.
    """
    if settings.cold_days is None or not records:
        return []
    segments = [(record, as_segment(record, settings, now)) for record in records]
    since = max(segment.active_at for _, segment in segments) - timedelta(days=settings.cold_days)
    return [record for record, segment in segments if segment.active_at < since and not is_due(segment, settings)]


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


async def pages_to_archive(scoped: ScopedStore, settings: DialogueSettings) -> list[Memory]:
    """Return the pages to archive: too old, too unimportant, or too many in their segment.

    Pages in the window belong to no segment yet and stay.
    """
    now = scoped.now()
    over: dict[str, Memory] = {}
    if settings.retention_days is not None:
        over.update({page.id: page for page in await _pages_before(scoped, _days_ago(now, settings.retention_days))})
    if settings.prune_below > 0:
        for page in await _pages_before(scoped, _days_ago(now, settings.prune_days)):
            if page.importance < settings.prune_below and page.access_count == 0:
                over[page.id] = page
    for page in await _crowding_pages(scoped, settings, over):
        over[page.id] = page
    return list(over.values())


def _days_ago(now: datetime, days: float) -> datetime:
    return now - timedelta(days=days)


async def _pages_before(scoped: ScopedStore, moment: datetime) -> list[Memory]:
    """Return the active pages of all segments that happened before a moment."""
    where = mine(scoped.scope, kinds=(PAGE,), states=("active",), until=moment)
    pages = [page async for page in scoped.store.scan_all(scoped.scope, where)]
    return [page for page in pages if page.body.get("segment") is not None]


async def _crowding_pages(scoped: ScopedStore, settings: DialogueSettings, gone: Collection[str]) -> list[Memory]:
    """Return the least important pages of the segments that have too many, apart from those that go anyway."""
    records = [record for record in await active_segments(scoped) if _length(record) > settings.segment_pages]
    crowding: list[Memory] = []
    for ids in (await page_ids(scoped, [record.id for record in records])).values():
        known = await scoped.store.get_all(scoped.scope, ids)
        pages = [page for page in known if page.kind == PAGE and page.state == "active" and page.id not in gone]
        if (over := len(pages) - settings.segment_pages) > 0:
            pages.sort(key=lambda page: (page.importance, page.occurred_at, page.id))
            crowding += pages[:over]
    return crowding


def _length(record: Memory) -> int:
    """Return how many pages have joined a segment, those in the archive too."""
    return int(record.body.get("length", 0))
