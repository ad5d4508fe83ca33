"""``longmind dialogue``: the latest pages of conversations, and earlier ones by topic."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command, creating_command
from longmind.cli.ids import memory_id

if TYPE_CHECKING:
    from longmind.memory import AgentMemory
    from longmind.systems.dialogue import (
        Added,
        DialogueMemory,
        DialoguePage,
        DialogueSegment,
        DialogueSettings,
        Recalled,
        Upkeep,
    )

app = typer.Typer(name="dialogue", help="Conversations: the latest pages, earlier ones by topic, and hot topics.")

_Archived = Annotated[bool, typer.Option("--archived", help="Use the archive.")]
_Id = Annotated[
    str, typer.Argument(metavar="ID", help="A segment's id, or 8 or more characters of its beginning or end.")
]


@asynccontextmanager
async def _dialogue(call: Invocation) -> AsyncIterator[tuple[AgentMemory, DialogueMemory]]:
    from longmind.systems.dialogue import DialogueMemory

    async with call.agent() as mem:
        yield mem, DialogueMemory(mem.scoped)


@app.command("show")
@agent_command
async def show(call: Invocation) -> None:
    """Show short-term memory: the latest pages, and a summary of the conversation."""
    async with _dialogue(call) as (_, dialogue):
        pages, chain = await dialogue.short_term(), await dialogue.chain()
    call.answer({"pages": pages, "chain": chain}, lambda: _show_window(pages, chain))


@app.command("add")
@creating_command
async def add(
    call: Invocation,
    message: Annotated[str, typer.Argument(metavar="SAID", help="What the user said.")],
    reply: Annotated[str | None, typer.Argument(help="The reply.")] = None,
    session: Annotated[str | None, typer.Option("--session", "-s", help="The conversation it belongs to.")] = None,
) -> None:
    """Add a page; pages that no longer fit into the window move to their topics."""
    async with _dialogue(call) as (_, dialogue):
        added = await dialogue.add(message, reply, session=session)
    call.answer(added, lambda: _show_added(added))


@app.command("segments")
@agent_command
async def segments(
    call: Invocation,
    archived: _Archived = False,
    hot: Annotated[bool, typer.Option("--hot", help="Only topics hot enough for long-term memory.")] = False,
) -> None:
    """List the topics of mid-term memory, the hottest first."""
    async with _dialogue(call) as (_, dialogue):
        segments = await dialogue.hot() if hot else await dialogue.segments(archived=archived)
    call.answer({"segments": segments}, lambda: _show_segments(segments))


@app.command("pages")
@agent_command
async def pages(call: Invocation, id: _Id) -> None:
    """Show the pages of a topic in the order of time."""
    async with _dialogue(call) as (mem, dialogue):
        segment = await dialogue.segment(await memory_id(mem, id))
        pages = await dialogue.pages(segment)
    call.answer({"segment": segment, "pages": pages}, lambda: _show_pages(pages))


@app.command("recall")
@agent_command
async def recall(
    call: Invocation,
    query: Annotated[str, typer.Argument(help="The text to search for.")],
    archived: _Archived = False,
) -> None:
    """Search every level: the window, topics and their pages, persona, and shared memory."""
    async with _dialogue(call) as (_, dialogue):
        recalled = await dialogue.recall(query, archived=archived)
    call.answer(recalled, lambda: _show_recalled(recalled))


@app.command("upkeep")
@agent_command
async def upkeep(call: Invocation) -> None:
    """Do the maintenance that is due: retention, pruning, and topics beyond capacity."""
    async with _dialogue(call) as (_, dialogue):
        done = await dialogue.upkeep()
    call.answer(done, lambda: _show_upkeep(done))


@app.command("configure")
@creating_command
async def configure(
    call: Invocation,
    change: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE", help="Settings to change; without any, all are shown.")
    ] = None,
) -> None:
    """Show the agent's settings for conversations, or change them permanently."""
    changes = dict(map(_setting, change or ()))
    async with _dialogue(call) as (_, dialogue):
        settings = await dialogue.configure(**changes) if changes else await dialogue.configuration()
    call.answer(settings, lambda: _show_settings(settings))


def _setting(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _one_line(text: str) -> str:
    return screen.plain(" ".join(text.split()))


def _show_pages(pages: Sequence[DialoguePage]) -> None:
    out = screen.console()
    if not pages:
        out.print("No pages.")
    for page in pages:
        out.print(screen.dim(f"{screen.minute(page.at)}  {screen.short(page.id)}  {screen.plain(page.session or '')}"))
        for turn in page.turns:
            out.print(f"  {screen.plain(turn.who)}: {_one_line(turn.text)}")


def _show_window(pages: Sequence[DialoguePage], chain: str) -> None:
    _show_pages(pages)
    if chain:
        out = screen.console()
        out.print("So far, in short:")
        for line in chain.splitlines():
            out.print(f"  {screen.plain(line)}")


def _show_added(added: Added) -> None:
    out = screen.console()
    out.print(f"Added page {screen.short(added.pages[0].id)}.")
    for moved in added.moved:
        where = "a new topic" if moved.created else "topic"
        out.print(screen.dim(f"Page {screen.short(moved.page)} moved to {where} {screen.short(moved.segment)}."))


def _show_segments(segments: Sequence[DialogueSegment]) -> None:
    from rich.text import Text

    out = screen.console()
    if not segments:
        out.print("No topics.")
        return
    table = screen.table("Id", "Heat", "Pages", "Visits", "Last", "Keywords")
    for column in table.columns[:-1]:
        column.no_wrap = True
    for segment in segments:
        table.add_row(
            screen.short(segment.id),
            f"{segment.heat:.2f}",
            str(segment.length),
            str(segment.all_visits),
            screen.day(segment.last_at),
            Text(_one_line(", ".join(segment.keywords)), no_wrap=True, overflow="ellipsis"),
        )
    out.print(table)


def _show_recalled(recalled: Recalled) -> None:
    from longmind.systems.dialogue import render_recalled

    screen.console().print(screen.plain(render_recalled(recalled)) or "Nothing.")


def _show_upkeep(done: Upkeep) -> None:
    counts = {
        "page moved on": len(done.moved),
        "page grouped anew": len(done.regrouped),
        "page archived": len(done.archived_pages),
        "topic archived": len(done.archived_segments),
    }
    lines = [f"{screen.counted(n, what.split(' ', 1)[0])} {what.split(' ', 1)[1]}" for what, n in counts.items() if n]
    screen.console().print(", ".join(lines) + "." if lines else "Nothing to do.")


def _show_settings(settings: DialogueSettings) -> None:
    screen.console().print(screen.pairs({k: "none" if v is None else v for k, v in settings.model_dump().items()}))
