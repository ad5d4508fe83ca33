"""``longmind reembed``: change the embedder of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, store_command
from longmind.cli.progress import bar


@store_command
async def reembed(
    call: Invocation,
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="static, minilm, minilm-int8, or a server: https://host/v1#model.", show_default=False
        ),
    ],
) -> None:
    """Change the embedder of a store while it is in use.

    Reads keep using the old vectors until all new ones are there. It can be broken off and run again.
    """
    async with call.store(embedder="none") as longmind:  # the old model is not needed, and may not be there any more
        with bar(call, "Embedding", None) as advance:
            done = await longmind.reembed(model, progress=advance)
        space = await longmind.store.backend.space()
    name = space.name if space else None
    call.answer({"memories": done, "embedder": name}, lambda: _show(done, name))


def _show(done: int, name: str | None) -> None:
    out = screen.console()
    if done:
        out.print(f"{screen.counted(done, 'memory')} embedded with {name}.")
    else:
        out.print(f"Nothing to do: the store uses {name}.")
