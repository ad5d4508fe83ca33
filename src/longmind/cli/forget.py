"""``longmind forget``: remove memories, so that it can be undone, or erase them for good."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from longmind.cli import options, screen
from longmind.cli.chat_input import on_interrupt
from longmind.cli.command import Invocation, agent_command
from longmind.cli.ids import memory_ids
from longmind.types import Filter, Forgotten


@agent_command
async def forget(
    call: Invocation,
    id: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Ids, or 8 or more characters of their beginning or end.")
    ] = None,
    kind: options.Kinds = None,
    session: options.Session = None,
    tag: options.Tags = None,
    name: options.Names = None,
    meta: options.Metas = None,
    since: options.Since = None,
    until: options.Until = None,
    expired: options.Expired = False,
    all: Annotated[
        bool, typer.Option("--all", help="Everything this agent knows (with --user: with this user).")
    ] = False,
    erase: Annotated[
        bool,
        typer.Option(
            "--erase", help="Leave nothing: not in the journal either, nor what was derived from it. No undo."
        ),
    ] = False,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why; kept in the history.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed with --json.")] = False,
) -> None:
    """Forget memories by id, or all that match.

    What is forgotten is found no more, but its history stays and `longmind undo` brings it back, unless --erase.
    """
    matching = options.filter_of(
        kinds=kind, session=session, tags=tag, names=name, metas=meta, since=since, until=until, expired=expired
    )
    filtered = matching != Filter()
    if sum((bool(id), filtered, all)) != 1:
        raise typer.BadParameter("Say what to forget: ids, or what must match, or --all.", param_hint="ID")
    async with call.agent() as mem:
        where = _all_of(call.user) if all else matching if expired else matching.model_copy(update={"expired": None})
        ids = await memory_ids(mem, id) if id else sorted(await mem.store.matching(mem.scope, where))
        if ids and not yes and (erase or not id):
            ask(call, len(ids), erase=erase)
        forgotten = await mem.forget(ids, erase=erase, reason=reason)
    call.answer(forgotten, lambda: _show(call, forgotten))


def _all_of(user: str | None) -> Filter:
    """Return the filter for everything of the agent, or of one user: what belongs to nobody in particular is not."""
    return Filter(states=None, expired=None, users=None if user is None else (user,))


def ask(call: Invocation, count: int, *, erase: bool) -> None:
    """Ask whether so many memories are to be removed."""
    confirm(call, f"{'Erase' if erase else 'Forget'} {screen.counted(count, 'memory')}{' for good' if erase else ''}?")


def confirm(call: Invocation, what: str, *, yes: bool = False) -> None:
    """Ask a person. A program is not asked: a question would stand between the JSON that it reads."""
    if yes:
        return
    if call.json:
        raise typer.BadParameter(f"{what} Nobody is asked with --json: give --yes.", param_hint="--yes")
    sys.stderr.write(f"{what} [y/N]: ")
    sys.stderr.flush()
    with on_interrupt(None):
        answer = sys.stdin.readline()
    if answer.strip().lower() not in ("y", "yes"):
        raise typer.Abort


def _show(call: Invocation, forgotten: Forgotten) -> None:
    out = screen.console()
    out.print(f"{'Erased' if forgotten.erased else 'Forgot'} {screen.counted(forgotten.count, 'memory')}.")
    if forgotten.operation:
        undo = call.again("undo", screen.short(forgotten.operation))
        out.print(screen.dim(f"To bring back: {undo}"), soft_wrap=True)
