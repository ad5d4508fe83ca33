"""Records go into memory and come back equal, in the order of time; rules have their time."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from taat.memory import Announcer, Decision, Execution, RuleCheck, SignalRecord, Trade, open_memory, signal_id
from taat.memory.events import decision_event, execution_event, post_event, signal_event
from taat.memory.names import post_key
from taat.memory.store import announcer_entry, day_entries, trade_entry
from taat.models import Fill, Instrument, Order, Post, Price, Signal, Span

NOON = datetime(2026, 3, 2, 17, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NVDA = Instrument(symbol="NVDA")


def record(number: int, author: str = "ann") -> SignalRecord:
    post = Post(id=str(number), author=author, text="Bought $NVDA at 181.40", created_at=NOON + number * MINUTE)
    signal = Signal(
        instrument=NVDA,
        action="open",
        side="long",
        price=Price(low=Decimal("181.40"), high=Decimal("181.40")),
        confidence=0.9,
        span=Span(start=0, end=22),
    )
    return SignalRecord(id=signal_id(post, 1), announcer=author, post=post, signal=signal)


def execution(of: SignalRecord, price: str) -> Execution:
    order = Order(client_id=f"{of.id}-entry", instrument=NVDA, side="buy", quantity=Decimal(10))
    at = of.post.created_at + MINUTE
    fill = Fill(
        id=f"f{of.id}",
        client_id=order.client_id,
        instrument=NVDA,
        side="buy",
        quantity=Decimal(10),
        price=Decimal(price),
        fee=Decimal("0.05"),
        filled_at=at,
    )
    return Execution(
        id=fill.id,
        signal=of.id,
        trade=of.id,
        announcer=of.announcer,
        instrument=NVDA,
        strategy=of.strategy,
        purpose="entry",
        order=order,
        status="filled",
        fills=(fill,),
        announced_price=of.announced_price,
        announced_at=of.post.created_at,
        at=at,
    )


async def test_records_come_back_as_they_were() -> None:
    async with open_memory() as memory:
        first, second, other = record(1), record(2), record(3, "bo")
        decision = Decision(
            signal=first.id,
            announcer="ann",
            at=NOON + MINUTE,
            accepted=False,
            reason="the price is far off",
            checks=(RuleCheck(rule="price", outcome="refused", reason="the price is far off"),),
        )
        events = [(each.announcer, signal_event(each)) for each in (other, second, first)]
        events += [(each.announcer, post_event(each.post, each.announcer)) for each in (other, second, first)]
        events += [("ann", decision_event(decision)), ("ann", execution_event(execution(first, "181.55")))]
        await memory.write(day_entries(events), "test")

        assert [each async for each in memory.signals("@Ann")] == [first, second]
        assert [each async for each in memory.signals()] == [first, second, other]
        assert [each async for each in memory.posts("bo")] == [other.post]
        assert await memory.signal(second.id) == second
        assert await memory.decision(first.id) == decision
        assert await memory.decision(second.id) is None
        assert [each async for each in memory.executions(symbol="NVDA")] == [execution(first, "181.55")]
        assert not [each async for each in memory.executions(symbol="AMD")]
        assert [event.type for event in await memory.events_of(first.id)] == ["signal", "decision", "execution"]
        unknown = record(9).post
        assert await memory.known_texts([first.post, unknown]) == {post_key(first.post): first.post.text}


async def test_a_post_is_stored_with_its_feed_as_source_and_little_trust() -> None:
    async with open_memory() as memory:
        post = record(1).post
        await memory.write(day_entries([("ann", post_event(post, "ann"))]), "test")
        stored = await memory.agent.list(kinds=["event"])
        assert [(item.source.role, item.source.uri, item.trust) for item in stored.items] == [("document", "file", 0.4)]


async def test_a_trade_is_an_episode_that_ends_with_it() -> None:
    async with open_memory() as memory:
        trade = Trade(
            id="s1",
            announcer="ann",
            instrument=NVDA,
            side="short",
            strategy="stock",
            decided_at=NOON,
            entered=Decimal(10),
            entry_value=Decimal("1815.50"),
        )
        await memory.write([trade_entry(trade)], "test")
        assert [each async for each in memory.trades("ann", open=True)] == [trade]
        closed = trade.model_copy(
            update={"left": Decimal(10), "exit_value": Decimal(1800), "fees": Decimal(1), "closed_at": NOON + MINUTE}
        )
        await memory.write([trade_entry(closed)], "test")
        assert not [each async for each in memory.trades(open=True)]
        stored = await memory.trade("s1")
        assert stored == closed
        assert stored.profit == Decimal("14.50")
        episode = (await memory.agent.episodic.list(type="trade")).items[0]
        assert (episode.outcome, episode.note) == ("succeeded", "+14.50 after fees")


async def test_rules_hold_in_their_time() -> None:
    async with open_memory() as memory:
        rules = memory.knowledge
        await rules.set_rule("fraction of equity", "0.05", valid_from=NOON)
        await rules.set_rule("fraction of equity", "0.02", valid_from=NOON + 10 * MINUTE)
        assert await rules.rules(NOON - MINUTE) == {}
        assert await rules.rules(NOON + MINUTE) == {"fraction of equity": "0.05"}
        assert await rules.rules(NOON + 11 * MINUTE) == {"fraction of equity": "0.02"}
        assert [fact.object for fact in await rules.rule_history("fraction of equity")] == ["0.05", "0.02"]
        await rules.learn_announcer("ann", {"win rate": 0.5, "trades": 4}, valid_from=NOON)
        assert await rules.announcer("ann", NOON) == {"win rate": 0.5, "trades": 4}


async def test_announcers_are_listed() -> None:
    async with open_memory() as memory:
        announcer = Announcer(name="ann", first_post_at=NOON, latest_post_at=NOON, posts=1)
        await memory.write([announcer_entry(announcer)], "test")
        assert await memory.announcers() == (announcer,)
        assert await memory.announcer("@ANN") == announcer
        assert await memory.announcer("bo") is None
