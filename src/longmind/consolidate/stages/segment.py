"""The stage ``segment``: the turns of conversations become pages, and pages find their topics, in dialogue memory.

Before that, what rests on turns as they are no longer is put right: evidence that was edited away is withdrawn, and
topics that quote what was edited or forgotten are told anew.

A page is what one side said and the answer to it. A last turn without an answer waits for one: it is kept in mind until
the answer comes, or the conversation has been silent for a while.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from longmind.consolidate.edits import forgotten, withdraw, wordings
from longmind.consolidate.work import Work
from longmind.systems.dialogue import PAGE, DialogueMemory, PageDraft
from longmind.types import Filter, Memory, construct_unvalidated

_MOST_TURNS = 20
_SILENT = timedelta(hours=1)
"""After this long without an answer a turn is a page by itself."""


@dataclass(frozen=True, slots=True)
class Segmenting:
    """The stage."""

    name: str = "segment"

    async def propose(self, work: Work) -> None:
        turns = [m for m in work.sources if m.kind == "message" and m.session is not None]
        await withdraw(work)
        await _retell(work, turns)
        paged = await _paged(work, turns)
        loose = [m for m in turns if m.id not in paged]
        now = work.clock.now()
        for user in sorted({m.user for m in loose}, key=lambda u: (u is not None, u or "")):
            pages = pages_of([m for m in loose if m.user == user])
            waiting = [page for page in pages if _waits(page, now)]
            work.notes.pending += [m.id for page in waiting for m in page]
            silent = [(page[-1].recorded_at + _SILENT).timestamp() for page in waiting]
            work.notes.due = min(filter(None, (work.notes.due, *silent)), default=None)
            drafts = [_draft(page) for page in pages if not _waits(page, now)]
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


async def _retell(work: Work, turns: Sequence[Memory]) -> None:
    """Tell anew the topics and chains of pages that say something else now, or less."""
    edited = [turn for turn in turns if await wordings(work, turn)]
    links = await work.draft.links(
        work.scope, [turn.id for turn in edited], relation="derived_from", direction="in", limit=10_000_000
    )
    pages = [m for m in await work.draft.get(work.scope, [link.source for link in links]) if m.kind == PAGE]
    pages += await _of_forgotten(work)
    for user in {page.user: None for page in pages}:
        own = [page.id for page in pages if page.user == user]
        for id in await DialogueMemory(work.scoped(user)).retell(own):
            work.notes.why.setdefault(id, (own[0], "what it quoted was changed or forgotten"))


async def _of_forgotten(work: Work) -> list[Memory]:
    """The pages of turns that were forgotten since the last run. Their links are gone, so they are found by session."""
    missing = await forgotten(work)
    sessions: set[str] = set()
    for id in missing:
        last = [change for change in await work.store.history(work.scope, id) if change.before is not None][-1:]
        sessions |= {
            c.before["session"] for c in last if c.before and c.before["kind"] == "message" and c.before["session"]
        }
    if not sessions:
        return []
    found = await work.draft.scan(work.scope, Filter(kinds=(PAGE,), sessions=tuple(sorted(sessions)), states=None))
    return [m for m in found.items if any(turn.get("memory") in missing for turn in m.body.get("turns", ()))]


async def _paged(work: Work, turns: Sequence[Memory]) -> set[str]:
    """Those of these messages that are in a page already."""
    links = await work.draft.links(
        work.scope, [m.id for m in turns], relation="derived_from", direction="in", limit=10_000_000
    )
    pages = {m.id for m in await work.draft.get(work.scope, [link.source for link in links]) if m.kind == "page"}
    return {link.target for link in links if link.source in pages}


def pages_of(turns: Iterable[Memory]) -> list[list[Memory]]:
    """Turns in pages: each begins where the one who opened the page before speaks again after an answer."""
    open_pages: dict[str | None, list[Memory]] = {}
    done: list[list[Memory]] = []
    for turn in turns:
        page = open_pages.get(turn.session)
        answered = page is not None and any(_who(m) != _who(page[0]) for m in page)
        if page is None or len(page) >= _MOST_TURNS or (answered and _opens(turn, page)):
            page = open_pages[turn.session] = []
            done.append(page)
        page.append(turn)
    return done


def _opens(turn: Memory, page: Sequence[Memory]) -> bool:
    return _who(turn) == _who(page[0]) or (turn.source.role == "user" and page[-1].source.role == "assistant")


def _who(turn: Memory) -> tuple[str, str | None]:
    return turn.source.role, turn.source.name


def _waits(page: Sequence[Memory], now: datetime) -> bool:
    """Whether a page may still get its answer."""
    answered = any(_who(m) != _who(page[0]) for m in page)
    return not answered and now - page[-1].recorded_at < _SILENT and len(page) < _MOST_TURNS
