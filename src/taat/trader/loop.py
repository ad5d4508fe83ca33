"""The loop: one post in, memory and orders out.

Everything after a post can be done again with the same result. A decision is stored before its orders are placed, and
with it that the post is at work; executions are taken from the broker after the last one that memory has. So whatever
was going on when the process was killed is finished at the next start, and nothing is done twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any

from taat.brokers import Broker
from taat.feeds import Feed
from taat.market import AnnouncedPrices, Market
from taat.memory import Announcer, Decision, Detection, Execution, SignalRecord, TraderMemory
from taat.memory.events import (
    decision_event,
    detection_event,
    post_event,
    read_record,
    signal_event,
)
from taat.memory.names import announcer_name, post_key
from taat.memory.store import day_of
from taat.models import Post
from taat.procedures import (
    PROCESS_POST,
    LearntLimits,
    OrderTools,
    install,
)
from taat.trader.book import Book
from taat.trader.deciding import Confirm, Decider
from taat.trader.drafting import Drafts
from taat.trader.duties import Duties
from taat.trader.errors import Errors
from taat.trader.executing import Executor
from taat.trader.happenings import Happening, Summary
from taat.trader.intake import Intake
from taat.trader.journal import Journal
from taat.trader.outcomes import Outcomes
from taat.trader.reading import Reader, records_of

WATCH_EVERY = timedelta(minutes=15)
"""How often the goal is measured while a live feed is followed."""


class Trader:
    """Follows announcers: reads their posts, decides, trades and learns. One at a time for a memory and an account."""

    def __init__(
        self,
        memory: TraderMemory,
        broker: Broker,
        market: Market,
        *,
        confirm: Confirm | None = None,
        confirm_all: bool = False,
        observe: Callable[[Happening], None] | None = None,
        batch: int | None = None,
    ) -> None:
        self.memory = memory
        self.broker = broker
        self.market = market
        self.book = Book()
        self.summary = Summary()
        self.journal = Journal(memory, broker.name, self.book)
        self._errors = Errors(memory, self.journal)
        self._reader = Reader(memory)
        self._limits = LearntLimits(memory.agent)
        self._decider = Decider(memory, broker, market, self._limits, confirm=confirm, confirm_all=confirm_all)
        self._observe = observe or (lambda happening: None)
        self._drafts = Drafts(memory, self.journal, self._tell_draft)
        self._outcomes = Outcomes(
            memory, self.journal, self.book, self._reader, self._limits, self._drafts, self._tell_learnt
        )
        self._intake = Intake(memory, self.journal, self._reader, self.summary, self._tell_edit)
        self._executor = Executor(
            memory,
            broker,
            self.journal,
            self.book,
            self.summary,
            self._outcomes,
            self._drafts,
            self._tell_execution,
            self._error,
        )
        self._own_batch = batch
        self.batch, self._idle_seconds = 1, 1.0
        self._live = False
        self._positions: dict[str, str] = {}
        self._latest: datetime | None = None
        self._watched: datetime | None = None
        self._decided_at: datetime | None = None
        self._session = memory.agent.working.session("taat")
        self._in_mind: tuple[SignalRecord, Decision] | None = None
        self.stopped = False

    def stop(self) -> None:
        """End the run after the post at hand."""
        self.stopped = True

    # -- beginning and end ---------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Load what is open and finish what was at work when the last process ended."""
        orders = OrderTools(self.broker)
        self.memory.longmind.tool(orders.place_orders)
        Duties(self.memory, self.broker, self.market, self._decider).register()
        await install(self.memory.agent)
        await self._limits.load()
        await self._load_pace()
        await self._begin_session()
        await self.journal.load()
        held = [trade async for trade in self.memory.trades(open=True)]
        self.book.trades = {trade.id: trade for trade in sorted(held, key=lambda trade: (trade.decided_at, trade.id))}
        for trade_id in self.journal.to_learn:
            closed = await self.memory.trade(trade_id)
            if closed is not None and not closed.learnt:
                self.book.closed.append(closed)
        await self._outcomes.learn()
        if (unfinished := self.journal.get("protecting")) is not None:
            await self._executor.place_protection(unfinished)
        if (work := self.journal.at_work) is not None:
            await self._finish(work)

    async def _begin_session(self) -> None:
        """Begin a trading session in working memory, with the account and what the user wants."""
        knowledge = self.memory.knowledge
        targets, preferences = await knowledge.targets(), await knowledge.preferences()
        self._decider.wanted = {
            "goal": targets.goal,
            **{n: preferences.text(n) for n in type(preferences).model_fields},
        }
        self._drafts.wanted = preferences.draft_messages
        session = {"account": self.broker.name, "user": self._decider.wanted}
        await self._session.begin_task("follow announcers", goal=targets.goal, variables=session)

    async def _load_pace(self) -> None:
        """Take from the stored procedure how many events are gathered, and how long a live feed may be silent."""
        procedure = (await self.memory.agent.procedural.retrieve(PROCESS_POST)).procedure
        properties = procedure.parameters["properties"]
        self.batch = self._own_batch or int(properties["batch"]["default"])
        self._idle_seconds = float(properties["idle_seconds"]["default"])

    async def run(self, feed: Feed, *, posts: int | None = None) -> Summary:
        """Handle the posts of a feed from where it was left; at most ``posts`` of them."""
        try:
            await self._follow(feed, posts)
        except Exception as error:
            await self._errors.ended_by(error, self._moment(None) or datetime.now(UTC))
            raise
        return self.summary

    async def _follow(self, feed: Feed, posts: int | None) -> None:
        self._live = feed.live
        position = self.journal.position(feed.name)
        async with aclosing(feed.deliveries(after=position)) as deliveries:
            following = asyncio.ensure_future(anext(deliveries, None))
            try:
                while not self.stopped:
                    if feed.live and not following.done():
                        await asyncio.wait([following], timeout=self._idle_seconds)
                        if not following.done():
                            await self.idle()
                            continue
                    delivery = await following
                    if delivery is None:
                        break
                    await self.handle(delivery.post, feed.name, delivery.position)
                    if posts is not None and self.summary.posts >= posts:
                        break
                    following = asyncio.ensure_future(anext(deliveries, None))
            finally:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
        await self.idle()
        await self._conclude()

    async def _conclude(self) -> None:
        """End a run: announcers' records become facts, the goal is measured, and the books are compared."""
        at = self._moment(None)
        if at is None:
            return
        moment = {"at": at.isoformat()}
        for announcer in sorted(self._outcomes.announcers):
            await self._duty("track_performance", {"announcer": announcer, **moment}, at)
        now = datetime.now(UTC).isoformat()
        for announcer in sorted(self._decider.confirmed):
            await self._duty("learn_habits", {"announcer": announcer, "at": now}, at)
        if self.summary.executions:
            await self._duty("learn_market_patterns", moment, at)
        await self._watch_goal(at)
        for difference in await self._duty("maintain", moment, at) or ():
            self._error(f"Memory and broker differ: {difference}", at, "taat")
        await self._session.set("results", vars(self.summary))
        await self.journal.flush()
        await self._errors.handle()

    async def _watch_goal(self, at: datetime) -> None:
        """Measure the account against its goal; an alert is drafted when it is missed, and told here."""
        self._watched = at
        measured = await self._duty("monitor_account", {"at": at.isoformat()}, at) or {}
        for what in measured.get("alerts", ()):
            params = {"goal": measured["goal"], "what": what, "at": at.isoformat()}
            self._tell("alert", at, "taat", str(await self._duty("draft_alert", params, at)))

    async def _duty(self, name: str, params: dict[str, Any], at: datetime) -> Any:
        """Run a stored procedure beside the loop and return its result; that it failed is an error of the run."""
        run = await self.memory.agent.procedural.execute(name, params)
        if run.status != "succeeded":
            self._error(f"The procedure {name} {run.status}: {run.error.message if run.error else ''}", at, "taat")
        return run.result

    async def idle(self) -> None:
        """Use a pause: take what the broker executed meanwhile, and store everything."""
        if self.book.trades and (at := self._moment(None)) is not None:
            await self._executor.reconcile(at)
        await self._flush_all()
        if self.book.closed:
            await self._outcomes.learn()
            await self.journal.flush()
        if self._live and (self._watched is None or datetime.now(UTC) - self._watched >= WATCH_EVERY):
            await self._watch_goal(datetime.now(UTC))

    def _moment(self, post: Post | None) -> datetime | None:
        """Return the moment of what is done now: with a live feed it is now, in a replay the time of the post."""
        if self._live:
            return datetime.now(UTC)
        return post.created_at if post is not None else self._latest

    # -- posts ---------------------------------------------------------------------------------------------------

    async def handle(self, post: Post, feed: str, position: str) -> None:
        """Handle a post. What announces nothing is stored together with the posts around it."""
        self.summary.posts += 1
        self._latest = max(self._latest or post.created_at, post.created_at)
        announcer = await self._reader.announcer(post)
        signals = self._reader.read(post, announcer)
        self._positions[feed] = position
        if self._intake.seen(post):
            self._intake.repeated(post)
        elif not signals and not post.edited:
            self._intake.add_chatter(post)
        elif await self._intake.is_stored(post) or post.edited:
            self._intake.repeated(post)
        else:
            announcer = await self._reader.announcer(post)
            await self._announced(post, announcer, records_of(post, announcer.name, signals))
        if self.journal.pending + self._intake.waiting >= self.batch:
            await self._flush_all()

    async def _flush_all(self) -> None:
        """Store everything, also the chatter, and how far the feeds are read.

        What an announcement asks to be stored at once leaves the chatter of others and the positions where they are:
        after a kill these posts come again, and those that are stored are recognised.
        """
        await self._intake.take_all()
        for feed, position in self._positions.items():
            self.journal.moved(feed, position)
        self._positions = {}
        await self.journal.flush()
        await self._errors.handle()
        await self._drafts.write()
        await self._attend()

    async def _announced(self, post: Post, announcer: Announcer, records: tuple[SignalRecord, ...]) -> None:
        at = self._moment(post) or post.created_at
        self.summary.signals += len(records)
        records = self._reader.with_fractions(announcer, records)
        announcer = self._reader.after_signals(post, announcer, records)
        self.journal.put(announcer)
        self.journal.add(announcer.name, post_event(post, announcer.name))
        found = Detection(post=post, announcer=announcer.name, signals=tuple(record.id for record in records))
        self.journal.add(announcer.name, detection_event(found))
        for record in records:
            self.journal.add(announcer.name, signal_event(record))
        work = {"day": day_of(post), "post": post_key(post), "signals": [r.id for r in records], "at": at.isoformat()}
        self.journal.set(at_work=work)
        await self._deal(records, at)

    async def _finish(self, work: Any) -> None:
        """Finish the post that was at work when the last process ended."""
        day = await self.memory.agent.episodic.find(work["day"])
        records = []
        for signal in work["signals"]:
            event = day and await self.memory.agent.episodic.find_event(day.id, f"signal:{signal}")
            if event:
                records.append(read_record(event, SignalRecord))
        if records:
            await self._reader.announcer(records[0].post)
            self._latest = max(record.post.created_at for record in records)
        await self._deal(tuple(records), datetime.fromisoformat(work["at"]), again=True)
        await self.journal.flush()

    async def _deal(self, records: tuple[SignalRecord, ...], at: datetime, *, again: bool = False) -> None:
        """Decide on the signals of a post and act, one after the other; ``again`` when some may be decided already."""
        await self._tell_prices(records)
        for record in records:
            known = await self.memory.decision(record.id) if again else None
            decision = known or await self._decision(record, at)
            if decision.accepted and (decision.orders or decision.cancels):
                await self._executor.execute(decision, at)
        self.journal.set(at_work=None)

    async def _tell_prices(self, records: tuple[SignalRecord, ...]) -> None:
        """Without market data, what announcers say is the price.

        A price of an earlier moment than a decision that is not stored yet would change what that decision is based on.
        """
        if not isinstance(self.market, AnnouncedPrices):
            return
        for record in records:
            at = record.post.created_at
            if (price := record.announced_price) is None or record.signal.action == "limit":
                continue
            if self.journal.has_decision and self._decided_at is not None and at <= self._decided_at:
                await self.journal.flush()
            self.market.tell(record.signal.instrument, price, at)

    # -- decisions -----------------------------------------------------------------------------------------------

    async def _decision(self, record: SignalRecord, at: datetime) -> Decision:
        """Decide on a signal. The decision is stored before its orders are placed, and before time goes on."""
        await self._executor.reconcile(at)
        announcer = await self._reader.announcer(record.post)
        habits = self._reader.profile(announcer.name)
        decided = await self._decider.decide(record, announcer, self.book, at, edited=False, habits=habits)
        decision = decided.decision
        self.journal.put(self._reader.after_decision(record, announcer))
        self.journal.add(announcer.name, decision_event(decision))
        if decided.plan is not None:
            self.book.put(decided.plan.trade)
        self.summary.accepted += decision.accepted
        self.summary.refused += not decision.accepted
        self.journal.has_decision = True
        self._decided_at = max(at, self._decided_at or at)
        self._in_mind = (record, decision)
        if decision.accepted:
            await self.journal.flush()
        self._tell("decision", at, announcer.name, decision.reason, record=record, decision=decision)
        return decision

    async def _attend(self) -> None:
        """Have the latest decision in mind: the post, what the decision drew on, and what was worked out."""
        if self._in_mind is None:
            return
        (record, decision), self._in_mind = self._in_mind, None
        context = dict(decision.context)
        drawn = {
            "episodic": {name: context[name] for name in ("announcer", "holdings", "open_trades", "quote", "equity")},
            "semantic": {name: context[name] for name in ("rules", "habits", "wanted")},
            "procedural": {"version": decision.procedure_version, "limits": context["limits"]},
        }
        at_hand = {"post": f"{record.announcer}: {record.quote}", "drawn": drawn, "decision": decision.reason}
        await self._session.set("decision at hand", {**at_hand, "result": context["result"]})

    # -- telling -------------------------------------------------------------------------------------------------

    def _tell(self, kind: str, at: datetime, announcer: str, text: str, **more: Any) -> None:
        self._observe(Happening(kind, at, announcer, text, **more))

    def _tell_execution(self, execution: Execution, what: str) -> None:
        self._tell("execution", execution.at, execution.announcer, what, execution=execution)

    def _tell_edit(self, post: Post) -> None:
        self._tell("edit", post.created_at, announcer_name(post.author), f"edited: {post.text}")

    def _tell_draft(self, at: datetime, announcer: str, text: str) -> None:
        self._tell("draft", at, announcer, text)

    def _tell_learnt(self, at: datetime, announcer: str, what: str) -> None:
        self._tell("learnt", at, announcer, what)

    def _error(self, what: str, at: datetime, announcer: str, signal: str | None = None, *, key: str = "") -> None:
        self.summary.errors += 1
        self._errors.add(what, at, announcer, signal, key or f"{at.isoformat()} {what}")
        self._tell("error", at, announcer, what)
