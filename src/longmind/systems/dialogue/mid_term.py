"""Recall over the levels: the hits of the ordinary search, ordered by the level and topic they belong to.

Every turn is a message, or stands in a page, and both are searched. So the levels find what a flat recall finds, with
the same ranking. What they add is the order: the window, the topics with their best pages, and the profiles.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from longmind.systems.dialogue import pages
from longmind.systems.dialogue.heat import as_segment
from longmind.systems.dialogue.models import PAGE, SEGMENT, PageHit, RankedHit, SegmentHit
from longmind.systems.dialogue.pages import LoadedPage
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Hit, Memory, State

MESSAGE = "message"
_STATES = Filter().states or ()
ANSWERED = 0.3
"""The archive is searched too if the best hit is less likely right than this."""


async def search(scoped: ScopedStore, query: str, *, k: int, archived: bool) -> list[RankedHit]:
    """Return what recall finds for a query, the best first, each with the page that holds it.

    The archive is searched with ``archived``, and also if nothing else is likely to answer.
    """
    if not query.strip():
        return []
    hits = await _search(scoped, query, k, _STATES)
    if archived or not hits or hits[0].score < ANSWERED:
        hits = await _search(scoped, query, k, (*_STATES, "archived"))
    own = [hit for hit in hits if hit.memory.user in (None, scoped.scope.user)]
    page_of = await _pages_of(scoped, own)
    return [RankedHit(memory=hit.memory, score=hit.score, page=page_of.get(hit.memory.id)) for hit in own]


async def _search(scoped: ScopedStore, query: str, k: int, states: Sequence[State]) -> list[Hit]:
    where = Filter(states=tuple(states))
    hits = await scoped.search(query, k=k, where=where)
    if await _has_texts(scoped):
        found_pages = await scoped.search(query, k=k, kinds=(PAGE,), where=where)
        with_text = [hit for hit in found_pages if hit.memory.content]
        hits = sorted([*hits, *with_text], key=lambda hit: -hit.score)[:k]
    return hits


async def _has_texts(scoped: ScopedStore) -> bool:
    """Whether there are pages that hold their own texts; others point to messages, which are searched anyway."""
    view = await scoped.store.view(scoped.scope)
    if PAGE not in view.kinds.names:
        return False
    pages_here = view.column("kind")[: view.rows] == view.kinds.names.index(PAGE)
    return bool((pages_here & (view.column("length")[: view.rows] > 0)).any())


async def _pages_of(scoped: ScopedStore, hits: Sequence[Hit]) -> dict[str, str]:
    """Return the page of each hit that has one."""
    page_of = {hit.memory.id: hit.memory.id for hit in hits if hit.memory.kind == PAGE}
    said = [hit.memory.id for hit in hits if hit.memory.kind == MESSAGE]
    links = await scoped.store.all_links(scoped.scope, said, relation="derived_from", direction="in") if said else []
    records = await scoped.store.get_all(scoped.scope, sorted({link.source for link in links})) if links else []
    known = {record.id for record in records if record.kind == PAGE}
    return page_of | {link.target: link.source for link in links if link.source in known}


async def group_by_topic(
    scoped: ScopedStore, settings: DialogueSettings, hits: Sequence[RankedHit], *, segments: int, most: int
) -> list[SegmentHit]:
    """Return the topics of these hits with their pages, the best first; turns in the window have no topic yet."""
    scores: dict[str, float] = {}
    for hit in hits:
        if hit.page is not None:
            scores[hit.page] = max(hit.score, scores.get(hit.page, 0.0))
    records = await scoped.store.get_all(scoped.scope, list(scores)) if scores else []
    chosen: dict[str, list[Memory]] = defaultdict(list)
    for record in sorted(records, key=lambda record: -scores[record.id]):
        segment = record.body.get("segment")
        room = (segment in chosen or len(chosen) < segments) and sum(map(len, chosen.values())) < most
        if segment is not None and room:
            chosen[segment].append(record)
    topics = await scoped.store.get_all(scoped.scope, list(chosen))
    loaded = await pages.load_pages(scoped, [record for own in chosen.values() for record in own])
    by_segment: dict[str | None, list[LoadedPage]] = defaultdict(list)
    for page in loaded:
        by_segment[page.body.segment].append(page)
    now = scoped.now()
    return [
        SegmentHit(
            segment=as_segment(topic, settings, now),
            score=scores[by_segment[topic.id][0].id],
            pages=tuple(PageHit(page=page.to_page(), score=scores[page.id]) for page in by_segment[topic.id]),
        )
        for topic in topics
        if topic.kind == SEGMENT
    ]
