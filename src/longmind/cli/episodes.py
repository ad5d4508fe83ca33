"""``longmind episodes``: list, narrate, replay and learn from episodes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longmind.cli import options, screen
from longmind.cli.command import Invocation, agent_command
from longmind.cli.ids import memory_id
from longmind.store.base import MAX_PAGE

if TYPE_CHECKING:
    from rich.text import Text

    from longmind.systems.episodic import Cluster, Episode, Event, Lessons, Replayed

app = typer.Typer(name="episodes", help="Episodes: list, show, search, replay, and learn from them.")

_Id = Annotated[
    str, typer.Argument(metavar="ID", help="An episode's id, or 8 or more characters of its beginning or end.")
]
_Outcome = Literal["succeeded", "failed", "unknown"]
_Length = Literal["short", "medium", "full"]
_Type = Annotated[str | None, typer.Option("--type", "-t", help="Only this type.")]
_Limit = Annotated[int, typer.Option("--limit", "-l", min=1, max=MAX_PAGE, help="The most to list.")]


@app.command("list")
@agent_command
async def list_(
    call: Invocation,
    type: _Type = None,
    outcome: Annotated[_Outcome | None, typer.Option(help="Only episodes with this outcome.")] = None,
    open: Annotated[
        bool | None, typer.Option("--open/--ended", help="Only episodes in progress, or only those that ended.")
    ] = None,
    since: options.Since = None,
    until: options.Until = None,
    limit: _Limit = 50,
    cursor: Annotated[str | None, typer.Option(help="The cursor that the previous page printed.")] = None,
) -> None:
    """List episodes, the latest first."""
    async with call.agent() as mem:
        page = await mem.episodic.list(
            type=type, outcome=outcome, open=open, since=since, until=until, limit=limit, cursor=cursor
        )

    def show() -> None:
        _show_episodes(page.items)
        if page.cursor:
            screen.console().print(screen.dim(f"More: --cursor {page.cursor}"), soft_wrap=True)

    call.answer(page, show)


@app.command("show")
@agent_command
async def show(
    call: Invocation,
    id: _Id,
    length: Annotated[_Length, typer.Option("--length", help="The length of the text.")] = "full",
) -> None:
    """Show an episode in words: short, medium or full."""
    async with call.agent() as mem:
        full = await memory_id(mem, id)
        episode = await mem.episodic.get(full)
        narrative = await mem.episodic.narrate(full, length)
    call.answer({"episode": episode, "narrative": narrative}, lambda: screen.console().print(screen.plain(narrative)))


@app.command("search")
@agent_command
async def search(
    call: Invocation,
    text: Annotated[str, typer.Argument(help="The text to search for in episodes and their events.")],
    type: _Type = None,
    limit: _Limit = 10,
) -> None:
    """Search episodes by their text and that of their events."""
    async with call.agent() as mem:
        hits = await mem.episodic.search(text, limit, type=type)
    call.answer({"found": hits}, lambda: _show_episodes([hit.episode for hit in hits]))


@app.command("timeline")
@agent_command
async def timeline(
    call: Invocation,
    moment: Annotated[datetime, typer.Argument(parser=options.moment, metavar="WHEN", help="The moment to look at.")],
    minutes: Annotated[float, typer.Option(min=0, help="Minutes before and after it.")] = 60,
    limit: _Limit = 50,
) -> None:
    """Show what happened around a moment, and which episodes were in progress."""
    span = timedelta(minutes=minutes)
    async with call.agent() as mem:
        timeline = await mem.episodic.timeline(moment, before=span, after=span, limit=limit)

    def show() -> None:
        out = screen.console()
        for event in timeline.before:
            out.print(_line(event))
        out.print(screen.dim(f"--- {screen.minute(timeline.moment)} ---"))
        for event in timeline.after:
            out.print(_line(event))
        if timeline.ongoing:
            out.print("Going on then:")
            _show_episodes(timeline.ongoing)
        if timeline.truncated:
            out.print(screen.dim("There is more; raise --limit or narrow --minutes."))

    call.answer(timeline, show)


@app.command("replay")
@agent_command
async def replay(
    call: Invocation,
    id: _Id,
    speed: Annotated[
        float | None,
        typer.Option(help="1 keeps the original pauses, 60 makes a minute a second; by default none."),
    ] = None,
    type: Annotated[
        list[str] | None, typer.Option("--type", "-t", help="Only events of this type; may repeat.")
    ] = None,
    actor: Annotated[list[str] | None, typer.Option("--actor", help="Only events of this actor; may repeat.")] = None,
) -> None:
    """Show the events of an episode one by one, optionally with their original pauses."""
    seen: list[Replayed] = []
    async with call.agent() as mem:
        full = await memory_id(mem, id)
        async for replayed in mem.episodic.replay(full, speed=speed, types=type or None, actors=actor or None):
            seen.append(replayed)
            if not call.json:
                screen.console().print(_line(replayed.event))
    call.answer({"events": seen}, lambda: None if seen else screen.console().print("No events."))


@app.command("lessons")
@agent_command
async def lessons(
    call: Invocation,
    task: Annotated[str, typer.Argument(help="The task to find lessons for.")],
    confidence: Annotated[float, typer.Option(min=0, max=1, help="The least confidence of a lesson.")] = 0.8,
) -> None:
    """Show lessons for a task: what distinguishes episodes that succeeded from those that failed."""
    async with call.agent() as mem:
        lessons = await mem.episodic.lessons(task, confidence=confidence)
    call.answer(lessons, lambda: _show_lessons(lessons))


@app.command("clusters")
@agent_command
async def clusters(
    call: Invocation,
    type: _Type = None,
    limit: Annotated[
        int, typer.Option("--limit", "-l", min=1, max=1000, help="The number of latest episodes to compare.")
    ] = 200,
) -> None:
    """Group similar episodes, and show what they have in common."""
    async with call.agent() as mem:
        clusters = await mem.episodic.clusters(type=type, most=limit)
    call.answer({"clusters": clusters}, lambda: _show_clusters(clusters))


def _show_episodes(episodes: Sequence[Episode]) -> None:
    from rich.text import Text

    out = screen.console()
    if not episodes:
        out.print("Nothing here.")
        return
    table = screen.table("Id", "Began", "Took", "Outcome", "Events", "Type", "Title")
    for column in table.columns[:-1]:
        column.no_wrap = True
    for episode in episodes:
        table.add_row(
            screen.short(episode.id),
            screen.minute(episode.start),
            _took(episode),
            episode.outcome,
            str(episode.events),
            screen.plain(episode.type),
            Text(screen.plain(" ".join(episode.title.split())), no_wrap=True, overflow="ellipsis"),
        )
    out.print(table)


def _took(episode: Episode) -> str:
    from longmind.systems.episodic import describe_duration

    return "goes on" if episode.end is None else describe_duration(episode.end - episode.start)


def _line(event: Event) -> Text:
    from rich.text import Text

    line = Text.assemble((f"{event.at:%Y-%m-%d %H:%M:%S} ", "dim"), (f"[{screen.plain(event.type)}] ", "bold"))
    if event.actor:
        line.append(f"{screen.plain(event.actor)}: ")
    line.append(screen.plain(screen.beginning(" ".join(event.what.split()))))
    return line


def _show_lessons(lessons: Lessons) -> None:
    out = screen.console()
    out.print(
        f"{screen.counted(len(lessons.considered), 'episode')}: {lessons.succeeded} succeeded, {lessons.failed} failed."
    )
    for lesson in lessons.lessons:
        out.print(f"{lesson.advice:>5}  {lesson.confidence:.0%}  {screen.plain(lesson.statement)}")
    if not lessons.lessons:
        out.print("Nothing sets them apart yet.")
    for remark in lessons.remarks:
        out.print(screen.dim(f"{remark.outcome}: {screen.plain(remark.title)}: {screen.plain(remark.note)}"))


def _show_clusters(clusters: Sequence[Cluster]) -> None:
    out = screen.console()
    for cluster in clusters:
        out.print(f"{screen.plain(cluster.label)} ({screen.counted(len(cluster.episodes), 'episode')})")
        out.print(screen.dim(f"  {screen.plain(cluster.summary)}"))
    if not clusters:
        out.print("No two episodes are alike.")
