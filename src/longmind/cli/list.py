"""``longmind list``: page through the memories."""

from __future__ import annotations

from typing import Annotated

import typer

from longmind.cli import options, screen
from longmind.cli.command import Invocation, agent_command
from longmind.store.base import MAX_PAGE
from longmind.types import Memory, Order, Page


@agent_command
async def list_(
    call: Invocation,
    kind: options.Kinds = None,
    session: options.Session = None,
    tag: options.Tags = None,
    name: options.Names = None,
    meta: options.Metas = None,
    since: options.Since = None,
    until: options.Until = None,
    state: options.States = None,
    expired: options.Expired = False,
    order: Annotated[Order, typer.Option(help="By when it was recorded, occurred or last read, or by importance.")] = (
        "recorded"
    ),
    ascending: Annotated[bool, typer.Option("--ascending", help="The oldest, or least, first.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-l", min=1, max=MAX_PAGE, help="How many.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Where the last page said to go on.")] = None,
) -> None:
    """List memories, the newest first."""
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
        page = await mem.list(where=where, order=order, descending=not ascending, limit=limit, cursor=cursor)
    call.answer(page, lambda: _show(page))


def _show(page: Page[Memory]) -> None:
    from rich.text import Text

    out = screen.console()
    if not page.items:
        out.print("Nothing here.")
        return
    table = screen.table("Id", "Date", "Kind", "Who", "Imp.", "Memory")
    for column in table.columns[:-1]:
        column.no_wrap = True
    table.columns[3].max_width = 16
    for memory in page.items:
        table.add_row(
            screen.short(memory.id),
            screen.day(memory.occurred_at),
            memory.kind if memory.state == "active" else f"{memory.kind} ({memory.state})",
            screen.who(memory),
            f"{memory.importance:.2f}",
            Text(screen.plain(" ".join(memory.content.split())), no_wrap=True, overflow="ellipsis"),
        )
    out.print(table)
    if page.cursor:
        out.print(screen.dim(f"More: --cursor {page.cursor}"), soft_wrap=True)
