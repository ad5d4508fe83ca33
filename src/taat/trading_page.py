"""The page of the console about trading: the feed with its signals, what is held, and each announcer's record.

The console finds it by its name in the table of pages; it is shown for agents that have followed a feed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from longmind.console.parts.charts import axis, chart, options
from longmind.console.parts.dialogs import dialog
from longmind.console.parts.elements import box, button, text
from longmind.console.parts.figures import figure, plural
from longmind.console.parts.kinds import tag
from longmind.console.parts.lists import first_and_rest
from longmind.console.parts.messages import empty
from longmind.console.parts.panels import grid, panel, title
from longmind.console.parts.times import moment_of
from taat.memory import Announcer, SignalRecord, Trade, TraderMemory
from taat.memory.events import read_record
from taat.models import Post
from taat.trader.why import chain_of, in_words

if TYPE_CHECKING:
    from longmind.console.view import View

_POSTS, _SHOWN = 30, 10
_SIGNALS = 200
_CLOSED = 10


async def build(view: View) -> None:
    """Build the page."""
    title("Trading", "What announcers posted, which signals were read from it, and what following them brought.")
    assert view.agent is not None
    memory = TraderMemory(view.longmind, view.agent)
    posts, signals, announcers = await asyncio.gather(
        memory.agent.episodic.events(type="post", descending=True, limit=_POSTS),
        memory.agent.episodic.events(type="signal", descending=True, limit=_SIGNALS),
        memory.announcers(),
    )
    if not posts.items:
        empty("No feed was followed yet", "Follow one, or the invented one that comes with the package.", "taat run")
        return
    trades = [trade async for trade in memory.trades()]
    held = [trade for trade in trades if not trade.closed and trade.quantity]
    closed = [trade for trade in trades if trade.closed and trade.left]
    with grid():
        profit = sum((trade.profit for trade in closed), Decimal(0))
        figure("Closed trades", f"{len(closed):,}", f"{sum(trade.profit > 0 for trade in closed):,} with a gain")
        figure("Profit", f"{profit:+,.2f}", "of closed trades, after fees")
        figure("Open positions", f"{len(held):,}", "held on an announcer's word")
        figure("Announcers", f"{len(announcers):,}", plural(sum(known.signals for known in announcers), "signal"))
        with panel("Feed", "newest first; signals are marked", "lm-span-7 lm-top"):
            records = [read_record(event, SignalRecord) for event in signals.items]
            read = [read_record(event, Post) for event in posts.items]
            shows = [
                partial(_post, memory, post, [record for record in records if _is_of(record, post)]) for post in read
            ]
            first_and_rest("lm-posts", shows, _SHOWN, "lm-post")
        with box("div", "lm-stack lm-span-5"):
            with panel("Positions", "open now"):
                _positions(memory, held, "Nothing is held.")
            with panel("Announcers", "the return of each closed trade, in percent"):
                for announcer in announcers:
                    _announcer(announcer)
            with panel("Closed last", "newest first"):
                _positions(memory, closed[:_CLOSED], "No trade was closed yet.")


def _is_of(record: SignalRecord, post: Post) -> bool:
    return (record.post.feed, record.post.id, record.post.text) == (post.feed, post.id, post.text)


def _post(memory: TraderMemory, post: Post, records: Sequence[SignalRecord]) -> None:
    records = sorted(records, key=lambda record: record.signal.span.start)
    with box("div", "lm-row"):
        text(post.author, "lm-strong lm-wrap lm-grow")
        moment_of(post.created_at)
    with box("p", "lm-text"):
        _marked(post.text, records)
    for record in records:
        signal = record.signal
        with box("div", "lm-tags"):
            side = f" {signal.side}" if signal.side else ""
            tag(f"{signal.action.replace('_', ' ')}{side} {signal.instrument}", "good")
            text(f"{signal.confidence:.0%} sure", "lm-note lm-num")
            button("Why", partial(_why, memory, record.id))


def _marked(said: str, records: Sequence[SignalRecord]) -> None:
    """Show a post, with the words marked that signals were read from."""
    at = 0
    for record in records:
        start, end = max(at, record.signal.span.start), record.signal.span.end
        if start >= end:
            continue
        if start > at:
            text(said[at:start], "")
        text(said[start:end], "lm-mark", "mark")
        at = end
    if at < len(said):
        text(said[at:], "")


async def _why(memory: TraderMemory, signal: str) -> None:
    chain = in_words(await chain_of(memory, signal))
    with dialog("From the post to what was learnt", wide=True) as opened:
        for heading, lines in chain:
            with box("div", "lm-source"):
                text(heading, "lm-strong", "h3")
                for line in lines:
                    text(line, "lm-text", "p")
        with box("div", "lm-actions"):
            button("Close", opened.close)


def _positions(memory: TraderMemory, trades: Sequence[Trade], nothing: str) -> None:
    if not trades:
        text(nothing, "lm-note", "p")
        return
    with box("ul", "lm-feed lm-positions"):
        for trade in trades:
            with box("li"):
                with box("div"):
                    text(f"{trade.side} {trade.instrument}", "lm-strong lm-wrap", "p")
                    text(_terms(trade), "lm-note lm-wrap", "p")
                with box("span", "lm-tags"):
                    if trade.closed:
                        tag(f"{trade.return_percent:+.1f} %", "good" if trade.profit > 0 else "bad")
                    button("Why", partial(_why, memory, trade.id))


def _terms(trade: Trade) -> str:
    entry = f" at {trade.average_entry:.2f}" if trade.average_entry is not None else ""
    units = trade.entered if trade.closed else trade.quantity
    stop = f", stop {trade.stop.normalize():f}" if trade.stop is not None and not trade.closed else ""
    return f"{units.normalize():f}{entry}{stop}, after {trade.announcer}"


def _announcer(announcer: Announcer) -> None:
    with box("div", "lm-announcer"):
        with box("div", "lm-slider-head"):
            text(announcer.name, "lm-strong lm-wrap")
            average = announcer.expectancy_percent
            won = f"{announcer.wins} of {announcer.trades} won"
            text(f"{won}, {average:+.2f} % on average" if average is not None else "no closed trade yet", "lm-num")
        if announcer.outcomes:
            returns = [round(float(outcome.return_percent), 2) for outcome in announcer.outcomes]
            bars = [{"value": value, "itemStyle": {"color": _colour(value)}} for value in returns]
            shown = options(
                xAxis=axis("category", data=[str(number) for number in range(1, len(returns) + 1)], show=False),
                yAxis=axis("value", axisLine={"show": False}, splitNumber=2),
                series=[{"type": "bar", "data": bars, "barMaxWidth": 18, "emphasis": {"disabled": True}}],
            )
            chart(shown, f"The returns of {len(returns)} trades after {announcer.name}").classes("lm-chart-small")


def _colour(value: float) -> str:
    return "var(--good)" if value > 0 else "var(--bad)"
