"""How far consolidation has come with an agent, what waits for the language model, and what was used today.

Three small records of one scope hold this:

- ``RunBookmark``: every change of the journal up to ``through`` has been processed. A run that finds nothing but its
  own bookmark behind that point has nothing to do, which costs two small reads.
- ``ModelBookmark``: the language model has read every source up to ``after``. The rest waits because the budget is
  spent or the model does not answer. Rules have processed it already, so nothing is lost meanwhile.
- ``DailyUse``: the seconds and model calls of one day.

The two bookmarks are written in the batch of the stage they are about, under the operation of the run. So a crash
leaves them exactly as far as the changes are, and ``undo`` takes them back with the changes. The use of a day is not
part of a run: it stays when the run is undone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta

from pydantic import Field

from longmind.clock import Clock
from longmind.kinds import SHAREABLE, SOURCES_OF_FACTS
from longmind.store.base import IndexRow, Put, Receipt, Update, Write
from longmind.store.store import Store
from longmind.store.undo import Shared
from longmind.systems.records import KeyedRecord
from longmind.types import Filter, Memory, Model, Moment, Scope

RUN_KEY = "configuration:consolidation"
MODEL_KEY = "configuration:consolidation-waits"
USE_KEY = "configuration:consolidation-spent"
PAUSED = "paused"
"""The reason in the report of a run over an agent that is paused."""
_ALL_USERS = "-all-users"
"""Ends the keys of a scope of all users: its runs read more than those of the scope of no user, whose records have the
same owner."""
RUN_KEYS = frozenset((RUN_KEY, RUN_KEY + _ALL_USERS))
"""The keys of the bookmarks of runs."""
SHARED = Shared(
    bookmarks={
        **dict.fromkeys(sorted(RUN_KEYS), "through"),
        MODEL_KEY: "after",
        MODEL_KEY + _ALL_USERS: "after",
    },
    linked=frozenset({"concept"}),
    named=frozenset({"configuration"}),
)
"""What ``undo`` of a run leaves to later runs: they move the bookmarks, link to its concepts, name its predicates."""

SourceNumbers = list[tuple[str, int]]
"""Ids of memories, each with the number of the change that put it; 0 for a turn that waits for its answer."""
_OWN_LINES = 20
"""Journal lines that are read behind the bookmark; consolidation and the budget of a model leave fewer there."""
_LINES = 1_000


class RunBookmark(Model):
    """How far the runs over a scope have come."""

    through: int = 0
    """Every change up to this number has been processed."""
    extracted: int = 0
    """Sources up to this number have been extracted by a run that has not ended yet."""
    running: str | None = None
    """The operation of a run that has begun and not ended; the next run continues under it."""
    pending: tuple[str, ...] = ()
    """Messages that wait for a reply before they make a page."""
    due: float | None = None
    """When, in seconds since 1970, a run has something to do though nothing was written."""
    reflected: int = 0
    """Reflections that were written or strengthened up to this number are counted in the agent's persona."""
    upkeep_due: float | None = None
    """When the upkeep of dialogue memory is due; None: at once, since none was done yet."""
    made: Mapping[str, int] = Field(default_factory=dict)
    """How many memories the last run added, changed, superseded, archived and deleted."""
    refused: Mapping[str, int] = Field(default_factory=dict)
    """How many candidates the last run did not take for knowledge, by reason."""


class ModelBookmark(Model):
    """How far the language model has read, and why and until when the rest waits."""

    after: int | None = None
    """The model has read every source up to this number; None: no model has taken part yet."""
    unsummarised: tuple[tuple[str | None, str], ...] = ()
    """Conversations, by user and session, whose summaries the model has not written yet."""
    until: Moment | None = None
    """When to try again; None: nothing waits."""
    why: str = ""
    backoff: bool = False
    """Whether to ask nothing before ``until``, since the server is down. A spent budget may be raised at any time."""

    def is_backing_off(self, now: datetime) -> bool:
        """Whether the model must not be asked now."""
        return self.backoff and self.until is not None and now < self.until

    def is_due(self, now: datetime) -> bool:
        """Whether something waits and it is time to try again."""
        return self.until is not None and now >= self.until


