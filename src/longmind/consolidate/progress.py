"""How far a run has come: what is new, what waits for the model, and up to where everything is dealt with.

Sources are known by the number of the change that put them. One that was changed since the last run is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from longmind.clock import Clock
from longmind.consolidate import watermark
from longmind.consolidate.waiting import KEY as WAITS
from longmind.consolidate.watermark import Ledger, Mark
from longmind.kinds import SOURCES_OF_FACTS
from longmind.store.base import IndexRow, Update, Write
from longmind.store.store import Store
from longmind.types import Filter, Memory, Scope

Numbered = list[tuple[str, int]]
"""Memories by id, each with the number of the change that put it."""
_OWN_LINES = 20
"""Lines behind the mark that are looked at; what consolidation and the account of a model leave there is less."""
_LINES = 1_000


@dataclass(slots=True)
class Progress:
    """What one run knows of its way."""

    store: Store
    scope: Scope
    clock: Clock
    operation: str = ""
    mark: Mark = field(default_factory=Mark)
    safe: int = 0
    """Everything in the journal up to here was dealt with, or is this run's own."""
    kinds: set[str] = field(default_factory=set)
    """The kinds of the memories that were written since the last run."""
    facts: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    """The facts that were written since the last run, and the memories of any kind that were removed."""
    alone: bool = True
    """Whether nobody else is known to have written since what is new was read."""

    async def unchanged(self, ledger: Ledger) -> bool:
        """Whether nothing but accounts of consolidation itself was written since the last run, and nothing is due.

        The mark was written after everything up to ``through``, so one line behind that point can only be its own.
        """
        mark = self.mark
        if ledger.record is None or mark.running is not None:
            return False
        if mark.due is not None and self.clock.now().timestamp() >= mark.due:
            return False
        head = await self.store.backend.head(self.scope)
        if head.seq <= mark.through + 1:
            return True
        later = await self.store.journal(self.scope, after=mark.through, limit=_OWN_LINES)
        if len(later) == _OWN_LINES:
            return False
        own = await self._accounts()
        return all(change.memory_id in own for change in later)

    async def _accounts(self) -> set[str]:
        """The records that say how far consolidation came and what it and the model used: no news for anybody."""
        today = self.clock.now().date()
        days = [f"spent:{(today - timedelta(days=n)).isoformat()}" for n in (0, 1)]
        where = Filter(keys=(watermark.KEY, watermark.SPENT, WAITS, *days), states=None)
        return {memory.id async for memory in self.store.scan_all(self.scope, where)}

    async def new(self, waits_after: int | None) -> tuple[Numbered, Numbered]:
        """What waits for the model and what is new, each oldest first. With None nothing waits."""
        mark = self.mark
        found: dict[str, int] = {}
        async for part in self.store.backend.feed(self.scope, mark.through):
            self.safe = part.head.seq
            self.gone.update(part.gone)
            for row in part.rows:
                self.kinds.add(row.kind)
                if row.kind == "fact":
                    self.facts.add(row.id)
                if _is_source(row) and (row.seq > mark.extracted or row.seq <= mark.through):
                    found[row.id] = row.seq
        waiting = {} if waits_after is None else await self._waiting(waits_after)
        for id in mark.pending:
            found.setdefault(id, 0)
        return _in_order(waiting), _in_order(found)

    async def _waiting(self, after: int) -> dict[str, int]:
        """What was put behind a number and went through all stages, where the model may not have read it.

        What of it was changed since is new as well: only what is new has its old wording withdrawn.
        """
        start, read = min(self.mark.through, after), self.mark.extracted
        parts = self.store.backend.feed(self.scope, start)
        rows = [row async for part in parts for row in part.rows if start < row.seq <= read]
        return {row.id: row.seq for row in rows if _is_source(row)}

    async def sources(self, ids: Sequence[str]) -> list[Memory]:
        """These memories, those that say something of their own."""
        return [memory for memory in await self.store.get_all(self.scope, ids) if memory.content]

    def wrote(self, before: int, after: int, writes: Sequence[Write]) -> None:
        """Note whether anybody else wrote since the last writes of this run."""
        self.alone = self.alone and before == self.safe and after - before == _lines(writes)
        if self.alone:
            self.safe = after

    async def reached(self) -> int:
        """How far everything is dealt with: to the end, if all that was written meanwhile is this run's own."""
        last = self.safe
        if self.alone:
            return last
        accounts = await self._accounts()
        while True:
            part = await self.store.journal(self.scope, after=last, limit=_LINES)
            for change in part:
                if change.operation != self.operation and change.memory_id not in accounts:
                    return last
                last = change.seq
            if len(part) < _LINES:
                return last


def _is_source(row: IndexRow) -> bool:
    return row.kind in SOURCES_OF_FACTS and row.state in ("active", "stale")


def _in_order(found: dict[str, int]) -> Numbered:
    return sorted(found.items(), key=lambda one: (one[1], one[0]))


def _lines(writes: Sequence[Write]) -> int:
    """How many lines of the journal these writes make; too few if they remove records that have links."""
    return sum(not isinstance(write, Update) or bool(write.changes) for write in writes)
