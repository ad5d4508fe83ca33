"""``longmind import``: take in what ``export`` wrote."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, tenant_command
from longmind.cli.progress import bar
from longmind.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from longmind.store.transfer import Imported


@tenant_command
async def import_(
    call: Invocation,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An export; - is the standard input.")],
    across_tenants: Annotated[
        bool, typer.Option("--across-tenants", help="Also lines of other tenants, and of shared memory.")
    ] = False,
) -> None:
    """Take in what `longmind export` wrote, under the agents it names.

    Lines of another tenant than --tenant, and those of shared memory, are refused unless --across-tenants is given.
    What is there already is left as it is, so an import can be repeated.
    """
    piped = str(file) == "-"
    if not piped and not file.is_file():
        raise NotFound(f"There is no file {file}.")
    async with call.store(create=True) as rc:
        with bar(call, "Importing", None if piped else file.stat().st_size) as advance:
            if piped:
                done = await rc.load(_lines(sys.stdin.buffer, advance), across_tenants=across_tenants)
            else:
                with file.open("rb") as stream:
                    done = await rc.load(_lines(stream, advance), across_tenants=across_tenants)
    agents = sorted(f"{tenant}/{agent}" for tenant, agent in done.agents)
    data = {"memories": done.memories, "already_there": done.already_there, "links": done.links, "agents": agents}
    call.answer(data, lambda: _show(done))


def _lines(stream: IO[bytes], advance: Callable[..., None]) -> Iterator[str]:
    """The lines of a file, telling how many bytes were read."""
    read = 0
    for number, line in enumerate(stream, 1):
        read += len(line)
        advance(read)
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"Line {number} is not UTF-8 text.", hint="Is this a Longmind export?") from error


def _show(done: Imported) -> None:
    known = f"; {done.already_there:,} were there already" if done.already_there else ""
    screen.console().print(
        f"Imported {screen.counted(done.memories, 'memory')} and {screen.counted(done.links, 'link')} "
        f"of {screen.counted(len(done.agents), 'agent')}{known}."
    )
