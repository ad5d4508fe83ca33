"""The goal of the account: what it is measured by, and when it is missed."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from longmind import AgentMemory
from taat.brokers import Broker
from taat.market import Market
from taat.memory import Targets, TraderMemory
from taat.memory.events import note_event
from taat.memory.names import goal_key
from taat.memory.store import day_entries, log_entry
from taat.models import AssetClass, Instrument, multiplier

GOAL_TAG = "taat-account"
_INDEX_ASSETS = (AssetClass.STOCK, AssetClass.INDEX, AssetClass.CRYPTO)


class Measured(NamedTuple):
    """What one criterion came to. ``kept`` is ``None`` when nothing tells it."""

    kept: bool | None
    note: str


async def account_goal(agent: AgentMemory) -> Any:
    """Return the goal of the account, if it was ever measured."""
    cursor: str | None = None
    while True:
        page = await agent.goals.list(limit=200, cursor=cursor)
        for goal in page.items:
            if GOAL_TAG in goal.tags:
                return goal
        cursor = page.cursor
        if cursor is None:
            return None


class AccountMonitor:
    """Measures the account against the targets, and keeps the goal with its evidence.

    The equity is that of every decision, so a fall between two measurements counts. Measuring the same moment again
    changes nothing.
    """

    def __init__(self, memory: TraderMemory, broker: Broker, market: Market) -> None:
        self._memory = memory
        self._goals = memory.agent.goals
        self._broker = broker
        self._market = market

    async def measure(self, at: datetime) -> dict[str, Any]:
        """Measure both criteria; ``alerts`` are those that were kept before, or not measured, and are missed now."""
        targets = await self._memory.knowledge.targets(at)
        goal = await self._goal(targets)
        known = await self._memory.log(goal_key())
        account = await self._broker.account()
        state = {**await self._beginning(known), **await self._depth(known, account.equity)}
        measured = {
            "drawdown": _drawdown(Decimal(state["drawdown_percent"]), targets),
            "index": await self._against_index(state, account.equity, targets, at),
        }
        before = known.get("criteria", {})
        alerts = [
            each.note for name, each in measured.items() if each.kept is False and _kept(before, name) is not False
        ]
        criteria = {name: {"kept": each.kept, "note": each.note} for name, each in measured.items()}
        figures = {**state, "equity": f"{account.equity:f}", "measured_at": at.isoformat(), "criteria": criteria}
        evidence = await self._recorded(measured, figures, at)
        await self._judge(goal, measured, evidence)
        return {**figures, "goal": targets.goal, "alerts": alerts}

    async def _goal(self, targets: Targets) -> Any:
        """Return the goal as the targets say it."""
        criteria = [
            {"id": "drawdown", "description": f"The drawdown is at most {targets.maximum_drawdown_percent:f} %"},
            {"id": "index", "description": f"The return is above that of {targets.index}"},
        ]
        goal = await account_goal(self._memory.agent)
        if goal is None:
            return await self._goals.create(targets.goal, criteria=criteria, tags=[GOAL_TAG])
        if goal.description == targets.goal:
            return goal
        why = "The targets changed."
        if not goal.open:
            goal = await self._goals.reopen(goal.id, *(each.id for each in goal.criteria), why=why)
        return await self._goals.update(goal.id, why=why, description=targets.goal, criteria=criteria)

    async def _beginning(self, known: Mapping[str, Any]) -> dict[str, str]:
        """Return since when and from which equity the account is measured: from its first execution on."""
        if "since" in known:
            return {name: known[name] for name in ("since", "starting_equity")}
        account, fills = await self._broker.account(), await self._broker.fills()
        if not fills:
            return {}
        paid = sum(
            (
                fill.fee + fill.quantity * fill.price * multiplier(fill.instrument) * (1 if fill.side == "buy" else -1)
                for fill in fills
            ),
            Decimal(0),
        )
        first = min(fill.filled_at for fill in fills)
        return {"since": first.isoformat(), "starting_equity": f"{account.cash + paid:f}"}

    async def _depth(self, known: Mapping[str, Any], equity: Decimal) -> dict[str, str]:
        """Return the highest equity and the deepest fall below it, by all decisions since the last measurement."""
        highest, deepest = Decimal(known.get("highest_equity", 0)), Decimal(known.get("drawdown_percent", 0))
        since = datetime.fromisoformat(known["measured_at"]) if "measured_at" in known else None
        equities = [
            Decimal(decision.context["equity"])
            async for decision in self._memory.decisions(since=since)
            if "equity" in decision.context
        ]
        for value in (*equities, equity):
            highest = max(highest, value)
            if highest > 0:
                deepest = max(deepest, (highest - value) / highest * 100)
        return {"highest_equity": f"{highest:f}", "drawdown_percent": f"{deepest:.4f}"}

    async def _against_index(
        self, state: Mapping[str, str], equity: Decimal, targets: Targets, at: datetime
    ) -> Measured:
        if "since" not in state:
            return Measured(None, "Nothing was executed yet, so there is no return to compare.")
        since, start = datetime.fromisoformat(state["since"]), Decimal(state["starting_equity"])
        bought, now = await self._price(targets.index, since), await self._price(targets.index, at)
        if not bought or not now or start <= 0:
            return Measured(None, f"The market of the last run has no prices of {targets.index} for that time.")
        ours, index = (equity / start - 1) * 100, (now / bought - 1) * 100
        note = f"The account brought {ours:+.2f} %, {targets.index} {index:+.2f} %, both since {since:%Y-%m-%d}."
        return Measured(ours > index, note)

    async def _price(self, symbol: str, at: datetime) -> Decimal | None:
        for asset in _INDEX_ASSETS:
            quote = await self._market.quote(Instrument(symbol=symbol, asset=asset), at)
            if quote is not None:
                return quote.middle
        return None

    async def _recorded(self, measured: Mapping[str, Measured], figures: Mapping[str, Any], at: datetime) -> str | None:
        """Record the measurement as a metric with how the account stands, and return the id of its event."""
        what = f"equity {figures['equity']}. {' '.join(each.note for each in measured.values())}"
        draft = note_event("metric", at.isoformat(), what, at, "taat")
        (entry,) = day_entries([("taat", draft)])
        log = log_entry(goal_key(), "The goal of the account", "goal", at, figures)
        await self._memory.write([entry, log], "metric")
        day = await self._memory.agent.episodic.find(entry.key)
        event = await self._memory.agent.episodic.find_event(day.id, f"metric:{at.isoformat()}") if day else None
        return event.id if event else None

    async def _judge(self, goal: Any, measured: Mapping[str, Measured], evidence: str | None) -> None:
        """Meet the criteria that are kept, and reopen those that are not."""
        lost = [each.id for each in goal.criteria if each.met and measured[each.id].kept is not True]
        if lost and not goal.open:
            goal = await self._goals.reopen(goal.id, *lost, why=measured[lost[0]].note)
        elif lost:
            for name in lost:
                goal = await self._goals.reopen_criterion(goal.id, name, why=measured[name].note)
        for name, each in measured.items():
            if each.kept and goal.open:
                goal = await self._goals.meet(goal.id, name, {"note": each.note, "memory": evidence})


def _drawdown(deepest: Decimal, targets: Targets) -> Measured:
    limit = targets.maximum_drawdown_percent
    return Measured(deepest <= limit, f"The deepest drawdown was {deepest:.2f} % of at most {limit:f} %.")


def _kept(criteria: Mapping[str, Any], name: str) -> bool | None:
    kept: bool | None = criteria.get(name, {}).get("kept")
    return kept
