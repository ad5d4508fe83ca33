"""``longmind stats``: how much an agent knows."""

from __future__ import annotations

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command
from longmind.types import Stats


@agent_command
async def stats(call: Invocation) -> None:
    """Count what the agent knows, by kind and state."""
    async with call.agent() as mem:
        counted = await mem.stats()
    call.answer(counted, lambda: _show(counted))


def _show(counted: Stats) -> None:
    screen.console().print(
        screen.pairs(
            {
                "memories": f"{counted.memories:,}",
                "by kind": _each(counted.by_kind),
                "by state": _each(counted.by_state),
                "with vectors": f"{counted.vectors:,}",
                "links": f"{counted.links:,}",
                "changes": f"{counted.changes:,}",
            }
        )
    )


def _each(counts: object) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in sorted(dict(counts).items()))  # type: ignore[call-overload]
