"""The goal of the account: both criteria are measured, kept with evidence, and missed with a draft that is not sent."""

import json
from datetime import timedelta
from pathlib import Path

from tests.taat.trader.posts import START, write_posts

from taat.brokers import PaperBroker
from taat.feeds import open_feed
from taat.market import ReplayMarket
from taat.memory import open_memory
from taat.memory.names import goal_key
from taat.trader import Happening, Trader
from taat.trader.monitoring import account_goal


def write_prices(path: Path, prices: list[tuple[str, int, str]]) -> Path:
    """Write (symbol, minute, price)."""
    rows = [
        {"symbol": symbol, "asset": "stock", "at": (START + timedelta(minutes=minute)).isoformat(), "price": price}
        for symbol, minute, price in prices
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


async def follow(folder: Path, feed: str, prices: Path) -> list[Happening]:
    market, told = ReplayMarket(prices), list[Happening]()
    broker = PaperBroker(market, folder / "paper.db")
    async with open_memory(folder / "memory.db") as memory:
        trader = Trader(memory, broker, market, observe=told.append)
        await trader.start()
        await trader.run(open_feed(feed))
    await broker.close()
    await market.close()
    return told


async def test_both_criteria_are_measured_and_a_miss_is_drafted_once(tmp_path: Path) -> None:
    feed = tmp_path / "posts.jsonl"
    posts = [("ann", "Bought $NVDA at 100"), ("ann", "Sold half of my $NVDA at 110")]
    prices = [("SPY", 0, "500"), ("NVDA", 0, "100"), ("NVDA", 1, "110"), ("SPY", 1, "500.50")]
    async with open_memory(tmp_path / "memory.db") as memory:
        await memory.knowledge.set_target("maximum-drawdown-percent", "1", valid_from=START - timedelta(days=1))
    told = await follow(tmp_path, write_posts(feed, posts), write_prices(tmp_path / "prices.jsonl", prices))
    assert [each.text for each in told if each.kind in ("alert", "error")] == []
    async with open_memory(tmp_path / "memory.db") as memory:
        goal = await account_goal(memory.agent)
        assert (goal.description, goal.status) == ("Beat SPY with at most 1 % drawdown", "achieved")
        stands = await memory.log(goal_key())
        assert stands["criteria"]["index"]["note"].startswith("The account brought +0.50 %, SPY +0.10 %")
        evidence = goal.criteria[1].evidence[0]
        event = await memory.agent.episodic.find_event(
            (await memory.agent.episodic.find("taat:day:2026-03-02:taat")).id,
            f"metric:{(START + timedelta(minutes=1)).isoformat()}",
        )
        assert evidence.memory == event.id, "the evidence is the measurement"

    posts += [("ann", "nice day"), ("ann", "Sold the rest of my $NVDA at 50")]
    prices += [("NVDA", 3, "50"), ("SPY", 3, "400")]
    told = await follow(tmp_path, write_posts(feed, posts), write_prices(tmp_path / "prices.jsonl", prices))
    (alert,) = [each.text for each in told if each.kind == "alert"]
    assert alert.startswith("Your goal “Beat SPY with at most 1 % drawdown” is missed. The deepest drawdown was 1.4")
    async with open_memory(tmp_path / "memory.db") as memory:
        goal = await account_goal(memory.agent)
        assert (goal.status, [each.met for each in goal.criteria]) == ("active", [False, True])
        assert [event.what async for event in memory.events("draft")] == [alert]

    posts += [("ann", "see you")]
    told = await follow(tmp_path, write_posts(feed, posts), write_prices(tmp_path / "prices.jsonl", prices))
    assert [each.text for each in told if each.kind == "alert"] == [], "it was missed before"
