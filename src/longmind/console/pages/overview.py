"""Overview: what the chosen agent holds, how it grew, what it costs, and what changed lately."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from longmind.config import AgentSettings
from longmind.console.parts.charts import chart, stacked_over_time
from longmind.console.parts.elements import box, link, text
from longmind.console.parts.figures import count, figure, legend, meter, plural, stacked_bar
from longmind.console.parts.job_health import job_health, read_job_health
from longmind.console.parts.kinds import headline, kind_badge, kind_colour, kind_name
from longmind.console.parts.messages import empty
from longmind.console.parts.panels import grid, panel, title
from longmind.console.parts.times import time_ago
from longmind.console.view import View
from longmind.kinds import ON_REQUEST
from longmind.types import Growth, Memory, Stats

_WEEKS = 13
_LATELY = 8
_CONSOLIDATION_USE = "configuration:consolidation-spent"
_CONSOLIDATION_RUNS = ("configuration:consolidation", "configuration:consolidation-all-users")
_SHOWN_KINDS = 9
"""Kinds with a colour of their own in the chart; the rest is one."""
_TIERS: Mapping[str, tuple[str, ...]] = {
    "In mind now": ("working", "session_item"),
    "Conversations": ("message", "page"),
    "Topics": ("segment", "summary"),
    "Experience": ("episode", "event", "reflection", "run", "step", "decision"),
    "Knowledge": ("fact", "concept", "rule", "trait", "knowledge", "document", "record"),
    "Plans and skills": ("goal", "plan", "revision", "procedure"),
}
"""What is held, from what is nearest to the conversation to what lasts."""


async def build(view: View) -> None:
    """Build the page."""
    title("Overview", "What this agent holds, how it grew, and what changed lately.")
    memory = view.memory
    today = datetime.now(UTC).date()
    spent_key = f"spent:{today.isoformat()}"
    stats, growth, settings, lately, records, jobs = await asyncio.gather(
        memory.stats(),
        memory.growth(7 * _WEEKS, by="occurred"),
        memory.configuration(),
        memory.list(limit=2 * _LATELY),
        memory.list(where={"keys": [spent_key, _CONSOLIDATION_USE, *_CONSOLIDATION_RUNS]}),
        read_job_health(view),
    )
    spent = next((record for record in records.items if record.key == spent_key), None)
    used = next((record for record in records.items if record.key == _CONSOLIDATION_USE), None)
    runs = [record for record in records.items if record.key in _CONSOLIDATION_RUNS]
    histories = await asyncio.gather(*(memory.history(run.id) for run in runs[:_LATELY]))
    last = max((changes[-1].at for changes in histories), default=None)
    weeks = _weekly(growth)
    with grid():
        _cards(view, stats, weeks)
        with panel("Memory by kind, week by week", "by when it happened", "lm-span-8"):
            _growth_chart(growth, weeks)
        with panel("Where it is kept", "", "lm-span-4"):
            _tiers(stats)
        with panel("What changed lately", "newest first", "lm-span-8"):
            _changes(view, [memory for memory in lately.items if memory.content][:_LATELY])
        with box("div", "lm-stack lm-span-4"):
            with panel("Budgets today", "UTC"):
                _budgets(settings, spent, used)
            with panel("Consolidation"):
                _health(settings, last)
            if jobs is not None:
                with panel("Jobs", "of all agents"):
                    job_health(jobs)


def _weekly(growth: Growth) -> dict[str, list[int]]:
    """Return the counts of each kind by week, the kind with the most first."""
    summed = {kind: [sum(days[n : n + 7]) for n in range(0, len(days), 7)] for kind, days in growth.by_kind.items()}
    return dict(sorted(summed.items(), key=lambda item: -sum(item[1])))


def _cards(view: View, stats: Stats, weeks: Mapping[str, Sequence[int]]) -> None:
    by_week = [sum(column) for column in zip(*weeks.values(), strict=True)] if weeks else []
    new = f"{by_week[-1]:,} this week" if by_week else "none in the last 13 weeks"
    figure("Memories", count(stats.memories), new, by_week)
    facts = weeks.get("fact", [])
    held = stats.by_kind.get("fact", 0)
    figure(
        "Facts", count(held), plural(stats.by_state.get("superseded", 0), "memory", "memories") + " superseded", facts
    )
    figure("Agents", count(len(view.agents)), plural(len(view.users), "user") + " of this one")
    figure("Links", count(stats.links), plural(stats.changes, "change") + " in the journal")


def _charted(weeks: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Return what the chart shows: not the parts of which others are made, and the rarest kinds as one."""
    whole = {kind: list(values) for kind, values in weeks.items() if kind not in ON_REQUEST}
    shown = dict(list(whole.items())[:_SHOWN_KINDS])
    rest = [values for kind, values in whole.items() if kind not in shown]
    return shown | ({"other": [sum(column) for column in zip(*rest, strict=True)]} if rest else {})


