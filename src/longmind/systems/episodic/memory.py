"""``EpisodicMemory``: what happened, in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from longmind.arguments import checked_arguments
from longmind.clock import as_utc
from longmind.errors import Conflict, InvalidInput
from longmind.systems.episodic import batches, clusters, lessons, narrative, reading, replay
from longmind.systems.episodic.models import (
    EPISODE,
    EVENT,
    Cluster,
    Episode,
    EpisodeBody,
    EpisodeEntry,
    EpisodeHit,
    EpisodeSummariser,
    Event,
    EventDraft,
    Length,
    Lessons,
    Meanwhile,
    Outcome,
    Replayed,
    Teacher,
    Timeline,
)
from longmind.systems.episodic.narrative import summarise_text
from longmind.systems.episodic.running import RunningEpisode
from longmind.systems.episodic.writer import EpisodeWriter, update_episode
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.types import Memory, Page

HOUR = timedelta(hours=1)


@checked_arguments
class EpisodicMemory:
    """Episodes and their events.

    ``summariser`` and ``teacher`` are models that write summaries and find lessons. Without them, rules and statistics
    do both.
    """

    def __init__(
        self, scoped: ScopedStore, *, summariser: EpisodeSummariser | None = None, teacher: Teacher | None = None
    ) -> None:
        self._scoped = scoped
        self._writer = EpisodeWriter(scoped)
        self._summariser = summariser
        self._teacher = teacher

    # -- writing -------------------------------------------------------------------------------------------------

    async def start(
        self,
        title: str,
        *,
        type: str = "episode",
        description: str = "",
        start: datetime | None = None,
        parent: str | None = None,
        tags: Sequence[str] = (),
        attributes: Mapping[str, Any] | None = None,
        importance: float = 0.5,
        session: str | None = None,
    ) -> Episode:
        """Begin an episode, now or at ``start``; with ``parent``, within another episode."""
        fields = {
            "title": title,
            "type": type,
            "description": description,
            "parent": parent,
            "attributes": dict(attributes or {}),
        }
        body = validated(EpisodeBody, {name: value for name, value in fields.items() if value is not None})
        record = await self._writer.begin(body, start=start, tags=tuple(tags), importance=importance, session=session)
        return Episode.of(record)

    async def record(
        self,
        episode: str,
        what: str = "",
        *,
        type: str = "note",
        at: datetime | None = None,
        duration: timedelta = timedelta(0),
        actor: str | None = None,
        data: Mapping[str, Any] | None = None,
        importance: float = 0.5,
        valence: float = 0.0,
        tags: Sequence[str] = (),
        key: str | None = None,
    ) -> Event:
        """Record an event of an episode, now or ``at`` a moment within it.

        With a ``key`` a repeated call is harmless: it returns the existing event.
        """
        fields = {
            "what": what,
            "type": type,
            "at": at or self._scoped.now(),
            "duration": duration,
            "actor": actor,
            "data": dict(data or {}),
            "importance": importance,
            "valence": valence,
            "tags": tuple(tags),
            "key": key,
        }
        draft = validated(EventDraft, fields)
        return Event.of(await self._writer.add_event(episode, draft))

    async def record_all(
        self, entries: Sequence[EpisodeEntry], *, reason: str = "events recorded"
    ) -> tuple[Episode, ...]:
        """Write to several episodes in one transaction, and return them as they are afterwards.

        An episode is known by its key and is begun when there is none. Events whose key is known are left out, so a
        repeated call is harmless. It costs far less than recording one event after another.
        """
        return await batches.record_all(self._scoped, self._writer, entries, reason)

    async def finish(
        self, episode: str, outcome: Outcome = "unknown", *, end: datetime | None = None, note: str = ""
    ) -> Episode:
        """End an episode, now or at ``end``, with its outcome."""
        record = await self._writer.end(episode, outcome, at=end, note=note or None)
        if record is not None:
            return Episode.of(record)
        ended = await self.get(episode)
        raise Conflict(
            f"The episode “{ended.title}” ended already, at {ended.end:%Y-%m-%d %H:%M}.",
            hint="To change how it came out, use `judge`.",
            id=episode,
        )

    async def judge(self, episode: str, outcome: Outcome, *, note: str | None = None) -> Episode:
        """Set or change the outcome of an episode, which is often known only later."""

        async def change() -> Episode:
            record = await self._need(episode)
            body = EpisodeBody.read(record)
            changes = {"outcome": outcome, "note": body.note if note is None else note}
            update = update_episode(record, validated(EpisodeBody, body.model_dump() | changes))
            return Episode.of((await self._scoped.rewrite([update], "episode judged")).memories[0])

        return await retry_on_conflict(change)

    @asynccontextmanager
    async def episode(
        self,
        title: str,
        *,
        type: str = "episode",
        description: str = "",
        parent: str | None = None,
        tags: Sequence[str] = (),
        attributes: Mapping[str, Any] | None = None,
        importance: float = 0.5,
        session: str | None = None,
    ) -> AsyncIterator[RunningEpisode]:
        """Run a block as an episode. It ends with the block, and as failed if the block raises."""
        begun = await self.start(
            title,
            type=type,
            description=description,
            parent=parent,
            tags=tags,
            attributes=attributes,
            importance=importance,
            session=session,
        )
        running = RunningEpisode(self, begun)
        try:
            yield running
        except BaseException as error:
            await running.fail(error)
            raise
        await running.end()

    # -- reading -------------------------------------------------------------------------------------------------

    async def get(self, id: str) -> Episode:
        """Return an episode by its id."""
        return Episode.of(await self._need(id))

    async def find(self, key: str) -> Episode | None:
        """Return the episode that ``record_all`` began with a key, or None."""
        return await batches.find(self._scoped, key)

    async def event(self, id: str) -> Event:
        """Return an event by its id."""
        return Event.of(await self._scoped.need(id, EVENT))

    async def find_events(self, episode: str, keys: Sequence[str]) -> dict[str, Event]:
        """Return the events of an episode that were recorded with these keys, by key; those that exist."""
        return await batches.find_events(self._scoped, episode, keys)

    async def find_unique_events(self, keys: Sequence[str]) -> dict[str, Event]:
        """Return the events that were recorded with these keys once in all episodes, by key; those that exist."""
        return await batches.find_events(self._scoped, None, keys)

    async def find_event(self, episode: str, key: str) -> Event | None:
        """Return the event of an episode that was recorded with a key, or None."""
        record = await self._writer.find_event(episode, key)
        return None if record is None else Event.of(record)

    async def list(
        self,
        *,
        type: str | None = None,
        outcome: Outcome | None = None,
        open: bool | None = None,
        parent: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        tags: Sequence[str] = (),
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Episode]:
        """Return a page of episodes, the latest first. ``since`` and ``until`` compare with their start."""
        return await reading.episodes(
            self._scoped,
            type=type,
            outcome=outcome,
            open=open,
            parent=parent,
            since=since,
            until=until,
            tags=tags,
            limit=limit,
            cursor=cursor,
        )

    async def recent(self, n: int = 10) -> tuple[Episode, ...]:
        """Return the episodes that began last, the latest first."""
        return (await self.list(limit=n)).items

    async def events(
        self,
        episode: str | None = None,
        *,
        type: str | None = None,
        actor: str | None = None,
        tags: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Event]:
        """Return a page of events in the order of time, of one episode or of all; with any of the ``tags``."""
        return await reading.events(
            self._scoped,
            episode=episode,
            type=type,
            actor=actor,
            tags=tags,
            since=since,
            until=until,
            descending=descending,
            limit=limit,
            cursor=cursor,
        )

    async def search(
        self,
        text: str,
        k: int = 10,
        *,
        type: str | None = None,
        outcome: Outcome | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> tuple[EpisodeHit, ...]:
        """Return the episodes that match a text, by their own words or by their events, the best first."""
        hits = await reading.search(self._scoped, text, k=k, type=type, outcome=outcome, since=since, until=until)
        return tuple(hits)

    async def timeline(
        self, moment: datetime, *, before: timedelta = HOUR, after: timedelta = HOUR, limit: int = 50
    ) -> Timeline:
        """Return up to ``limit`` events before and after a moment, and the episodes in progress at that time."""
        return await reading.timeline(self._scoped, moment, before=before, after=after, limit=limit)

    async def meanwhile(self, which: str | datetime, until: datetime | None = None, *, limit: int = 50) -> Meanwhile:
        """Return what else happened during an episode, or between two moments."""
        if isinstance(which, str):
            episode = await self.get(which)
            end = episode.end or max(self._scoped.now(), episode.start)
            return await reading.meanwhile(self._scoped, episode.start, end, besides=episode.id, limit=limit)
        start, end = as_utc(which), as_utc(until or which)
        if end < start:
            raise InvalidInput("The time asked for ends before it begins.", hint="Give the earlier moment first.")
        return await reading.meanwhile(self._scoped, start, end, besides=None, limit=limit)

    # -- telling and learning ------------------------------------------------------------------------------------

    async def narrate(
        self, episode: str, length: Length = "medium", *, summariser: EpisodeSummariser | None = None
    ) -> str:
        """Return an episode in words: ``short`` is a sentence, ``medium`` a paragraph, ``full`` everything in order."""
        if length not in narrative.WORDS:
            raise InvalidInput(f"There is no length {length!r}.", hint="There are: short, medium, full.")
        model = summariser or self._summariser
        text = await self._narrate(await self.get(episode), "full" if model else length, set())
        return text if model is None else await summarise_text(model, text, narrative.WORDS[length])

    async def replay(
        self,
        episode: str,
        *,
        speed: float | None = None,
        types: Collection[str] | None = None,
        actors: Collection[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        longest_pause: timedelta | None = None,
        sleep: replay.Sleep | None = None,
    ) -> AsyncIterator[Replayed]:
        """Yield the events of an episode in order, one by one.

        With ``speed`` 1 the pauses are as long as they were, with 60 a minute lasts a second, and with None there are
        none. The filters leave events out; ``longest_pause`` shortens long pauses. Leave the loop or cancel the task to
        stop.
        """
        pace = replay.check_speed(speed)
        begun = await self.get(episode)
        more: dict[str, Any] = {} if sleep is None else {"sleep": sleep}
        async for event in replay.replay(
            begun,
            reading.iterate_events(self._scoped, episode),
            speed=pace,
            types=types,
            actors=actors,
            since=None if since is None else as_utc(since),
            until=None if until is None else as_utc(until),
            longest_pause=longest_pause,
            **more,
        ):
            yield event

    async def lessons(
        self,
        task: str,
        *,
        episodes: int = 50,
        relevance: float = 0.01,
        confidence: float = 0.8,
        support: int = 2,
        teacher: Teacher | None = None,
    ) -> Lessons:
        """Return lessons for a task: what distinguishes relevant episodes that succeeded from those that failed.

        An episode is relevant if its score for the task is at least ``relevance`` times the best score.
        """
        return await lessons.lessons(
            self._scoped,
            task,
            episodes=episodes,
            relevance=relevance,
            confidence=confidence,
            support=support,
            teacher=teacher or self._teacher,
        )

    async def clusters(
        self,
        *,
        type: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        most: int = 200,
        alike: float | None = None,
        smallest: int = 2,
        summariser: EpisodeSummariser | None = None,
    ) -> tuple[Cluster, ...]:
        """Return the latest ``most`` episodes in clusters of similar ones, each with a summary; the largest first."""
        if not 1 <= most <= clusters.MOST:
            raise InvalidInput(f"Between 1 and {clusters.MOST} episodes can be compared, not {most}.")
        page = await self.list(type=type, since=since, until=until, limit=most)
        episodes = [episode for episode in page.items if not episode.standing]
        model = summariser or self._summariser
        groups = await clusters.cluster_episodes(
            self._scoped, episodes, alike=alike, smallest=smallest, summariser=model
        )
        return tuple(groups)

    # -- inside --------------------------------------------------------------------------------------------------

    async def _need(self, id: str) -> Memory:
        return await self._scoped.need(id, EPISODE)

    async def _narrate(self, episode: Episode, length: Length, seen: set[str]) -> str:
        events = [e async for e in reading.iterate_events(self._scoped, episode.id, limit=narrative.MAX_NARRATED)]
        seen.add(episode.id)
        children: list[str] = []
        if length == "full":
            inner = (await self.list(parent=episode.id, limit=100)).items
            children = [await self._narrate(c, length, seen) for c in reversed(inner) if c.id not in seen]
        return narrative.narrate(episode, events, length, children)
