"""From posts to positions: whose word counts for what, sizes, stops, repeats, and what memory has of it."""

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from tests.taat.trader.posts import START, Followed, append, following, write_posts

from longmind import InvalidInput
from taat.brokers import PaperSettings
from taat.memory import Trade, open_memory
from taat.memory.names import goal_key


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    return tmp_path / "posts.jsonl"


async def trades(run: Followed) -> list[Trade]:
    return [trade async for trade in run.trader.memory.trades()]


async def test_what_one_announcer_closes_was_opened_for_them(feed: Path) -> None:
    posts = [("ann", "Bought $NVDA at 180"), ("bo", "Bought $NVDA at 180"), ("ann", "Sold all my $NVDA at 190")]
    async with following(write_posts(feed, posts)) as run:
        assert await run.positions() == {"NVDA": "27"}
        (held,) = [trade for trade in await trades(run) if not trade.closed]
        (closed,) = [trade for trade in await trades(run) if trade.closed]
        assert (held.announcer, held.quantity) == ("bo", 27)
        assert (closed.announcer, closed.profit) == ("ann", Decimal(270))
        ann = await run.trader.memory.announcer("ann")
        assert ann is not None
        assert (ann.posts, ann.trades, ann.wins, ann.profit) == (2, 1, 1, Decimal(270))


async def test_a_close_of_somebody_for_whom_nothing_is_held_is_refused(feed: Path) -> None:
    posts = [("ann", "Bought $NVDA at 180"), ("bo", "Sold all my $NVDA at 190")]
    async with following(write_posts(feed, posts)) as run:
        assert await run.positions() == {"NVDA": "27"}
        assert run.decisions[1] == (False, "Nothing of NVDA is held on the word of bo.")


async def test_the_size_is_ours_and_a_part_is_the_announcers_part(feed: Path) -> None:
    posts = [("ann", "Bought 200 shares of $NVDA at 200"), ("ann", "Sold 50 shares of $NVDA at 210")]
    async with following(write_posts(feed, posts)) as run:
        assert run.executions == ["entered: buy 25 NVDA at 200", "left: sell 6 NVDA at 210"]


async def test_a_stop_rests_with_the_broker_and_follows_the_position(feed: Path) -> None:
    posts = [
        ("ann", "Bought $NVDA at 200, stop at 190"),
        ("ann", "took half off my $NVDA here at 210"),
        ("ann", "stop to flat on $NVDA"),
        ("bo", "Bought $NVDA at 199"),
    ]
    async with following(write_posts(feed, posts)) as run:
        assert run.executions[:3] == [
            "entered: buy 25 NVDA at 200",
            "left: sell 12 NVDA at 210",
            "stopped out: sell 13 NVDA at 199",
        ]
        assert await run.trader.broker.open_orders() == []
        (closed,) = [trade for trade in await trades(run) if trade.closed]
        assert closed.profit == Decimal(120 - 13)
        assert closed.learnt


async def test_the_same_post_again_changes_nothing_and_an_edit_places_no_order(feed: Path) -> None:
    posts = [
        ("ann", "Bought $NVDA at 200"),
        ("ann", "Bought $NVDA at 200"),
        ("ann", "Bought $AMD at 150"),
        ("ann", "hello"),
        ("ann", "hello everyone"),
    ]
    async with following(write_posts(feed, posts, ids=["1", "1", "1", "2", "2"])) as run:
        assert await run.positions() == {"NVDA": "25"}
        summary = run.trader.summary
        assert (summary.signals, summary.duplicates, summary.edits) == (1, 1, 2)
        texts = [post.text async for post in run.trader.memory.posts()]
        assert sorted(texts) == ["Bought $AMD at 150", "Bought $NVDA at 200", "hello", "hello everyone"]


async def test_the_same_announcement_in_another_post_is_a_duplicate(feed: Path) -> None:
    posts = [("ann", "Bought $NVDA at 200"), ("ann", "Bought $NVDA at 200")]
    async with following(write_posts(feed, posts)) as run:
        assert [accepted for accepted, _ in run.decisions] == [True, False]
        assert await run.positions() == {"NVDA": "25"}


async def test_a_second_run_goes_on_where_the_first_ended(feed: Path, tmp_path: Path) -> None:
    posts = [("ann", "Bought $NVDA at 200, stop at 190"), ("ann", "nice day")]
    async with following(write_posts(feed, posts), tmp_path) as run:
        assert run.trader.summary.posts == 2
    posts += [("ann", "trimmed half at 210"), ("ann", "closed the rest at 220")]
    async with following(write_posts(feed, posts), tmp_path) as run:
        assert run.trader.summary.posts == 2
        assert await run.positions() == {}
        assert len(await trades(run)) == 1
        assert (await run.trader.broker.account()).cash == 100_000 + 12 * 10 + 13 * 20


async def test_rules_are_facts_of_their_time(feed: Path, tmp_path: Path) -> None:
    posts = [("ann", "Bought $NVDA at 200"), ("ann", "Bought $AMD at 100"), ("bo", "Bought $AMD at 100")]
    async with open_memory(tmp_path / "memory.db") as memory:
        rules = memory.knowledge
        await rules.set_rule("position percent", "1", valid_from=START + timedelta(seconds=30))
    async with following(write_posts(feed, posts), tmp_path) as run:
        assert run.executions[:2] == ["entered: buy 25 NVDA at 200", "entered: buy 10 AMD at 100"]


