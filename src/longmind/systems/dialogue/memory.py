"""``DialogueMemory``: the conversations with a user."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from longmind.arguments import checked_arguments
from longmind.errors import InvalidInput, NotFound
from longmind.store.base import Update
from longmind.systems import configuration
from longmind.systems.dialogue import archive, mid_term, refresh, rendering, window
from longmind.systems.dialogue import pages as page_records
from longmind.systems.dialogue.heat import as_segment, is_due
from longmind.systems.dialogue.models import (
    PAGE,
    SEGMENT,
    Added,
    Analysed,
    DialoguePage,
    DialogueSegment,
    PageDraft,
    Promotion,
    Recalled,
    SegmentBody,
    SegmentSummariser,
    Upkeep,
)
from longmind.systems.dialogue.segments import active_segments
from longmind.systems.dialogue.settings import DialogueSettings
from longmind.systems.dialogue.upkeep import UpkeepRound
from longmind.systems.ownership import mine
from longmind.systems.persona import PersonaMemory
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.systems.shared import SharedMemory
from longmind.types import Memory

NAME = "dialogue"
_AT_ONCE = 300
Analyse = Callable[[DialogueSegment, tuple[DialoguePage, ...]], Awaitable[object]]


@checked_arguments
class DialogueMemory:
    """Conversations with one user: the latest pages in short-term memory, and the topics of all earlier ones.

    ``settings`` are the defaults where the agent's stored configuration sets nothing. The ``summariser`` is called only
    in ``upkeep``, so adding a page never waits for a model.
    """

    def __init__(
        self,
        scoped: ScopedStore,
        settings: DialogueSettings | None = None,
        *,
        summariser: SegmentSummariser | None = None,
    ) -> None:
        self._scoped = scoped
        self._base = settings or DialogueSettings()
        self._summariser = summariser

    # -- settings ------------------------------------------------------------------------------------------------

    async def configuration(self) -> DialogueSettings:
        """Return the agent's current settings."""
        return await configuration.configuration(self._scoped, NAME, self._base)

    async def configure(self, /, **changes: Any) -> DialogueSettings:
        """Change settings of this agent permanently. A smaller window takes effect with the next page or ``upkeep``."""
        return await configuration.configure(self._scoped, NAME, self._base, changes)

    # -- short-term ----------------------------------------------------------------------------------------------

    async def add(
        self,
        user: str | None = None,
        reply: str | None = None,
        *,
        messages: Sequence[str] = (),
        session: str | None = None,
        occurred_at: datetime | None = None,
        importance: float | None = None,
        key: str | None = None,
    ) -> Added:
        """Add a page: what the user said and the reply, or the ids of messages that were remembered.

        Pages that no longer fit into the window move to their segments in the same write. A message belongs to one
        page, and so does a key: adding them again changes nothing and returns the existing page.
        """
        draft = {
            "user": user,
            "reply": reply,
            "messages": tuple(messages),
            "session": session,
            "occurred_at": occurred_at,
            "importance": importance,
            "key": key,
        }
        return await self.add_many([validated(PageDraft, draft)])

    async def add_many(self, drafts: Sequence[PageDraft | Mapping[str, Any]]) -> Added:
        """Add pages in order, a few hundred in one write."""
        validated_drafts = [draft if isinstance(draft, PageDraft) else validated(PageDraft, draft) for draft in drafts]
        settings = await self.configuration()
        parts: list[Added] = []
        for start in range(0, len(validated_drafts), _AT_ONCE):
            part = validated_drafts[start : start + _AT_ONCE]

            async def take(part: Sequence[PageDraft] = part) -> tuple[Added, bool]:
                return await window.add(self._scoped, settings, part)

            added, crowded = await retry_on_conflict(take)
            parts.append(added)
            if crowded:
                archived = await retry_on_conflict(UpkeepRound(self._scoped, settings).archive_beyond_capacity)
                parts.append(Added(pages=(), archived=archived))
        return Added(
            pages=tuple(page for part in parts for page in part.pages),
            moved=tuple(moved for part in parts for moved in part.moved),
            archived=tuple(segment for part in parts for segment in part.archived),
        )

    async def short_term(self) -> tuple[DialoguePage, ...]:
        """Return the pages in the window, the oldest first."""
        seen = await window.read(self._scoped, await self.configuration())
        return tuple(loaded.to_page() for loaded in seen.line)

    async def chain(self) -> str:
        """Return the rolling summary of the current conversation; empty if there is none."""
        return window.context_of(await window.read(self._scoped, await self.configuration())).summary

    async def page(self, id: str) -> DialoguePage:
        """Return a page, whichever level it is in."""
        (loaded,) = await page_records.load_pages(self._scoped, [await self._own(id, PAGE)])
        return loaded.to_page()

    # -- mid-term ------------------------------------------------------------------------------------------------

    async def segments(self, *, archived: bool = False) -> tuple[DialogueSegment, ...]:
        """Return the segments of mid-term memory, or with ``archived=True`` those in the archive, the hottest first."""
        await self._scoped.count_reads()
        settings, now = await self.configuration(), self._scoped.now()
        records = await self._archived() if archived else await active_segments(self._scoped)
        found_segments = [as_segment(record, settings, now) for record in records]
        return tuple(sorted(found_segments, key=lambda segment: (-segment.heat, segment.id)))

    async def segment(self, id: str) -> DialogueSegment:
        """Return a segment."""
        await self._scoped.count_reads()
        return as_segment(await self._own(id, SEGMENT), await self.configuration(), self._scoped.now())

    async def pages(self, segment: DialogueSegment | str, *, new: bool = False) -> tuple[DialoguePage, ...]:
        """Return the pages of a segment in the order of time; with ``new=True`` those since it was last analysed."""
        record = await self._own(segment if isinstance(segment, str) else segment.id, SEGMENT)
        ids = (await archive.page_ids(self._scoped, [record.id]))[record.id]
        records = await self._scoped.store.get_all(self._scoped.scope, ids) if ids else []
        since = SegmentBody.read(record).analysed.length if new else 0
        members = [
            loaded for loaded in await page_records.load_pages(self._scoped, records) if loaded.body.number > since
        ]
        return tuple(
            loaded.to_page() for loaded in sorted(members, key=lambda loaded: (loaded.record.occurred_at, loaded.id))
        )

    async def rebuild_summaries(self, pages: Sequence[str]) -> tuple[str, ...]:
        """Rebuild the summaries of the chains and topics of these pages; return the ids of those that changed.

        Call it after messages of the pages were changed or forgotten.
        """
        settings = await self.configuration()
        return await retry_on_conflict(lambda: refresh.refresh_quotes(self._scoped, settings, pages))

    async def visit(self, *segments: DialogueSegment | str) -> None:
        """Count a visit of each of these segments."""
        ids = [segment if isinstance(segment, str) else segment.id for segment in segments]
        await self._scoped.store.touch(self._scoped.scope, [(await self._own(id, SEGMENT)).id for id in ids])

    async def restore(self, segment: DialogueSegment | str) -> DialogueSegment:
        """Bring a segment and its pages back from the archive.

        The next ``upkeep`` archives colder segments if there are too many.
        """
        id = segment if isinstance(segment, str) else segment.id

        async def back() -> None:
            record = await self._own(id, SEGMENT)
            await self._scoped.rewrite(
                await archive.state_writes(self._scoped, [record], "active"), "dialogue: restored"
            )

        await retry_on_conflict(back)
        await self.visit(id)
        return await self.segment(id)

    # -- on to long-term memory ----------------------------------------------------------------------------------

    async def hot(self) -> tuple[DialogueSegment, ...]:
        """Return the segments that are hot or important enough for long-term memory, the hottest first."""
        settings = await self.configuration()
        return tuple(segment for segment in await self.segments() if is_due(segment, settings))

    async def promoted(self, segment: DialogueSegment | str) -> DialogueSegment:
        """Mark a segment as analysed: its visits and pages so far no longer count towards its heat.

        If you pass the ``DialogueSegment`` that was analysed, pages that joined after it was read still count.
        """
        (marked,) = await self.promoted_many([segment])
        return marked

    async def promoted_many(self, segments: Sequence[DialogueSegment | str]) -> tuple[DialogueSegment, ...]:
        """Mark segments as analysed, in one write."""
        settings = await self.configuration()

        async def mark() -> tuple[DialogueSegment, ...]:
            now = self._scoped.now()
            ids = [segment if isinstance(segment, str) else segment.id for segment in segments]
            records = [await self._own(id, SEGMENT) for id in ids]
            writes = [_analysed(record, seen, now) for record, seen in zip(records, segments, strict=True)]
            receipt = await self._scoped.rewrite(writes, "dialogue: analysed") if writes else None
            return tuple(as_segment(record, settings, now) for record in (receipt.memories if receipt else ()))

        return await retry_on_conflict(mark)

    async def promote(self, analyse: Analyse) -> Promotion:
        """Pass each hot segment with its new pages to ``analyse``.

        A segment that fails stays hot and does not stop the others.
        """
        done: list[str] = []
        failed: dict[str, str] = {}
        for segment in await self.hot():
            try:
                await analyse(segment, await self.pages(segment, new=True))
                await self.promoted(segment)
            except (
                Exception
            ) as error:  # a caller's function may raise anything; it is reported, and the segment stays hot
                failed[segment.id] = f"{type(error).__name__}: {error}"
            else:
                done.append(segment.id)
        return Promotion(promoted=tuple(done), failed=failed)

    async def upkeep(self, summariser: SegmentSummariser | None = None, *, repair: bool = True) -> Upkeep:
        """Do the maintenance that is due: retention, pruning, capacity, summaries, and repairs after an erasure.

        Consolidation does it by itself, as often as ``upkeep_hours`` says. Repairs read all pages; without ``repair``
        they are left out.
        """
        await self._scoped.count_reads()
        upkeep = UpkeepRound(self._scoped, await self.configuration())
        return await upkeep.round(summariser or self._summariser, repair=repair)

    # -- recall --------------------------------------------------------------------------------------------------

    async def recall(
        self, query: str, *, segments: int | None = None, pages: int | None = None, archived: bool = False
    ) -> Recalled:
        """Return what each level has on a query. The segments and pages returned count as visited."""
        settings = await self.configuration()
        if (segments is not None and segments < 1) or (pages is not None and pages < 1):
            raise InvalidInput("A recall brings at least one segment and one page.", hint="Leave the number out.")
        most = pages or settings.recall_pages
        return await self._recall(query, settings, 2 * most, segments or settings.recall_segments, most, archived)

    async def context(self, query: str, tokens: int | None = None) -> str:
        """Return what each level has on a query as text for a prompt, quoted as data, within a budget of tokens."""
        settings = await self.configuration()
        budget = settings.context_tokens if tokens is None else tokens
        if budget < 1:
            raise InvalidInput(f"tokens must be at least 1, not {budget}.")
        k = max(10, min(200, budget // 15))
        return rendering.render_recalled(await self._recall(query, settings, k, k, k, False), budget)

    async def _recall(
        self, query: str, settings: DialogueSettings, k: int, segments: int, pages: int, archived: bool
    ) -> Recalled:
        seen = await window.read(self._scoped, settings)
        hits = await mid_term.search(self._scoped, query, k=k, archived=archived)
        topics = await mid_term.group_by_topic(self._scoped, settings, hits, segments=segments, most=pages)
        persona = PersonaMemory(self._scoped)
        traits = (*await persona.traits("user"), *await persona.traits("agent"))
        return Recalled(
            query=query,
            short_term=tuple(loaded.to_page() for loaded in seen.line),
            chain=window.context_of(seen).summary,
            hits=tuple(hits),
            mid_term=tuple(topics),
            traits=tuple(trait for trait in traits if trait.established),
            knowledge=await persona.search(query, k=settings.recall_knowledge),
            shared=await SharedMemory(self._scoped).search(query, k=settings.recall_shared),
        )

    # -- inside --------------------------------------------------------------------------------------------------

    async def _archived(self) -> list[Memory]:
        where = mine(self._scoped.scope, kinds=(SEGMENT,), states=("archived",))
        return [record async for record in self._scoped.store.scan_all(self._scoped.scope, where)]

    async def _own(self, id: str, kind: str) -> Memory:
        record = await self._scoped.need(id, kind)
        if record.user != self._scoped.scope.user:
            raise NotFound(f"The {kind} {id} is not of this user.", hint="Use that user's dialogue.", id=id)
        return record


def _analysed(record: Memory, segment: DialogueSegment | str, now: datetime) -> Update:
    """Return the write that marks a segment as analysed as far as it was read."""
    body = SegmentBody.read(record)
    visits, length = (
        (record.access_count, body.length) if isinstance(segment, str) else (segment.all_visits, segment.length)
    )
    left = body.new_importance if length < body.length else 0.0
    marked = body.model_copy(
        update={"analysed": Analysed(visits=visits, length=length, at=now), "new_importance": left}
    )
    return Update(record.id, {"body": marked.model_dump(mode="json")}, expected_version=record.version)
