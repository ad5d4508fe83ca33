"""``longmind show``: everything about one memory."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from longmind.cli import options, screen
from longmind.cli.command import Invocation, agent_command
from longmind.cli.ids import memory_id
from longmind.errors import NotFound
from longmind.types import Link, Memory

if TYPE_CHECKING:
    from collections.abc import Sequence


@agent_command
async def show(
    call: Invocation,
    id: Annotated[str, typer.Argument(metavar="ID", help="An id, or 8 or more characters of its beginning or end.")],
    as_of: Annotated[
        datetime | None,
        typer.Option(parser=options.moment, metavar="WHEN", help="As it was recorded at this moment."),
    ] = None,
) -> None:
    """Show one memory: its text, where it comes from, and what it is linked to."""
    async with call.agent() as mem:
        full = await memory_id(mem, id, forgotten=as_of is not None)
        memory = await mem.get(full, as_of=as_of, include_expired=True)
        if memory is None:
            when = "" if as_of is None else f" at {as_of.isoformat()}"
            raise NotFound(f"There is no memory {full} here{when}.", hint="`longmind history` knows those forgotten.")
        links = await mem.store.links(mem.scope, [full], direction="both")
    call.answer({"memory": memory, "links": links}, lambda: _show(memory, links))


def _show(memory: Memory, links: Sequence[Link]) -> None:
    from rich.panel import Panel
    from rich.text import Text

    out = screen.console()
    title = f"{memory.kind} {screen.short(memory.id)}"
    out.print(Panel(Text(screen.plain(memory.content)), title=Text(title), title_align="left"))
    span = memory.source.span and f" characters {memory.source.span[0]} to {memory.source.span[1]}"
    out.print(
        screen.pairs(
            {
                "id": memory.id,
                "version": memory.version,
                "agent": memory.agent if memory.tenant == "default" else f"{memory.tenant} / {memory.agent}",
                "user": memory.user,
                "session": memory.session,
                "said by": f"{screen.who(memory)} ({memory.source.role})",
                "from": (memory.source.uri or "") + (span or ""),
                "occurred": screen.minute(memory.occurred_at),
                "recorded": screen.minute(memory.recorded_at),
                "valid from": memory.valid_from and screen.minute(memory.valid_from),
                "valid to": memory.valid_to and screen.minute(memory.valid_to),
                "expires": memory.expires_at and screen.minute(memory.expires_at),
                "importance": f"{memory.importance:.2f}",
                "trust": f"{memory.trust:.2f}",
                "state": memory.state,
                "tags": ", ".join(memory.tags),
                "metadata": ", ".join(f"{key}={value!r}" for key, value in memory.metadata.items()),
                "headings": " > ".join(map(str, memory.body.get("headings", ()))),
                "recalled": f"{memory.access_count} times" if memory.access_count else "never",
            }
        )
    )
    for link in links:
        out.print(f"{screen.short(link.source)} --{screen.plain(link.relation)}--> {screen.short(link.target)}")