async def test_the_chain_from_post_to_execution_is_in_memory(feed: Path) -> None:
    async with following(write_posts(feed, [("ann", "Bought $NVDA at 200, stop at 190")])) as run:
        memory = run.trader.memory
        (record,) = [signal async for signal in memory.signals()]
        events = await memory.events_of(record.id)
        assert [event.type for event in events] == ["detection", "signal", "decision", "execution"]
        decision = await memory.decision(record.id)
        assert decision is not None
        assert decision.procedure_version == 1
        assert len(decision.checks) > 10
        (runs,) = (await memory.agent.procedural.runs("execute_trade")).items
        assert runs.status == "succeeded"


async def test_the_end_of_a_run_leaves_facts_a_goal_and_what_is_in_mind(feed: Path) -> None:
    posts = [("ann", "Bought $NVDA at 200"), ("ann", "Sold all my $NVDA at 210")]
    async with following(write_posts(feed, posts)) as run:
        memory = run.trader.memory
        facts = await memory.knowledge.announcer("ann")
        assert (facts["closed trades"], facts["won trades"], facts["profit"]) == (1, 1, "250.00")
        (goal,) = (await memory.agent.goals.list()).items
        assert goal.description == "Beat SPY with at most 10 % drawdown"
        stands = await memory.log(goal_key())
        assert (stands["equity"], stands["drawdown_percent"]) == ("100250.00", "0.0000")
        assert [criterion.met for criterion in goal.criteria] == [True, False], "nothing says what SPY brought"
        session = memory.agent.working.session("taat")
        task, in_mind = await session.task(), await session.variables()
        assert task.name == "follow announcers"
        assert in_mind["user"]["goal"] == "Beat SPY with at most 10 % drawdown"
        assert in_mind["results"]["accepted"] == 2
        at_hand = in_mind["decision at hand"]
        assert "Sold all my $NVDA" in at_hand["post"]
        assert at_hand["result"] == {"outcome": "accepted", "size": "25", "price": "210"}
        assert at_hand["drawn"]["episodic"]["open_trades"][0]["instrument"] == "NVDA"
        assert at_hand["drawn"]["procedural"]["version"] == 1
        assert run.trader.summary.errors == 0
        draft = await memory.agent.procedural.execute("draft_message", {"signal": run.told[0].record.id})
        assert draft.result.startswith("ann: open long NVDA at 200. buy 25 NVDA")


async def test_the_other_side_of_what_an_account_holds_is_refused(feed: Path) -> None:
    posts = [
        ("ann", "Bought $NVDA at 200, stop at 190"),
        ("bo", "Shorted $NVDA at 200, stop at 210"),
        ("ann", "Sold all my $NVDA at 205"),
        ("bo", "Shorted $NVDA at 204, stop at 214"),
    ]
    async with following(write_posts(feed, posts)) as run:
        assert [accepted for accepted, _ in run.decisions] == [True, False, True, True]
        assert run.decisions[1][1] == (
            "NVDA is held or ordered long on the word of ann, and an account has one side of an instrument."
        )
        assert await run.positions() == {"NVDA": "-24"}
        assert run.trader.summary.errors == 0


async def test_an_error_runs_the_procedure_that_is_stored_for_it(feed: Path, tmp_path: Path) -> None:
    posts = [("ann", "Bought $NVDA at 200, stop at 190"), ("ann", "hello"), ("bo", "hi")]
    dear = PaperSettings(fee_minimum=Decimal(1_000_000))
    async with following(write_posts(feed, posts), tmp_path, dear) as run:
        assert run.trader.summary.errors == 1
        memory = run.trader.memory
        (handled,) = (await memory.agent.procedural.runs("handle_error")).items
        assert handled.status == "succeeded"
        errors = (await memory.agent.episodic.events(type="error")).items
        assert [event.what.partition(",")[0] for event in errors] == ["buy 25 NVDA: rejected"]
        assert errors[0].tags == (f"signal:{run.told[0].record.id}",)


async def test_what_ends_a_run_is_handled_and_told(feed: Path, tmp_path: Path) -> None:
    address = write_posts(feed, [("ann", "Bought $NVDA at 200")])
    append(feed, "this is no post")
    with pytest.raises(InvalidInput):
        async with following(address, tmp_path):
            pass
    async with open_memory(tmp_path / "memory.db") as memory:
        (event,) = (await memory.agent.episodic.events(type="error")).items
        assert event.what.startswith("The run ended: InvalidInput:")


async def test_a_post_is_known_after_a_restart_whatever_its_time_and_author(feed: Path, tmp_path: Path) -> None:
    async with following(write_posts(feed, [("ann", "Bought $NVDA at 200"), ("bo", "hello")]), tmp_path):
        pass
    for id, author, text in (("1", "ann_renamed", "Bought $NVDA at 200"), ("2", "bo_renamed", "hello")):
        later = (START + timedelta(days=3)).isoformat()
        append(feed, json.dumps({"id": id, "author": author, "text": text, "created_at": later}))
    async with following(f"file:{feed}", tmp_path) as run:
        assert (run.trader.summary.posts, run.trader.summary.duplicates, run.trader.summary.signals) == (2, 2, 0)
        assert await run.positions() == {"NVDA": "25"}
        assert len([post async for post in run.trader.memory.posts()]) == 2


async def test_the_same_file_under_another_spelling_is_the_same_feed(
    feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with following(write_posts(feed, [("ann", "Bought $NVDA at 200")]), tmp_path):
        pass
    monkeypatch.chdir(tmp_path)
    for spelling in (feed.name, f".//{feed.name}", f"../{tmp_path.name}/{feed.name}"):
        async with following(f"file:{spelling}", tmp_path) as run:
            assert run.trader.summary.posts == 0
            assert await run.positions() == {"NVDA": "25"}
