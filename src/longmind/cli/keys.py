"""``longmind keys``: who may use the server, and what they may do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, tenant_command
from longmind.clock import SystemClock

if TYPE_CHECKING:
    from longmind.security import AccessStore, ApiKey, KeyAdministration, NewKey

app = typer.Typer(help="API keys of the server: create, list, revoke.", no_args_is_help=True)


@asynccontextmanager
async def open_access(call: Invocation) -> AsyncIterator[AccessStore]:
    """Hold the keys and the audit of the store open."""
    from longmind.store.access import access_store

    access = access_store(call.settings.store_url(), call.settings)
    try:
        yield access
    finally:
        await access.close()


@asynccontextmanager
async def _administration(call: Invocation) -> AsyncIterator[KeyAdministration]:
    from longmind.security import KeyAdministration

    async with open_access(call) as access:
        yield KeyAdministration(access, call.settings.tenant)


@app.command("create")
@tenant_command
async def create(
    call: Invocation,
    name: Annotated[str, typer.Argument(help="What the key is for, as you want to find it in the list.")],
    permission: Annotated[
        Literal["read", "write", "admin"],
        typer.Option("--permission", "-p", help="What it may do; write includes read, admin includes both."),
    ] = "write",
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", "-a", help="An agent that it may reach; repeatable. Default: all."),
    ] = None,
    days: Annotated[
        float | None,
        typer.Option(min=0.001, max=36_500, metavar="DAYS", help="How long it is valid. Default: no end."),
    ] = None,
) -> None:
    """Make a key for the tenant. It is shown this once, and only its hash is stored."""
    expires_at = None if days is None else SystemClock().now() + timedelta(days=days)
    async with _administration(call) as keys:
        key = await keys.create(name, permissions=[permission], agents=agent or None, expires_at=expires_at)
    call.answer(key, lambda: _show_new(key))


@app.command("list")
@tenant_command
async def list_(call: Invocation) -> None:
    """List the keys of the tenant, with those that were revoked or have expired."""
    async with _administration(call) as keys:
        listed = await keys.list()
    call.answer({"keys": listed}, lambda: _show(listed))


@app.command("revoke")
@tenant_command
async def revoke(call: Invocation, id: Annotated[str, typer.Argument(help="The id, as in the list.")]) -> None:
    """Make a key invalid for good. Servers that run refuse it within seconds."""
    async with _administration(call) as keys:
        key = await keys.revoke(id)
    call.answer(key, lambda: screen.console().print(f"Revoked {key.id} ({screen.plain(key.name)}).", highlight=False))


def _show_new(key: NewKey) -> None:
    out = screen.console()
    out.print(key.key, markup=False, highlight=False, soft_wrap=True)
    out.print(screen.dim(f"Keep it: it is not shown again. Its id is {key.id}, its tenant {screen.plain(key.tenant)}."))


def _show(listed: Sequence[ApiKey]) -> None:
    out = screen.console()
    if not listed:
        out.print("No keys yet.")
        return
    now = SystemClock().now()
    table = screen.table("Key", "Name", "May", "Agents", "Created", "Last used", "Valid")
    for key in listed:
        until = "yes" if key.expires_at is None else f"until {screen.minute(key.expires_at)}"
        state = "revoked" if key.revoked_at else until if key.is_valid(now) else "expired"
        table.add_row(
            key.id,
            screen.plain(key.name),
            ", ".join(sorted(key.permissions)),
            screen.plain(", ".join(sorted(key.agents))) if key.agents is not None else "all",
            screen.day(key.created_at),
            screen.minute(key.last_used_at) if key.last_used_at else "never",
            state,
        )
    out.print(table)
