"""``TraderMemory``: everything TAAT knows, in Longmind, through its public calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from longmind import AgentMemory, Episode, EpisodeEntry, Event, EventDraft, Longmind
from taat.memory import events as as_events
from taat.memory import names
from taat.memory.knowledge import Knowledge
from taat.memory.records import Announcer, Decision, Execution, SignalRecord, Trade
from taat.models import Post
from taat.signals.expiries import trading_day

AGENT = "taat"
_PAGE = 500


class TraderMemory:
    """What TAAT knows. ``records`` are read back in the order of time; writes go through ``write`` in one transaction.

    The episodes are: a day of an announcer, with what happened on it; a trade, from its decision to its end; and
    three logs that stay open, of each announcer, feed and account, whose attributes are where work goes on.
    """

    def __init__(self, longmind: Longmind, agent: str = AGENT) -> None:
        self.longmind = longmind
        self.agent: AgentMemory = longmind.agent(agent)
        self.knowledge = Knowledge(self.agent)

    # -- reading what happened -----------------------------------------------------------------------------------

    async def announcers(self) -> tuple[Announcer, ...]:
        """Return the announcers, by name."""
        episodes = [episode async for episode in self._episodes("announcer")]
        return tuple(sorted(map(_announcer, episodes), key=lambda announcer: announcer.name))

    async def announcer(self, name: str) -> Announcer | None:
        """Return an announcer by name."""
        episode = await self.agent.episodic.find(names.announcer_key(names.announcer_name(name)))
        return None if episode is None else _announcer(episode)

    async def posts(
        self, announcer: str | None = None, *, since: datetime | None = None, until: datetime | None = None
    ) -> AsyncIterator[Post]:
        """Yield the posts in the order of time."""
        async for event in self.events("post", announcer, since=since, until=until):
            yield as_events.read_record(event, Post)

    async def signals(
        self, announcer: str | None = None, *, since: datetime | None = None, until: datetime | None = None
    ) -> AsyncIterator[SignalRecord]:
        """Yield the signals in the order of time."""
        async for event in self.events("signal", announcer, since=since, until=until):
            yield as_events.read_record(event, SignalRecord)

    async def signal(self, id: str) -> SignalRecord | None:
        """Return a signal by its id."""
        async for event in self.events("signal", tags=[names.signal_tag(id)]):
            return as_events.read_record(event, SignalRecord)
        return None

    async def decisions(
        self, announcer: str | None = None, *, since: datetime | None = None, until: datetime | None = None
    ) -> AsyncIterator[Decision]:
        """Yield the decisions in the order of time."""
        async for event in self.events("decision", announcer, since=since, until=until):
            yield as_events.read_record(event, Decision)

    async def decision(self, signal: str) -> Decision | None:
        """Return the decision on a signal."""
        async for event in self.events("decision", tags=[names.signal_tag(signal)]):
            return as_events.read_record(event, Decision)
        return None

    async def executions(
        self,
        announcer: str | None = None,
        *,
        symbol: str | None = None,
        strategy: str | None = None,
        signal: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> AsyncIterator[Execution]:
        """Yield the executions in the order of time; with ``signal``, those of all orders of the trade it opened."""
        tags = [] if signal is None else [names.signal_tag(signal)]
        async for event in self.events("execution", announcer, tags=tags, since=since, until=until):
            execution = as_events.read_record(event, Execution)
            if symbol not in (None, execution.instrument.symbol) or strategy not in (None, execution.strategy):
                continue
            yield execution

    async def trades(self, announcer: str | None = None, *, open: bool | None = None) -> AsyncIterator[Trade]:
        """Yield the trades, those decided last first; the open ones, the closed ones, or all."""
        async for episode in self._episodes("trade", open=open, tags=[] if announcer is None else [announcer]):
            yield read_trade(episode)

    async def trade(self, id: str) -> Trade | None:
        """Return a trade by the id of the signal that opened it."""
        episode = await self.agent.episodic.find(names.trade_key(id))
        return None if episode is None else read_trade(episode)

    async def events_of(self, signal: str) -> tuple[Event, ...]:
        """Return everything that happened about a signal, in the order of time."""
        return tuple([event async for event in self.events(None, tags=[names.signal_tag(signal)])])

    # -- logs ----------------------------------------------------------------------------------------------------

    async def log(self, key: str) -> Mapping[str, Any]:
        """Return the attributes of a log, empty when there is none yet."""
        episode = await self.agent.episodic.find(key)
        return {} if episode is None else episode.attributes

    # -- writing -------------------------------------------------------------------------------------------------

    async def write(self, entries: Iterable[EpisodeEntry], reason: str) -> None:
        """Write to episodes in one transaction."""
        await self.agent.episodic.record_all(list(entries), reason=reason)

    async def known_texts(self, posts: Sequence[Post]) -> dict[str, str]:
        """Return the texts under which posts are stored, by ``post_key``; those that are not stored are left out."""
        keys = [f"post:{names.post_key(post)}" for post in posts]
        events = await self.agent.episodic.find_unique_events(keys)
        return {key.removeprefix("post:"): as_events.read_record(event, Post).text for key, event in events.items()}

    # -- inside --------------------------------------------------------------------------------------------------

    async def events(
        self,
        kind: str | None,
        announcer: str | None = None,
        *,
        tags: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> AsyncIterator[Event]:
        """Yield events in the order of time: of one kind, of one announcer, with tags, in a time."""
        actor = None if announcer is None else names.announcer_name(announcer)
        cursor: str | None = None
        while True:
            page = await self.agent.episodic.events(
                type=kind, actor=actor, tags=tags, since=since, until=until, limit=_PAGE, cursor=cursor
            )
            for event in page.items:
                yield event
            cursor = page.cursor
            if cursor is None:
                return

    async def _episodes(
        self, kind: str, *, open: bool | None = None, tags: Sequence[str] = ()
    ) -> AsyncIterator[Episode]:
        cursor: str | None = None
        while True:
            page = await self.agent.episodic.list(type=kind, open=open, tags=tags, limit=_PAGE, cursor=cursor)
            for episode in page.items:
                yield episode
            cursor = page.cursor
            if cursor is None:
                return


@asynccontextmanager
async def open_memory(store: Path | str | None = None) -> AsyncIterator[TraderMemory]:
    """Open the memory of a store: a file, or ``None`` for one that lives as long as the block."""
    async with Longmind.open(":memory:" if store is None else str(store)) as longmind:
        yield TraderMemory(longmind)


# -- entries -----------------------------------------------------------------------------------------------------


def day_of(post: Post) -> str:
    """Return the key of the episode to which a post belongs."""
    return names.day_key(names.announcer_name(post.author), trading_day(post.created_at))


def day_entries(drafts: Iterable[tuple[str, EventDraft]]) -> list[EpisodeEntry]:
    """Return the entries that add events to the days of their announcers."""
    days: dict[str, tuple[str, list[EventDraft]]] = {}
    for announcer, draft in drafts:
        key = names.day_key(announcer, trading_day(draft.at))
        days.setdefault(key, (announcer, []))[1].append(draft)
    return [
        EpisodeEntry(
            key=key,
            title=f"{announcer} on {trading_day(drafts_of_day[0].at)}",
            type="announcer_day",
            start=min(draft.at for draft in drafts_of_day),
            events=tuple(drafts_of_day),
            tags=(announcer,),
        )
        for key, (announcer, drafts_of_day) in days.items()
    ]


def announcer_entry(announcer: Announcer) -> EpisodeEntry:
    """Return the entry that stores where the log of an announcer stands."""
    return EpisodeEntry(
        key=names.announcer_key(announcer.name),
        title=f"The announcer {announcer.name}",
        type="announcer",
        start=announcer.first_post_at,
        attributes={"announcer": announcer.model_dump(mode="json", exclude_defaults=True)},
    )


def log_entry(key: str, title: str, kind: str, start: datetime, attributes: Mapping[str, Any]) -> EpisodeEntry:
    """Return the entry that stores where a log stands."""
    return EpisodeEntry(key=key, title=title, type=kind, start=start, attributes=dict(attributes))


def trade_entry(trade: Trade, note: str = "") -> EpisodeEntry:
    """Return the entry that stores a trade, which ends its episode when the trade is closed."""
    ended = trade.closed_at is not None
    gain = trade.profit
    outcome = "unknown" if not ended or not trade.left else "succeeded" if gain > 0 else "failed"
    return EpisodeEntry.model_validate(
        {
            "key": names.trade_key(trade.id),
            "title": f"{trade.side} {trade.instrument} after {trade.announcer}",
            "type": "trade",
            "start": trade.decided_at,
            "tags": (trade.announcer,),
            "attributes": {"trade": trade.model_dump(mode="json", exclude_defaults=True)},
            "end": trade.closed_at,
            "outcome": outcome,
            "note": note or (f"{gain:+f} after fees" if ended and trade.left else ""),
        }
    )


def read_trade(episode: Episode) -> Trade:
    """Return the trade of an episode."""
    return Trade.model_validate(episode.attributes["trade"])


def _announcer(episode: Episode) -> Announcer:
    return Announcer.model_validate(episode.attributes["announcer"])
