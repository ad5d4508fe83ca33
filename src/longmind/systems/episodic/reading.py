"""Queries for episodes and events: by id, type, time and text, around a moment, and at the same time as others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from longmind.clock import as_utc
from longmind.errors import InvalidInput
from longmind.store.base import MAX_PAGE
from longmind.systems.episodic.models import EPISODE, EVENT, Episode, EpisodeHit, Event, Meanwhile, Outcome, Timeline
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Hit, Memory, Page, Scalar

MAX_EXAMINED = 10_000
"""The most episodes that are examined to find those in progress at some time; beyond it the result is truncated."""
_UNTOLD = ("working", "configuration", EPISODE, EVENT)


def filters(
    kind: str,
    *,
    type: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    tags: Sequence[str] = (),
    **more: Scalar | None,
) -> Filter:
    """Return the filter for episodes or events of a type in a time range."""
    if since is not None and until is not None and as_utc(until) < as_utc(since):
        raise InvalidInput("The time range ends before it begins.", hint="Give `until` a moment after `since`.")
    values = {"type": type, **more}
    metadata = {name: value for name, value in values.items() if value is not None}
    where: dict[str, Any] = {"kinds": (kind,), "since": since, "until": until, "states": None}
    if tags:
        where["tags_any"] = tuple(tags)
    return Filter(**where, metadata=metadata or None)


async def episodes(
    scoped: ScopedStore,
    *,
    type: str | None,
    outcome: Outcome | None,
    open: bool | None,
    parent: str | None,
    since: datetime | None,
    until: datetime | None,
    tags: Sequence[str],
    limit: int,
    cursor: str | None,
) -> Page[Episode]:
    """Return a page of episodes, the latest first."""
    where = filters(EPISODE, type=type, since=since, until=until, tags=tags, outcome=outcome, open=open, parent=parent)
    page = await scoped.store.scan(scoped.scope, where, order="occurred", descending=True, limit=limit, cursor=cursor)
    return Page[Episode](items=tuple(Episode.of(m) for m in page.items), cursor=page.cursor)


async def events(
    scoped: ScopedStore,
    *,
    episode: str | None,
    type: str | None,
    actor: str | None,
    tags: Sequence[str],
    since: datetime | None,
    until: datetime | None,
    descending: bool,
    limit: int,
    cursor: str | None,
) -> Page[Event]:
    """Return a page of events in the order of time, of one episode or of all."""
    where = filters(EVENT, type=type, since=since, until=until, tags=tags)
    narrowed: dict[str, Any] = {}
    if episode is not None:
        await scoped.need(episode, EPISODE)
        narrowed["sessions"] = (episode,)
    if actor is not None:
        narrowed["speakers"] = (actor,)
    page = await scoped.store.scan(
        scoped.scope,
        where.model_copy(update=narrowed),
        order="occurred",
        descending=descending,
        limit=limit,
        cursor=cursor,
    )
    return Page[Event](items=tuple(Event.of(m) for m in page.items), cursor=page.cursor)


async def iterate_events(scoped: ScopedStore, episode: str, *, limit: int | None = None) -> AsyncIterator[Event]:
    """Yield the events of an episode in order, read page by page."""
    where = Filter(kinds=(EVENT,), sessions=(episode,), states=None)
    cursor: str | None = None
    left = limit
    while left is None or left > 0:
        size = MAX_PAGE if left is None else min(left, MAX_PAGE)
        page = await scoped.store.scan(scoped.scope, where, order="occurred", limit=size, cursor=cursor)
        for record in page.items:
            yield Event.of(record)
        cursor = page.cursor
        left = None if left is None else left - len(page.items)
        if cursor is None:
            return


async def search(
    scoped: ScopedStore,
    text: str,
    *,
    k: int,
    type: str | None,
    outcome: Outcome | None,
    since: datetime | None,
    until: datetime | None,
) -> list[EpisodeHit]:
    """Return the episodes that match a text, by their own words or by their events, the best first."""
    if k < 1:
        raise InvalidInput(f"k must be at least 1, not {k}.")
    where = Filter(since=since, until=until)
    hits = await scoped.search(text, k=min(20 + 3 * k, MAX_PAGE), kinds=(EPISODE, EVENT), where=where)
    grouped: dict[str, list[Hit]] = {}
    for hit in hits:
        owner = hit.memory.id if hit.memory.kind == EPISODE else hit.memory.body.get("episode")
        if isinstance(owner, str):
            grouped.setdefault(owner, []).append(hit)
    records = await scoped.store.get_all(scoped.scope, list(grouped))
    matches = [_as_hit(Episode.of(r), grouped[r.id]) for r in records if r.kind == EPISODE]
    kept = [f for f in matches if type in (None, f.episode.type) and outcome in (None, f.episode.outcome)]
    return sorted(kept, key=lambda f: (-f.score, f.episode.id))[:k]


def _as_hit(episode: Episode, hits: Sequence[Hit]) -> EpisodeHit:
    best = max(hits, key=lambda hit: hit.score)
    matched = tuple(Event.of(h.memory) for h in hits if h.memory.kind == EVENT)
    why = best.why if best.memory.kind == EPISODE else f"its event “{best.memory.content[:80]}”: {best.why}"
    return EpisodeHit(episode=episode, score=best.score, why=why, events=matched)


async def timeline(
    scoped: ScopedStore, moment: datetime, *, before: timedelta, after: timedelta, limit: int
) -> Timeline:
    """Return the events nearest to a moment, before and after it."""
    if before < timedelta(0) or after < timedelta(0) or limit < 1:
        raise InvalidInput("A timeline needs spans of time that are not negative, and a limit of at least 1.")
    at = as_utc(moment)
    start, end = _shift(at, -before), _shift(at, after)
    earlier = await scoped.store.scan(
        scoped.scope,
        filters(EVENT, since=start, until=at),
        order="occurred",
        descending=True,
        limit=min(limit, MAX_PAGE),
    )
    later = await scoped.store.scan(
        scoped.scope,
        filters(EVENT, since=at, until=just_after(end)),
        order="occurred",
        limit=min(limit, MAX_PAGE),
    )
    ongoing, cut = await overlapping(scoped, at, at)
    return Timeline(
        moment=at,
        before=tuple(Event.of(m) for m in reversed(earlier.items)),
        after=tuple(Event.of(m) for m in later.items),
        ongoing=tuple(ongoing),
        truncated=cut or earlier.cursor is not None or later.cursor is not None,
    )


async def overlapping(scoped: ScopedStore, start: datetime, end: datetime) -> tuple[list[Episode], bool]:
    """Return the episodes in progress from ``start`` to ``end``, the latest first, and whether some are missing.

    Logs that a system keeps (``standing``) are always in progress and are left out.
    """
    where = filters(EPISODE, until=just_after(end))
    matches: list[Episode] = []
    cursor: str | None = None
    for _ in range(MAX_EXAMINED // MAX_PAGE):
        page = await scoped.store.scan(
            scoped.scope, where, order="occurred", descending=True, limit=MAX_PAGE, cursor=cursor
        )
        read = map(Episode.of, page.items)
        matches += [e for e in read if not e.standing and e.overlaps(start, end)]
        cursor = page.cursor
        if cursor is None:
            return matches, False
    return matches, True


async def meanwhile(
    scoped: ScopedStore, start: datetime, end: datetime, *, besides: str | None, limit: int
) -> Meanwhile:
    """Return what happened from ``start`` to ``end``, without the episode ``besides`` and what is part of it."""
    if limit < 1:
        raise InvalidInput(f"limit must be at least 1, not {limit}.")
    others, cut = await overlapping(scoped, start, end)
    own = _family(others, besides)
    kept = [e for e in others if e.id not in own]
    happened, more = await _others(scoped, start, end, own, limit)
    events_within = [m for m in happened if m.kind == EVENT]
    rest = [m for m in happened if m.kind not in _UNTOLD]
    return Meanwhile(
        start=start,
        end=end,
        episodes=tuple(kept[:limit]),
        events=tuple(Event.of(m) for m in events_within[:limit]),
        memories=tuple(rest[:limit]),
        truncated=cut or more or max(len(kept), len(events_within), len(rest)) > limit,
    )


def _family(episodes: Sequence[Episode], root: str | None) -> set[str]:
    """Return the ids of an episode and of those within it, at any depth."""
    own = set() if root is None else {root}
    grown = True
    while grown:
        inner = {e.id for e in episodes if e.parent in own} - own
        own |= inner
        grown = bool(inner)
    return own


async def _others(
    scoped: ScopedStore, start: datetime, end: datetime, own: set[str], limit: int
) -> tuple[list[Memory], bool]:
    where = Filter(since=start, until=just_after(end))
    matches: list[Memory] = []
    cursor: str | None = None
    for _ in range(MAX_EXAMINED // MAX_PAGE):
        page = await scoped.store.scan(scoped.scope, where, order="occurred", limit=MAX_PAGE, cursor=cursor)
        matches += [m for m in page.items if not (m.kind == EVENT and m.session in own)]
        cursor = page.cursor
        if cursor is None or len(matches) > 4 * limit:
            break
    return matches, cursor is not None


def _shift(moment: datetime, by: timedelta) -> datetime:
    """Return a moment shifted in time, within the range of ``datetime``."""
    try:
        return moment + by
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if by > timedelta(0) else datetime.min.replace(tzinfo=UTC)


def just_after(moment: datetime) -> datetime | None:
    """Return the next representable moment, for a range that includes its end; None at the end of the range."""
    try:
        return moment + timedelta(microseconds=1)
    except OverflowError:
        return None
