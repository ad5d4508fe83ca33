"""``longmind undo``: take an operation back."""

from __future__ import annotations

from typing import Annotated

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command
from longmind.cli.ids import operation_id
from longmind.types import Undone

_SHOWN = 20
"""How many changes are listed."""
_CHARACTERS = 80


@agent_command
async def undo(
    call: Invocation,
    operation: Annotated[
        str,
        typer.Argument(
            metavar="OPERATION", help="An operation's id, as `history` tells it, or 8 or more characters of it."
        ),
    ],
) -> None:
    """Take an operation back: a remember, an update, a forget, a consolidation.

    Refused if what it wrote was changed since; undo the later change first.
    """
    async with call.agent() as mem:
        undone = await mem.undo(await operation_id(mem, operation))
    call.answer(undone, lambda: _show(undone))


def _show(undone: Undone) -> None:
    out = screen.console()
    out.print(f"Undone: operation {screen.short(undone.undone)}.")
    for change in undone.changes[:_SHOWN]:
        what = f"{change.action} ({', '.join(change.fields)})" if change.fields else change.action
        text = screen.plain(screen.beginning(" ".join(change.content.split()), _CHARACTERS))
        out.print(f"  {what}: {change.kind} {screen.short(change.memory_id)} {text}".rstrip(), markup=False)
    if len(undone.changes) > _SHOWN:
        out.print(screen.dim(f"  and {screen.counted(len(undone.changes) - _SHOWN, 'other')}; --json tells all"))
