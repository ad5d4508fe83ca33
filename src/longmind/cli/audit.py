"""``longmind audit``: who accessed what over the server, and whether the record of it is whole."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longmind.cli import screen
from longmind.cli.command import FAILED, Invocation, store_command, tenant_command
from longmind.cli.keys import open_access
from longmind.clock import SystemClock
from longmind.errors import InvalidInput, StoreCorrupt

if TYPE_CHECKING:
    from longmind.security import AuditLine, StoredLine, Verification
    from longmind.types import Page

app = typer.Typer(help="Accesses over the server: list, verify, rotate.", no_args_is_help=True)


@app.command("list")
@tenant_command
async def list_(
    call: Invocation,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Where the last page ended.")] = None,
    key: Annotated[str | None, typer.Option(help="Only of this key.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", "-a", help="Only to this agent.")] = None,
    operation: Annotated[str | None, typer.Option(help="Only this operation, such as recall.recall.")] = None,
) -> None:
    """List accesses to the tenant's memories, the newest first."""
    from longmind.security import AuditLog

    async with open_access(call) as access:
        log = AuditLog(access, call.settings.tenant)
        page = await log.list(limit=limit, cursor=cursor, key=key, agent=agent, operation=operation)
    call.answer(page, lambda: _show(page))


@app.command("verify")
@store_command
async def verify(
    call: Invocation,
    anchor: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER:HASH", help="An end of the chain that you kept; the chain must lead through it."),
    ] = None,
    archive: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A file of `audit rotate`; the oldest first."),
    ] = None,
) -> None:
    """Find out whether a line of the audit was changed, removed or reordered. Exit code 1 if one was.

    Lines of all tenants are one chain. On PostgreSQL connect as the owner of the tables. Keep the end that is printed
    somewhere else: with it as the anchor of the next time, not even who can write the whole database can cut the chain.
    """
    from longmind.security.archive import read_archives
    from longmind.security.audit import verify as verify_chain

    async with open_access(call) as access:
        head = await access.head()

        async def lines() -> AsyncIterator[StoredLine]:
            async for line in read_archives(archive or ()):
                yield line
            async for line in access.lines(head.base_seq):
                if line.seq <= head.seq:  # a server that runs adds more meanwhile
                    yield line

        start = head.model_copy(update={"base_seq": 0, "base_hash": "0" * 64}) if archive else head
        found = await verify_chain(lines(), start, anchor or ())
    call.answer({"ok": found.ok, **found.to_dict()}, lambda: _show_verified(found))
    if not found.ok:
        raise typer.Exit(FAILED)


@app.command("rotate")
@store_command
async def rotate(
    call: Invocation,
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist.")],
    days: Annotated[float, typer.Option(min=0, max=36_500, metavar="DAYS", help="Lines older than this.")] = 90,
) -> None:
    """Move old lines of the audit into a file, which continues the chain, and delete them from the store."""
    from longmind.security.archive import write_archive
    from longmind.security.audit import verify as verify_chain

    until = SystemClock().now() - timedelta(days=days)
    async with open_access(call) as access:
        head = await access.head()
        found = await verify_chain(access.lines(head.base_seq), head.model_copy(update={}))
        if any(fault.seq <= head.seq for fault in found.faults):
            raise StoreCorrupt("The audit is not whole; nothing was moved.", hint="See `longmind audit verify`.")
        moved = await write_archive(file, access.lines(head.base_seq), until)
        if moved is None:
            raise InvalidInput(f"No line of the audit is older than {days:g} days.", hint="Give fewer --days.")
        await access.rotate(head.model_copy(update={"base_seq": moved.seq, "base_hash": moved.hash}))
    count = moved.seq - head.base_seq
    data = {"file": str(file), "lines": count, "head": f"{moved.seq}:{moved.hash}"}
    call.answer(data, lambda: screen.console().print(f"Moved {count:,} lines into {file}.", markup=False))


def _show(page: Page[AuditLine]) -> None:
    out = screen.console()
    if not page.items:
        out.print("Nothing here.")
        return
    table = screen.table("Line", "When", "Key", "Operation", "Agent", "User", "From", "Status")
    for line in page.items:
        table.add_row(
            str(line.seq),
            screen.minute(line.at),
            screen.plain(line.key or line.subject or ""),
            screen.plain(line.operation),
            screen.plain(line.agent or ""),
            screen.plain(line.user or ""),
            screen.plain(line.address or ""),
            f"{line.status} {screen.plain(line.error)}".strip(),
        )
    out.print(table)
    if page.cursor is not None:
        out.print(screen.dim(f"More with --cursor {page.cursor}"))


def _show_verified(found: Verification) -> None:
    out = screen.console()
    for fault in found.faults:
        out.print(f"{fault.kind}: {screen.plain(fault.message)}", markup=False, highlight=False)
    if found.ok:
        out.print(f"{found.lines:,} lines, all as they were written.", highlight=False)
    out.print(f"head {found.head}", highlight=False, soft_wrap=True)
