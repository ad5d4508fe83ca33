"""``longmind context``: what is known about a task, ready for a prompt."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from longmind.cli.command import Invocation, agent_command


@agent_command
async def context(
    call: Invocation,
    task: Annotated[str, typer.Argument(metavar="TASK", help="What the agent is about to do.")],
    tokens: Annotated[
        int | None, typer.Option("--tokens", "-t", min=1, help="The budget; by default the agent's setting (1500).")
    ] = None,
) -> None:
    """Print what is known that matters for a task, ready for a prompt.

    The text is printed exactly as a model would get it.
    """
    async with call.agent() as mem:
        text = await mem.context(task, tokens)
    call.answer({"context": text}, lambda: sys.stdout.write(f"{text}\n" if text else ""))