def _growth_chart(growth: Growth, weeks: Mapping[str, Sequence[int]]) -> None:
    weeks = _charted(weeks)
    if not weeks:
        empty("Nothing in the last 13 weeks", "What the agent remembers from now on appears here.")
        return
    starts = [day.strftime("%-d %b") for day in growth.days[::7]]
    colours = {kind_name(kind): kind_colour(kind) for kind in weeks}
    series = {kind_name(kind): values for kind, values in weeks.items()}
    total = sum(map(sum, weeks.values()))
    chart(stacked_over_time(starts, series, colours), f"{total:,} memories of the last {_WEEKS} weeks by kind")
    legend(colours)


def _tiers(stats: Stats) -> None:
    sizes = {
        tier: {kind: stats.by_kind[kind] for kind in kinds if stats.by_kind.get(kind)} for tier, kinds in _TIERS.items()
    }
    largest = max((sum(kinds.values()) for kinds in sizes.values()), default=1) or 1
    with box("div", "lm-stack"):
        for tier, kinds in sizes.items():
            with box("div"):
                with box("div", "lm-slider-head"):
                    text(tier, "")
                    text(count(sum(kinds.values())), "lm-num")
                named = {kind_name(kind): float(number) for kind, number in kinds.items()}
                stacked_bar(named, {kind_name(kind): kind_colour(kind) for kind in kinds}, largest)
        archived = stats.by_state.get("archived", 0)
        vectors = f", {stats.vectors:,} with a vector" if stats.vectors else ""
        text(f"{archived:,} in the archive{vectors}", "lm-note", "p")


def _changes(view: View, memories: Sequence[Memory]) -> None:
    if not memories:
        empty("Nothing has changed", "The newest memories are listed here.")
        return
    with box("ul", "lm-feed"):
        for memory in memories:
            with box("li"):
                kind_badge(memory.kind)
                link(headline(memory), view.link("/explorer", id=memory.id), "lm-clip-2")
                time_ago(memory.recorded_at)


def _budgets(settings: AgentSettings, spent: Memory | None, used: Memory | None) -> None:
    tokens = sum(int(spent.body.get(name, 0)) for name in ("input_tokens", "output_tokens")) if spent else 0
    today = _today(used)
    rows = (
        ("Model tokens", float(tokens), settings.model_tokens_per_day),
        ("Consolidation, model calls", float(today.get("calls", 0)), settings.consolidate_calls_per_day),
        ("Consolidation, seconds", float(today.get("seconds", 0)), settings.consolidate_seconds_per_day),
    )
    with box("div", "lm-stack"):
        for name, value, limit in rows:
            with box("div"):
                with box("div", "lm-slider-head"):
                    text(name, "")
                    text(f"{value:,.0f} of {limit:,.0f}" if limit is not None else f"{value:,.0f}", "lm-num")
                if limit:
                    meter(value / limit, f"{name}: {value:,.0f} of {limit:,.0f}")
        if all(limit is None for _, _, limit in rows):
            text("No limits are set. Admin, Configuration sets them.", "lm-note", "p")


def _health(settings: AgentSettings, last: datetime | None) -> None:
    with box("div", "lm-stack"):
        if settings.consolidate_paused:
            text("Paused for this agent.", "", "p")
        elif last is None:
            text("Has not run for this agent yet. The server runs it by itself every six hours.", "", "p")
        else:
            with box("div", "lm-slider-head"):
                text("Last at work", "")
                time_ago(last)


def _today(used: Memory | None) -> Mapping[str, float]:
    """Return what consolidation used today; what it used on another day does not count."""
    if used is None or used.body.get("day") != datetime.now(UTC).date().isoformat():
        return {}
    return used.body
