"""Messages that are drafted when positions open and close, and the market patterns that executions show."""

from pathlib import Path

from tests.taat.trader.posts import append, following, write_posts

from taat.memory import open_memory

POSTS = [("ann", "Bought $NVDA at 180"), ("ann", "Sold half my $NVDA at 185"), ("ann", "Sold all my $NVDA at 190")]


async def test_a_message_is_drafted_once_when_a_position_opens_and_when_it_closes(tmp_path: Path) -> None:
    async with open_memory(tmp_path / "memory.db") as memory:
        await memory.knowledge.set_preference("draft-messages", "yes")
    feed = write_posts(tmp_path / "posts.jsonl", POSTS)
    async with following(feed, tmp_path) as run:
        texts = [each.text for each in run.told if each.kind == "draft"]
        assert texts == [
            "ann: opened long NVDA at 180.",
            "ann: closed long NVDA at 187.59259. Result: +205.00 (+4.22 %).",
        ]
        drafts = [event async for event in run.trader.memory.events("draft")]
        assert [event.what for event in drafts] == texts
    append(
        tmp_path / "posts.jsonl",
        '{"id": "9", "author": "ann", "text": "Good night", "created_at": "2026-03-02T20:00:00+00:00"}',
    )
    async with following(feed, tmp_path) as run:
        assert [each.text for each in run.told if each.kind == "draft"] == []
        assert len([event async for event in run.trader.memory.events("draft")]) == 2


async def test_nothing_is_drafted_unless_it_is_wanted(tmp_path: Path) -> None:
    async with following(write_posts(tmp_path / "posts.jsonl", POSTS)) as run:
        assert [event async for event in run.trader.memory.events("draft")] == []


async def test_the_usual_slippage_and_delay_are_facts_of_a_symbol_and_an_hour(tmp_path: Path) -> None:
    texts = [text for n in range(3) for text in (f"Bought $NVDA at {180 + n}", f"Sold all my $NVDA at {190 + n}")]
    feed = write_posts(tmp_path / "posts.jsonl", [("ann", text) for text in texts])
    async with following(feed) as run:
        knowledge = run.trader.memory.knowledge
        expected = {"executions": 6, "usual delay seconds": 0.0, "usual slippage percent": "0.0000"}
        assert await knowledge.pattern("NVDA") == expected
        assert (await knowledge.pattern("15:00 UTC"))["executions"] == 6
        assert await knowledge.pattern("AAPL") == {}