class DailyUse(Model):
    """The seconds and model calls that consolidation used on a day."""

    day: str = ""
    seconds: float = 0.0
    calls: int = 0

    def on_day_of(self, moment: datetime) -> DailyUse:
        """Return the use on the day of a moment: nothing, if the last use was on another day."""
        day = f"{moment.astimezone(UTC):%Y-%m-%d}"
        return self if self.day == day else DailyUse(day=day)


class Bookmarks:
    """The records that consolidation keeps for an agent, or for one of its users."""

    def __init__(self, store: Store, scope: Scope, clock: Clock) -> None:
        self._clock = clock
        end = _ALL_USERS if scope.all_users else ""
        self.run = KeyedRecord(store, scope, clock, RUN_KEY + end, RunBookmark())
        self.model = KeyedRecord(store, scope, clock, MODEL_KEY + end, ModelBookmark())
        self._use = KeyedRecord(store, scope, clock, USE_KEY, DailyUse())

    async def use_today(self) -> DailyUse:
        """Return what was used today."""
        return (await self._use.read()).on_day_of(self._clock.now())

    async def add_use(self, seconds: float, calls: int) -> None:
        """Add to what was used today."""

        def added(before: DailyUse) -> DailyUse:
            today = before.on_day_of(self._clock.now())
            return DailyUse(day=today.day, seconds=round(today.seconds + seconds, 3), calls=today.calls + calls)

        await self._use.change(added, "consolidation: what was used", actor="consolidation")


