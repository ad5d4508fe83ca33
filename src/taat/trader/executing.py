"""Carrying decisions out: orders are placed by the stored procedures, and what the broker executed is taken over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from longmind import Run
from taat.brokers import Broker
from taat.memory import Decision, Execution, Trade, TraderMemory
from taat.memory.events import execution_event
from taat.models import OrderReport
from taat.procedures import EXECUTE_TRADE, MANAGE_ORDERS, read_reports
from taat.trader.book import Book
from taat.trader.drafting import Drafts
from taat.trader.happenings import Summary
from taat.trader.journal import Journal
from taat.trader.outcomes import Outcomes
from taat.trader.planning import Plan, plan_protection

TellExecution = Callable[[Execution, str], None]
"""Called with an execution and what it was, in words."""
TellError = Callable[..., None]
"""Called with what went wrong, the moment, the announcer, and perhaps the signal and a key."""


class Executor:
    """Places orders for one account and keeps the book of trades as the broker executes them."""

    def __init__(
        self,
        memory: TraderMemory,
        broker: Broker,
        journal: Journal,
        book: Book,
        summary: Summary,
        outcomes: Outcomes,
        drafts: Drafts,
        tell_execution: TellExecution,
        tell_error: TellError,
    ) -> None:
        self._memory, self._broker, self._journal, self._book = memory, broker, journal, book
        self._summary, self._outcomes, self._drafts = summary, outcomes, drafts
        self._tell_execution, self._error = tell_execution, tell_error

    async def execute(self, decision: Decision, at: datetime) -> None:
        """Place the orders of a decision by the stored procedure, and take what was executed."""
        run = await self._run(f"taat:{decision.signal}", _params(decision, at), decision.procedure_version)
        await self._placed(decision.trade or decision.signal, run, at, decision.signal)

    async def _protect(self, trade: Trade, at: datetime) -> None:
        """Place, resize or cancel the stop of a trade whose size changed by itself."""
        plan = plan_protection(trade, at)
        if plan is None:
            return
        self._book.put(plan.trade)
        work = {"trade": plan.trade.id, "number": plan.trade.stops_placed, "params": _params(plan, at)}
        self._journal.set(protecting=work)
        await self._journal.flush()
        await self.place_protection(work)

    async def place_protection(self, work: Any) -> None:
        """Run the procedure for the stop of a trade."""
        run = await self._run(f"taat:{work['trade']}:stop-{work['number']}", work["params"], None, MANAGE_ORDERS)
        self._journal.set(protecting=None)
        await self._placed(work["trade"], run, datetime.fromisoformat(work["params"]["at"]), work["trade"])

    async def _run(self, key: str, params: dict[str, Any], version: int | None, name: str = EXECUTE_TRADE) -> Run:
        procedural = self._memory.agent.procedural
        run = await procedural.execute(name, params, key=key, version=version)
        return run if run.finished_at is not None else await procedural.resume(run.id, take_over=True)

    async def _placed(self, trade_id: str, run: Run, at: datetime, signal: str) -> None:
        trade = self._book.trades.get(trade_id)
        if trade is not None and trade.run is None:
            self._book.put(trade.model_copy(update={"run": run.id}))
        if run.status != "succeeded":
            failure = run.error.message if run.error else run.status
            self._error(f"The orders of {signal} were not placed: {failure}", at, trade.announcer if trade else "taat")
            await self._forget_unplaced(trade_id)
            return
        placed, cancelled = read_reports(run.result["placed"]), read_reports(run.result["cancelled"])
        self._book.placed(trade_id, placed, run.result["skipped"])
        await self._take_fills()
        for report in (*cancelled, *placed):
            await self._over(report.order.client_id, report, at)

    async def _forget_unplaced(self, trade_id: str) -> None:
        """Forget the orders of a trade that never reached the broker."""
        trade = self._book.trades.get(trade_id)
        if trade is not None:
            missing = [o.client_id for o in trade.working if await self._broker.order(o.client_id) is None]
            self._book.placed(trade_id, (), missing)

    # -- what the broker executed --------------------------------------------------------------------------------

    async def reconcile(self, at: datetime) -> None:
        """Let the broker come to a moment, and take over what it executed and ended.

        What was decided before is stored before the account changes: done again, it must find the account as it was.
        While the account stays as it is, decisions that place no order wait and are stored together.
        """
        if self._journal.has_reports:
            await self._journal.flush()  # what the broker reported is taken as seen with the next call
        waiting = self._journal.flush if self._journal.has_decision else None
        reports = await self._broker.advance(at, before_change=waiting)
        self._journal.has_reports = bool(reports)
        await self._take_fills()
        for report in reports:
            if report.final:
                await self._over(report.order.client_id, report, at)
        for trade in list(self._book.trades.values()):
            await self._protect(trade, at)
        if self._book.closed:
            await self._journal.flush()
            await self._outcomes.learn()

    async def _take_fills(self) -> None:
        fills = await self._broker.fills(after=self._journal.last_fill)
        if not fills:
            return
        waiting = {trade.id for trade in self._book.trades.values() if trade.opened_at is None}
        for execution in self._book.take(fills):
            if execution.purpose == "entry" and execution.trade in waiting:
                waiting.discard(execution.trade)
                self._drafts.add(self._book.changed[execution.trade], "opened", execution.at)
            self._summary.executions += 1
            self._journal.add(execution.announcer, execution_event(execution))
            self._tell_execution(execution, _executed(execution))
        self._journal.set(last_fill=fills[-1].id)
        await self._outcomes.count()

    async def _over(self, client_id: str, report: OrderReport, at: datetime) -> None:
        if self._book.owner(client_id) is None:
            return
        if not report.final:
            return
        trade = self._book.over(report, at)
        if trade is not None and report.status in ("rejected", "expired") and report.reason:
            what = f"{report.order.side} {report.order.quantity:f} {report.order.instrument}: {report.status},"
            self._error(f"{what} {report.reason}", at, trade.announcer, trade.id, key=client_id)
        await self._outcomes.count()


def _params(plan: Plan | Decision, at: datetime) -> dict[str, Any]:
    """Return the parameters of ``execute_trade``."""
    orders = [planned.model_dump(mode="json", exclude_defaults=True) for planned in plan.orders]
    return {"at": at.isoformat(), "cancels": list(plan.cancels), "orders": orders}


def _executed(execution: Execution) -> str:
    words = {"entry": "entered", "exit": "left", "stop": "stopped out"}[execution.purpose]
    return f"{words}: {execution.order.side} {execution.quantity:f} {execution.instrument} at {execution.price:f}"
