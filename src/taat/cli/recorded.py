"""What the memory of a folder has of trades, for the commands that tell of them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from longmind import InvalidInput
from taat.brokers import open_broker
from taat.brokers.opening import LEDGER
from taat.cli.place import Place, existing_memory
from taat.cli.run import SAMPLE_PRICES
from taat.feeds import sample_feed
from taat.market import Market, open_market
from taat.memory import Announcer, TraderMemory
from taat.memory.names import account_key
from taat.models import Account, Instrument, multiplier
from taat.performance import AnnouncedFill, Matched, match_fills
from taat.reports import announced_fills

PricesOption = Annotated[
    str | None,
    typer.Option(
        "--market",
        metavar="MARKET",
        help="Where the present prices of open positions come from: file:PATH or alpaca. By default the prices that "
        "the last runs knew.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="As JSON, on one line.")]


@dataclass(frozen=True)
class Recorded:
    """What was executed, what it adds up to, and what open positions cost now."""

    at: datetime
    fills: list[AnnouncedFill]
    matched: Matched
    marks: dict[Instrument, Decimal]
    announcers: tuple[Announcer, ...]
    account: Account | None
    """The account with the broker that was named, or else the paper account, if there is one."""
    capital: Decimal | None
    """What the paper account began with."""


async def read_recorded(store: Path | None, prices: str | None, broker: str | None = None) -> Recorded:
    """Read the executions from memory, and the present prices of what is held.

    The account is the paper account of the folder, or that with another ``broker``.
    """
    place, now = Place(store), datetime.now(UTC)
    async with existing_memory(store) as memory:
        fills = announced_fills([execution async for execution in memory.executions()])
        announcers = await memory.announcers()
        address = prices or await known_prices(memory, place)
    matched = match_fills(fills)
    market = open_market(address) if address is not None else None
    marks: dict[Instrument, Decimal] = {}
    try:
        if market is not None:
            for instrument in {position.instrument for position in matched.positions}:
                quote = await market.quote(instrument, now)
                if quote is not None:
                    marks[instrument] = quote.middle
        account, capital = await _paper_account(place, market)
        if broker is not None and broker != "paper":
            account = await _account_with(broker, market or open_market("announced"), place)
    finally:
        if market is not None:
            await market.close()
    return Recorded(now, fills, matched, marks, announcers, account, capital)


async def known_prices(memory: TraderMemory, place: Place) -> str | None:
    """Return the market with the prices of the last runs: those announced, or those of the sample."""
    if place.announced_prices.exists():
        return f"file:{place.announced_prices}"  # only read: a run may be writing to it
    feeds = (await memory.log(account_key("paper"))).get("feeds", {})
    if sample_feed().name in {feed.get("name") for feed in feeds.values()}:
        return f"file:{SAMPLE_PRICES}"
    return None


async def _account_with(address: str, market: Market, place: Place) -> Account:
    """Return the account with a broker, as the broker says it is."""
    broker = open_broker(address, market, directory=place.folder)
    try:
        return await broker.account()
    finally:
        await broker.close()


async def _paper_account(place: Place, market: Market | None) -> tuple[Account | None, Decimal | None]:
    """Return the paper account of a folder, and what it began with: its cash, less all that was paid and got."""
    if not (place.folder / LEDGER).exists():
        return None, None
    prices = market or open_market("announced")
    broker = open_broker("paper", prices, directory=place.folder)
    try:
        account, fills = await broker.account(), await broker.fills()
    finally:
        await broker.close()
    paid = sum(
        (
            fill.fee + fill.quantity * fill.price * multiplier(fill.instrument) * (1 if fill.side == "buy" else -1)
            for fill in fills
        ),
        Decimal(0),
    )
    return account, account.cash + paid


def moment(text: str | None, option: str) -> datetime | None:
    """Return the moment that a date, or a date with a time, means; without a zone it is UTC."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        hint = "Write 2026-05-31 or 2026-05-31T18:30+02:00."
        raise InvalidInput(f"{option} {text!r} is not a date.", hint=hint) from None
