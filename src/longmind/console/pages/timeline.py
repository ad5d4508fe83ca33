"""Timeline: episodes and events on an axis that can be zoomed, and the replay of an episode step by step."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from nicegui import ui

from longmind.console.parts.charts import axis, chart, options, tooltip
from longmind.console.parts.elements import attributes, box, button, sized, text
from longmind.console.parts.figures import legend, meter, plural
from longmind.console.parts.kinds import tag
from longmind.console.parts.messages import empty, say
from longmind.console.parts.panels import grid, pairs, panel, title
from longmind.console.parts.times import ago, date_of
from longmind.console.view import View
from longmind.systems.episodic import Episode, Event, Outcome, describe_duration
from longmind.types import Page

_EPISODES, _EVENTS = 15, 500
_OUTCOMES = {
    "succeeded": ("Succeeded", "good", "var(--good)"),
    "failed": ("Failed", "bad", "var(--bad)"),
    "unknown": ("Not known yet", "", "var(--line-strong)"),
}
_LEGEND = {label: colour for label, _, colour in _OUTCOMES.values()}
_TICKS = {"year": "{yyyy}", "month": "{MMM}", "day": "{d} {MMM}", "hour": "{HH}:{mm}", "minute": "{HH}:{mm}"}
_SPANS = {"Week": 7, "Month": 30, "All": 0}
_EXAMPLE = """\
async with mem.episodic.episode("Moving to Lisbon") as episode:
    await episode.record("Packed the books.")"""

Reload = Callable[[str], Awaitable[None]]


async def build(view: View) -> None:
    """Build the page."""
    title("Timeline", "What happened, and how it came out. Choose an episode to replay it.")
    await TimelinePage(view).show()


class TimelinePage:
    """The axis, the list of episodes, and the episode that is replayed."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._episodic = view.memory.episodic
        self._cursors: list[str | None] = [None]
        self._episodes: Sequence[Episode] = ()

    async def show(self) -> None:
        """Build everything."""
        self._place = box("div")
        await self._load()
        if self._episodes:
            chosen = self._view.query.get("id")
            await self._fill_player(await self._episodic.get(chosen) if chosen else self._episodes[0])

    async def _load(self) -> None:
        page = await self._episodic.list(limit=_EPISODES, cursor=self._cursors[-1])
        self._episodes = [episode for episode in page.items if not episode.standing]
        events: Sequence[Event] = ()
        if self._episodes:
            since = min(episode.start for episode in self._episodes)
            until = max(episode.end or datetime.now(UTC) for episode in self._episodes)
            events = (await self._episodic.events(since=since, until=until, limit=_EVENTS)).items
        self._place.clear()
        with self._place:
            if not self._episodes and len(self._cursors) == 1:
                empty(
                    "Nothing has happened yet", "An agent that runs records episodes. A program does so too:", _EXAMPLE
                )
                return
            with grid():
                with panel(
                    "Episodes and events", "a light dot is an event; zoom with the wheel or the handles", "lm-span-12"
                ):
                    self._axis(events)
                with panel("Episodes", "newest first", "lm-span-5"):
                    self._list(page)
                with panel("Replay", "", "lm-span-7 lm-player"):
                    self._player = box("div", "lm-stack")

    async def _show_again(self, id: str) -> None:
        """Show everything anew after an episode was judged, with this episode chosen."""
        await self._load()
        await self._fill_player(await self._episodic.get(id))

    def _axis(self, events: Sequence[Event]) -> None:
        shown = list(reversed(self._episodes))
        rows = {episode.id: number for number, episode in enumerate(shown)}
        now = datetime.now(UTC)
        start = min(episode.start for episode in shown)
        end = max(max(episode.end or now for episode in shown), start + timedelta(hours=1))
        drawn = chart(
            options(
                grid={"left": 8, "right": 16, "top": 8, "bottom": 56, "containLabel": True},
                tooltip=tooltip(trigger="item"),
                xAxis=axis(
                    "time",
                    min=_milliseconds(start),
                    max=_milliseconds(end),
                    axisLabel={"color": "var(--muted)", "fontSize": 12, "hideOverlap": True, "formatter": _TICKS},
                ),
                yAxis=axis(
                    "category",
                    data=[episode.title for episode in shown],
                    axisLine={"show": False},
                    axisLabel={"color": "var(--muted)", "fontSize": 12, "width": 190, "overflow": "truncate"},
                ),
                dataZoom=_zoom(),
                media=[
                    {"query": {"maxWidth": 500}, "option": {"yAxis": {"axisLabel": {"width": 96}}}},
                    {"query": {"minWidth": 501}, "option": {"yAxis": {"axisLabel": {"width": 190}}}},
                ],
                series=[
                    *(_bar(episode, rows[episode.id], episode.end or now) for episode in shown),
                    {
                        "type": "scatter",
                        "symbolSize": 7,
                        "itemStyle": {"color": "var(--surface)"},
                        "data": [
                            {"value": [_milliseconds(event.at), rows[event.episode]], "name": event.what[:120]}
                            for event in events
                            if event.episode in rows
                        ],
                        "tooltip": {"formatter": "{b}"},
                        "z": 3,
                    },
                ],
            ),
            f"{plural(len(shown), 'episode')} from {start:%-d %b %Y} to {end:%-d %b %Y}; the list below has the same",
        )
        sized(drawn, height=f"{max(220, 24 * len(shown) + 96)}px")

        async def clicked(event: Any) -> None:
            value = event.data["value"] if isinstance(event.data, dict) else event.value
            await self._replay(shown[int(value[1])])

        drawn.on_point_click(clicked)
        with box("div", "lm-row lm-axis-foot"):
            legend(_LEGEND)
            box("div", "lm-grow")
            for name, days in _SPANS.items():
                first = max(start, end - timedelta(days=days)) if days else start
                button(name, partial(_zoom_to, drawn, _milliseconds(first), _milliseconds(end)))

    def _list(self, page: Page[Episode]) -> None:
        with box("ul", "lm-episodes"):
            for episode in self._episodes:
                with box("li"):
                    choice = ui.button(on_click=partial(self._replay, episode), color=None)
                    choice.props("flat no-caps align=left").classes("lm-choice")
                    with choice, box("span", "lm-choice-inner"):
                        text(episode.title, "lm-clip-2 lm-strong")
                        with box("span", "lm-row lm-note"):
                            date_of(episode.start)
                            text(plural(episode.events, "event"), "")
                            if episode.duration is not None:
                                text(describe_duration(episode.duration), "")
                            label, meaning, _ = _OUTCOMES[episode.outcome]
                            tag(label, meaning)
        if page.cursor is not None or len(self._cursors) > 1:
            with box("div", "lm-pager"):
                later = button("Later", partial(self._turn, None), icon="chevron_left")
                later.set_enabled(len(self._cursors) > 1)
                earlier = button("Earlier", partial(self._turn, page.cursor), icon="chevron_right")
                earlier.set_enabled(page.cursor is not None)

    async def _turn(self, cursor: str | None) -> None:
        if cursor is None:
            self._cursors.pop()
        else:
            self._cursors.append(cursor)
        await self._load()
        if self._episodes:
            await self._fill_player(self._episodes[0])

    async def _replay(self, episode: Episode) -> None:
        await self._fill_player(episode)
        ui.run_javascript('document.querySelector(".lm-player")?.scrollIntoView({block: "nearest"})')

    async def _fill_player(self, episode: Episode) -> None:
        events: list[Event] = []
        cursor: str | None = None
        while len(events) < _EVENTS:
            page = await self._episodic.events(episode.id, limit=100, cursor=cursor)
            events += page.items
            cursor = page.cursor
            if cursor is None:
                break
        self._player.clear()
        with self._player:
            Replay(self._view, episode, events, self._show_again)


