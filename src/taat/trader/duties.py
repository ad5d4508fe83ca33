"""The functions of the procedures that run beside the loop: records, goals, comparison with the broker, and drafts."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from taat.brokers import Broker
from taat.memory import TraderMemory, announcer_name
from taat.memory.events import note_event
from taat.memory.store import day_entries
from taat.models import Post
from taat.signals import read_post, signal_json

GOAL = "Beat the index with at most 10 % drawdown"
_DRAWDOWN = Decimal(10)


class Duties:
    """What TAAT does at the end of a run, and when somebody runs one of the procedures."""

    def __init__(self, memory: TraderMemory, broker: Broker) -> None:
        self._memory = memory
        self._broker = broker

    def register(self) -> None:
        """Make the functions known to the procedures."""
        for function in (
            self.read_signals,
            self.record_performance,
            self.measure_account,
            self.compare_positions,
            self.record_error,
            self.write_draft,
        ):
            self._memory.longmind.tool(function)

    async def read_signals(self, post: dict[str, Any]) -> list[dict[str, Any]]:
        """Return what a post announces, with what its author holds."""
        read = Post.model_validate(post)
        announcer = await self._memory.announcer(read.author)
        profile = await self._memory.knowledge.profile(announcer_name(read.author))
        signals = read_post(read, announcer.holdings if announcer else (), profile)
        return [signal_json(signal, read.text) for signal in signals]

    async def record_performance(self, announcer: str, at: str) -> dict[str, Any]:
        """Learn the record of an announcer's closed trades as facts."""
        known = await self._memory.announcer(announcer)
        if known is None or not known.trades:
            return {}
        facts: dict[str, str | int | float | bool] = {
            "closed trades": known.trades,
            "won trades": known.wins,
            "profit": f"{known.profit:f}",
            "average return percent": f"{known.expectancy_percent or 0:.4f}",
        }
        await self._memory.knowledge.learn_announcer(announcer, facts, valid_from=datetime.fromisoformat(at))
        return dict(facts)

    async def measure_account(self, at: str) -> dict[str, str]:
        """Record equity and drawdown as a metric, and tell the goal when the drawdown is too large."""
        account, moment = await self._broker.account(), datetime.fromisoformat(at)
        goals = (await self._memory.agent.goals.list(open=True, limit=200)).items
        goal = next((goal for goal in goals if goal.description == GOAL), None)
        if goal is None:
            goal = await self._memory.agent.goals.create(GOAL, criteria=["The drawdown stays below 10 %", "Beat SPY"])
        highest = max(account.equity, Decimal(str(goal.attributes.get("highest_equity", account.equity))))
        drawdown = (highest - account.equity) / highest * 100 if highest else Decimal(0)
        measured = {
            "equity": f"{account.equity:f}",
            "highest_equity": f"{highest:f}",
            "drawdown_percent": f"{drawdown:.2f}",
            "kept": "no" if drawdown > _DRAWDOWN else "yes",
        }
        await self._memory.agent.goals.update(goal.id, attributes={**goal.attributes, **measured})
        what = f"equity {account.equity:f}, drawdown {drawdown:.2f} %"
        draft = note_event("metric", at, what, moment, "taat")
        await self._memory.write(day_entries([("taat", draft)]), "metric")
        return measured

    async def compare_positions(self, at: str) -> list[str]:
        """Return where the open trades in memory and the broker's positions differ."""
        held: dict[str, Decimal] = {}
        async for trade in self._memory.trades(open=True):
            signed = trade.quantity if trade.side == "long" else -trade.quantity
            held[str(trade.instrument)] = held.get(str(trade.instrument), Decimal(0)) + signed
        there = {str(position.instrument): position.quantity for position in await self._broker.positions()}
        names = sorted({*held, *there})
        pairs = [(name, held.get(name, Decimal(0)), there.get(name, Decimal(0))) for name in names]
        return [f"{name}: {ours:f} in memory, {theirs:f} at {at}" for name, ours, theirs in pairs if ours != theirs]

    async def record_error(self, what: str, announcer: str, signal: str, at: str) -> str:
        """Record what went wrong with a signal."""
        draft = note_event("error", what[:80], what, datetime.fromisoformat(at), announcer, [signal])
        await self._memory.write(day_entries([(announcer, draft)]), "error")
        return what

    async def write_draft(self, signal: str, template: str) -> str:
        """Return a message about a signal. It is a draft: nothing sends it."""
        record, decision = await self._memory.signal(signal), await self._memory.decision(signal)
        if record is None:
            return ""
        words = {
            "{announcer}": record.announcer,
            "{action}": record.signal.action,
            "{side}": record.signal.side or "",
            "{instrument}": str(record.signal.instrument),
            "{price}": f"{record.announced_price:f}" if record.announced_price is not None else "the market",
            "{reason}": decision.reason if decision else "",
        }
        for name, value in words.items():
            template = template.replace(name, value)
        return template
