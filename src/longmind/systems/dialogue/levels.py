"""Recall over all levels: the window whole, the segments that fit best and the pages in them, persona, shared memory.

A question has keywords as a page has, and they are compared in the same way. What is brought counts as visited: one
write that counts reads, and no index is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from longmind.systems.dialogue import archive, pages, words
from longmind.systems.dialogue.grouping import Grouping, active_segments, stored_vectors
from longmind.systems.dialogue.heat import as_segment
from longmind.systems.dialogue.models import SEGMENT, PageHit, SegmentHit
from longmind.systems.dialogue.pages import Leaf
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.ownership import mine
from longmind.systems.scoped_store import ScopedStore
from longmind.text.similarity import cosine, jaccard
from longmind.types import Memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_ARCHIVED = 50
"""Archived segments that are looked at, the best by their words."""
_PAGES = 2_000
"""Pages of the best segments that are looked at."""


async def mid_term(
    scoped: ScopedStore, settings: DialogueSettings, query: str, *, segments: int, most: int, archived: bool
) -> list[SegmentHit]:
    """The segments that fit a question best, the best first, each with those of its pages that do."""
    records = await active_segments(scoped)
    if archived:
        records += await _archived(scoped, query)
    if not records or not query.strip():
        return []
    vector = (await scoped.embed([query]))[0][0]
    best = await _best_segments(scoped, settings, records, query, vector, segments)
    inside = await _leaves(scoped, [record.id for record, _ in best], archived=archived)
    scored = await _scored(scoped, settings, [leaf for own in inside.values() for leaf in own], query, vector)
    kept = {leaf.id: score for leaf, score in scored[:most]}
    now = scoped.now()
    return [
        SegmentHit(
            segment=as_segment(record, settings, now),
            score=score,
            pages=tuple(PageHit(page=leaf.told(), score=kept[leaf.id]) for leaf in _ranked(inside[record.id], kept)),
        )
        for record, score in best
    ]


async def _archived(scoped: ScopedStore, query: str) -> list[Memory]:
    where = mine(scoped.scope, kinds=(SEGMENT,), states=("archived",))
    found = await scoped.store.search_text(scoped.scope, query, k=_ARCHIVED, where=where)
    return await scoped.store.get_all(scoped.scope, [one.id for one in found]) if found else []


async def _best_segments(
    scoped: ScopedStore,
    settings: DialogueSettings,
    records: Sequence[Memory],
    query: str,
    vector: Vector | None,
    most: int,
) -> list[tuple[Memory, float]]:
    grouping = Grouping(scoped, settings, records)
    stored = {} if vector is None else await stored_vectors(scoped, [record.id for record in records])
    for topic in grouping.topics:
        topic.vector = stored.get(topic.id)
    weights = words.weights(query)
    keys = words.keywords(weights, grouping.rarity, settings.keywords)
    fits = grouping.fits(words.scaled(weights, grouping.rarity), keys, vector)
    ranked = sorted((n for n in fits if fits[n] > 0), key=lambda n: (-fits[n], n))[:most]
    return [(records[n], min(fits[n] / 2, 1.0)) for n in ranked]


async def _leaves(scoped: ScopedStore, segments: Sequence[str], *, archived: bool) -> dict[str, list[Leaf]]:
    members = await archive.page_ids(scoped, segments)
    ids = [id for segment in segments for id in members[segment]]
    newest = sorted(ids, reverse=True)[:_PAGES]
    found = await scoped.store.get_all(scoped.scope, newest) if newest else []
    told = await pages.leaves(scoped, [page for page in found if archived or page.state == "active"])
    by_segment: dict[str, list[Leaf]] = {segment: [] for segment in segments}
    for leaf in told:
        if leaf.body.segment in by_segment:
            by_segment[leaf.body.segment].append(leaf)
    return by_segment


async def _scored(
    scoped: ScopedStore, settings: DialogueSettings, leaves: Sequence[Leaf], query: str, vector: Vector | None
) -> list[tuple[Leaf, float]]:
    """Pages with how well each fits, the best first; those that do not fit at all are left out."""
    rarity = words.Rarity(leaf.said.weights for leaf in leaves)
    weights = words.weights(query)
    asked, keys = words.scaled(weights, rarity), words.keywords(weights, rarity, settings.keywords)
    by_vector = {} if vector is None else await _page_vectors(scoped, leaves)
    told: list[tuple[Leaf, float]] = []
    for leaf in leaves:
        own = by_vector.get(leaf.id)
        if own is None or vector is None:
            close = words.on_the_scale_of_vectors(cosine(asked, words.scaled(leaf.said.weights, rarity)))
        else:
            close = float(np.clip(own @ vector, 0.0, 1.0))
        shared = jaccard(keys, words.keywords(leaf.said.weights, rarity, settings.keywords))
        score = min((close + shared) / 2, 1.0)
        if score > 0:
            told.append((leaf, score))
    return sorted(told, key=lambda item: (-item[1], item[0].id))


async def _page_vectors(scoped: ScopedStore, leaves: Sequence[Leaf]) -> dict[str, Vector]:
    """The vector of each page: its own, or the mean of those of its messages."""
    parts = {leaf.id: [turn.memory for turn in leaf.said.turns if turn.memory] or [leaf.id] for leaf in leaves}
    stored = await stored_vectors(scoped, [id for ids in parts.values() for id in ids])
    told: dict[str, Vector] = {}
    for id, ids in parts.items():
        found = [stored[part] for part in ids if part in stored]
        if found:
            mean = np.mean(found, axis=0)
            length = float(np.linalg.norm(mean))
            told[id] = np.asarray(mean / length if length else mean, np.float32)
    return told


def _ranked(leaves: Sequence[Leaf], scores: dict[str, float]) -> list[Leaf]:
    kept = [leaf for leaf in leaves if leaf.id in scores]
    return sorted(kept, key=lambda leaf: (-scores[leaf.id], leaf.id))
