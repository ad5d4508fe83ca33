"""Posts for the tests of the loop, and a trader on a memory and an account of its own."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from taat.brokers import PaperBroker, PaperSettings
from taat.feeds import open_feed
from taat.market import AnnouncedPrices
from taat.memory import open_memory
from taat.trader import Happening, Trader

START = datetime(2026, 3, 2, 15, tzinfo=UTC)
"""A Monday, half an hour after the opening."""


def write_posts(path: Path, posts: Sequence[tuple[str, str]], *, ids: Sequence[str] | None = None) -> str:
    """Write (author, text) as a feed, a minute apart, and return its address."""
    with path.open("w") as file:
        for number, (author, text) in enumerate(posts):
            id = ids[number] if ids else str(number + 1)
            at = START + timedelta(minutes=number)
            file.write(json.dumps({"id": id, "author": author, "text": text, "created_at": at.isoformat()}) + "\n")
    return f"file:{path}"


def append(feed: Path, line: str) -> None:
    """Add a line to a feed."""
    with feed.open("a") as file:
        file.write(line + "\n")


class Followed:
    """What a run left: the trader and what it told."""

    def __init__(self, trader: Trader, told: list[Happening]) -> None:
        self.trader = trader
        self.told = told

    @property
    def decisions(self) -> list[tuple[bool, str]]:
        return [(each.decision.accepted, each.text) for each in self.told if each.decision is not None]

    @property
    def executions(self) -> list[str]:
        return [each.text for each in self.told if each.kind == "execution"]

    async def positions(self) -> dict[str, str]:
        held = await self.trader.broker.positions()
        return {str(position.instrument): f"{position.quantity:f}" for position in held}


@asynccontextmanager
async def following(
    feed: str, folder: Path | None = None, settings: PaperSettings | None = None
) -> AsyncIterator[Followed]:
    """Run a feed to its end; with a folder the memory, the account and the prices stay there."""
    market = AnnouncedPrices(folder / "prices.jsonl" if folder else None)
    broker = PaperBroker(market, folder / "paper.db" if folder else None, settings)
    told: list[Happening] = []
    try:
        async with open_memory(folder / "memory.db" if folder else None) as memory:
            trader = Trader(memory, broker, market, observe=told.append)
            await trader.start()
            await trader.run(open_feed(feed))
            yield Followed(trader, told)
    finally:
        await broker.close()
        await market.close()
