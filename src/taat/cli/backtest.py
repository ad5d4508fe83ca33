"""``taat backtest``: the same loop on past posts and prices, in a memory of its own."""

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from taat.brokers import open_broker
from taat.cli import screen
from taat.cli.place import Place
from taat.cli.report import report
from taat.cli.run import SAMPLE_PRICES, FeedOption, JsonOption
from taat.feeds import Feed, open_feed, sample_feed
from taat.market import ReplayMarket
from taat.memory import open_memory
from taat.performance import Grouping
from taat.trader import Summary, Trader


def backtest(
    feed: FeedOption = None,
    prices: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The prices of that time. By default those that come with the sample."),
    ] = None,
    benchmark: Annotated[
        str, typer.Option(metavar="SYMBOL", help="What is bought and held beside it, if the prices have it.")
    ] = "SPY",
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a page with charts.")] = None,
    by: Annotated[Grouping, typer.Option(help="What the figures are told by.")] = "announcer",
    as_json: JsonOption = False,
) -> None:
    """Trade a feed of the past on paper and tell what it had brought, beside buying and holding an index.

    It is the loop of ``taat run`` with the rules as they come. Nothing of it stays.
    """
    with screen.problems_told(as_json=as_json):
        source = open_feed(feed) if feed is not None else sample_feed()
        with tempfile.TemporaryDirectory(prefix="taat-backtest-") as folder:
            place, file = Place(Path(folder)), prices or SAMPLE_PRICES
            summary = asyncio.run(_follow(source, place, file))
            if not as_json:
                typer.echo(
                    f"{summary.posts:,} posts, {summary.signals:,} signals: {summary.accepted:,} followed, "
                    f"{summary.refused:,} refused. {summary.executions:,} executions."
                )
            held = f"{file}:{benchmark}"
            report(
                html=html,
                by=by,
                benchmark=held,
                capital=None,
                store=place.folder,
                prices=f"file:{file}",
                as_json=as_json,
            )


async def _follow(feed: Feed, place: Place, prices: Path) -> Summary:
    market = ReplayMarket(prices)
    broker = open_broker("paper", market, directory=place.folder)
    try:
        async with open_memory(place.memory) as memory:
            trader = Trader(memory, broker, market)
            await trader.start()
            return await trader.run(feed)
    finally:
        await broker.close()
        await market.close()
