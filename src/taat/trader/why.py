"""The whole chain of a signal in words: from the post to what was learnt."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import PurePath
from typing import Any

from longmind import InvalidInput, LongmindError, NotFound
from taat.memory import Decision, Execution, SignalRecord, Trade, TraderMemory
from taat.memory.terms import TERM, Term, known_terms
from taat.models import Level, Signal, price_text


@dataclass(frozen=True)
class Chain:
    """What memory has of a signal."""

    record: SignalRecord
    decision: Decision | None
    trade: Trade | None
    executions: tuple[Execution, ...] = ()
    run: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[tuple[datetime, str, str], ...] = ()
    """When, what kind, and what: errors, what was asked, answered and confirmed, and what was learnt."""
    terms: tuple[Term, ...] = ()
    """The words of the trade that it was said in."""


async def find_signal(memory: TraderMemory, name: str) -> SignalRecord:
    """Return the signal with an id, or the one of a post with an id."""
    known = await memory.signal(name)
    if known is not None:
        return known
    fitting = [record async for record in memory.signals() if name in (record.post.id, record.id.partition("-")[2])]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        ids = ", ".join(record.id for record in fitting[:10])
        raise InvalidInput(f"{name!r} can mean several signals.", hint=f"Name one of: {ids}.")
    raise NotFound(f"There is no signal {name!r}.", hint="`taat run` prints the ids of the signals it reads.")


async def chain_of(memory: TraderMemory, name: str) -> Chain:
    """Return what memory has of a signal."""
    record = await find_signal(memory, name)
    decision = await memory.decision(record.id)
    trade = await memory.trade(decision.trade) if decision is not None and decision.trade else None
    executions = [each async for each in memory.executions(signal=record.id) if _concerns(each, record.id)]
    about = {record.id, *([trade.id] if trade else [])}
    notes = [
        (event.at, event.type, event.what)
        for signal in sorted(about)
        for event in await memory.events_of(signal)
        if event.type in ("error", "learnt", "confirmation", "question", "answer")
    ]
    run = await _run(memory, record.id, decision)
    terms = tuple(term for term in await known_terms(memory.agent) if _uses(record.quote, term))
    return Chain(record, decision, trade, tuple(executions), run, tuple(notes), terms)


def _uses(text: str, term: Term) -> bool:
    """Whether a text has a word of the trade; ``$BTC`` is a symbol."""
    word = re.escape(term.name)
    return term.category == TERM and re.search(rf"(?<![\w$]){word}(?!\w)", text) is not None


def _concerns(execution: Execution, signal: str) -> bool:
    return signal in (execution.signal, execution.trade)


async def _run(memory: TraderMemory, signal: str, decision: Decision | None) -> Mapping[str, Any]:
    """Return the run of the procedure that acted on a decision; its key is the signal's id."""
    if decision is None or not decision.accepted or not (decision.orders or decision.cancels):
        return {}
    try:
        run = await memory.agent.procedural.find_run(decision.procedure, f"taat:{signal}")
    except LongmindError:
        return {}
    if run is None:
        return {}
    return {"name": run.name, "version": run.number, "status": run.status, "result": run.result, "counted": run.counted}


def in_words(chain: Chain) -> list[tuple[str, list[str]]]:
    """Return the chain as headings with lines."""
    record, decision = chain.record, chain.decision
    told = [
        ("The post", _post(record)),
        ("What was read", [*_read(record), *(f"{term.name} means {term.means}." for term in chain.terms)]),
    ]
    if decision is None:
        return [*told, ("The decision", ["None was made yet."])]
    told.append(("What was recalled", _recalled(decision)))
    told.append(("What was in mind", _in_mind(decision)))
    told.append(("The decision", _decided(decision)))
    if decision.accepted:
        told.append(("The action", _acted(chain, decision)))
        told.append(("What was executed", [_executed(each, record) for each in chain.executions] or ["Nothing yet."]))
        told.append(("The outcome", _outcome(chain.trade)))
    told.append(("What was learnt", _learnt(chain)))
    return told


