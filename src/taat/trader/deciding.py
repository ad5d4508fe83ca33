"""Deciding on a signal: what is known is brought together, the rules are asked, and orders are planned."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from longmind import Fact
from taat.brokers import Broker
from taat.market import Market, hours
from taat.memory import Announcer, Decision, RuleCheck, SignalRecord, Trade, TraderMemory
from taat.memory.conversation import Confirmation, confirmation_entry, conversation_entry
from taat.models import Quantity, Quote, price_text
from taat.procedures import EXECUTE_TRADE, LearntLimits, Limits
from taat.signals import AnnouncerProfile
from taat.trader.book import Book
from taat.trader.planning import Plan, find_trade, plan_cancel, plan_entry, plan_exit, plan_stop, stop_price
from taat.validation import (
    NAMES,
    OPENING,
    AnnouncerRecord,
    RuleFact,
    Rules,
    Situation,
    Verdict,
    from_facts,
    predicate_of,
    rules_subject,
    validate,
)

Confirm = Callable[[SignalRecord, Verdict], Awaitable[bool]]
"""Asks a person whether a signal is followed."""
_LEAVING = ("reduce", "close", "stopped_out")
_DEFAULTS = Rules()


@dataclass(frozen=True)
class Decided:
    """A decision, and the trade as it will be; ``None`` when nothing changes."""

    decision: Decision
    plan: Plan | None = None


class Decider:
    """Decides on signals. The same memory, prices and account give the same decision."""

    def __init__(
        self,
        memory: TraderMemory,
        broker: Broker,
        market: Market,
        limits: LearntLimits,
        *,
        confirm: Confirm | None = None,
        confirm_all: bool = False,
    ) -> None:
        self._memory = memory
        self._broker = broker
        self._market = market
        self._limits = limits
        self._confirm = confirm
        self._confirm_all = confirm_all
        self._facts: dict[str, tuple[RuleFact, ...]] = {}
        self.wanted: dict[str, str] = {}
        """The goal and the preferences of the user, which every decision has in mind."""
        self.confirmed: set[str] = set()
        """The announcers of whom something was confirmed."""

    def forget_rules(self) -> None:
        """Read the rules anew for the next decision."""
        self._facts = {}

    async def judge(self, record: SignalRecord, announcer: Announcer, trades: Sequence[Trade], at: datetime) -> Verdict:
        """Return what the rules say of a signal, without deciding on it."""
        trade = find_trade(trades, record.signal.instrument, record.signal.side)
        record = _for_our_trade(record, trade)
        return validate(record.signal, await self._situation(record, announcer, trade, at, opposed=None, edited=False))

    async def decide(
        self,
        record: SignalRecord,
        announcer: Announcer,
        book: Book,
        at: datetime,
        *,
        edited: bool,
        habits: AnnouncerProfile | None = None,
    ) -> Decided:
        """Decide on a signal of an announcer, who writes by these habits, with all trades that are open."""
        signal, trades = record.signal, book.of(announcer.name)
        trade = find_trade(trades, signal.instrument, signal.side)
        record = _for_our_trade(record, trade)
        opposed = book.opposed(record.signal.instrument, record.signal.side or "long")
        situation = await self._situation(record, announcer, trade, at, opposed=opposed, edited=edited)
        verdict = validate(record.signal, situation)
        context = _context(situation, announcer, trades, self._limits.of(announcer.name))
        context |= {"habits": _habits(habits), "wanted": self.wanted, "result": _result(verdict)}
        if trade is not None and not trade.quantity and trade.orders("entry") and signal.action in _LEAVING:
            reason = "The order that still waits is cancelled."
            return self._decided(record, at, verdict, reason, context, plan_cancel(record, trade))
        if verdict.outcome == "refused":
            return self._refused(record, at, verdict, " ".join(verdict.reasons), context)
        if verdict.outcome == "needs_confirmation" or self._confirm_all:
            if self._confirm is None:
                reason = f"{' '.join(verdict.reasons)} Nobody is there to confirm it."
                return self._refused(record, at, verdict, reason, context)
            confirmed = await self._confirm(record, verdict)
            await self._answered(record, verdict, at, confirmed=confirmed)
            if not confirmed:
                return self._refused(record, at, verdict, "It was not confirmed.", context)
        plan = _plan(record, trade, verdict, situation)
        if isinstance(plan, str):
            return self._refused(record, at, verdict, plan, context)
        return self._decided(record, at, verdict, _says(plan), context, plan)

    async def _answered(self, record: SignalRecord, verdict: Verdict, at: datetime, *, confirmed: bool) -> None:
        """Keep the conversation; what was confirmed was also read rightly. A no says nothing of the reading."""
        question = f"Follow {record.announcer} with “{record.quote}”? {' '.join(verdict.reasons)}".strip()
        if not confirmed:
            entry = conversation_entry(at, question, "No.", about=record.id)
        else:
            said = Confirmation(post=record.post, announcer=record.announcer, signal=record.id, meant=record.signal)
            entry = confirmation_entry(said, "Yes.", at, question)
            self.confirmed.add(record.announcer)
        await self._memory.write([entry], "conversation")

    async def _situation(
        self,
        record: SignalRecord,
        announcer: Announcer,
        trade: Trade | None,
        at: datetime,
        *,
        opposed: str | None,
        edited: bool,
    ) -> Situation:
        instrument = record.signal.instrument
        held = Decimal(0) if trade is None else trade.quantity if trade.side == "long" else -trade.quantity
        quote = await self._market.quote(instrument, at)
        is_open = hours.is_open(instrument, at)
        return Situation(
            at=at,
            posted_at=record.post.created_at,
            announcer=announcer.name,
            account=await self._broker.account(),
            market_open=is_open,
            next_opening=None if is_open else hours.next_open(instrument, at),
            quote=quote,
            positions=tuple(await self._broker.positions()),
            held=held,
            opposed=opposed,
            record=AnnouncerRecord(trades=announcer.trades, expectancy_percent=announcer.expectancy_percent),
            earlier=announcer.recent,
            edited=edited,
            rules=await self._rules(announcer.name, at),
        )

    async def _rules(self, announcer: str, at: datetime) -> Rules:
        """Return the rules that hold for an announcer at a moment, with what was learnt."""
        facts = [*await self._known(rules_subject()), *await self._known(rules_subject(announcer))]
        rules = from_facts(facts, at, announcer=announcer)
        limits, changes = self._limits.of(announcer), dict[str, Any]()
        if limits.size != 1:
            changes["position_percent"] = rules.position_percent * limits.size
        if limits.maximum_age_seconds is not None:
            ages = [limits.maximum_age_seconds, rules.maximum_age_seconds]
            changes["maximum_age_seconds"] = min(age for age in ages if age is not None)
        return rules.model_copy(update=changes) if changes else rules

    async def _known(self, subject: str) -> tuple[RuleFact, ...]:
        if subject not in self._facts:
            facts = await self._memory.knowledge.all_rules(subject)
            self._facts[subject] = tuple(map(_rule_fact, facts))
        return self._facts[subject]

    def _refused(
        self, record: SignalRecord, at: datetime, verdict: Verdict, reason: str, context: Mapping[str, Any]
    ) -> Decided:
        return Decided(self._decision(record, at, verdict, reason, context, accepted=False))

    def _decided(
        self, record: SignalRecord, at: datetime, verdict: Verdict, reason: str, context: Mapping[str, Any], plan: Plan
    ) -> Decided:
        decision = self._decision(record, at, verdict, reason, context, accepted=True)
        changes = {"trade": plan.trade.id, "cancels": plan.cancels, "orders": plan.orders}
        return Decided(decision.model_copy(update=changes), plan)

    def _decision(
        self,
        record: SignalRecord,
        at: datetime,
        verdict: Verdict,
        reason: str,
        context: Mapping[str, Any],
        *,
        accepted: bool,
    ) -> Decision:
        asked = [check for check in verdict.checks if check.outcome != "does_not_apply"]
        return Decision(
            signal=record.id,
            announcer=record.announcer,
            at=at,
            accepted=accepted,
            reason=reason,
            checks=tuple(RuleCheck.model_construct(**dict(check)) for check in asked),
            rules_not_applied=len(verdict.checks) - len(asked),
            procedure=EXECUTE_TRADE,
            procedure_version=self._limits.version,
            context=dict(context),
        )


def _for_our_trade(record: SignalRecord, trade: Trade | None) -> SignalRecord:
    """Return a signal that changes a trade of ours as one of its instrument and of a part of it."""
    signal = record.signal
    if trade is None or signal.action in OPENING:
        return record
    ours = {"instrument": trade.instrument, "quantity": _part(record)}
    return record.model_copy(update={"signal": signal.model_copy(update=ours)})


def _part(record: SignalRecord) -> Quantity | None:
    """Return how much of our position a signal leaves: the announcer's numbers are of a position of another size."""
    quantity = record.signal.quantity
    if quantity is None or quantity.unit == "fraction":
        return quantity
    return None if record.fraction is None else Quantity(value=record.fraction, unit="fraction")


