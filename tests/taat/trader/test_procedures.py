"""The stored procedures: all of them are there, run, and change what the loop does."""

from pathlib import Path

from tests.taat.trader.posts import START, following, write_posts

from taat.brokers import PaperBroker
from taat.market import AnnouncedPrices
from taat.memory import TraderMemory, open_memory
from taat.procedures import PROCEDURES, install
from taat.trader import Trader

POST = {"id": "9", "author": "bo", "text": "Bought $NVDA at 200", "created_at": START.isoformat(), "feed": "test"}


async def test_process_post_reads_and_judges_without_acting(tmp_path: Path) -> None:
    feed = write_posts(tmp_path / "posts.jsonl", [("ann", "Bought $NVDA at 200")])
    async with following(feed) as run:
        procedural = run.trader.memory.agent.procedural
        stored = {version.name for version in (await procedural.list("taat", limit=100)).items}
        assert stored == {definition["name"] for definition in PROCEDURES}
        done = await procedural.execute("process_post", {"post": POST, "at": START.isoformat()})
        assert done.status == "succeeded", done.error
        assert [signal["symbol"] for signal in done.result["signals"]] == ["NVDA"]
        (verdict,) = done.result["verdicts"]
        assert (verdict["outcome"], verdict["size"]) == ("accepted", "25")
        assert await run.positions() == {"NVDA": "25"}
        again = {**POST, "author": "ann", "text": "Sold all my $NVDA at 210"}
        judged = await procedural.execute("validate_signal", {"post": again, "at": START.isoformat()})
        assert (judged.result[0]["outcome"], judged.result[0]["size"]) == ("accepted", "25")


async def batch_of_a_new_trader(memory: TraderMemory) -> int:
    market = AnnouncedPrices()
    broker = PaperBroker(market)
    trader = Trader(memory, broker, market)
    await trader.start()
    await broker.close()
    await market.close()
    return trader.batch


async def test_the_loop_takes_its_pace_from_the_stored_procedure(tmp_path: Path) -> None:
    async with open_memory(tmp_path / "memory.db") as memory:
        await install(memory.agent)
        definition = (await memory.agent.procedural.retrieve("process_post")).procedure.model_dump(mode="json")
        definition["parameters"]["properties"]["batch"]["default"] = 7
        await memory.agent.procedural.store(definition, why="smaller batches")
        assert await batch_of_a_new_trader(memory) == 7
        await memory.agent.procedural.rollback("process_post")
    async with open_memory(tmp_path / "memory.db") as memory:
        assert await batch_of_a_new_trader(memory) == 200


async def test_a_stop_that_is_placed_afterwards_is_managed_by_its_own_procedure(tmp_path: Path) -> None:
    posts = [
        ("bo", "Bought $NVDA at 195"),
        ("ann", "Limit order in to buy $NVDA at 190, stop at 180"),
        ("cy", "Bought $NVDA at 189"),
        ("cy", "hello"),
    ]
    async with following(write_posts(tmp_path / "posts.jsonl", posts)) as run:
        runs = (await run.trader.memory.agent.procedural.runs("manage_orders")).items
        assert [each.status for each in runs] == ["succeeded"]
        (waiting,) = await run.trader.broker.open_orders()
        assert (waiting.order.kind, waiting.order.stop_price) == ("stop", 180)
