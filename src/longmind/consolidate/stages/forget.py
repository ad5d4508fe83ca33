"""The stage ``forget``: what was said long ago, matters little and is never recalled goes to the archive.

How long a memory stays is counted from when it was last recalled, or learnt: longer the more often it was recalled (a
tenfold number of reads doubles the time) and the more important it is. The archive is still searched on request.
Deletion is a policy of its own and off unless an agent asks for it. What has expired is deleted in any case.

The stage also does the upkeep of dialogue memory: it archives pages past their retention, pages that matter little and
were never read, topics that went cold, and the coldest past capacity. How often is a setting of dialogue memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from longmind.config import AgentSettings
from longmind.consolidate.work import Work
from longmind.kinds import SAID
from longmind.store.base import Delete, Update, Write
from longmind.store.search.filtering import next_expiry
from longmind.systems.dialogue import DialogueMemory
from longmind.types import Filter, Memory, State

_SHORTEST = 0.5
"""The share of the usual time that even the least important memory stays."""
_LATER = timedelta(days=1)
"""How soon it is looked at again, at the earliest."""


def stays(memory: Memory, days: float) -> datetime:
    """Until when a memory stays if nobody recalls it again, where ``days`` is the usual time."""
    last = memory.last_accessed_at or memory.recorded_at
    reads = memory.access_count + memory.interaction
    factor = (_SHORTEST + memory.importance) * (1 + math.log10(1 + reads))
    return _after(max(last, memory.recorded_at), days * factor)


def faded(memories: Iterable[Memory], settings: AgentSettings, now: datetime) -> list[Memory]:
    """Those whose time is over."""
    days = settings.archive_after_days
    if days is None:
        return []
    weak = (m for m in memories if m.importance < settings.archive_below_importance)
    return [m for m in weak if stays(m, days) <= now]


def outlived(memories: Iterable[Memory], settings: AgentSettings, now: datetime) -> list[Memory]:
    """Those that have been in the archive for so long that the agent's policy deletes them."""
    more, days = settings.delete_archived_after_days, settings.archive_after_days
    if more is None:
        return []
    return [m for m in memories if _after(stays(m, days or 0.0), more) <= now]


@dataclass(frozen=True, slots=True)
class ForgetStage:
    """The stage."""

    name: str = "forget"

    async def propose(self, work: Work) -> None:
        settings, now = work.settings, work.clock.now()
        writes: list[Write] = []
        dues: list[datetime] = []
        expired = Filter(states=None, expired=True, expired_at=now)
        async for memory in work.store.scan_all(work.scope, expired):
            writes.append(Delete(memory.id, memory.version))
            work.notes.why[memory.id] = (memory.id, "it has expired")
        if settings.archive_after_days is not None:
            old = await _older(work, "active", settings.archive_after_days * _SHORTEST)
            for memory in faded(old, settings, now):
                writes.append(Update(memory.id, {"state": "archived"}, memory.version))
                work.notes.why[memory.id] = (memory.id, _why(memory, now))
            dues += await _next(work, old, {w.id for w in writes if isinstance(w, Update)})
        if settings.delete_archived_after_days is not None:
            shelved = await _older(work, "archived", settings.delete_archived_after_days)
            for memory in outlived(shelved, settings, now):
                writes.append(Delete(memory.id, memory.version))
                work.notes.why[memory.id] = (memory.id, "its time in the archive is over, by the agent's policy")
            dues.append(_after(now, settings.delete_archived_after_days * _SHORTEST))
        archiving = max(min(dues), now + _LATER).timestamp() if dues else None
        work.notes.due = min(filter(None, (archiving, await _next_expiry(work, now))), default=None)
        await work.apply(writes)
        if work.upkeep:
            await _upkeep(work)


async def _upkeep(work: Work) -> None:
    """Do the upkeep of the dialogues of all users, and note when it is due again."""
    settings = await DialogueMemory(work.scoped(None)).configuration()
    users = await work.users_with_topics() if settings.upkeep_hours is not None else []
    if settings.upkeep_hours is None or not users:
        return
    for user in users:
        kept = await DialogueMemory(work.scoped(user)).upkeep(repair=bool(work.deleted))
        for page in kept.archived_pages:
            work.notes.why[page] = (page, "this page is too old, too unimportant or one too many for its topic")
        for segment in kept.archived_segments:
            work.notes.why[segment] = (
                segment,
                "this topic was not used for long, is the coldest of too many, or its pages are archived",
            )
        for moved in (*kept.moved, *kept.regrouped):
            work.notes.why.setdefault(moved.segment, (moved.page, "this page left the window, or lost its topic"))
    work.notes.upkeep_due = _after(work.clock.now(), settings.upkeep_hours / 24.0).timestamp()


async def _next_expiry(work: Work, now: datetime) -> float | None:
    """When the next memory expires that has not expired yet, in seconds since 1970."""
    view = await work.store.view(work.scope)
    return next_expiry(view, after=now) if view.expiring else None


async def _older(work: Work, state: State, days: float) -> list[Memory]:
    """What was learnt at least so long ago: nothing younger can have faded."""
    until = _before(work.clock.now(), days)
    if until is None:
        return []
    where = Filter(kinds=SAID, states=(state,), recorded_until=until)
    return [memory async for memory in work.store.scan_all(work.scope, where)]


async def _next(work: Work, old: Iterable[Memory], gone: set[str]) -> list[datetime]:
    """When, at the earliest, something else will have faded."""
    settings, days = work.settings, work.settings.archive_after_days or 0.0
    left = [m for m in old if m.id not in gone and m.importance < settings.archive_below_importance]
    dues = [stays(m, days) for m in left]
    since = _before(work.clock.now(), days * _SHORTEST)
    where = Filter(kinds=SAID, states=("active",), recorded_since=since)
    page = await work.store.scan(work.scope, where, limit=1)
    return [*dues, *(_after(m.recorded_at, days * _SHORTEST) for m in page.items)]


def _after(moment: datetime, days: float) -> datetime:
    """So many days after a moment; the end of all calendars where none has that day."""
    try:
        return moment + timedelta(days=days)
    except OverflowError:
        return datetime.max.replace(tzinfo=moment.tzinfo)


def _before(now: datetime, days: float) -> datetime | None:
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return None


def _why(memory: Memory, now: datetime) -> str:
    last = memory.last_accessed_at or memory.recorded_at
    read = f"recalled {memory.access_count} times, " if memory.access_count else "never recalled, "
    return f"{read}nothing for {(now - last).days} days, importance {memory.importance:.2f}"
