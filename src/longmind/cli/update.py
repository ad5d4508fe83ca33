"""``longmind update``: change what a memory says, or what is known about it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from longmind.cli import options, screen
from longmind.cli.command import Invocation, agent_command, read_stdin
from longmind.cli.ids import memory_id
from longmind.errors import NotFound
from longmind.types import State


@agent_command
async def update(
    call: Invocation,
    id: Annotated[str, typer.Argument(metavar="ID", help="An id, or 8 or more characters of its beginning or end.")],
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="What it says from now on; - reads it from the standard input.")
    ] = None,
    at: Annotated[
        datetime | None, typer.Option(parser=options.moment, metavar="WHEN", help="When it happened.")
    ] = None,
    importance: Annotated[float | None, typer.Option("--importance", "-i", min=0, max=1, help="0 to 1.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", "-t", help="A tag; may repeat. These replace the tags it has.")
    ] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option("--meta", "-m", metavar="KEY=VALUE", help="Metadata; may repeat. KEY=null removes a key."),
    ] = None,
    state: Annotated[State | None, typer.Option(help="active, archived, superseded, stale or quarantined.")] = None,
    expires: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="When it is forgotten: a date, how long from now, such as 12h or 7d, or never.",
        ),
    ] = None,
    version: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only if the memory still has this version.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why; kept in the history.")] = "",
) -> None:
    """Change a memory. Its history keeps what it was, and `longmind undo` takes the change back."""
    changes: dict[str, Any] = {
        name: value
        for name, value in {
            "content": read_stdin().rstrip("\n") if text == "-" else text,
            "occurred_at": at,
            "importance": importance,
            "tags": None if tag is None else tuple(dict.fromkeys(tag)),
            "state": state,
        }.items()
        if value is not None
    }
    if expires is not None:
        changes["expires_at"] = None if expires == "never" else options.moment_or_duration(expires)
    if not changes and not meta:
        raise typer.BadParameter("Say what to change: a text, or one of the options.", param_hint="TEXT")
    async with call.agent() as mem:
        full = await memory_id(mem, id)
        if meta:
            stored = await mem.get(full)
            if stored is None:
                raise NotFound(f"There is no memory {full} here.")
            merged = {**stored.metadata, **options.metadata_of(meta)}
            changes["metadata"] = {key: value for key, value in merged.items() if value is not None}
        memory = await mem.update(full, expected_version=version, reason=reason, **changes)
    shown = f"Updated: {screen.short(memory.id)} (version {memory.version})"
    call.answer({"memory": memory}, lambda: screen.console().print(shown))