def _plan(record: SignalRecord, trade: Trade | None, verdict: Verdict, situation: Situation) -> Plan | str:
    """Return the plan, or why there is none."""
    signal = record.signal
    if signal.action in OPENING:
        return plan_entry(record, trade, verdict.size, verdict.price, situation.at)
    if trade is None or trade.quantity <= 0:
        return f"Nothing of {signal.instrument} is held on the word of {record.announcer}."
    if signal.action in _LEAVING:
        return plan_exit(record, trade, verdict.size)
    price = stop_price(signal.stop, trade.average_entry, trade.side, trade.instrument)
    if price is None:
        return "The announcement does not say where the stop is now."
    return plan_stop(record, trade, price)


def _says(plan: Plan) -> str:
    words = [
        f"{planned.order.side} {planned.order.quantity:f} {planned.order.instrument}"
        + (f" as a stop at {price_text(planned.order.stop_price)}" if planned.order.stop_price is not None else "")
        + (f" at {price_text(planned.order.limit_price)} or better" if planned.order.limit_price is not None else "")
        for planned in plan.orders
    ]
    if plan.cancels:
        words.insert(0, f"cancel {len(plan.cancels)} order{'s' * (len(plan.cancels) != 1)}")
    return "; ".join(words) or "nothing is to be done"


