"""What closed trades brought: into the records of their announcers, and back to the procedure that placed them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal

from taat.memory import Trade, TradeOutcome, TraderMemory
from taat.memory.events import note_event
from taat.procedures import EXECUTE_TRADE, LearntLimits
from taat.trader.book import Book
from taat.trader.drafting import Drafts
from taat.trader.journal import Journal
from taat.trader.reading import OUTCOMES_KEPT, Reader


class Outcomes:
    """Counts and learns from the trades that the book has closed."""

    def __init__(
        self,
        memory: TraderMemory,
        journal: Journal,
        book: Book,
        reader: Reader,
        limits: LearntLimits,
        drafts: Drafts,
        tell_learnt: Callable[[datetime, str, str], None],
    ) -> None:
        """``tell_learnt`` gets the moment, the announcer and what was learnt."""
        self._memory, self._journal, self._book, self._reader = memory, journal, book, reader
        self._limits, self._drafts, self._tell_learnt = limits, drafts, tell_learnt
        self.announcers: set[str] = set()
        """Those whose trades were closed in this run."""

    async def count(self) -> None:
        """Put what closed trades brought into the records of their announcers, in the same write as the trades."""
        waiting = self._journal.to_learn
        for trade in self._book.closed:
            if trade.id in waiting:
                continue
            waiting.append(trade.id)
            announcer = await self._reader.by_name(trade.announcer)
            if announcer is None or not trade.entered:
                continue
            self._drafts.add(trade, "closed", trade.closed_at or trade.decided_at)
            outcome = TradeOutcome(
                trade=trade.id,
                return_percent=trade.return_percent.quantize(Decimal("0.0001")),
                delay_seconds=trade.delay_seconds or 0.0,
            )
            changes = {
                "trades": announcer.trades + 1,
                "wins": announcer.wins + (trade.profit > 0),
                "profit": announcer.profit + trade.profit,
                "return_percent": announcer.return_percent + outcome.return_percent,
                "outcomes": (*announcer.outcomes, outcome)[-OUTCOMES_KEPT:],
            }
            self._journal.put(self._reader.keep(announcer.model_copy(update=changes)))
        if waiting != self._journal.to_learn:
            self._journal.set(to_learn=waiting)

    async def learn(self) -> None:
        """Give the outcomes of closed trades back to the procedure, which may change its limits."""
        closed, self._book.closed = self._book.closed, []
        self.announcers |= {trade.announcer for trade in closed}
        for trade in closed:
            await self._learn_from(trade)
            self._book.changed[trade.id] = trade.model_copy(update={"learnt": True})
        if closed:
            learnt = {trade.id for trade in closed}
            self._journal.set(to_learn=[id for id in self._journal.to_learn if id not in learnt])

    async def _learn_from(self, trade: Trade) -> None:
        announcer = await self._reader.by_name(trade.announcer)
        if trade.run is not None and trade.entered:
            metrics = {"return_percent": float(trade.return_percent), "delay_seconds": trade.delay_seconds or 0.0}
            await self._memory.agent.procedural.learn(EXECUTE_TRADE, trade.profit > 0, metrics, run=trade.run)
        if announcer is None:
            return
        why = await self._limits.learn(trade.announcer, announcer.outcomes)
        if why is not None:
            at = trade.closed_at or trade.decided_at
            self._journal.add(trade.announcer, note_event("learnt", trade.id, why, at, trade.announcer, [trade.id]))
            self._tell_learnt(at, trade.announcer, why)