class Replay:
    """Shows an episode as it went, one event after the other."""

    def __init__(self, view: View, episode: Episode, events: Sequence[Event], reload: Reload) -> None:
        self._view = view
        self._episode = episode
        self._events = events
        self._reload = reload
        self._at = 0
        text(episode.title, "lm-text", "h3")
        if episode.note:
            text(episode.note, "lm-text lm-note", "p")
        if not events:
            empty("Nothing was recorded in it", "Events that are recorded from now on appear here.")
        else:
            with box("div", "lm-row"):
                self._back = button("Back", partial(self._step, -1), icon="skip_previous")
                self._next = button("Next step", partial(self._step, 1), look="primary", icon="skip_next")
                self._play = ui.timer(1.2, partial(self._step, 1), active=False)
                self._run = button("Play", self._toggle, icon="play_arrow")
                self._number = text("", "lm-note lm-num")
            self._steps = attributes(box("div", "lm-stack"), aria_live="polite")
            self._show()
        if view.may_write:
            self._judging()

    def _show(self) -> None:
        total = len(self._events)
        self._number.set_text(f"Step {self._at + 1} of {total}")
        self._back.set_enabled(self._at > 0)
        self._next.set_enabled(self._at < total - 1)
        self._steps.clear()
        with self._steps:
            meter((self._at + 1) / total, f"Step {self._at + 1} of {total}")
            with box("ol", "lm-steps"):
                for number, event in enumerate(self._events[: self._at + 1]):
                    with box("li", "lm-now" if number == self._at else ""):
                        self._event(event, full=number == self._at)

    def _event(self, event: Event, *, full: bool) -> None:
        after = event.at - self._episode.start
        text(event.what, "lm-text" if full else "lm-clip-2", "p")
        with box("div", "lm-row lm-note"):
            text(event.type, "lm-tag")
            if event.actor:
                text(event.actor, "lm-text")
            text("at the start" if after <= timedelta() else f"after {describe_duration(after)}", "")
        if full and event.data:
            pairs({name: _plain(value) for name, value in event.data.items()})

    def _step(self, by: int) -> None:
        self._at = min(max(self._at + by, 0), len(self._events) - 1)
        if self._at == len(self._events) - 1 and self._play.active:
            self._toggle()
        self._show()

    def _toggle(self) -> None:
        self._play.active = not self._play.active
        if self._play.active and self._at == len(self._events) - 1:
            self._at = 0
            self._show()
        self._run.set_text("Pause" if self._play.active else "Play")
        self._run.set_icon("pause" if self._play.active else "play_arrow")

    def _judging(self) -> None:
        with box("div", "lm-judge"):
            begun = "Began" if self._episode.end is None else "Ended"
            text(f"{begun} {ago(self._episode.end or self._episode.start)}. How did it come out?", "lm-note", "p")
            note = ui.input("Why", value=self._episode.note).props("outlined dense")
            with box("div", "lm-row"):
                for outcome in ("succeeded", "failed"):
                    button(f"It {outcome}", partial(self._judge, outcome, note))

    async def _judge(self, outcome: Outcome, note: ui.input) -> None:
        await self._view.memory.episodic.judge(self._episode.id, outcome, note=note.value)
        say(f"Noted: it {outcome}.")
        await self._reload(self._episode.id)