def _post(record: SignalRecord) -> list[str]:
    post = record.post
    when = f"{post.created_at:%Y-%m-%d %H:%M:%S} UTC"
    return [f"{post.author} wrote on {when} (post {post.id} of {_feed(post.feed)}):", f"“{post.text}”"]


def _feed(name: str) -> str:
    """Return the name of a feed, of a file without its folder."""
    kind, _, path = name.partition(":")
    return f"{kind}:{PurePath(path).name}" if kind == "file" else name


def _read(record: SignalRecord) -> list[str]:
    signal, span = record.signal, record.signal.span
    lines = [f"{_announced(signal)}, with a confidence of {signal.confidence:.2f}, by {record.method}."]
    lines.append(f"It was read from the characters {span.start} to {span.end}: “{record.quote}”.")
    if record.fraction is not None:
        lines.append(f"That is {record.fraction * 100:.0f} % of what {record.announcer} held.")
    return lines


def _announced(signal: Signal) -> str:
    words = [signal.action.replace("_", " "), signal.side or "", str(signal.instrument)]
    if signal.price is not None:
        words.append(f"at {_number(signal.price.middle)}")
    if signal.quantity is not None:
        value = signal.quantity.value
        words.append(f"of {_number(value)}" if signal.quantity.unit == "units" else f"of {value * 100:.0f} %")
    if signal.stop is not None:
        words.append(f"with a stop at {_level(signal.stop)}")
    if signal.targets:
        words.append(f"and targets {', '.join(_level(target) for target in signal.targets)}")
    return " ".join(word for word in words if word)


def _recalled(decision: Decision) -> list[str]:
    context = decision.context
    known = context.get("announcer", {})
    lines = [_record_line(decision.announcer, known)]
    if context.get("holdings"):
        lines.append(f"By their own posts, with this one, they hold {', '.join(context['holdings'])}.")
    trades = context.get("open_trades", [])
    lines += [
        f"Open on their word: {trade['side']} {trade['quantity']} {trade['instrument']}"
        f" from {trade['entry'] or 'nothing yet'}, stop {trade['stop'] or 'none'}."
        for trade in trades
    ] or ["Nothing was open on their word."]
    cash, equity = (Decimal(context.get(name, 0)) for name in ("cash", "equity"))
    lines.append(f"The account had {cash:,.2f} in cash and was worth {equity:,.2f}.")
    quote = context.get("quote")
    lines.append(
        f"The market's price was {_quoted(quote)}, of {datetime.fromisoformat(quote['at']):%Y-%m-%d %H:%M:%S} UTC."
        if quote
        else "The market's price was not known."
    )
    limits = context.get("limits", {})
    if limits.get("maximum_age_seconds") is not None or Decimal(limits.get("size", "1")) != 1:
        age = limits.get("maximum_age_seconds")
        lines.append(f"Learnt limits: size {limits['size']} of the usual one, age {'any' if age is None else age}.")
    return lines


def _quoted(quote: Mapping[str, str]) -> str:
    return quote["bid"] if quote["bid"] == quote["ask"] else f"{quote['bid']} to {quote['ask']}"


def _in_mind(decision: Decision) -> list[str]:
    """Tell what working memory had of the user, the rules, the announcer's habits and the procedures."""
    context = decision.context
    wanted, rules, habits = context.get("wanted", {}), context.get("rules", {}), context.get("habits", {})
    lines = [f"The goal: {wanted['goal']}."] if wanted.get("goal") else []
    changed = ", ".join(f"{name} {value}" for name, value in rules.items())
    lines.append(f"Rules other than the defaults: {changed}." if changed else "All rules had their defaults.")
    if habits.get("examples"):
        means = "; ".join(f"“{phrase}” means {action}" for phrase, action in habits["means"].items())
        told = f"{decision.announcer} was read with {habits['examples']} confirmed examples"
        lines.append(f"{told}: {means}." if means else f"{told}.")
    else:
        lines.append(f"Nothing was confirmed of how {decision.announcer} writes.")
    result = context.get("result", {})
    if result:
        price = f" at {result['price']}" if result.get("price") else ""
        lines.append(f"Worked out: {result['outcome'].replace('_', ' ')}, a size of {result['size']}{price}.")
    return lines