def _context(situation: Situation, announcer: Announcer, trades: Sequence[Trade], limits: Limits) -> dict[str, Any]:
    """Return what the decision drew on, as plain JSON."""
    expectancy = announcer.expectancy_percent
    return {
        "equity": f"{situation.account.equity:f}",
        "cash": f"{situation.account.cash:f}",
        "quote": _quoted(situation.quote),
        "market_open": situation.market_open,
        "announcer": {
            "trades": announcer.trades,
            "wins": announcer.wins,
            "expectancy_percent": None if expectancy is None else f"{expectancy:.2f}",
        },
        "holdings": [str(holding.instrument) for holding in announcer.holdings[-20:]],
        "open_trades": [
            {
                "trade": trade.id,
                "instrument": str(trade.instrument),
                "side": trade.side,
                "quantity": f"{trade.quantity:f}",
                "entry": None if trade.average_entry is None else f"{trade.average_entry.normalize():f}",
                "stop": None if trade.stop is None else f"{trade.stop:f}",
            }
            for trade in trades[-20:]
        ],
        "limits": limits.model_dump(mode="json"),
        "rules": {
            predicate_of(name): situation.rules.text(name)
            for name in NAMES
            if getattr(situation.rules, name) != getattr(_DEFAULTS, name)
        },
    }


def _habits(profile: AnnouncerProfile | None) -> dict[str, Any]:
    """Return how the announcer writes, as far as it was confirmed, as plain JSON."""
    if profile is None:
        return {}
    means = {phrase.text: phrase.action or "nothing" for phrase in profile.phrases[:20]}
    return {"examples": profile.examples, "side": profile.default_side, "means": means}


def _result(verdict: Verdict) -> dict[str, Any]:
    """Return what was worked out on the way to the decision, as plain JSON."""
    price = None if verdict.price is None else f"{verdict.price:f}"
    return {"outcome": verdict.outcome, "size": f"{verdict.size:f}", "price": price}


def _quoted(quote: Quote | None) -> dict[str, str] | None:
    return None if quote is None else {"bid": f"{quote.bid:f}", "ask": f"{quote.ask:f}", "at": quote.at.isoformat()}


def _rule_fact(fact: Fact) -> RuleFact:
    return RuleFact(
        subject=fact.subject,
        predicate=fact.predicate,
        object=str(fact.object),
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
    )
