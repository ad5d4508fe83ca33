"""``longmind tenants``: whose memories and keys a store holds, for whoever runs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from longmind.cli import screen
from longmind.cli.command import Invocation, store_command
from longmind.cli.keys import open_access
from longmind.clock import SystemClock


@store_command
async def tenants(call: Invocation) -> None:
    """List the tenants of the store, with their agents and valid keys.

    This is for whoever runs the store. No key of a server shows it: tenants never learn of each other.
    """
    from longmind.memory import Longmind
    from longmind.store.open import tenant_files

    agents: Counter[str] = Counter()
    for url in (call.settings.store_url(), *tenant_files(call.settings.store_url())):
        async with Longmind.open(url, settings=call.settings, create=False) as longmind:
            scopes = await longmind.store.backend.scopes()
        agents.update(scope.tenant for scope in scopes if not scope.agent.startswith("@"))
        agents.update({scope.tenant: 0 for scope in scopes})
    keys = await _valid_keys(call, agents)
    names = sorted({*agents, *keys})
    listed = [{"tenant": name, "agents": agents[name], "keys": keys.get(name, 0)} for name in names]
    call.answer({"tenants": listed}, lambda: _show(listed))


async def _valid_keys(call: Invocation, known: Counter[str]) -> dict[str, int]:
    """Return how many valid keys each tenant has: those that have memories, and those that have keys only."""
    now = SystemClock().now()
    async with open_access(call) as access:
        if not await access.any_key():
            return {}
        names = {*known, *await access.key_tenants()}
        return {name: sum(key.is_valid(now) for key in await access.list_keys(name)) for name in names}


def _show(listed: Sequence[Mapping[str, object]]) -> None:
    out = screen.console()
    if not listed:
        out.print("Nobody yet.")
        return
    table = screen.table("Tenant", "Agents", "Valid keys")
    for column in table.columns[1:]:
        column.justify = "right"
    for row in listed:
        table.add_row(screen.plain(str(row["tenant"])), f"{row['agents']:,}", f"{row['keys']:,}")
    out.print(table)
