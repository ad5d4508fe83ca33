"""``longmind working``: what the agent has in mind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command

if TYPE_CHECKING:
    from longmind.systems.working import Item, Placed

app = typer.Typer(name="working", help="What the agent has in mind: list, show, put, focus, fetch, release.")

_Sort = Literal["importance", "recency", "attention"]
_Key = Annotated[str, typer.Argument(metavar="KEY", help="The name of the item.")]


@app.command("list")
@agent_command
async def list_(
    call: Invocation,
    sort: Annotated[_Sort, typer.Option(help="By importance, recency or attention.")] = "attention",
) -> None:
    """List what is in mind, the foremost first."""
    async with call.agent() as mem:
        items = await mem.working.items(sort)
    call.answer({"items": items}, lambda: _show(items))


@app.command("show")
@agent_command
async def show(call: Invocation) -> None:
    """Show all that is in mind as a prompt would have it: focus, task, conversation and items."""
    async with call.agent() as mem:
        data, text = await mem.working.context("dict"), await mem.working.context()
    call.answer(data, lambda: screen.console().print(screen.plain(text) or "Nothing is in mind."))


@app.command("put")
@agent_command
async def put(
    call: Invocation,
    key: _Key,
    content: Annotated[str, typer.Argument(help="What to have in mind.")],
    importance: Annotated[float, typer.Option("--importance", "-i", min=0, max=1, help="From 0 to 1.")] = 0.5,
    source: Annotated[str | None, typer.Option(help="Who or what it is from.")] = None,
) -> None:
    """Have something in mind; what has to make room for it moves to episodic memory."""
    async with call.agent() as mem:
        placed = await mem.working.put(key, content, importance, source)
    call.answer(placed, lambda: _show_placed(placed))


@app.command("fetch")
@agent_command
async def fetch(call: Invocation, key: _Key) -> None:
    """Bring back what left."""
    async with call.agent() as mem:
        placed = await mem.working.fetch(key)
    call.answer(placed, lambda: _show_placed(placed))


@app.command("release")
@agent_command
async def release(call: Invocation, key: _Key) -> None:
    """Let something go; episodic memory keeps it."""
    async with call.agent() as mem:
        gone = await mem.working.release(key)
    call.answer(gone, lambda: screen.console().print(f"{screen.plain(gone.key)} is in episodic memory now."))


@app.command("focus")
@agent_command
async def focus(
    call: Invocation,
    text: Annotated[str | None, typer.Argument(help="What attention is on; nothing clears it.")] = None,
) -> None:
    """Move attention, and list what is in mind in its new order."""
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
