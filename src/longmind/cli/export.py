"""``longmind export``: everything as JSON lines."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command, require_agent
from longmind.cli.files import whole_file
from longmind.cli.progress import bar

if TYPE_CHECKING:
    from longmind.memory import Longmind
    from longmind.types import Scope

_TOLD_EVERY = 200


@agent_command
async def export(
    call: Invocation,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write; - is the standard output.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write every agent's memories and links as JSON lines; with --agent only that agent's, of
    all its users; with --user only what it knows with that user.

    The last line counts and hashes what came before it, so that a file cut short is noticed. Vectors are left out: the
    store that imports makes its own.
    """
    piped = str(file) == "-"
    async with call.store() as longmind:
        scopes = await _scopes(call, longmind)
        with nullcontext(sys.stdout) if piped else whole_file(file, replace=force) as target:
            end = await _write(call, longmind, scopes, target)
    answer = {"file": str(file), **end}
    if piped:
        call.note(f"Exported {_told(end)}.")
    else:
        call.answer(answer, lambda: screen.console().print(f"Exported {_told(end)} to {file}."))


async def _scopes(call: Invocation, longmind: Longmind) -> list[Scope]:
    if call.agent_name is None and call.user is None:
        return await longmind.agents()
    mem = longmind.agent(call.settings.agent, call.user, all_users=call.user is None)
    await require_agent(longmind, mem)
    return [mem.scope]


async def _write(call: Invocation, longmind: Longmind, scopes: list[Scope], target: IO[str]) -> dict[str, Any]:
    held = [await longmind.store.stats(scope) for scope in scopes]
    total = sum(counted.memories + counted.links for counted in held)
    last = ""
    with bar(call, "Exporting", total) as advance:
        done = 0
        async for line in longmind.export(scopes):
            target.write(line + "\n")
            last = line
            done += 1
            if done % _TOLD_EVERY == 0:
                advance(done)
    end: dict[str, Any] = json.loads(last)["end"]
    return end


def _told(end: dict[str, Any]) -> str:
    agents = screen.counted(len(end["content_hash"]), "agent")
    return f"{screen.counted(end['memories'], 'memory')} and {screen.counted(end['links'], 'link')} of {agents}"
