"""TAAT: a feed of invented posts from post to position, with memory and paper account in files."""

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.taat_posts import write_posts
from taat.brokers import PaperBroker
from taat.feeds import open_feed
from taat.market import AnnouncedPrices
from taat.market.hours import is_open
from taat.memory import open_memory
from taat.models import AssetClass, Instrument, Post
from taat.trader import Trader

Figure = tuple[str, float, str]


class _Measured(Trader):
    """A trader that knows how much CPU its posts take: those that announce something, and the others."""

    announcing = 0
    announcing_seconds = 0.0

    async def handle(self, post: Post, feed: str, position: str) -> None:
        before, began = self.summary.signals, time.process_time()
        await super().handle(post, feed, position)
        if self.summary.signals > before:
            self.announcing += 1
            self.announcing_seconds += time.process_time() - began


async def figures(posts: int, seed: int = 7) -> list[Figure]:
    """Replay that many posts in a temporary folder. The calendars of the exchanges are loaded before."""
    is_open(Instrument(symbol="NVDA", asset=AssetClass.STOCK), datetime(2026, 3, 2, 15, tzinfo=UTC))
    with tempfile.TemporaryDirectory(prefix="taat-replay-") as name:
        folder = Path(name)
        feed = open_feed(f"file:{write_posts(folder / 'posts.jsonl', posts, seed=seed)}")
        market = AnnouncedPrices(folder / "prices.jsonl")
        broker = PaperBroker(market, folder / "paper.db")
        async with open_memory(folder / "memory.db") as memory:
            trader = _Measured(memory, broker, market)
            began = time.process_time()
            await trader.start()
            summary = await trader.run(feed)
            seconds = time.process_time() - began
            account = await broker.account()
        await broker.close()
        await market.close()
    others = posts - trader.announcing
    return [
        ("posts", posts, "posts"),
        ("posts a second and core", round(posts / seconds, 1), "posts/s"),
        ("posts that announce something", round(100 * trader.announcing / posts, 1), "%"),
        ("an announcing post, CPU", _milliseconds(trader.announcing_seconds, trader.announcing), "ms"),
        ("any other post, CPU", _milliseconds(seconds - trader.announcing_seconds, others), "ms"),
        ("signals followed", summary.accepted, "signals"),
        ("signals refused", summary.refused, "signals"),
        ("executions", summary.executions, "executions"),
        ("errors", summary.errors, "errors"),
        ("equity at the end", float(account.equity), "of 100,000"),
    ]


def _milliseconds(seconds: float, count: int) -> float:
    return round(1_000 * seconds / count, 3) if count else 0.0
