"""``longmind users`` and ``longmind conversations``: with whom an agent has spoken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command
from longmind.types import ConversationSummary


@agent_command
async def users(call: Invocation) -> None:
    """List the users of the agent."""
    async with replace(call, all_users=call.user is None).agent() as mem:
        names = await mem.users()
    call.answer({"users": names}, lambda: screen.console().print("\n".join(map(screen.plain, names)) or "Nobody yet."))


@agent_command
async def conversations(call: Invocation) -> None:
    """List the conversations of the agent, the latest first."""
    async with replace(call, all_users=call.user is None).agent() as mem:
        listed = await mem.conversations()
    call.answer({"conversations": listed}, lambda: _show(listed))


def _show(listed: Sequence[ConversationSummary]) -> None:
    out = screen.console()
    if not listed:
        out.print("Nothing here.")
        return
    table = screen.table("Conversation", "User", "Messages", "Last")
    for summary in listed:
        table.add_row(
            screen.plain(summary.id),
            screen.plain(summary.user or ""),
            f"{summary.messages:,}",
            screen.minute(summary.last_at),
        )
    out.print(table)
