"""``taat announcers``: the record of each announcer, and whether they are followed."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taat.cli import screen
from taat.cli.place import StoreOption, existing_memory
from taat.cli.recorded import JsonOption, read_recorded
from taat.cli.rules import known_facts
from taat.memory import Announcer
from taat.performance import Figures, figures_of, split
from taat.reports import draw, json_value, rows_table, words
from taat.validation import Rules, from_facts


@dataclass(frozen=True)
class _Row:
    announcer: Announcer
    figures: Figures
    standing: str


def announcers(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Tell what following each announcer has brought, and whether they are still followed.

    An announcer is suspended with `taat rules set announcer-suspended yes --announcer NAME`.
    """
    with screen.problems_told(as_json=as_json):
        rows = asyncio.run(_rows(store))
        if as_json:
            sys.stdout.write(screen.json_line({"announcers": [_json(row) for row in rows]}))
        elif not rows:
            draw("No announcer has posted yet.")
        else:
            heads = ("posts", "signals", "open", "trades", "won", "expectancy", "profit", "slippage", "delay")
            draw(rows_table(("announcer", "standing"), (*heads, "last post (UTC)"), map(_cells, rows)))


async def _rows(store: Path | None) -> list[_Row]:
    recorded = await read_recorded(store, None)
    by_announcer = split(recorded.matched, "announcer")
    rows = []
    async with existing_memory(store) as memory:
        for_all = await known_facts(memory, None)
        for announcer in recorded.announcers:
            matched = by_announcer.get(announcer.name)
            figures = figures_of(announcer.name, matched) if matched else Figures(name=announcer.name)
            facts = [*for_all, *await known_facts(memory, announcer.name)]
            rules = from_facts(facts, recorded.at, announcer=announcer.name)
            rows.append(_Row(announcer, figures, standing(figures, rules)))
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
        "figures": json_value(row.figures),
    }
