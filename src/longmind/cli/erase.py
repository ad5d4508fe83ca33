"""``longmind erase-user``, ``erase-agent``, ``erase-tenant`` and ``verify-erasure``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from longmind.cli import screen
from longmind.cli.command import FAILED, Invocation, tenant_command
from longmind.cli.forget import confirm
from longmind.errors import InvalidInput
from longmind.perceive.files import as_text

if TYPE_CHECKING:
    from longmind.erasure import ErasureReceipt

_Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed with --json.")]
_Receipt = Annotated[
    Path | None, typer.Option("--receipt", metavar="FILE", help="Write the receipt to this file, as JSON.")
]


@tenant_command
async def erase_user(
    call: Invocation,
    user: Annotated[str, typer.Argument(help="Whose memories.")],
    receipt: _Receipt = None,
    yes: _Yes = False,
) -> None:
    """Erase all that belongs to a user, in every agent of the tenant, with all that was derived from it.

    Nothing is left in the journal either, and it cannot be undone. What belongs to no user stays.
    """
    call.must_exist()
    confirm(call, f"Erase all that the agents of this tenant know with {user} for good?", yes=yes)
    async with call.store(embedder="none") as longmind:
        _answer(call, await longmind.erase_user(user), receipt)


@tenant_command
async def erase_agent(
    call: Invocation,
    agent: Annotated[str, typer.Argument(help="Whose memories.")],
    receipt: _Receipt = None,
    yes: _Yes = False,
) -> None:
    """Erase all that an agent knows, of all its users, and its journal. It cannot be undone."""
    call.must_exist()
    confirm(call, f"Erase all that {agent} knows, with all its users, for good?", yes=yes)
    async with call.store(embedder="none") as longmind:
        _answer(call, await longmind.erase_agent(agent), receipt)


@tenant_command
async def erase_tenant(call: Invocation, receipt: _Receipt = None, yes: _Yes = False) -> None:
    """Erase all that the agents of a tenant know, and their shared memory. It cannot be undone."""
    call.must_exist()
    confirm(call, f"Erase all that the agents of the tenant {call.settings.tenant} know for good?", yes=yes)
    async with call.store(embedder="none") as longmind:
        _answer(call, await longmind.erase_tenant(), receipt)


@tenant_command
async def verify_erasure(
    call: Invocation, receipt: Annotated[Path, typer.Argument(metavar="FILE", help="The receipt of an erasure.")]
) -> None:
    """Look whether anything that a receipt says was erased is in the store. Exit code 1 if there is."""
    from longmind.erasure import ErasureReceipt

    call.must_exist()
    try:
        parsed = ErasureReceipt.model_validate_json(as_text(receipt.read_bytes(), str(receipt)))
    except ValidationError as error:
        raise InvalidInput(f"{receipt} is not the receipt of an erasure.") from error
    async with call.store(embedder="none") as longmind:
        check = await longmind.verify_erasure(parsed)

    def show() -> None:
        out = screen.console()
        if check.ok:
            out.print(f"Nothing of the {screen.counted(parsed.memories, 'memory')} is in the store.")
            return
        out.print(
            f"Still there: {screen.counted(check.memories, 'memory')},"
            f" {screen.counted(check.changes, 'change')} in the journal that tell of them."
        )
        for line in check.pending:
            out.print(screen.plain(line), soft_wrap=True)

    call.answer(screen.as_data(check), show)
    if not check.ok:
        raise typer.Exit(FAILED)


def _answer(call: Invocation, receipt: ErasureReceipt, path: Path | None) -> None:
    if path is not None:
        path.write_text(receipt.model_dump_json(indent=2) + "\n", encoding="utf-8")
    call.answer(screen.as_data(receipt), lambda: _show(call, receipt, path))


def _show(call: Invocation, receipt: ErasureReceipt, path: Path | None) -> None:
    out = screen.console()
    if not receipt.memories and not receipt.shared:
        out.print("There was nothing to erase.")
    else:
        agents = screen.counted(len(receipt.agents), "agent")
        out.print(f"Erased {screen.counted(receipt.memories, 'memory')} of {agents}.")
    for line in receipt.pending:
        out.print(screen.plain(line), soft_wrap=True)
    if path is not None:
        command = call.again("verify-erasure", str(path))
        out.print(screen.dim(f"To verify: {command}"), soft_wrap=True)
