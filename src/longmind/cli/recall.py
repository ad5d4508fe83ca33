"""``longmind recall``: find the memories that fit a question, and say why."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from longmind.cli import options, screen
from longmind.cli.command import Invocation, agent_command
from longmind.types import Hit

if TYPE_CHECKING:
    from collections.abc import Sequence


@agent_command
async def recall(
    call: Invocation,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, in plain words.")],
    k: Annotated[int | None, typer.Option("-k", min=1, help="How many; by default the agent's setting (10).")] = None,
    kind: options.Kinds = None,
    session: options.Session = None,
    tag: options.Tags = None,
    name: options.Names = None,
    meta: options.Metas = None,
    since: options.Since = None,
    until: options.Until = None,
    state: options.States = None,
    expired: options.Expired = False,
    as_of: Annotated[
        datetime | None,
        typer.Option(parser=options.moment, metavar="WHEN", help="Only what was valid at this moment."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Show long texts whole.")] = False,
    min_score: Annotated[float, typer.Option(min=0, max=1, help="Nothing that is less likely right than this.")] = 0.0,
) -> None:
    """Find the memories that fit a question, each with its score and the reason."""
    where = options.filter_of(
        kinds=kind,
        session=session,
        tags=tag,
        names=name,
        metas=meta,
        since=since,
        until=until,
        states=state,
        expired=expired,
    )
    async with call.agent() as mem:
        hits = await mem.recall(query, k, where=where, as_of=as_of, min_score=min_score)
    call.answer({"hits": hits}, lambda: _show(hits, full))


def _show(hits: Sequence[Hit], full: bool) -> None:
    """The hits as a table, each with its reason under it."""
    from rich.text import Text

    out = screen.console()
    if not hits:
        out.print("Nothing that fits.")
        return
    table = screen.table("Score", "Date", "Who", "Memory", "Id")
    for column, fixed in enumerate((True, True, False, False, True)):
        table.columns[column].no_wrap = fixed
    table.columns[2].max_width = 16
    table.columns[3].ratio = 1
    for hit in hits:
        text = Text(screen.plain(hit.memory.content if full else screen.beginning(hit.memory.content)))
        text.append("\n" + screen.plain(hit.why), style="dim italic")
        table.add_row(
            Text(f"{hit.score:.2f}", style="green"),
            screen.day(hit.memory.occurred_at),
            screen.from_whom(hit.memory),
            text,
            screen.dim(screen.short(hit.memory.id)),
        )
    out.print(table)
