"""``longmind agents``: whose memories a store holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longmind.cli import screen
from longmind.cli.command import Invocation, tenant_command
from longmind.types import Scope, Stats

if TYPE_CHECKING:
    from collections.abc import Sequence


@tenant_command
async def agents(call: Invocation) -> None:
    """List the agents of the tenant, and how much each knows."""
    async with call.store() as longmind:
        agents = [(scope, await longmind.store.stats(scope)) for scope in await longmind.agents()]
    data = [{"tenant": scope.tenant, "agent": scope.agent, **screen.as_data(held)} for scope, held in agents]
    call.answer({"agents": data}, lambda: show(agents))


def show(agents: Sequence[tuple[Scope, Stats]], *, tenants: bool = False) -> None:
    """Agents and their counts as a table."""
    out = screen.console()
    if not agents:
        out.print("Nobody yet.")
        return
    table = screen.table("Agent", "Memories", "Links", "Changes")
    for column in table.columns[1:]:
        column.justify = "right"
    for scope, held in agents:
        name = f"{scope.tenant} / {scope.agent}" if tenants else scope.agent
        table.add_row(screen.plain(name), f"{held.memories:,}", f"{held.links:,}", f"{held.changes:,}")
    out.print(table)
