"""Short-term memory: the window of the latest pages.

New pages enter at one end, and pages beyond the capacity leave at the other for their segments. All of this is one
batch that expects the version of the window. So concurrent writers never exceed the capacity, and every page is at any
moment either in the window or in a segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from longmind.pacing import Pace
from longmind.store.base import AddLink, Write
from longmind.systems.dialogue import archive, pages
from longmind.systems.dialogue.chains import ChainContext, LoadedChains
from longmind.systems.dialogue.models import PAGE, WINDOW, Added, DialoguePage, Moved, PageDraft, WindowBody
from longmind.systems.dialogue.pages import LoadedPage
from longmind.systems.dialogue.segments import SegmentAssigner, active_segments
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.records import KeyedRecord
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Link, Source


@dataclass
class Window:
    """The window as it was read, and the changes to be written to it."""

    scoped: ScopedStore
    settings: DialogueSettings
    record: KeyedRecord[WindowBody]
    body: WindowBody
    line: list[LoadedPage]
    """The pages in it, the oldest first, without pages that were forgotten since."""
    chains: LoadedChains
    nexts: list[Link] = field(default_factory=list)
    moved: tuple[Moved, ...] = ()
    archived: tuple[str, ...] = ()
    crowded: bool = False
    """Whether there are more new segments than could be compensated by archiving in the same batch."""
    operation: str = ""

    async def take(self, drafts: Sequence[PageDraft]) -> list[LoadedPage]:
        """Append new pages to the window, each in its chain, and return them."""
        ids = [id for draft in drafts for id in draft.messages]
        messages = await pages.texts_of(self.scoped, ids)
        await pages.check_free(self.scoped, ids)
        added: list[LoadedPage] = []
        pace = Pace()
        for draft in drafts:
            await pace.pause()
            loaded = pages.new_page(self.scoped, draft, messages)
            before = next((old for old in reversed(self.line) if old.record.session == loaded.record.session), None)
            loaded, link = self.chains.attach(before, loaded)
            self.nexts += [link] if link else []
            self.line.append(loaded)
            added.append(loaded)
        return added

    async def write(self, leaving: int, reason: str) -> list[LoadedPage]:
        """Move this many of the oldest pages to their segments, in one batch, and return these pages."""
        out, kept = self.line[:leaving], self.line[leaving:]
        now = self.scoped.now()
        records = await active_segments(self.scoped) if out else []
        assigner = SegmentAssigner(self.scoped, self.settings, records)
        placed = await assigner.place(out, {loaded.id: self.chains.of(loaded) for loaded in out})
        over = len(assigner.segments) - self.settings.segments
        cold = archive.coldest_segments(self.settings, records, over, now, assigner.grown)
        pace, puts = Pace(), list[Write]()
        for loaded in (*placed, *(loaded for loaded in kept if not loaded.stored)):
            await pace.pause()
            puts.append(loaded.to_write())
        fresh = [loaded for loaded in (*placed, *kept) if not loaded.stored]
        links = [*self.nexts, *(link for loaded in fresh for link in pages.sources(loaded))]
        writes: list[Write] = [
            self.state(kept),
            *self.chains.writes(),
            *assigner.writes(),
            *puts,
            *map(AddLink, links),
            *self.chains.links(),
            *assigner.links(),
            *await archive.state_writes(self.scoped, cold, "archived"),
        ]
        self.operation = (await self.scoped.rewrite(writes, f"dialogue: {reason}")).operation
        self.moved = tuple(assigner.moved)
        self.archived = tuple(record.id for record in cold)
        self.crowded = over > len(cold)
        self.line = kept
        return placed

    def state(self, kept: Sequence[LoadedPage]) -> Write:
        """Return the write that makes these pages the window, unless it changed since it was read."""
        body = WindowBody(pages=tuple(loaded.id for loaded in kept), revision=self.body.revision + 1)
        return self.record.overwrite(body)


def _stored(scoped: ScopedStore) -> KeyedRecord[WindowBody]:
    return KeyedRecord.of_user(scoped, WINDOW, WindowBody(), fields={"source": Source(role="assistant")})


async def count(scoped: ScopedStore) -> int:
    """Return how many pages the window lists, without reading them."""
    return len((await _stored(scoped).read()).pages)


async def read(scoped: ScopedStore, settings: DialogueSettings) -> Window:
    """Read the window."""
    record = _stored(scoped)
    while True:
        body = await record.read()
        records = await scoped.store.get_all(scoped.scope, body.pages) if body.pages else []
        if len(records) < len(body.pages) and not await record.is_current():
            continue  # another writer changed it between the two reads
        line = await pages.load_pages(scoped, [page for page in records if page.kind == PAGE])
        line = [loaded for loaded in line if loaded.body.segment is None]
        chains = LoadedChains(scoped, settings)
        await chains.load(line)
        return Window(scoped, settings, record, body, line, chains)


async def add(scoped: ScopedStore, settings: DialogueSettings, drafts: Sequence[PageDraft]) -> tuple[Added, bool]:
    """Add pages and return them, known ones as they are stored; also say whether there are too many segments now."""
    stored = await _find_stored(scoped, drafts)
    fresh: dict[object, PageDraft] = {}
    for number, draft in enumerate(drafts):
        key = pages.page_key(draft)
        if key is None or key not in stored:
            fresh.setdefault(key or number, draft)
    known: dict[object, LoadedPage] = dict(stored.items())
    if not fresh:
        return Added(pages=_pages_of(drafts, known)), False
    window = await read(scoped, settings)
    added = await window.take(list(fresh.values()))
    placed = await window.write(max(len(window.line) - settings.window, 0), "pages added")
    known.update(zip(fresh, added, strict=True))
    final = {loaded.id: loaded for loaded in placed}
    known = {key: final.get(loaded.id, loaded) for key, loaded in known.items()}
    return Added(pages=_pages_of(drafts, known), moved=window.moved, archived=window.archived), window.crowded


def _pages_of(drafts: Sequence[PageDraft], loaded_pages: dict[object, LoadedPage]) -> tuple[DialoguePage, ...]:
    return tuple(loaded_pages[pages.page_key(draft) or number].to_page() for number, draft in enumerate(drafts))


async def _find_stored(scoped: ScopedStore, drafts: Sequence[PageDraft]) -> dict[str, LoadedPage]:
    """Return the pages that are stored already, by their keys."""
    keys = tuple(dict.fromkeys(key for draft in drafts if (key := pages.page_key(draft))))
    if not keys:
        return {}
    where = Filter(kinds=(PAGE,), keys=keys, states=None)
    records = [
        record async for record in scoped.store.scan_all(scoped.scope, where) if record.user == scoped.scope.user
    ]
    return {loaded.record.key: loaded for loaded in await pages.load_pages(scoped, records) if loaded.record.key}


def context_of(window: Window) -> ChainContext:
    """Return the terms and the summary of the current conversation."""
    return window.chains.of(window.line[-1]) if window.line else ChainContext()
