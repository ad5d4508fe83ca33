"""Assign pages to segments by ``cos(page, segment) + Jaccard(keywords)``; a page that fits none begins a new segment.

The cosine is that of embeddings if there is an embedder, else of weighted terms. A page is compared together with its
chain, as the published system does: "and that one too" alone says nothing of its topic.

A ``SegmentAssigner`` reads the segments once, assigns any number of pages, and writes the changes together. A page's
record names its segment and is written with its version expected, so no page is ever in two segments.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from longmind.pacing import Pace
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.dialogue import term_weights
from longmind.systems.dialogue.chains import ChainContext
from longmind.systems.dialogue.models import SEGMENT, Moved, SegmentBody
from longmind.systems.dialogue.pages import LoadedPage
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.ownership import marks, mine
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.unvalidated import copy_unvalidated, link_unvalidated
from longmind.text.similarity import Weights
from longmind.types import TRUST, Json, Memory, State, construct_unvalidated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_EMBEDDED = 2_000
"""The number of characters of a page that are embedded."""
_LOOKED_UP = 40
"""The most terms of a page and its chain that are compared; the rest have almost no weight."""


@dataclass
class LoadedSegment:
    """A segment as it is stored, and the pages that joined it since."""

    id: str
    record: Memory | None
    body: SegmentBody
    terms: dict[str, float] = field(default_factory=dict)
    scaled_terms: dict[str, float] = field(default_factory=dict)
    """Its term weights scaled by rarity among the loaded segments, and the length of that vector."""
    length: float = 0.0
    keywords: tuple[str, ...] = ()
    vector: Vector | None = None
    new: list[LoadedPage] = field(default_factory=list)

    @property
    def importance(self) -> float:
        importances = [loaded.record.importance for loaded in self.new]
        return max(importances if self.record is None else [self.record.importance, *importances])


def _load(record: Memory) -> LoadedSegment:
    body = SegmentBody.read(record)
    return LoadedSegment(record.id, record, body, term_weights.unpack(body.terms))


async def active_segments(scoped: ScopedStore) -> list[Memory]:
    """Return the segments of mid-term memory."""
    where = mine(scoped.scope, kinds=(SEGMENT,), states=("active", "stale"))
    return [record async for record in scoped.store.scan_all(scoped.scope, where)]


async def stored_vectors(scoped: ScopedStore, ids: Sequence[str]) -> dict[str, Vector]:
    """Return the stored vectors of these memories."""
    if not ids or await scoped.store.backend.space() is None:
        return {}
    view = await scoped.store.view(scoped.scope)
    rows = {id: row for id in ids if (row := view.row_of(id)) is not None and view.column("has_vector")[row]}
    if not rows:
        return {}
    taken = view.vectors.take(np.fromiter(rows.values(), np.int32, len(rows)))
    return {id: np.asarray(vector, np.float32) for id, vector in zip(rows, taken, strict=True)}


class SegmentAssigner:
    """The loaded segments, and the pages assigned to them."""

    def __init__(
        self, scoped: ScopedStore, settings: DialogueSettings, records: Sequence[Memory], *, state: State = "active"
    ) -> None:
        self._scoped = scoped
        self._state: State = state
        """The state that new segments get."""
        self._settings = settings
        self._segments = [_load(record) for record in records]
        self._rarity = term_weights.Rarity(segment.terms for segment in self._segments)
        self._by_term: dict[str, dict[int, float]] = defaultdict(dict)
        self._by_keyword: dict[str, set[int]] = defaultdict(set)
        self.moved: list[Moved] = []
        for number in range(len(self._segments)):
            self._index(number)

    async def place(self, loaded_pages: Sequence[LoadedPage], chains: Mapping[str, ChainContext]) -> list[LoadedPage]:
        """Assign these pages in order, each to the segment that fits best, or to a new one."""
        if not loaded_pages:
            return []
        vectors = await self._vectors(loaded_pages, chains)
        around = {id(chain): term_weights.scale(chain.terms, self._rarity) for chain in chains.values()}
        pace, placed = Pace(), list[LoadedPage]()
        for n, loaded in enumerate(loaded_pages):
            await pace.pause()
            placed.append(self._place(loaded, around[id(chains[loaded.id])], vectors[n]))
        return placed

    def writes(self) -> list[Write]:
        """Return the writes that store the changed segments, the new ones first."""
        changed = [segment for segment in self._segments if segment.new]
        changed.sort(key=lambda segment: segment.record is not None)
        return [self._write(segment) for segment in changed]

    def rebuild(self, record: Memory, loaded_pages: Sequence[LoadedPage]) -> Write:
        """Return the write that rebuilds a stored segment from these pages alone."""
        segment = LoadedSegment(
            record.id, record, copy_unvalidated(SegmentBody.read(record), words=(), summary=""), new=list(loaded_pages)
        )
        for loaded in loaded_pages:
            term_weights.add_weights(segment.terms, loaded.content.weights)
            if len(segment.terms) > 2 * term_weights.MAX_TERMS:
                segment.terms = term_weights.trim(segment.terms)
        segment.keywords = term_weights.keywords(segment.terms, self._rarity, self._settings.keywords)
        return self._write(segment)

    def links(self) -> list[Write]:
        """Return the links between segments and their new pages."""
        links: list[Write] = []
        for segment in self._segments:
            for loaded in segment.new:
                links.append(AddLink(link_unvalidated(loaded.id, "part_of", segment.id)))
                links.append(AddLink(link_unvalidated(segment.id, "derived_from", loaded.id)))
        return links

    @property
    def grown(self) -> set[str]:
        """The ids of the segments that gained pages."""
        return {segment.id for segment in self._segments if segment.new}

    @property
    def new_segment_count(self) -> int:
        """The number of new segments."""
        return sum(segment.record is None for segment in self._segments)

    # -- placing -------------------------------------------------------------------------------------------------

    async def _vectors(
        self, loaded_pages: Sequence[LoadedPage], chains: Mapping[str, ChainContext]
    ) -> list[Vector | None]:
        """Return a vector for each page that includes a share of its chain's; also load the vectors of the segments."""
        texts = [loaded.content.text[:_EMBEDDED] for loaded in loaded_pages]
        around = list(dict.fromkeys(chains[loaded.id].summary[:_EMBEDDED] for loaded in loaded_pages))
        embedded, _ = await self._scoped.embed([*texts, *around])
        own, context = embedded[: len(texts)], dict(zip(around, embedded[len(texts) :], strict=True))
        if any(vector is None for vector in own):
            return [None] * len(loaded_pages)
        stored = await stored_vectors(self._scoped, [segment.id for segment in self._segments])
        for segment in self._segments:
            segment.vector = stored.get(segment.id, segment.vector)
        combined: list[Vector | None] = []
        for loaded, vector in zip(loaded_pages, own, strict=True):
            chain = context[chains[loaded.id].summary[:_EMBEDDED]]
            assert vector is not None
            combined.append(_unit(vector if chain is None else vector + np.float32(self._settings.context) * chain))
        return combined

    def _place(self, loaded: LoadedPage, around: Weights, vector: Vector | None) -> LoadedPage:
        """Assign one page; ``around`` is the context of its chain."""
        scaled_terms = self._rarity.times(loaded.content.weights)
        keys = term_weights.heaviest(scaled_terms, self._settings.keywords)
        both = term_weights.normalise(scaled_terms)
        term_weights.add_weights(both, around, self._settings.context)
        fits = self.fits(term_weights.normalise(term_weights.trim(both, _LOOKED_UP)), keys, vector)
        best = max(fits, key=lambda n: (fits[n], -n), default=None)
        fit = 0.0 if best is None else fits[best]
        created = best is None or fit < self._settings.join
        if created or best is None:
            best = len(self._segments)
            self._segments.append(self._begin(loaded))
        segment = self._segments[best]
        placed = loaded.with_segment(segment.id, segment.body.length + 1)
        self._join(best, placed, vector)
        self.moved.append(
            construct_unvalidated(Moved, {"page": loaded.id, "segment": segment.id, "created": created, "fit": fit})
        )
        return placed

    def fits(self, terms: Weights, keys: Sequence[str], vector: Vector | None) -> dict[int, float]:
        """Return ``cos + Jaccard`` with each loaded segment that shares anything, by its number."""
        scores: dict[int, float] = {}
        known = [segment.vector for segment in self._segments if segment.vector is not None]
        if vector is not None and known and len(known) == len(self._segments):
            matrix = np.stack(known)
            scores.update(enumerate(np.clip(matrix @ vector, 0.0, 1.0).tolist()))
        else:
            score_of = scores.get
            for term, value in terms.items():
                for number, weight in self._by_term.get(term, _NOWHERE).items():
                    scores[number] = score_of(number, 0.0) + value * weight
            for number, value in scores.items():
                scores[number] = term_weights.to_embedding_scale(value / self._segments[number].length)
        shared = Counter(number for key in keys for number in self._by_keyword.get(key, ()))
        for number, count in shared.items():
            either = len(keys) + len(self._segments[number].keywords) - count
            scores[number] = scores.get(number, 0.0) + count / either
        return scores

    @property
    def segments(self) -> Sequence[LoadedSegment]:
        return self._segments

    def _begin(self, loaded: LoadedPage) -> LoadedSegment:
        at, now = loaded.record.occurred_at, self._scoped.now()
        body = SegmentBody(first_at=at, last_at=at, joined_at=now)
        return LoadedSegment(self._scoped.clock.new_id(), None, body)

    def _join(self, number: int, loaded: LoadedPage, vector: Vector | None) -> None:
        segment = self._segments[number]
        at, body = loaded.record.occurred_at, segment.body
        length = body.length
        segment.body = copy_unvalidated(
            body,
            length=length + 1,
            first_at=min(body.first_at, at),
            last_at=max(body.last_at, at),
            joined_at=self._scoped.now(),
            new_importance=max(body.new_importance, loaded.record.importance),
        )
        term_weights.add_weights(segment.terms, loaded.content.weights)
        segment.new.append(loaded)
        if vector is not None:
            segment.vector = vector if segment.vector is None else _unit(segment.vector * np.float32(length) + vector)
        if len(segment.terms) > 2 * term_weights.MAX_TERMS:
            segment.terms = term_weights.trim(segment.terms)
            self._index(number)
        else:
            self._grow(number, loaded.content.weights)

    def _index(self, number: int) -> None:
        """Index a segment by all its terms and keywords."""
        segment = self._segments[number]
        for term in segment.scaled_terms:
            self._by_term[term].pop(number, None)
        segment.scaled_terms = self._rarity.times(segment.terms)
        for term, weight in segment.scaled_terms.items():
            self._by_term[term][number] = weight
        self._choose_keywords(number, segment.scaled_terms)

    def _grow(self, number: int, terms: Iterable[str]) -> None:
        """Update the index after a segment gained these terms.

        Only these terms gained weight, so its keywords are among its previous keywords and these.
        """
        segment = self._segments[number]
        grown = self._rarity.times({term: segment.terms[term] for term in terms})
        segment.scaled_terms.update(grown)
        for term, weight in grown.items():
            self._by_term[term][number] = weight
        self._choose_keywords(number, {**{key: segment.scaled_terms[key] for key in segment.keywords}, **grown})

    def _choose_keywords(self, number: int, candidates: Weights) -> None:
        """Update a segment's vector length, and choose its keywords among these terms."""
        segment = self._segments[number]
        segment.length = term_weights.norm(segment.scaled_terms)
        before, segment.keywords = segment.keywords, term_weights.heaviest(candidates, self._settings.keywords)
        for key in set(before).difference(segment.keywords):
            self._by_keyword[key].discard(number)
        for key in segment.keywords:
            self._by_keyword[key].add(number)

    # -- writing -------------------------------------------------------------------------------------------------

    def _write(self, segment: LoadedSegment) -> Write:
        lines = segment.body.summary.splitlines() + [line for loaded in segment.new for line in loaded.content.lines]
        to_write = _written(segment)
        body = segment.body.model_copy(
            update={
                "terms": term_weights.pack(segment.terms),
                "words": term_weights.naming_words_first(to_write.get(key, key) for key in segment.keywords),
                "summary": term_weights.summarise(lines, segment.terms, self._settings.summary_chars),
                "summarised": 0,
            }
        )
        changes: Json = {"content": body.text(), "body": body.model_dump(mode="json"), "importance": segment.importance}
        if segment.record is not None:
            return Update(segment.id, changes, expected_version=segment.record.version)
        record = self._scoped.new(
            SEGMENT,
            id=segment.id,
            state=self._state,
            metadata=marks(self._scoped.scope),
            trust=TRUST["assistant"],
            occurred_at=body.last_at,
            **changes,
        )
        return Put(record)


def _written(segment: LoadedSegment) -> dict[str, str]:
    """Return a written word for each keyword: the one used before, or the first one in a new page."""
    to_write: dict[str, str] = {}
    sentences = [term_weights.analyse_sentence(word) for word in segment.body.words]
    known = {
        term: word
        for sentence in reversed(sentences)
        for term, word in zip(sentence.stems, sentence.words, strict=True)
    }
    for key in segment.keywords:
        forms = (known, *(loaded.content.forms for loaded in segment.new))
        word = next((own[key] for own in forms if key in own), None)
        if word is not None:
            to_write[key] = word
    return to_write


_NOWHERE: dict[int, float] = {}


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector if length == 0.0 else np.asarray(vector / np.float32(length), np.float32)
