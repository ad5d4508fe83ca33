"""``longmind working``: the agent's working memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command, creating_command

if TYPE_CHECKING:
    from longmind.systems.working import Item, Placed

app = typer.Typer(name="working", help="Working memory: list, show, put, focus, fetch, release.")

_Sort = Literal["importance", "recency", "attention"]
_Key = Annotated[str, typer.Argument(metavar="KEY", help="The name of the item.")]


@app.command("list")
@agent_command
async def list_(
    call: Invocation,
    sort: Annotated[_Sort, typer.Option(help="Sort by importance, recency or attention.")] = "attention",
) -> None:
    """List the items of working memory, the highest ranked first."""
    async with call.agent() as mem:
        items = await mem.working.items(sort)
    call.answer({"items": items}, lambda: _show(items))


@app.command("show")
@agent_command
async def show(call: Invocation) -> None:
    """Show working memory as a prompt contains it: focus, task, conversation and items."""
    async with call.agent() as mem:
        data, text = await mem.working.context("dict"), await mem.working.context()
    call.answer(data, lambda: screen.console().print(screen.plain(text) or "Nothing is in mind."))


@app.command("put")
@creating_command
async def put(
    call: Invocation,
    key: _Key,
    content: Annotated[str, typer.Argument(help="The text of the item.")],
    importance: Annotated[float, typer.Option("--importance", "-i", min=0, max=1, help="From 0 to 1.")] = 0.5,
    source: Annotated[str | None, typer.Option(help="Who or what it comes from.")] = None,
) -> None:
    """Put an item; items that no longer fit move to episodic memory."""
    async with call.agent() as mem:
        placed = await mem.working.put(key, content, importance, source)
    call.answer(placed, lambda: _show_placed(placed))


@app.command("fetch")
@agent_command
async def fetch(call: Invocation, key: _Key) -> None:
    """Bring back an evicted item."""
    async with call.agent() as mem:
        placed = await mem.working.fetch(key)
    call.answer(placed, lambda: _show_placed(placed))


@app.command("release")
@agent_command
async def release(call: Invocation, key: _Key) -> None:
    """Remove an item; episodic memory keeps it."""
    async with call.agent() as mem:
        gone = await mem.working.release(key)
    call.answer(gone, lambda: screen.console().print(f"{screen.plain(gone.key)} is in episodic memory now."))


@app.command("focus")
@agent_command
async def focus(
    call: Invocation,
    text: Annotated[str | None, typer.Argument(help="The new focus; without it the focus is cleared.")] = None,
) -> None:
    """Set the focus, and list the items in their new order."""
    async with call.agent() as mem:
        items = await mem.working.focus(text)
    call.answer({"items": items}, lambda: _show(items))


def _show(items: Sequence[Item]) -> None:
    from rich.text import Text

    out = screen.console()
    if not items:
        out.print("Nothing is in mind.")
        return
    table = screen.table("Key", "Att.", "Imp.", "Rec.", "Chunk", "Content")
    for column in table.columns[:-1]:
        column.no_wrap = True
    for item in items:
        table.add_row(
            screen.plain(item.key),
            f"{item.attention:.2f}",
            f"{item.importance:.2f}",
            f"{item.recency:.2f}",
            screen.plain(item.chunk or ""),
            Text(screen.plain(" ".join(item.content.split())), no_wrap=True, overflow="ellipsis"),
        )
    out.print(table)


def _show_placed(placed: Placed) -> None:
    out = screen.console()
    out.print(f"{screen.plain(placed.item.key)} is in mind.")
    for gone in placed.evicted:
        out.print(screen.dim(f"{screen.plain(gone.key)} ({gone.reason}) is in episodic memory now."))
