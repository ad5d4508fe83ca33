"""Maintenance of dialogue memory: what time makes necessary, and repairs after an erasure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from longmind.errors import ModelError
from longmind.store.base import Update, Write
from longmind.systems.dialogue import archive, pages, window
from longmind.systems.dialogue.chains import LoadedChains
from longmind.systems.dialogue.models import PAGE, Moved, SegmentBody, SegmentSummariser, Upkeep
from longmind.systems.dialogue.segments import SegmentAssigner, active_segments
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.ownership import mine
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.types import Memory

_WORDS_EACH = 6
"""The approximate length of a word in characters, to ask a model for a length in words."""


@dataclass
class UpkeepRound:
    """One round of upkeep. Each step is one write, or none if there is nothing to do."""

    scoped: ScopedStore
    settings: DialogueSettings
    operations: list[str] = field(default_factory=list)

    async def round(self, summariser: SegmentSummariser | None, *, repair: bool = True) -> Upkeep:
        """Do everything that is due; ``repair`` also looks for what an erasure left behind, in all pages."""
        moved = await retry_on_conflict(self.shrink_window)
        regrouped = await retry_on_conflict(self.assign_lost_pages) if repair else ()
        pages_to_archive = await retry_on_conflict(self.archive_pages)
        cold = await retry_on_conflict(partial(self.archive_cold_segments, None if repair else pages_to_archive))
        text_before = [] if summariser is None else await self.summarise(summariser)
        return Upkeep(
            moved=moved,
            regrouped=regrouped,
            archived_pages=pages_to_archive,
            archived_segments=cold,
            summarised=tuple(text_before),
            operations=tuple(self.operations),
        )

    async def shrink_window(self) -> tuple[Moved, ...]:
        """Move pages that are too many or too old for the window to their segments."""
        if self.settings.window_hours is None and await window.count(self.scoped) <= self.settings.window:
            return ()
        seen = await window.read(self.scoped, self.settings)
        leaving = max(len(seen.line) - self.settings.window, 0)
        if self.settings.window_hours is not None:
            oldest = self.scoped.now() - timedelta(hours=self.settings.window_hours)
            while leaving < len(seen.line) and seen.line[leaving].record.occurred_at < oldest:
                leaving += 1
        if not leaving:
            return ()
        await seen.write(leaving, "window retention")
        self.operations.append(seen.operation)
        return seen.moved

    async def assign_lost_pages(self) -> tuple[Moved, ...]:
        """Assign pages without a segment. An erasure removes a segment, but not all of its pages."""
        seen = await window.read(self.scoped, self.settings)
        lost = await self._find_lost_pages({loaded.id for loaded in seen.line})
        if not lost:
            return ()
        chains = LoadedChains(self.scoped, self.settings)
        loaded_pages = await pages.load_pages(self.scoped, lost)
        await chains.load(loaded_pages)
        in_use = [loaded for loaded in loaded_pages if loaded.record.state != "archived"]
        archived = [loaded for loaded in loaded_pages if loaded.record.state == "archived"]
        here = SegmentAssigner(self.scoped, self.settings, await active_segments(self.scoped))
        # archived pages must not heat active segments
        archived_assigner = SegmentAssigner(self.scoped, self.settings, (), state="archived")
        contexts = {loaded.id: chains.of(loaded) for loaded in loaded_pages}
        placed = [*await here.place(in_use, contexts), *await archived_assigner.place(archived, contexts)]
        await self._write(
            [
                seen.state(seen.line),  # a page that another writer has just added looks lost here
                *here.writes(),
                *archived_assigner.writes(),
                *(loaded.to_write() for loaded in placed),
                *here.links(),
                *archived_assigner.links(),
            ],
            "pages regrouped",
        )
        return (*here.moved, *archived_assigner.moved)

    async def archive_pages(self) -> tuple[str, ...]:
        """Archive the pages that are too old, too unimportant or too many."""
        over = await archive.pages_to_archive(self.scoped, self.settings)
        writes: list[Write] = [Update(page.id, {"state": "archived"}, page.version) for page in over]
        await self._write(writes, "retention")
        return tuple(page.id for page in over)

    async def archive_cold_segments(self, archived_pages: Sequence[str] | None = None) -> tuple[str, ...]:
        """Archive the segments without active pages, those that were not used for long, and those beyond capacity.

        With the pages that were just archived, only their segments are looked at; without, all.
        """
        records = await active_segments(self.scoped)
        if archived_pages is not None:
            pages_found = await self.scoped.store.get_all(self.scoped.scope, archived_pages)
            shrunk = {page.body.get("segment") for page in pages_found}
            records = [record for record in records if record.id in shrunk]
        empty = await self._empty(records)
        gone = [record for record in records if record.id in empty]
        await self._write(await archive.state_writes(self.scoped, gone, "archived"), "segments without pages")
        unused = await self.archive_unused()
        return (*(record.id for record in gone), *unused, *await self.archive_beyond_capacity())

    async def archive_unused(self) -> tuple[str, ...]:
        """Archive the segments that nobody visited or added to for long."""
        unused = archive.unused_segments(self.settings, await active_segments(self.scoped), self.scoped.now())
        await self._write(await archive.state_writes(self.scoped, unused, "archived"), "segments gone cold")
        return tuple(record.id for record in unused)

    async def archive_beyond_capacity(self) -> tuple[str, ...]:
        """Archive the segments beyond capacity, the coldest first."""
        records = await active_segments(self.scoped)
        over = len(records) - self.settings.segments
        cold = archive.coldest_segments(self.settings, records, over, self.scoped.now())
        await self._write(await archive.state_writes(self.scoped, cold, "archived"), "segments past capacity")
        return tuple(record.id for record in cold)

    async def summarise(self, summariser: SegmentSummariser) -> list[str]:
        """Let a model summarise the segments that grew since its last summary."""
        done: list[str] = []
        for record in await active_segments(self.scoped):
            if SegmentBody.read(record).summarised < SegmentBody.read(record).length:
                await self._summarise(record, summariser)
                done.append(record.id)
        return done

    # -- inside --------------------------------------------------------------------------------------------------

    async def _summarise(self, record: Memory, summariser: SegmentSummariser) -> None:
        """Summarise one segment; a page that another writer adds meanwhile is left for the next round."""
        ids = (await archive.page_ids(self.scoped, [record.id]))[record.id]
        pages_found = await pages.load_pages(self.scoped, await self.scoped.store.get_all(self.scoped.scope, ids))
        text_before = "\n".join(
            line
            for loaded in sorted(pages_found, key=lambda loaded: loaded.record.occurred_at)
            for line in loaded.content.lines
        )
        text = (await summariser.summarise(text_before, words=self.settings.summary_chars // _WORDS_EACH)).strip()
        if not text:
            raise ModelError("The summariser returned nothing.", hint="Leave it out, or use another model.")
        covered = SegmentBody.read(record).length

        async def store() -> None:
            now = await self.scoped.need(record.id, record.kind)
            body = SegmentBody.read(now).model_copy(update={"summary": text, "summarised": covered})
            changes = {"content": body.text(), "body": body.model_dump(mode="json")}
            await self._write([Update(record.id, changes, now.version)], "summary")

        await retry_on_conflict(store)

    async def _find_lost_pages(self, here: set[str]) -> list[Memory]:
        """Return the pages that are neither in the window nor in an existing segment."""
        where = mine(self.scoped.scope, kinds=(PAGE,), states=None)
        pages_found = [
            page async for page in self.scoped.store.scan_all(self.scoped.scope, where) if page.id not in here
        ]
        named = sorted({str(page.body["segment"]) for page in pages_found if page.body.get("segment")})
        there = {m.id for m in await self.scoped.store.get_all(self.scoped.scope, named)}
        return [page for page in pages_found if page.body.get("segment") not in there]

    async def _empty(self, records: list[Memory]) -> set[str]:
        members = await archive.page_ids(self.scoped, [record.id for record in records])
        ids = [id for own in members.values() for id in own]
        active = {page.id for page in await self.scoped.store.get_all(self.scoped.scope, ids) if page.state == "active"}
        return {segment for segment, own in members.items() if not active.intersection(own)}

    async def _write(self, writes: list[Write], reason: str) -> None:
        if writes:
            receipt = await self.scoped.rewrite(writes, f"dialogue: {reason}")
            self.operations.append(receipt.operation)