def next_midnight(now: datetime) -> datetime:
    """Return the next midnight in UTC, when the budgets of a day begin anew."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)


@dataclass(slots=True)
class RunProgress:
    """What one run has read and written.

    A source is known by the number of the change that put it. One that was updated since the last run is read again.
    """

    store: Store
    scope: Scope
    clock: Clock
    operation: str = ""
    bookmark: RunBookmark = field(default_factory=RunBookmark)
    processed: int = 0
    """Every journal line up to this number was processed, or is this run's own."""
    kinds: set[str] = field(default_factory=set)
    """The kinds of the memories that were written since the last run."""
    learnt: set[str] = field(default_factory=set)
    """The memories that were written since the last run and may be offered to shared memory."""
    deleted: set[str] = field(default_factory=set)
    """The memories of any kind that were deleted since the last run."""
    reflections: dict[str, None] = field(default_factory=dict)
    """The reflections that were written or strengthened since they were last counted."""
    read_through: int = 0
    """The head of the journal when this run read what is new."""
    alone: bool = True
    """Whether no other writer is known to have written since the new sources were read."""

    def move(self, **changes: object) -> None:
        """Change fields of the bookmark, to be written with the next batch."""
        self.bookmark = self.bookmark.model_copy(update=changes)

    def is_upkeep_due(self) -> bool:
        """Whether this run does the upkeep of all users."""
        return self.bookmark.upkeep_due is None or self.clock.now().timestamp() >= self.bookmark.upkeep_due

    async def is_up_to_date(self, stored: Memory | None) -> bool:
        """Whether nothing but records of consolidation itself was written since the last run, and nothing is due.

        ``stored`` is the record of the bookmark. It was written after everything up to ``through``, so a single line
        behind that point can only be its own.
        """
        bookmark = self.bookmark
        if stored is None or bookmark.running is not None:
            return False
        if bookmark.due is not None and self.clock.now().timestamp() >= bookmark.due:
            return False
        head = await self.store.backend.head(self.scope)
        if head.seq <= bookmark.through + 1:
            return True
        later = await self.store.journal(self.scope, after=bookmark.through, limit=_OWN_LINES)
        if len(later) == _OWN_LINES:
            return False
        own = await self._own_records()
        return all(change.memory_id in own for change in later)

    async def _own_records(self) -> set[str]:
        """Return the ids of the bookmarks and of the records of what was used, by consolidation and by the model."""
        today = self.clock.now().date()
        days = [f"spent:{(today - timedelta(days=n)).isoformat()}" for n in (0, 1)]
        where = Filter(keys=(*SHARED.bookmarks, USE_KEY, *days), states=None)
        return {memory.id async for memory in self.store.scan_all(self.scope, where)}

    async def read_new(self, model_after: int | None) -> tuple[SourceNumbers, SourceNumbers]:
        """Return the sources that wait for the model and those that are new, each oldest first.

        ``model_after`` is the number up to which the model has read; with None nothing waits for it.
        """
        bookmark = self.bookmark
        numbers: dict[str, int] = {}
        async for part in self.store.backend.feed(self.scope, bookmark.through):
            self.processed = part.head.seq
            self.deleted.update(part.gone)
            for row in part.rows:
                self.kinds.add(row.kind)
                if row.kind in SHAREABLE:
                    self.learnt.add(row.id)
                if row.kind == "reflection":
                    self.reflections[row.id] = None
                if _is_source(row) and (row.seq > bookmark.extracted or row.seq <= bookmark.through):
                    numbers[row.id] = row.seq
        self.read_through = self.processed
        if self.reflections and bookmark.reflected > bookmark.through:  # a run that was broken off counted some
            parts = self.store.backend.feed(self.scope, bookmark.reflected)
            rows = [row async for part in parts for row in part.rows if row.kind == "reflection"]
            self.reflections = dict.fromkeys(row.id for row in rows)
        waiting = {} if model_after is None else await self._waiting(model_after)
        for id in bookmark.pending:
            numbers.setdefault(id, 0)
        return _in_order(waiting), _in_order(numbers)

    async def _waiting(self, after: int) -> dict[str, int]:
        """Return the sources behind a number that went through all stages but that the model may not have read.

        A source that was updated since is among the new ones as well: only there its old wording is withdrawn.
        """
        start, end = min(self.bookmark.through, after), self.bookmark.extracted
        parts = self.store.backend.feed(self.scope, start)
        rows = [row async for part in parts for row in part.rows if start < row.seq <= end]
        return {row.id: row.seq for row in rows if _is_source(row)}

    async def load(self, ids: Sequence[str]) -> list[Memory]:
        """Return those of these memories that have a text and do not expire."""
        memories = await self.store.get_all(self.scope, ids)
        return [memory for memory in memories if memory.content and memory.expires_at is None]

    def note_write(self, before: int, after: int, writes: Sequence[Write], receipt: Receipt) -> None:
        """Note, by the heads before and after a batch of this run, whether another writer wrote in between."""
        self.alone = self.alone and before == self.processed and after - before == _count_lines(writes, receipt)
        if self.alone:
            self.processed = after

    async def reached(self) -> int:
        """Return the number up to which everything was processed: the head, if only this run wrote meanwhile."""
        last = self.processed
        if self.alone:
            return last
        own = await self._own_records()
        while True:
            part = await self.store.journal(self.scope, after=last, limit=_LINES)
            for change in part:
                if change.operation != self.operation and change.memory_id not in own:
                    return last
                last = change.seq
            if len(part) < _LINES:
                return last


def _is_source(row: IndexRow) -> bool:
    """Whether a row is read by the stages. Nothing lasting is learnt from what expires."""
    return row.kind in SOURCES_OF_FACTS and row.state in ("active", "stale") and row.expires_at is None


def _in_order(numbers: dict[str, int]) -> SourceNumbers:
    return sorted(numbers.items(), key=lambda item: (item[1], item[0]))


def _count_lines(writes: Sequence[Write], receipt: Receipt) -> int:
    """Return how many journal lines a batch has made; too few if it deleted records that have links."""
    return sum(receipt.created) + sum(not isinstance(write, Put | Update) for write in writes)
