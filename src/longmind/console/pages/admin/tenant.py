"""The tenant: who you are to it, and its agents."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from longmind.console.parts.elements import link, text
from longmind.console.parts.messages import empty
from longmind.console.parts.panels import pairs, panel
from longmind.console.parts.tables import Column, PagedTable
from longmind.console.view import EVERYONE, View
from longmind.types import Page, Stats

_ROWS = 20


@dataclass(frozen=True, slots=True)
class _Agent:
    name: str
    stats: Stats
    users: int


async def build_tenant(view: View) -> None:
    """Build what is known of the tenant."""
    principal = view.principal
    with panel("You"):
        who = principal.subject or principal.key_id
        pairs(
            {
                "Tenant": principal.tenant,
                "Signed in": f"with the key {who}" if who else "without a key, on the server's own machine",
                "You may": ", ".join(sorted(principal.permissions)),
                "Agents": ", ".join(sorted(principal.agents)) if principal.agents is not None else "all",
            }
        )
        text(
            "A key belongs to one tenant, and tenants never see each other. A key of another tenant is made by whoever"
            " runs the server: LONGMIND_TENANT=NAME longmind keys create NAME.",
            "lm-note lm-after",
            "p",
        )
    with panel("Tenants"):
        text(
            "No key shows which tenants there are, not even an administrator's: tenants never learn of each other."
            " Whoever runs the server lists them on its machine: longmind tenants.",
            "lm-note",
            "p",
        )
    with panel("Agents"):
        table = PagedTable(
            (
                Column(
                    "Agent", lambda agent: link(agent.name, view.link("/", agent=agent.name, user=EVERYONE), "lm-text")
                ),
                Column("Users", lambda agent: text(f"{agent.users:,}", ""), right=True),
                Column("Memories", lambda agent: text(f"{agent.stats.memories:,}", ""), right=True),
                Column("Links", lambda agent: text(f"{agent.stats.links:,}", ""), right=True),
                Column("Changes", lambda agent: text(f"{agent.stats.changes:,}", ""), right=True),
            ),
            lambda cursor: _load(view, cursor),
            label="agents",
            on_empty=lambda: empty("There is no agent yet", "An agent exists from its first memory on."),
        )
    await table.refresh()


async def _load(view: View, cursor: str | None) -> Page[_Agent]:
    start = int(cursor or 0)
    names = view.agents[start : start + _ROWS]

    async def read(name: str) -> _Agent:
        memory = view.longmind.agent(name, all_users=True)
        stats, users = await asyncio.gather(memory.stats(), memory.users())
        return _Agent(name, stats, len(users))

    agents = await asyncio.gather(*map(read, names))
    following = str(start + _ROWS) if start + _ROWS < len(view.agents) else None
    return Page.model_construct(items=tuple(agents), cursor=following)
