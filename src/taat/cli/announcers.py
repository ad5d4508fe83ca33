"""``taat announcers``: the record of each announcer, and whether they are followed."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from longmind import Fact, NotFound
from taat.cli import screen
from taat.cli.place import StoreOption, existing_memory
from taat.cli.procedures import limits_text
from taat.cli.recorded import JsonOption, read_recorded
from taat.cli.rules import known_facts
from taat.memory import Announcer, announcer_name
from taat.performance import Figures, figures_of, split
from taat.procedures import LearntLimits, Limits
from taat.reports import draw, json_value, rows_table, words
from taat.validation import Rules, from_facts


@dataclass(frozen=True)
class _Row:
    announcer: Announcer
    figures: Figures
    standing: str
    limits: Limits
    """What was learnt of how much and how late to follow."""


def announcers(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One announcer; by default all.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what following each announcer has brought, and whether they are still followed.

    With a name also how they write, as far as it was confirmed. An announcer is suspended with
    `taat rules set announcer-suspended yes --announcer NAME`.
    """
    with screen.problems_told(as_json=as_json):
        rows = asyncio.run(_rows(store))
        if name is not None:
            _show_one(rows, announcer_name(name), asyncio.run(_facts(store, announcer_name(name))), as_json=as_json)
        elif as_json:
            sys.stdout.write(screen.json_line({"announcers": [_json(row) for row in rows]}))
        elif not rows:
            draw("No announcer has posted yet.")
        else:
            heads = ("posts", "signals", "open", "trades", "won", "expectancy", "profit", "slippage", "delay", "limits")
            draw(rows_table(("announcer", "standing"), (*heads, "last post (UTC)"), map(_cells, rows)))


async def _rows(store: Path | None) -> list[_Row]:
    recorded = await read_recorded(store, None)
    by_announcer = split(recorded.matched, "announcer")
    rows = []
    async with existing_memory(store) as memory:
        for_all = await known_facts(memory, None)
        limits = LearntLimits(memory.agent)
        if (await memory.agent.procedural.list("taat", limit=1)).items:
            await limits.load()
        for announcer in recorded.announcers:
            matched = by_announcer.get(announcer.name)
            figures = figures_of(announcer.name, matched) if matched else Figures(name=announcer.name)
            facts = [*for_all, *await known_facts(memory, announcer.name)]
            rules = from_facts(facts, recorded.at, announcer=announcer.name)
            rows.append(_Row(announcer, figures, standing(figures, rules), limits.of(announcer.name)))
    return rows


def standing(figures: Figures, rules: Rules) -> str:
    """Return whether an announcer is followed: ``suspended``, ``loses``, ``new`` or ``followed``."""
    least, average = rules.announcer_minimum_expectancy_percent, figures.expectancy_percent
    judged = figures.trades >= rules.announcer_judged_after_trades
    if rules.announcer_suspended:
        return "suspended"
    if judged and least is not None and average is not None and average < least:
        return "loses"
    return "followed" if figures.trades >= max(1, rules.announcer_minimum_trades) else "new"


def _show_one(rows: list[_Row], name: str, facts: tuple[Fact, ...], *, as_json: bool) -> None:
    row = next((row for row in rows if row.announcer.name == name), None)
    if row is None:
        raise NotFound(f"There is no announcer {name!r}.", hint="`taat announcers` lists them.")
    habits = {fact.predicate: fact.object for fact in facts}
    if as_json:
        sys.stdout.write(screen.json_line({**_json(row), "habits": habits}))
        return
    announcer, figures = row.announcer, row.figures
    draw(
        f"{words.plain(name)}: {row.standing}",
        f"  {announcer.posts:,} posts with {announcer.signals:,} signals, from {announcer.first_post_at:%Y-%m-%d} to "
        f"{announcer.latest_post_at:%Y-%m-%d}",
        f"  {figures.trades:,} closed trades, {words.share(figures.win_rate)} won, "
        f"{words.percent(figures.expectancy_percent, sign=True, places=2)} on average, "
        f"{words.money(figures.profit, sign=True)} in all; {figures.open_positions:,} open",
        f"  followed with {limits_text(row.limits)}",
    )
    held = ", ".join(str(holding.instrument) for holding in announcer.holdings)
    draw(f"  by their own posts they hold {words.plain(held) or 'nothing'}")
    draw("What is known of them, and since when:" if facts else "Nothing was confirmed of how they write.")
    for fact in facts:
        since = f"{fact.valid_from:%Y-%m-%d}" if fact.valid_from else "always"
        draw(f"  {since}  {words.plain(fact.predicate)}: {words.plain(str(fact.object))}")
    if "confirmed examples" not in habits:
        draw("`taat confirm SIGNAL` says that a signal was read rightly; from three examples on habits are learnt.")


async def _facts(store: Path | None, name: str) -> tuple[Fact, ...]:
    async with existing_memory(store) as memory:
        return await memory.knowledge.announcer_facts(name)


def _limits(limits: Limits) -> str:
    if limits == Limits():
        return words.NOTHING
    age = limits.maximum_age_seconds
    return f"{limits.size * 100:.0f} %" + ("" if age is None else f", {age} s")


def _cells(row: _Row) -> tuple[str, ...]:
    announcer, figures = row.announcer, row.figures
    return (
        announcer.name,
        row.standing,
        f"{announcer.posts:,}",
        f"{announcer.signals:,}",
        f"{figures.open_positions:,}",
        f"{figures.trades:,}",
        words.share(figures.win_rate),
        words.percent(figures.expectancy_percent, sign=True, places=2),
        words.money(figures.profit, sign=True),
        words.percent(figures.slippage_percent, sign=True, places=2),
        words.duration(figures.delay_seconds),
        _limits(row.limits),
        f"{announcer.latest_post_at:%Y-%m-%d %H:%M}",
    )


def _json(row: _Row) -> dict[str, Any]:
    announcer = row.announcer
    return {
        "name": announcer.name,
        "standing": row.standing,
        "posts": announcer.posts,
        "signals": announcer.signals,
        "latest_post_at": json_value(announcer.latest_post_at),
        "limits": row.limits.model_dump(mode="json"),
        "figures": json_value(row.figures),
    }
