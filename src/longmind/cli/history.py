"""``longmind history``: who changed a memory, when and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command
from longmind.cli.ids import memory_id
from longmind.types import Change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table
    from rich.text import Text


@agent_command
async def history(
    call: Invocation,
    id: Annotated[str, typer.Argument(metavar="ID", help="An id, or 8 or more characters of its beginning or end.")],
) -> None:
    """Tell who changed a memory, when, why, and what it was before; also of one that was forgotten."""
    async with call.agent() as mem:
        full = await memory_id(mem, id, forgotten=True)
        changes = await mem.history(full)
    call.answer({"id": full, "changes": changes}, lambda: screen.console().print(table_of(changes)))


def table_of(changes: Sequence[Change]) -> Table:
    """The changes as a table, with what each did."""
    table = screen.table("When (UTC)", "Who", "Did", "What", "Operation")
    for column in (0, 1, 2, 4):
        table.columns[column].no_wrap = True
    table.columns[3].ratio = 1
    for change in changes:
        table.add_row(
            screen.minute(change.at),
            screen.plain(change.actor),
            change.action,
            _what(change),
            screen.dim(screen.short(change.operation)),
        )
    return table


def _what(change: Change) -> Text:
    from rich.text import Text

    text = Text()
    if change.link is not None:
        link = change.link
        text.append(f"{screen.short(link.source)} --{screen.plain(link.relation)}--> {screen.short(link.target)}")
    elif change.action == "update":
        before, after = change.before or {}, change.after or {}
        for number, field in enumerate(sorted({*before, *after})):
            text.append("\n" if number else "")
            text.append(f"{field}: ", style="bold")
            text.append(_short(before.get(field)), style="red")
            text.append(" -> ")
            text.append(_short(after.get(field)), style="green")
    else:
        record = change.after or change.before or {}
        text.append(_short(record.get("content", "(erased)" if change.action != "erase" else "")))
    if change.reason:
        text.append(("\n" if text else "") + screen.plain(change.reason), style="dim italic")
    return text


def _short(value: Any) -> str:
    return screen.plain(screen.beginning(value if isinstance(value, str) else str(value)))
