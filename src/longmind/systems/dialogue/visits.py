"""What counts as a visit of a topic: every read of something that was said in it, or that was derived from it.

A recall returns messages and facts. The page that holds a message counts as read with it, and the segment of that page
as visited: once for each recall, however many of its hits are from the same topic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from longmind.store.base import Touch
from longmind.systems.dialogue.models import PAGE

if TYPE_CHECKING:
    from longmind.store.search.view import View
    from longmind.store.store import Store
    from longmind.types import Scope


async def with_visits(store: Store, scope: Scope, reads: Sequence[Touch]) -> list[Touch]:
    """Return these reads, each with the pages and segments that hold what was read."""
    view = await store.view(scope)
    places = await _places(store, scope, view, dict.fromkeys(id for read in reads for id in read.ids))
    return [
        replace(read, ids=tuple(dict.fromkeys([*read.ids, *(place for id in read.ids for place in places[id])])))
        for read in reads
    ]


async def _places(store: Store, scope: Scope, view: View, ids: Collection[str]) -> dict[str, list[str]]:
    """Return the pages and segments of each of these memories; of a fact those of the messages it was drawn from."""
    links = await store.all_links(scope, list(ids), relation="derived_from", direction="both")
    holding: dict[str, set[str]] = defaultdict(set)
    evidence: dict[str, set[str]] = defaultdict(set)
    for link in links:
        holding[link.target].add(link.source)
        evidence[link.source].add(link.target)
    quoted = sorted({id for source in ids for id in evidence.get(source, ())})
    for link in await store.all_links(scope, quoted, relation="derived_from", direction="in") if quoted else ():
        holding[link.target].add(link.source)
    pages = {id: _pages(view, (id, *holding[id], *(p for e in evidence[id] for p in (e, *holding[e])))) for id in ids}
    known = await store.get_all(scope, sorted({page for own in pages.values() for page in own}))
    segment_of = {page.id: page.body.get("segment") for page in known}
    return {
        id: [place for page in own if page in segment_of for place in (page, segment_of[page]) if place is not None]
        for id, own in pages.items()
    }


def _pages(view: View, ids: Iterable[str]) -> list[str]:
    """Return those of these ids that are pages, in order."""
    rows = {id: row for id in sorted(set(ids)) if (row := view.row_of(id)) is not None}
    kinds = view.column("kind")
    return [id for id, row in rows.items() if view.kinds.names[kinds[row]] == PAGE]
