"""Recall from mid-term memory: the segments that match a query best, and the best of their pages.

The keywords of a query are compared like those of a page. Recalled segments and pages count as visited, by one write
that counts reads; no index is rewritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from longmind.systems.dialogue import archive, pages, term_weights
from longmind.systems.dialogue.heat import as_segment
from longmind.systems.dialogue.models import SEGMENT, PageHit, SegmentHit
from longmind.systems.dialogue.pages import LoadedPage
from longmind.systems.dialogue.segments import SegmentAssigner, active_segments, stored_vectors
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.ownership import mine
from longmind.systems.scoped_store import ScopedStore
from longmind.text.similarity import cosine, jaccard
from longmind.types import Memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_ARCHIVED = 50
"""The most archived segments that are considered, the best by words."""
_PAGES = 2_000
"""The most pages of the best segments that are considered."""


async def recall_mid_term(
    scoped: ScopedStore, settings: DialogueSettings, query: str, *, segments: int, most: int, archived: bool
) -> list[SegmentHit]:
    """Return the segments that match a query best, the best first, each with its best pages."""
    records = await active_segments(scoped)
    if archived:
        records += await _archived(scoped, query)
    if not records or not query.strip():
        return []
    vector = (await scoped.embed([query]))[0][0]
    best = await _best_segments(scoped, settings, records, query, vector, segments)
    inside = await _load_pages(scoped, [record.id for record, _ in best], archived=archived)
    scored = await _score_pages(scoped, settings, [loaded for own in inside.values() for loaded in own], query, vector)
    kept = {loaded.id: score for loaded, score in scored[:most]}
    now = scoped.now()
    return [
        SegmentHit(
            segment=as_segment(record, settings, now),
            score=score,
            pages=tuple(
                PageHit(page=loaded.to_page(), score=kept[loaded.id]) for loaded in _ranked(inside[record.id], kept)
            ),
        )
        for record, score in best
    ]


async def _archived(scoped: ScopedStore, query: str) -> list[Memory]:
    where = mine(scoped.scope, kinds=(SEGMENT,), states=("archived",))
    hits = await scoped.store.search_text(scoped.scope, query, k=_ARCHIVED, where=where)
    return await scoped.store.get_all(scoped.scope, [hit.id for hit in hits]) if hits else []


async def _best_segments(
    scoped: ScopedStore,
    settings: DialogueSettings,
    records: Sequence[Memory],
    query: str,
    vector: Vector | None,
    most: int,
) -> list[tuple[Memory, float]]:
    assigner = SegmentAssigner(scoped, settings, records)
    stored = {} if vector is None else await stored_vectors(scoped, [record.id for record in records])
    for segment in assigner.segments:
        segment.vector = stored.get(segment.id)
    weights = term_weights.weigh_text(query)
    keys = term_weights.keywords(weights, assigner.rarity, settings.keywords)
    fits = assigner.fits(term_weights.scale(weights, assigner.rarity), keys, vector)
    ranked = sorted((n for n in fits if fits[n] > 0), key=lambda n: (-fits[n], n))[:most]
    return [(records[n], min(fits[n] / 2, 1.0)) for n in ranked]


async def _load_pages(scoped: ScopedStore, segments: Sequence[str], *, archived: bool) -> dict[str, list[LoadedPage]]:
    members = await archive.page_ids(scoped, segments)
    ids = [id for segment in segments for id in members[segment]]
    newest = sorted(ids, reverse=True)[:_PAGES]
    records = await scoped.store.get_all(scoped.scope, newest) if newest else []
    loaded_members = await pages.load_pages(scoped, [page for page in records if archived or page.state == "active"])
    by_segment: dict[str, list[LoadedPage]] = {segment: [] for segment in segments}
    for loaded in loaded_members:
        if loaded.body.segment in by_segment:
            by_segment[loaded.body.segment].append(loaded)
    return by_segment


async def _score_pages(
    scoped: ScopedStore,
    settings: DialogueSettings,
    loaded_pages: Sequence[LoadedPage],
    query: str,
    vector: Vector | None,
) -> list[tuple[LoadedPage, float]]:
    """Return the pages that match at all, each with its score, the best first."""
    rarity = term_weights.Rarity(loaded.content.weights for loaded in loaded_pages)
    weights = term_weights.weigh_text(query)
    query_weights, keys = term_weights.scale(weights, rarity), term_weights.keywords(weights, rarity, settings.keywords)
    by_vector = {} if vector is None else await _page_vectors(scoped, loaded_pages)
    scored: list[tuple[LoadedPage, float]] = []
    for loaded in loaded_pages:
        own = by_vector.get(loaded.id)
        if own is None or vector is None:
            close = term_weights.to_embedding_scale(
                cosine(query_weights, term_weights.scale(loaded.content.weights, rarity))
            )
        else:
            close = float(np.clip(own @ vector, 0.0, 1.0))
        shared = jaccard(keys, term_weights.keywords(loaded.content.weights, rarity, settings.keywords))
        score = min((close + shared) / 2, 1.0)
        if score > 0:
            scored.append((loaded, score))
    return sorted(scored, key=lambda item: (-item[1], item[0].id))


async def _page_vectors(scoped: ScopedStore, loaded_pages: Sequence[LoadedPage]) -> dict[str, Vector]:
    """Return the vector of each page: its own, or the mean of its messages' vectors."""
    parts = {
        loaded.id: [turn.memory for turn in loaded.content.turns if turn.memory] or [loaded.id]
        for loaded in loaded_pages
    }
    stored = await stored_vectors(scoped, [id for ids in parts.values() for id in ids])
    vectors: dict[str, Vector] = {}
    for id, ids in parts.items():
        parts_found = [stored[part] for part in ids if part in stored]
        if parts_found:
            mean = np.mean(parts_found, axis=0)
            length = float(np.linalg.norm(mean))
            vectors[id] = np.asarray(mean / length if length else mean, np.float32)
    return vectors


def _ranked(loaded_pages: Sequence[LoadedPage], scores: dict[str, float]) -> list[LoadedPage]:
    kept = [loaded for loaded in loaded_pages if loaded.id in scores]
    return sorted(kept, key=lambda loaded: (-scores[loaded.id], loaded.id))