def _record_line(announcer: str, known: Mapping[str, Any]) -> str:
    if not known.get("trades"):
        return f"No trade was closed on the word of {announcer} before."
    return (
        f"{known['trades']} trades were closed on the word of {announcer} before, {known['wins']} of them with a gain;"
        f" {known['expectancy_percent']} % on average."
    )


def _decided(decision: Decision) -> list[str]:
    lines = [f"{'Followed' if decision.accepted else 'Refused'}: {decision.reason}"]
    marks = {"passed": "+", "refused": "-", "needs_confirmation": "?"}
    lines += [f"{marks[check.outcome]} {check.rule.replace('_', ' ')}: {check.reason}" for check in decision.checks]
    if spared := decision.rules_not_applied:
        lines.append(f"{spared} {'rule does' if spared == 1 else 'rules do'} not apply to such a signal.")
    return lines


def _acted(chain: Chain, decision: Decision) -> list[str]:
    run = chain.run
    version = run.get("version", decision.procedure_version)
    lines = [f"The procedure {decision.procedure}, version {version}: {run.get('status', 'it has not run yet')}."]
    lines += [f"Order {client_id} was cancelled." for client_id in decision.cancels]
    placed = {report["order"]["client_id"]: report for report in (run.get("result") or {}).get("placed", [])}
    for planned in decision.orders:
        order, report = planned.order, placed.get(planned.order.client_id)
        quantity = report["order"]["quantity"] if report else f"{order.quantity:f}"
        status = report["status"].replace("_", " ") if report else "not placed: nothing was left for it"
        level = order.stop_price or order.limit_price
        price = f" at {price_text(level)}" if order.kind != "market" and level is not None else ""
        lines.append(f"{order.client_id}: {order.kind} order, {order.side} {quantity}{price}: {status}.")
    return lines


def _executed(execution: Execution, record: SignalRecord) -> str:
    words = f"{execution.at:%Y-%m-%d %H:%M:%S} UTC: {execution.purpose}, {execution.order.side} {execution.quantity:f}"
    words += f" at {_number(execution.price)}, fee {execution.fee:f}"
    if execution.signal == record.id and execution.announced_price:
        slippage = execution.price - execution.announced_price
        words += f"; {_number(slippage)} from the announced price, {execution.delay_seconds:.0f} s after the post"
    return words + "."


def _outcome(trade: Trade | None) -> list[str]:
    if trade is None:
        return ["There is no trade."]
    if not trade.closed:
        entry = trade.average_entry
        held = f"{trade.quantity:f} {trade.instrument} are still held"
        return [held + (f", entered at {_number(entry)} on average." if entry is not None else ".")]
    if not trade.entered:
        return ["Nothing was entered."]
    return [
        f"Closed on {trade.closed_at:%Y-%m-%d %H:%M} UTC: {trade.profit:+,.2f} after fees of {trade.fees:f},"
        f" {trade.return_percent:+.2f} %."
    ]


def _learnt(chain: Chain) -> list[str]:
    lines = [f"{at:%Y-%m-%d %H:%M} UTC, {kind}: {what}" for at, kind, what in chain.notes]
    trade = chain.trade
    if trade is not None and trade.learnt and trade.entered:
        outcome = "a success" if trade.profit > 0 else "a failure"
        lines.append(f"The run that opened the trade counts as {outcome} of the procedure, and in the record of")
        lines[-1] += f" {trade.announcer}."
    return lines or ["Nothing yet."]


def _level(level: Level) -> str:
    return f"{_number(level.value)}{ {'price': '', 'points': ' points', 'percent': ' %'}[level.unit] }"


def _number(value: Decimal) -> str:
    return f"{round(value, 8).normalize():f}"