def _bar(episode: Episode, row: int, end: datetime) -> dict[str, Any]:
    colour = _OUTCOMES[episode.outcome][2]
    return {
        "type": "line",
        "name": episode.title,
        "symbol": "circle",
        "symbolSize": 13,
        "lineStyle": {"color": colour, "width": 13, "cap": "round"},
        "itemStyle": {"color": colour},
        "data": [
            {"value": [_milliseconds(moment), row], "name": episode.title[:120]} for moment in (episode.start, end)
        ],
        "tooltip": {"formatter": "{b}"},
        "emphasis": {"disabled": True},
        "triggerLineEvent": True,
    }


def _zoom() -> list[dict[str, Any]]:
    return [
        {"type": "inside", "filterMode": "none"},
        {
            "type": "slider",
            "filterMode": "none",
            "height": 22,
            "bottom": 8,
            "borderColor": "var(--line)",
            "backgroundColor": "var(--sunken)",
            "fillerColor": "var(--accent-soft)",
            "handleStyle": {"color": "var(--surface)", "borderColor": "var(--accent)"},
            "moveHandleStyle": {"color": "var(--line-strong)"},
            "textStyle": {"color": "var(--muted)", "fontSize": 11},
            "showDataShadow": False,
        },
    ]


def _zoom_to(drawn: ui.echart, start: int, end: int) -> None:
    drawn.run_chart_method("dispatchAction", {"type": "dataZoom", "startValue": start, "endValue": end})


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
