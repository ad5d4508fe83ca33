"""The functions of the procedures that run beside the loop: records, goals, comparison with the broker, and drafts."""

import re
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any

from taat.brokers import Broker
from taat.market import Market
from taat.memory import TraderMemory
from taat.memory.events import note_event
from taat.memory.store import day_entries
from taat.models import Post, price_text
from taat.signals import signal_json
from taat.trader.deciding import Decider
from taat.trader.habits import Habits
from taat.trader.market_patterns import MarketPatterns
from taat.trader.monitoring import AccountMonitor
from taat.trader.reading import Reader, records_of


class Duties:
    """What TAAT does at the end of a run, and when somebody runs one of the procedures."""

    def __init__(self, memory: TraderMemory, broker: Broker, market: Market, decider: Decider) -> None:
        self._memory = memory
        self._broker = broker
        self._market = market
        self._decider = decider

    def register(self) -> None:
        """Make the functions known to the procedures."""
        for function in (
            self.read_signals,
            self.judge_signals,
            self.record_performance,
            self.measure_account,
            self.compare_positions,
            self.record_error,
            self.write_draft,
            self.write_alert,
            MarketPatterns(self._memory).learn_patterns,
            Habits(self._memory).learn_habits,
        ):
            self._memory.longmind.tool(function)

    async def read_signals(self, post: dict[str, Any]) -> list[dict[str, Any]]:
        """Return what a post announces, with what its author holds."""
        read = Post.model_validate(post)
        reader = Reader(self._memory)
        announcer = await reader.announcer(read)
        return [signal_json(signal, read.text) for signal in reader.read(read, announcer)]

    async def judge_signals(self, post: dict[str, Any], at: str) -> list[dict[str, Any]]:
        """Return what the rules say of the trades that a post announces. Nobody is asked and nothing is ordered."""
        read, moment = Post.model_validate(post), datetime.fromisoformat(at)
        reader = Reader(self._memory)
        announcer = await reader.announcer(read)
        records = records_of(read, announcer.name, reader.read(read, announcer))
        held = [trade async for trade in self._memory.trades(announcer.name, open=True)]
        verdicts = []
        for record in reader.with_fractions(announcer, records):
            verdict = await self._decider.judge(record, announcer, held, moment)
            said = {"signal": record.id, "outcome": verdict.outcome, "reasons": list(verdict.reasons)}
            verdicts.append({**said, "size": f"{verdict.size:f}"})
        return verdicts

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

    async def measure_account(self, at: str) -> dict[str, Any]:
        """Measure the account against the targets, and keep the goal with its evidence."""
        return await AccountMonitor(self._memory, self._broker, self._market).measure(datetime.fromisoformat(at))

    async def write_alert(self, goal: str, what: str, at: str, template: str) -> str:
        """Record an alert about a goal. It is a draft: nothing sends it."""
        text = template.replace("{goal}", goal).replace("{what}", what)
        draft = note_event("draft", f"{at} {what}"[:80], text, datetime.fromisoformat(at), "taat")
        await self._memory.write(day_entries([("taat", draft)]), "draft")
        return text

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
        key = sha256(f"{signal} {at} {what}".encode("utf-8", "surrogatepass")).hexdigest()[:20]
        draft = note_event("error", key, what, datetime.fromisoformat(at), announcer, [signal] if signal else [])
        await self._memory.write(day_entries([(announcer, draft)]), "error")
        return what

    async def write_draft(self, signal: str, template: str, change: str = "announced", at: str = "") -> str:
        """Record and return a message about a signal and what became of it. It is a draft: nothing sends it."""
        record, decision = await self._memory.signal(signal), await self._memory.decision(signal)
        if record is None:
            return ""
        trade = await self._memory.trade(signal)
        price, result = record.announced_price, ""
        if trade is not None and change == "opened":
            price = trade.average_entry
        elif trade is not None and change == "closed":
            price, result = trade.average_exit, f"Result: {trade.profit:+.2f} ({trade.return_percent:+.2f} %)."
        words = {
            "{announcer}": record.announcer,
            "{action}": record.signal.action if change == "announced" else change,
            "{side}": record.signal.side or "",
            "{instrument}": str(record.signal.instrument),
            "{quantity}": f"{trade.entered:f}" if trade is not None else "",
            "{price}": price_text(Decimal(f"{price:.8g}")) if price is not None else "the market",
            "{reason}": decision.reason if decision and change == "announced" else "",
            "{result}": result,
        }
        text = re.sub(r"\{\w+\}", lambda match: words.get(match[0], match[0]), template).strip()
        moment = datetime.fromisoformat(at) if at else record.post.created_at
        draft = note_event("draft", f"{signal} {change}", text, moment, record.announcer, [signal])
        await self._memory.write(day_entries([(record.announcer, draft)]), "draft")
        return text
