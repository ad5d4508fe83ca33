"""Which segment a page belongs to: ``cos(page, segment) + Jaccard(keywords)``, and a new segment if none fits.

The cosine is that of vectors where there is an embedder, else of weighted terms. A page is looked at together with the
chain it stands in, as the published system does: "and that one too" alone says nothing of its topic.

A ``Grouping`` is the segments in hand: read once, asked for any number of pages, and written together. A page is given
a segment once, in its own record, with its version expected: it can be in two segments at no time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.dialogue import words
from longmind.systems.dialogue.chains import Context
from longmind.systems.dialogue.models import SEGMENT, Moved, SegmentBody
from longmind.systems.dialogue.pages import Leaf
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.ownership import marks, mine
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.unvalidated import copy_unvalidated, link_unvalidated
from longmind.text.similarity import Weights, jaccard
from longmind.types import TRUST, Json, Memory, State, construct_unvalidated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_EMBEDDED = 2_000
"""Characters of a page that are embedded."""
_LOOKED_UP = 40
"""Terms of a page and its chain that are compared; the rest weigh next to nothing."""


@dataclass
class Topic:
    """A segment in hand."""

    id: str
    record: Memory | None
    body: SegmentBody
    terms: dict[str, float] = field(default_factory=dict)
    telling: dict[str, float] = field(default_factory=dict)
    """The terms by how much each tells among these segments, and the length of that vector."""
    length: float = 0.0
    keywords: tuple[str, ...] = ()
    vector: Vector | None = None
    new: list[Leaf] = field(default_factory=list)

    @property
    def importance(self) -> float:
        told = [leaf.record.importance for leaf in self.new]
        return max(told if self.record is None else [self.record.importance, *told])


def _topic(record: Memory) -> Topic:
    body = SegmentBody.read(record)
    return Topic(record.id, record, body, words.unpacked(body.terms))


async def active_segments(scoped: ScopedStore) -> list[Memory]:
    """The segments of mid-term memory."""
    where = mine(scoped.scope, kinds=(SEGMENT,), states=("active", "stale"))
    return [record async for record in scoped.store.scan_all(scoped.scope, where)]


async def stored_vectors(scoped: ScopedStore, ids: Sequence[str]) -> dict[str, Vector]:
    """The vectors that the store has of these memories."""
    if not ids or await scoped.store.backend.space() is None:
        return {}
    view = await scoped.store.view(scoped.scope)
    rows = {id: row for id in ids if (row := view.row_of(id)) is not None and view.column("has_vector")[row]}
    if not rows:
        return {}
    taken = view.vectors.take(np.fromiter(rows.values(), np.int32, len(rows)))
    return {id: np.asarray(vector, np.float32) for id, vector in zip(rows, taken, strict=True)}


class Grouping:
    """Segments in hand, and the pages they are given."""

    def __init__(
        self, scoped: ScopedStore, settings: DialogueSettings, records: Sequence[Memory], *, state: State = "active"
    ) -> None:
        self._scoped = scoped
        self._state: State = state
        """The state of segments that are begun."""
        self._settings = settings
        self._topics = [_topic(record) for record in records]
        self._rarity = words.Rarity(topic.terms for topic in self._topics)
        self._by_term: dict[str, dict[int, float]] = defaultdict(dict)
        self._by_keyword: dict[str, set[int]] = defaultdict(set)
        self.moved: list[Moved] = []
        for number in range(len(self._topics)):
            self._index(number)

    async def place(self, leaves: Sequence[Leaf], chains: Mapping[str, Context]) -> list[Leaf]:
        """These pages, in order, each in the segment that fits best or in one of its own."""
        if not leaves:
            return []
        vectors = await self._vectors(leaves, chains)
        around = {id(chain): words.scaled(chain.terms, self._rarity) for chain in chains.values()}
        return [self._place(leaf, around[id(chains[leaf.id])], vectors[n]) for n, leaf in enumerate(leaves)]

    def writes(self) -> list[Write]:
        """What stores the segments that were given pages, the new ones first."""
        changed = [topic for topic in self._topics if topic.new]
        changed.sort(key=lambda topic: topic.record is not None)
        return [self._write(topic) for topic in changed]

    def retold(self, record: Memory, leaves: Sequence[Leaf]) -> Write:
        """The write that tells a stored segment anew, from these pages alone."""
        topic = Topic(
            record.id, record, copy_unvalidated(SegmentBody.read(record), words=(), summary=""), new=list(leaves)
        )
        for leaf in leaves:
            words.add(topic.terms, leaf.said.weights)
            if len(topic.terms) > 2 * words.MAX_TERMS:
                topic.terms = words.trimmed(topic.terms)
        topic.keywords = words.keywords(topic.terms, self._rarity, self._settings.keywords)
        return self._write(topic)

    def links(self) -> list[Write]:
        """Where each page belongs, and what each segment was made of."""
        told: list[Write] = []
        for topic in self._topics:
            for leaf in topic.new:
                told.append(AddLink(link_unvalidated(leaf.id, "part_of", topic.id)))
                told.append(AddLink(link_unvalidated(topic.id, "derived_from", leaf.id)))
        return told

    @property
    def grown(self) -> set[str]:
        """The segments that were given pages."""
        return {topic.id for topic in self._topics if topic.new}

    @property
    def begun(self) -> int:
        """How many segments are new."""
        return sum(topic.record is None for topic in self._topics)

    # -- placing -------------------------------------------------------------------------------------------------

    async def _vectors(self, leaves: Sequence[Leaf], chains: Mapping[str, Context]) -> list[Vector | None]:
        """The vector of each page with a share of its chain's; also gives the segments in hand theirs."""
        texts = [leaf.said.text[:_EMBEDDED] for leaf in leaves]
        around = list(dict.fromkeys(chains[leaf.id].summary[:_EMBEDDED] for leaf in leaves))
        found, _ = await self._scoped.embed([*texts, *around])
        own, context = found[: len(texts)], dict(zip(around, found[len(texts) :], strict=True))
        if any(vector is None for vector in own):
            return [None] * len(leaves)
        stored = await stored_vectors(self._scoped, [topic.id for topic in self._topics])
        for topic in self._topics:
            topic.vector = stored.get(topic.id, topic.vector)
        told: list[Vector | None] = []
        for leaf, vector in zip(leaves, own, strict=True):
            chain = context[chains[leaf.id].summary[:_EMBEDDED]]
            assert vector is not None
            told.append(_unit(vector if chain is None else vector + np.float32(self._settings.context) * chain))
        return told

    def _place(self, leaf: Leaf, around: Weights, vector: Vector | None) -> Leaf:
        """One page; ``around`` is what its chain is about."""
        telling = self._rarity.times(leaf.said.weights)
        keys = words.heaviest(telling, self._settings.keywords)
        both = words.unit(telling)
        words.add(both, around, self._settings.context)
        fits = self.fits(words.unit(words.trimmed(both, _LOOKED_UP)), keys, vector)
        best = max(fits, key=lambda n: (fits[n], -n), default=None)
        fit = 0.0 if best is None else fits[best]
        created = best is None or fit < self._settings.join
        if created or best is None:
            best = len(self._topics)
            self._topics.append(self._begin(leaf))
        topic = self._topics[best]
        placed = leaf.placed(topic.id, topic.body.length + 1)
        self._join(best, placed, vector)
        self.moved.append(
            construct_unvalidated(Moved, {"page": leaf.id, "segment": topic.id, "created": created, "fit": fit})
        )
        return placed

    def fits(self, terms: Weights, keys: Sequence[str], vector: Vector | None) -> dict[int, float]:
        """``cos + Jaccard`` with each segment in hand that shares anything, by its number."""
        found: dict[int, float] = defaultdict(float)
        known = [topic.vector for topic in self._topics if topic.vector is not None]
        if vector is not None and known and len(known) == len(self._topics):
            matrix = np.stack(known)
            found.update(enumerate(np.clip(matrix @ vector, 0.0, 1.0).tolist()))
        else:
            for term, value in terms.items():
                for number, weight in self._by_term.get(term, _NOWHERE).items():
                    found[number] += value * weight
            for number, value in found.items():
                found[number] = words.on_the_scale_of_vectors(value / self._topics[number].length)
        sharing = {number for key in keys for number in self._by_keyword.get(key, ())}
        for number in sharing:
            found[number] += jaccard(keys, self._topics[number].keywords)
        return found

    @property
    def topics(self) -> Sequence[Topic]:
        return self._topics

    @property
    def rarity(self) -> words.Rarity:
        return self._rarity

    def _begin(self, leaf: Leaf) -> Topic:
        at, now = leaf.record.occurred_at, self._scoped.now()
        body = SegmentBody(first_at=at, last_at=at, joined_at=now)
        return Topic(self._scoped.clock.new_id(), None, body)

    def _join(self, number: int, leaf: Leaf, vector: Vector | None) -> None:
        topic = self._topics[number]
        at, body = leaf.record.occurred_at, topic.body
        length = body.length
        topic.body = copy_unvalidated(
            body,
            length=length + 1,
            first_at=min(body.first_at, at),
            last_at=max(body.last_at, at),
            joined_at=self._scoped.now(),
        )
        words.add(topic.terms, leaf.said.weights)
        topic.new.append(leaf)
        if vector is not None:
            topic.vector = vector if topic.vector is None else _unit(topic.vector * np.float32(length) + vector)
        if len(topic.terms) > 2 * words.MAX_TERMS:
            topic.terms = words.trimmed(topic.terms)
            self._index(number)
        else:
            self._grow(number, leaf.said.weights)

    def _index(self, number: int) -> None:
        """Note anew what a segment is about."""
        topic = self._topics[number]
        for term in topic.telling:
            self._by_term[term].pop(number, None)
        topic.telling = self._rarity.times(topic.terms)
        for term, weight in topic.telling.items():
            self._by_term[term][number] = weight
        self._tell(number, topic.telling)

    def _grow(self, number: int, terms: Iterable[str]) -> None:
        """Note that a segment says these more often now.

        Nothing else has changed, and these only gained: so its keywords are among those that it had and these.
        """
        topic = self._topics[number]
        grown = self._rarity.times({term: topic.terms[term] for term in terms})
        topic.telling.update(grown)
        for term, weight in grown.items():
            self._by_term[term][number] = weight
        self._tell(number, {**{key: topic.telling[key] for key in topic.keywords}, **grown})

    def _tell(self, number: int, candidates: Weights) -> None:
        """Note the length of what a segment is about, and which of these terms are its keywords."""
        topic = self._topics[number]
        topic.length = words.length(topic.telling)
        before, topic.keywords = topic.keywords, words.heaviest(candidates, self._settings.keywords)
        for key in set(before).difference(topic.keywords):
            self._by_keyword[key].discard(number)
        for key in topic.keywords:
            self._by_keyword[key].add(number)

    # -- writing -------------------------------------------------------------------------------------------------

    def _write(self, topic: Topic) -> Write:
        lines = topic.body.summary.splitlines() + [line for leaf in topic.new for line in leaf.said.lines]
        written = _written(topic)
        body = topic.body.model_copy(
            update={
                "terms": words.packed(topic.terms),
                "words": tuple(written.get(key, key) for key in topic.keywords),
                "summary": words.summary(lines, topic.terms, self._settings.summary_chars),
                "summarised": 0,
            }
        )
        changes: Json = {"content": body.text(), "body": body.model_dump(mode="json"), "importance": topic.importance}
        if topic.record is not None:
            return Update(topic.id, changes, expected_version=topic.record.version)
        made = self._scoped.new(
            SEGMENT,
            id=topic.id,
            state=self._state,
            metadata=marks(self._scoped.scope),
            trust=TRUST["assistant"],
            occurred_at=body.last_at,
            **changes,
        )
        return Put(made)


def _written(topic: Topic) -> dict[str, str]:
    """For each keyword a word that was really written: the one that stood for it before, or the first in a new page."""
    found: dict[str, str] = {}
    said = [words.told(word) for word in topic.body.words]
    known = {term: word for told in reversed(said) for term, word in zip(told.stems, told.words, strict=True)}
    for key in topic.keywords:
        forms = (known, *(leaf.said.forms for leaf in topic.new))
        word = next((own[key] for own in forms if key in own), None)
        if word is not None:
            found[key] = word
    return found


_NOWHERE: dict[int, float] = {}


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector if length == 0.0 else np.asarray(vector / np.float32(length), np.float32)
