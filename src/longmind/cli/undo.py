"""``longmind undo``: take an operation back."""

from __future__ import annotations

from typing import Annotated

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command
from longmind.cli.ids import operation_id


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
        full = await operation_id(mem, operation)
        changed = await mem.undo(full)
    call.answer(
        {"operation": full, "changed": changed},
        lambda: screen.console().print(f"Undone: operation {screen.short(full)}."),
    )
