"""Chains: consecutive pages that continue one another, with a rolling summary.

A page continues the chain of the previous page if it belongs to the same session, comes soon after it, and is either
about the same topic or opens like an answer ("and that one?"). The summary consists of the sentences that say most
about the chain's topic; the sentences of each new page compete for a place in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.dialogue import term_weights
from longmind.systems.dialogue.models import CHAIN, ChainBody
from longmind.systems.dialogue.pages import LoadedPage
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.ownership import marks
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.unvalidated import link_unvalidated
from longmind.text.analysis import words as split
from longmind.text.similarity import cosine, jaccard
from longmind.types import Link, Memory

_FADING = 0.8
"""The factor by which the weights of a chain's earlier terms shrink with every page."""
_OPENINGS = frozenset(
    """it that this these those they them he she him her and but so also then ok okay yes no yeah sure thanks thank why
    how which more again instead because really same another other either neither both there""".split()
)


_EMPTY = ChainBody()


@dataclass
class ChainContext:
    """The terms and the summary of a chain."""

    terms: dict[str, float] = field(default_factory=dict)
    summary: str = ""


@dataclass
class LoadedChain:
    """A chain as it is stored, and the pages that were added to it since."""

    id: str
    record: Memory | None
    body: ChainBody
    context: ChainContext
    new: list[LoadedPage] = field(default_factory=list)
    _summarised: int = 0
    """How many of the new pages the summary includes."""

    def add(self, loaded: LoadedPage) -> None:
        terms = {term: weight * _FADING for term, weight in self.context.terms.items()}
        term_weights.add_weights(terms, loaded.content.weights)
        self.context.terms = terms if len(terms) <= term_weights.MAX_TERMS else term_weights.trim(terms)
        self.new.append(loaded)

    def update_summary(self, settings: DialogueSettings) -> ChainContext:
        """Add the new pages to the summary, all at once, and return the context."""
        if self._summarised < len(self.new):
            lines = [line for loaded in self.new[self._summarised :] for line in loaded.content.lines]
            candidates = self.context.summary.splitlines() + lines
            self.context.summary = term_weights.summarise(candidates, self.context.terms, settings.summary_chars)
            self._summarised = len(self.new)
        return self.context

    def writes(self, scoped: ScopedStore, settings: DialogueSettings) -> list[Write]:
        """Return the writes that store the chain with its new pages; none if there are no new pages."""
        if not self.new:
            return []
        context = self.update_summary(settings)
        body = {
            "pages": self.body.pages + len(self.new),
            "summary": context.summary,
            "terms": term_weights.pack(context.terms),
        }
        if self.record is not None:
            return [Update(self.id, {"body": body}, expected_version=self.record.version)]
        record = scoped.new(CHAIN, "", id=self.id, body=body, metadata=marks(scoped.scope, of="chain"))
        return [Put(record)]

    def links(self) -> list[Write]:
        return [AddLink(link_unvalidated(self.id, "derived_from", loaded.id)) for loaded in self.new]


class LoadedChains:
    """The chains that a change of the window needs, loaded from the store."""

    def __init__(self, scoped: ScopedStore, settings: DialogueSettings) -> None:
        self._scoped = scoped
        self._settings = settings
        self._chains: dict[str, LoadedChain] = {}

    async def load(self, loaded_pages: Sequence[LoadedPage]) -> None:
        """Read the chains of stored pages, without those that were erased."""
        ids = list(dict.fromkeys(loaded.body.chain for loaded in loaded_pages))
        for record in await self._scoped.store.get_all(self._scoped.scope, ids) if ids else ():
            body = ChainBody.read(record)
            self._chains[record.id] = LoadedChain(
                record.id, record, body, ChainContext(term_weights.unpack(body.terms), body.summary)
            )

    def attach(self, before: LoadedPage | None, loaded: LoadedPage) -> tuple[LoadedPage, Link | None]:
        """Add a new page to its chain; return it, and the link from the previous page if it continues that."""
        going_on = before is not None and continues(before, loaded, self._settings)
        chain = self._chains.get(before.body.chain) if before is not None and going_on else None
        if chain is None:
            chain = LoadedChain(self._scoped.clock.new_id(), None, _EMPTY, ChainContext())
            self._chains[chain.id] = chain
        with_chain = loaded.with_chain(chain.id)
        chain.add(with_chain)
        linked = before is not None and going_on
        return with_chain, link_unvalidated(before.id, "next", loaded.id) if before and linked else None

    def of(self, loaded: LoadedPage) -> ChainContext:
        """Return the terms and the summary of a page's chain."""
        chain = self._chains.get(loaded.body.chain)
        return ChainContext() if chain is None else chain.update_summary(self._settings)

    def writes(self) -> list[Write]:
        return [write for chain in self._chains.values() for write in chain.writes(self._scoped, self._settings)]

    def links(self) -> list[Write]:
        return [write for chain in self._chains.values() for write in chain.links()]


def continues(before: LoadedPage, loaded: LoadedPage, settings: DialogueSettings) -> bool:
    """Whether a page continues the previous one."""
    earlier, later = before.record, loaded.record
    if earlier.session != later.session:
        return False
    if abs(later.occurred_at - earlier.occurred_at) > timedelta(hours=settings.chain_hours):
        return False
    if opens_like_an_answer(loaded):
        return True
    a, b = before.content, loaded.content
    shared = jaccard(a.heaviest(settings.keywords), b.heaviest(settings.keywords))
    return cosine(a.alone, b.alone) + shared >= settings.continuity


def opens_like_an_answer(loaded: LoadedPage) -> bool:
    """Whether the first turn refers back to something, or is too short to stand alone."""
    opening_words = split(loaded.content.turns[0].text[:200]) if loaded.content.turns else []
    return (
        not opening_words
        or opening_words[0] in _OPENINGS
        or (len(opening_words) <= 4 and not term_weights.weigh_text(loaded.content.turns[0].text))
    )
