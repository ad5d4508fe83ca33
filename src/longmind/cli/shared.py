"""``longmind shared``: the shared memory of a tenant, for its administrator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, creating_command, tenant_command
from longmind.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from longmind.systems.shared import SharedAdministration, SharedKnowledge, SharedSettings, ShareProposal

app = typer.Typer(name="shared", help="What the agents of a tenant share.")

_Status = Literal["pending", "approved", "rejected", "any"]
_Id = Annotated[str, typer.Argument(metavar="ID", help="An id, or 8 or more characters of its beginning or end.")]
_Note = Annotated[str, typer.Option("--note", help="The reason, stored with it.")]


@app.command("list")
@tenant_command
async def list_(
    call: Invocation,
    status: Annotated[_Status, typer.Option(help="Only entries with this status.")] = "approved",
) -> None:
    """List the shared memory of the tenant, the best supported first."""
    async with call.store() as longmind:
        entries = await longmind.shared().list(None if status == "any" else status)
    call.answer({"shared": entries}, lambda: _show(entries))


@app.command("propose")
@creating_command
async def propose(call: Invocation, text: Annotated[str, typer.Argument(help="The statement.")]) -> None:
    """Support a statement as this agent. When enough agents support it, it is shared."""
    async with call.agent() as mem:
        proposal = await mem.shared.propose(text)
    call.answer(proposal, lambda: _show_proposal(proposal))


@app.command("approve")
@tenant_command
async def approve(call: Invocation, id: _Id, note: _Note = "") -> None:
    """Share a candidate, whatever its support."""
    async with call.store() as longmind:
        approved = await longmind.shared().approve(await _candidate_id(longmind.shared(), id), note)
    call.answer(approved, lambda: _show([approved]))


@app.command("reject")
@tenant_command
async def reject(call: Invocation, id: _Id, note: _Note = "") -> None:
    """Keep a candidate out, whatever its support."""
    async with call.store() as longmind:
        rejected = await longmind.shared().reject(await _candidate_id(longmind.shared(), id), note)
    call.answer(rejected, lambda: _show([rejected]))


@app.command("settings")
@tenant_command
async def settings(
    call: Invocation,
    support: Annotated[int | None, typer.Option(help="How many agents must support a statement.")] = None,
    authenticated_users: Annotated[
        bool | None,
        typer.Option(
            "--authenticated-users/--unauthenticated-users",
            help="Whether no agent can invent a user id, so that users count.",
        ),
    ] = None,
    approval: Annotated[
        bool | None, typer.Option("--approval/--no-approval", help="Whether a person has to approve what is shared.")
    ] = None,
    automatic: Annotated[
        bool | None, typer.Option("--automatic/--no-automatic", help="Whether consolidation proposes statements.")
    ] = None,
    candidates: Annotated[int | None, typer.Option(help="How many candidates may wait.")] = None,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", help="A name that may occur, as it is not of a person. Repeatable.")
    ] = None,
) -> None:
    """Show the settings of the tenant's shared memory, or change them."""
    changes = {
        "support": support,
        "authenticated_users": authenticated_users,
        "approval": approval,
        "automatic": automatic,
        "candidates": candidates,
        "allowed": allow,
    }
    chosen = {name: value for name, value in changes.items() if value is not None}
    async with call.store() as longmind:
        current = await (longmind.shared().configure(**chosen) if chosen else longmind.shared().configuration())
    call.answer(current, lambda: _show_settings(current))


async def _candidate_id(memory: SharedAdministration, prefix: str) -> str:
    """Return the full id of a candidate. Candidates are not among the memories of an agent."""
    prefix = prefix.strip().lower()
    if len(prefix) < screen.SHORT:
        raise InvalidInput(f"{prefix!r} is too short for an id.", hint=f"Give {screen.SHORT} or more characters.")
    ids = [entry.id for entry in await memory.list(None) if entry.id.startswith(prefix) or entry.id.endswith(prefix)]
    if len(ids) != 1:
        raise NotFound(f"{len(ids)} candidates are named {prefix!r}.", hint="`longmind shared list --status any`.")
    return ids[0]


def _show(entries: Sequence[SharedKnowledge]) -> None:
    out = screen.console()
    if not entries:
        out.print("Nothing.")
        return
    table = screen.table("Id", "Status", "Support", "About", "Text")
    for entry in entries:
        text = screen.plain(" ".join(entry.text.split()))
        table.add_row(screen.short(entry.id), entry.status, str(entry.support), entry.about, text)
    out.print(table)


def _show_proposal(proposal: ShareProposal) -> None:
    if proposal.knowledge is None:
        screen.console().print(f"Refused: {proposal.refused}")
    else:
        _show([proposal.knowledge])


def _show_settings(settings: SharedSettings) -> None:
    table = screen.table("Setting", "Value")
    for name, value in settings.model_dump().items():
        table.add_row(name, screen.plain(", ".join(value) if isinstance(value, tuple) else str(value)))
    screen.console().print(table)
