"""What is to be written to memory: gathered from post to post, and stored in one transaction."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from longmind import EventDraft
from taat.memory import Announcer, TraderMemory
from taat.memory.names import account_key, feed_key
from taat.memory.store import announcer_entry, day_entries, log_entry, trade_entry
from taat.trader.book import Book


class Journal:
    """The writes that are not stored yet, and where the work stands.

    The position of each feed, the post at work and the last execution that was taken are attributes of the log of the
    account. They are stored in the same transaction as the events they belong to.
    """

    def __init__(self, memory: TraderMemory, account: str, book: Book) -> None:
        self._memory = memory
        self._key = account_key(account)
        self._account = account
        self._book = book
        self._drafts: list[tuple[str, EventDraft]] = []
        self._announcers: dict[str, Announcer] = {}
        self._began: datetime | None = None
        self._log: dict[str, Any] = {}
        self._log_changed = False
        self.has_decision = False
        """Whether there is a decision that is not stored yet."""
        self.has_reports = False
        """Whether there are reports of the broker whose consequences are not stored yet."""

    @property
    def pending(self) -> int:
        """How many events wait to be stored."""
        return len(self._drafts)

    async def load(self) -> None:
        """Read where the work stands."""
        self._log = dict(await self._memory.log(self._key))

    # -- where the work stands -----------------------------------------------------------------------------------

    @property
    def last_fill(self) -> str | None:
        value: str | None = self._log.get("last_fill")
        return value

    @property
    def to_learn(self) -> list[str]:
        """The closed trades whose outcome was not given back yet."""
        return list(self._log.get("to_learn", ()))

    @property
    def at_work(self) -> Mapping[str, Any] | None:
        """The post whose signals are not all dealt with."""
        value: Mapping[str, Any] | None = self._log.get("at_work")
        return value

    def get(self, name: str) -> Any:
        """Return another attribute of the log."""
        return self._log.get(name)

    def set(self, **attributes: Any) -> None:
        """Change attributes of the log; they are stored with the next flush."""
        self._log |= attributes
        self._log_changed = True

    def position(self, feed: str) -> str | None:
        """Return how far a feed was read."""
        value: str | None = self._log.get("feeds", {}).get(feed_key(feed), {}).get("position")
        return value

    def moved(self, feed: str, position: str) -> None:
        """Note how far a feed is read."""
        feeds = {**self._log.get("feeds", {}), feed_key(feed): {"name": feed[:500], "position": position}}
        self.set(feeds=feeds)

    # -- writing -------------------------------------------------------------------------------------------------

    def add(self, announcer: str, draft: EventDraft) -> None:
        """Add an event to the announcer's day."""
        self._began = min(self._began, draft.at) if self._began else draft.at
        self._drafts.append((announcer, draft))

    def put(self, announcer: Announcer) -> None:
        """Keep an announcer as it is now."""
        self._announcers[announcer.name] = announcer

    async def flush(self) -> None:
        """Store everything in one transaction."""
        entries = day_entries(self._drafts)
        entries += [announcer_entry(announcer) for announcer in self._announcers.values()]
        entries += [trade_entry(trade) for trade in self._book.changed.values()]
        if self._log_changed:
            title = f"The account with the broker {self._account}"
            start = self._began or datetime.now(UTC)
            entries.append(log_entry(self._key, title, "account", start, self._log))
        if not entries:
            return
        await self._memory.write(entries, "posts and trades")
        self._drafts, self._announcers, self._log_changed = [], {}, False
        self.has_decision = self.has_reports = False
        self._book.changed = {}
