"""``taat run``: follow a feed, decide, and trade."""

import asyncio
import contextlib
import signal as signals
import sys
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from longmind import InvalidInput
from taat.brokers import Broker, open_broker
from taat.cli import screen
from taat.cli.place import Place, StoreOption
from taat.feeds import Feed, open_feed, sample_feed
from taat.market import open_market
from taat.memory import SignalRecord, open_memory
from taat.memory.terms import teach_terms
from taat.signals import signal_json
from taat.trader import Confirm, Happening, Summary, Trader
from taat.validation import Verdict

SAMPLE_PRICES = Path(__file__).parents[1] / "data" / "sample_prices.jsonl"
_KINDS = {
    "decision": "",
    "execution": "filled",
    "learnt": "learnt",
    "error": "error",
    "edit": "edited",
    "alert": "alert",
    "draft": "draft",
}
_COLUMNS = (16, 15, 9)

FeedOption = Annotated[
    str | None,
    typer.Option(
        metavar="FEED",
        help="file:PATH (JSON lines or CSV with id, author, text, created_at), - for the standard input, or another "
        "feed. By default the invented posts that come with the package.",
    ),
]
MarketOption = Annotated[
    str | None,
    typer.Option(
        metavar="MARKET",
        help="Where prices come from: file:PATH, alpaca, or announced for the prices that announcers name. By default "
        "the sample's prices for the sample feed, and announced for any other.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


def run(
    feed: FeedOption = None,
    broker: Annotated[
        str, typer.Option(metavar="BROKER", help="paper, paper:PATH of its ledger, or alpaca.")
    ] = "paper",
    store: StoreOption = None,
    market: MarketOption = None,
    confirm: Annotated[bool, typer.Option("--confirm", help="Ask before every order.")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Trade with real money. You are asked to type the broker's name first.")
    ] = False,
    posts: Annotated[int | None, typer.Option(min=1, metavar="N", help="Stop after so many posts.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Follow a feed: read its posts, decide on what they announce, place orders and keep everything in memory.

    A feed goes on where the last run left it. Ctrl-C ends a run after the post at hand; a run that was killed is
    finished by the next one, and no order is placed twice.
    """
    with screen.problems_told(as_json=as_json):
        if live:
            _confirm_live(broker)
        place = Place(store)
        source = open_feed(feed, place.folder) if feed is not None else sample_feed()
        shown = _Shown(as_json=as_json)
        asyncio.run(_follow(source, broker, place, market, confirm, live, posts, shown))


async def _follow(
    feed: Feed,
    broker_address: str,
    place: Place,
    market_address: str | None,
    confirm: bool,
    live: bool,
    posts: int | None,
    shown: "_Shown",
) -> None:
    place.prepare()
    market = open_market(market_address or default_market(feed, place))
    broker = open_broker(broker_address, market, directory=place.folder, live=live)
    try:
        async with open_memory(place.memory) as memory:
            await teach_terms(memory.agent)
            confirm = confirm or (await memory.knowledge.preferences()).confirm_orders
            if confirm and feed.name == "-":
                raise InvalidInput("Posts and your answers cannot both come from the standard input.")
            ask: Confirm | None = _ask if confirm or (sys.stdin.isatty() and feed.name != "-") else None
            trader = Trader(memory, broker, market, confirm=ask, confirm_all=confirm, observe=shown.happening)
            with contextlib.suppress(NotImplementedError):  # there are no signal handlers on Windows
                asyncio.get_running_loop().add_signal_handler(signals.SIGINT, trader.stop)
            shown.head()
            await trader.start()
            summary = await trader.run(feed, posts=posts)
            await shown.end(summary, broker)
            if trader.stopped:
                raise KeyboardInterrupt
    finally:
        await broker.close()
        await market.close()


def default_market(feed: Feed, place: Place | None) -> str:
    """Return the market of a feed when none is named."""
    if feed.name == sample_feed().name:
        return f"file:{SAMPLE_PRICES}"
    return "announced" if place is None else f"announced:{place.announced_prices}"


def _confirm_live(broker: str) -> None:
    typer.echo(f"With --live, orders go to {broker} with real money.", err=True)
    answer = typer.prompt(f"Type {broker} to go on", default="", show_default=False, err=True)
    if answer.strip() != broker:
        raise InvalidInput("Live trading was not confirmed.", hint="Without --live everything is paper.")


async def _ask(record: SignalRecord, verdict: Verdict) -> bool:
    signal = record.signal
    typer.echo(f"\n{screen.plain(record.announcer)}: {screen.plain(record.quote)}", err=True)
    for reason in verdict.reasons:
        typer.echo(f"  {reason}", err=True)
    question = f"{signal.action} {signal.side or ''} {signal.instrument}, {verdict.size:f}?"
    return await asyncio.to_thread(typer.confirm, " ".join(question.split()), default=False, err=True)


class _Shown:
    """What a run tells while it goes on: a table, or JSON lines."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def head(self) -> None:
        if not self._as_json:
            sys.stdout.write(_row("time (UTC)", "announcer", "", "what") + "\n")

    def happening(self, happening: Happening) -> None:
        if self._as_json:
            sys.stdout.write(screen.json_line(happening_json(happening)))
        else:
            sys.stdout.write(_line(happening) + "\n")
        sys.stdout.flush()

    async def end(self, summary: Summary, broker: Broker) -> None:
        account = await broker.account()
        if self._as_json:
            totals = {**vars(summary), "cash": f"{account.cash:f}", "equity": f"{account.equity:f}"}
            sys.stdout.write(screen.json_line({"kind": "summary", **totals}))
            return
        sys.stdout.write(
            f"{summary.posts:,} posts, {summary.signals:,} signals: {summary.accepted:,} followed, "
            f"{summary.refused:,} refused. {summary.executions:,} executions. "
            f"Cash {money(account.cash)}, equity {money(account.equity)}.\n"
        )
        if summary.signals and sys.stdout.isatty():
            sys.stdout.write("`taat report` and `taat positions` tell what it brought, `taat why ID` why.\n")


def happening_json(happening: Happening) -> dict[str, Any]:
    """Return something that happened as JSON values."""
    fields: dict[str, Any] = {
        "kind": happening.kind,
        "at": happening.at.isoformat(),
        "announcer": happening.announcer,
        "text": happening.text,
    }
    if happening.record is not None:
        fields["signal"] = {
            "id": happening.record.id,
            **signal_json(happening.record.signal, happening.record.post.text),
        }
    if happening.decision is not None:
        fields["accepted"] = happening.decision.accepted
    if happening.execution is not None:
        execution = happening.execution
        fields |= {
            "signal_id": execution.signal,
            "trade": execution.trade,
            "quantity": f"{execution.quantity:f}",
            "price": f"{execution.price:f}",
            "fee": f"{execution.fee:f}",
        }
    return fields


def _line(happening: Happening) -> str:
    kind, text = _KINDS.get(happening.kind, happening.kind), happening.text
    if happening.decision is not None and happening.record is not None:
        kind = "followed" if happening.decision.accepted else "refused"
        text = f"{happening.record.id}  “{_shortened(happening.record.quote)}”  {text}"
    return _row(f"{happening.at:%Y-%m-%d %H:%M}", happening.announcer, kind, text)


def _row(*cells: str) -> str:
    *first, last = (screen.plain(cell) for cell in cells)
    fitted = (cell.ljust(width)[:width] for cell, width in zip(first, _COLUMNS, strict=True))
    return "  ".join((*fitted, last)).rstrip()


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def money(amount: Decimal) -> str:
    """Return an amount to the cent."""
    return f"{amount:,.2f}"
