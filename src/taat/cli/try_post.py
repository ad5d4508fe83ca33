"""``taat try``: what would be done with a post, by the stored procedures. Nothing is kept and nothing is ordered."""

import asyncio
import sys
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from longmind import InvalidInput
from taat.brokers import open_broker
from taat.cli import screen
from taat.cli.place import Place, StoreOption, existing_memory
from taat.cli.recorded import JsonOption, known_prices, moment
from taat.cli.run import MarketOption
from taat.market import open_market
from taat.models import Post
from taat.procedures import PROCESS_POST, LearntLimits, install
from taat.reports import draw, words
from taat.trader.deciding import Decider
from taat.trader.duties import Duties


def try_post(
    author: Annotated[str, typer.Argument(metavar="ANNOUNCER", help="Who would write it.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What they would write.")],
    at: Annotated[str | None, typer.Option(metavar="DATE", help="When they would; by default now.")] = None,
    market: MarketOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell how a post would be read and judged now, by your rules, positions and what is known of the announcer.

    It runs the stored procedure process_post. No order is placed and the post is not kept.
    """
    with screen.problems_told(as_json=as_json):
        when = moment(at, "--at") or datetime.now(UTC)
        post = Post(id="try", author=author, text=text, created_at=when, feed="try")
        result = asyncio.run(_tried(post, when, market, Place(store)))
        if as_json:
            sys.stdout.write(screen.json_line(result))
            return
        if not result["signals"]:
            draw("It announces no trade.")
        for signal, verdict in zip(result["signals"], result["verdicts"], strict=True):
            side = f" {signal['side']}" if signal["side"] else ""
            draw(f"{signal['action']}{side} {signal['symbol']}: {verdict['outcome'].replace('_', ' ')}")
            for reason in verdict["reasons"] or [f"A size of {verdict['size']}."]:
                draw(f"  {words.plain(reason)}")


async def _tried(post: Post, at: datetime, address: str | None, place: Place) -> dict[str, Any]:
    async with existing_memory(place.folder) as memory:
        market = open_market(address or await known_prices(memory, place) or "announced")
        broker = open_broker("paper", market, directory=place.folder)
        try:
            await install(memory.agent)
            limits = LearntLimits(memory.agent)
            await limits.load()
            Duties(memory, broker, market, Decider(memory, broker, market, limits)).register()
            params = {"post": post.model_dump(mode="json"), "at": at.isoformat()}
            run = await memory.agent.procedural.execute(PROCESS_POST, params)
        finally:
            await broker.close()
            await market.close()
        if run.status != "succeeded":
            raise InvalidInput(f"The post could not be tried: {run.error.message if run.error else run.status}")
        result: dict[str, Any] = run.result
        return result
