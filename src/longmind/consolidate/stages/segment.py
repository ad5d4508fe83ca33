"""The stage ``segment``: groups the turns of conversations into pages, and pages into topics, in dialogue memory.

Before that it corrects what rests on turns that were changed: evidence that was edited away is withdrawn, and topics
that quote what was edited or deleted are summarised anew.

A page is what one side said and the answer to it. A last turn without an answer is pending until the answer comes, or
until the conversation has been silent for an hour.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from longmind.consolidate.edits import deleted_since_last_run, former_wordings, withdraw_edited
from longmind.consolidate.work import Work, in_order
from longmind.store.reads import all_links
from longmind.systems.dialogue import PAGE, DialogueMemory, PageDraft
from longmind.types import Filter, Memory, construct_unvalidated

_MAX_TURNS = 20
_SILENCE = timedelta(hours=1)
"""After so long without an answer a turn is a page by itself."""


@dataclass(frozen=True, slots=True)
class SegmentStage:
    """The stage."""

    name: str = "segment"

    async def propose(self, work: Work) -> None:
        turns = [m for m in work.sources if m.kind == "message" and m.session is not None]
        await withdraw_edited(work)
        await _refresh_topics(work, turns)
        paged = await _ids_in_pages(work, turns)
        loose = [m for m in turns if m.id not in paged]
        now = work.clock.now()
        for user in in_order({m.user for m in loose}):
            pages = pages_of([m for m in loose if m.user == user])
            pending = [page for page in pages if _is_pending(page, now)]
            work.notes.pending += [m.id for page in pending for m in page]
            silent = [(page[-1].recorded_at + _SILENCE).timestamp() for page in pending]
            work.notes.due = min(filter(None, (work.notes.due, *silent)), default=None)
            drafts = [_draft(page) for page in pages if not _is_pending(page, now)]
            if drafts:
                await _add(work, user, drafts)


def _draft(page: Sequence[Memory]) -> PageDraft:
    fields = {"user": None, "reply": None, "occurred_at": None, "importance": None, "key": None}
    return construct_unvalidated(
        PageDraft, {**fields, "messages": tuple(m.id for m in page), "session": page[0].session}
    )


async def _add(work: Work, user: str | None, drafts: Sequence[PageDraft]) -> None:
    added = await DialogueMemory(work.scoped(user)).add_many(drafts)
    for page in added.pages:
        first = page.turns[0].memory
        work.notes.why[page.id] = (first or page.id, f"{len(page.turns)} turns that belong together")
    for moved in added.moved:
        how = "began with this page" if moved.created else f"fits at {moved.fit:.2f}"
        work.notes.why.setdefault(moved.segment, (moved.page, how))


async def _refresh_topics(work: Work, turns: Sequence[Memory]) -> None:
    """Summarise anew the topics and chains of pages whose turns were edited or deleted."""
    edited = [turn for turn in turns if await former_wordings(work, turn)]
    ids = [turn.id for turn in edited]
    links = await all_links(work.draft, work.scope, ids, relation="derived_from", direction="in")
    pages = [m for m in await work.draft.get(work.scope, [link.source for link in links]) if m.kind == PAGE]
    pages += await _pages_of_deleted(work)
    for user in {page.user: None for page in pages}:
        own = [page.id for page in pages if page.user == user]
        for id in await DialogueMemory(work.scoped(user)).rebuild_summaries(own):
            work.notes.why.setdefault(id, (own[0], "what it quoted was changed or forgotten"))


async def _pages_of_deleted(work: Work) -> list[Memory]:
    """Return the pages of turns that were deleted since the last run. Their links are gone, so look by session."""
    deleted = deleted_since_last_run(work)
    sessions: set[str] = set()
    for id in deleted:
        last = [change for change in await work.store.history(work.scope, id) if change.before is not None][-1:]
        sessions |= {
            c.before["session"] for c in last if c.before and c.before["kind"] == "message" and c.before["session"]
        }
    if not sessions:
        return []
    pages = await work.draft.scan(work.scope, Filter(kinds=(PAGE,), sessions=tuple(sorted(sessions)), states=None))
    return [m for m in pages.items if any(turn.get("memory") in deleted for turn in m.body.get("turns", ()))]


async def _ids_in_pages(work: Work, turns: Sequence[Memory]) -> set[str]:
    """Return the ids of those messages that are in a page already."""
    ids = [turn.id for turn in turns]
    links = await all_links(work.draft, work.scope, ids, relation="derived_from", direction="in")
    pages = {m.id for m in await work.draft.get(work.scope, [link.source for link in links]) if m.kind == "page"}
    return {link.target for link in links if link.source in pages}


def pages_of(turns: Iterable[Memory]) -> list[list[Memory]]:
    """Group turns into pages. A page ends where the one who opened it speaks again after an answer."""
    open_pages: dict[str | None, list[Memory]] = {}
    pages: list[list[Memory]] = []
    for turn in turns:
        page = open_pages.get(turn.session)
        answered = page is not None and any(_speaker(m) != _speaker(page[0]) for m in page)
        if page is None or len(page) >= _MAX_TURNS or (answered and _begins_page(turn, page)):
            page = open_pages[turn.session] = []
            pages.append(page)
        page.append(turn)
    return pages


def _begins_page(turn: Memory, page: Sequence[Memory]) -> bool:
    return _speaker(turn) == _speaker(page[0]) or (turn.source.role == "user" and page[-1].source.role == "assistant")


def _speaker(turn: Memory) -> tuple[str, str | None]:
    return turn.source.role, turn.source.name


def _is_pending(page: Sequence[Memory], now: datetime) -> bool:
    """Whether a page may still get its answer."""
    answered = any(_speaker(m) != _speaker(page[0]) for m in page)
    return not answered and now - page[-1].recorded_at < _SILENCE and len(page) < _MAX_TURNS
