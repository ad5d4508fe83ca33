"""``longmind import``: take in what ``export`` wrote, or what another program holds."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from longmind.cli import screen
from longmind.cli.command import PANEL, Invocation, tenant_command
from longmind.cli.progress import bar
from longmind.errors import InvalidInput, NotFound
from longmind.importing.formats import FORMATS, Format

if TYPE_CHECKING:
    from longmind.importing import ImportReport, Preview, Unmapped
    from longmind.store.transfer import Imported

_REASONS = 10
"""How many reasons are shown for what could not be mapped; --json has them all."""


@tenant_command
async def import_(
    call: Invocation,
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="An export of Longmind; - is the standard input. With --from what the format says."
        ),
    ],
    from_: Annotated[
        Format | None, typer.Option("--from", metavar="FORMAT", help=f"Another program's: {', '.join(FORMATS)}.")
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="With --from: show what would be stored, and store nothing.")
    ] = False,
    across_tenants: Annotated[
        bool, typer.Option("--across-tenants", help="Also lines of other tenants, and of shared memory.")
    ] = False,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            "-a",
            rich_help_panel=PANEL,
            help="With --from: whose memory. By default LONGMIND_AGENT, or assistant.",
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(
            "--user",
            "-u",
            rich_help_panel=PANEL,
            help="With --from: whose memories they become; by default the users that the source names, or no user.",
        ),
    ] = None,
) -> None:
    """Take in what `longmind export` wrote, under the agents it names, or with --from what another program holds.

    What is there already is left as it is, so an import can be repeated, also after it was interrupted. With --from
    everything keeps its time, author and id, and what could not be mapped is listed. Of an export, lines of another
    tenant than --tenant, and those of shared memory, are refused unless --across-tenants is given.
    """
    if from_ is None:
        for option, value in (("--preview", preview), ("--agent", agent), ("--user", user)):
            if value:
                raise typer.BadParameter("An export of Longmind names agents and users itself.", param_hint=option)
        await _load(call, Path(path), across_tenants)
    elif across_tenants:
        raise typer.BadParameter("Only an export of Longmind has tenants.", param_hint="--across-tenants")
    elif preview:
        await _preview(call, from_, path)
    else:
        await _import(call, from_, path, agent, user)


async def _preview(call: Invocation, format: str, path: str) -> None:
    from longmind.importing import preview

    read = await asyncio.to_thread(preview, format, path)
    call.answer(read, lambda: _show_preview(read))


async def _import(call: Invocation, format: str, path: str, agent: str | None, user: str | None) -> None:
    from longmind.importing import import_memories

    async with call.store(create=True) as longmind:
        with bar(call, "Importing", None) as advance:
            report = await import_memories(longmind, format, path, agent=agent, user=user, progress=advance)
    call.answer(report, lambda: _show_report(report))


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(screen.counted(n, kind.removesuffix("s")) for kind, n in counts.items()) or "nothing"


def _show_preview(preview: Preview) -> None:
    out = screen.console()
    out.print(f"Would import {_counted(preview.counts)}.")
    if preview.conversations:
        out.print(f"Conversations: {preview.conversations:,}")
    if preview.users:
        out.print(f"Users: {', '.join(screen.plain(user) for user in preview.users)}")
    if preview.first and preview.last:
        out.print(f"From {preview.first.date()} to {preview.last.date()}")
    for item in preview.items:
        when = str(item.get("occurred_at") or "no time")[:10]
        text = item.get("content") or item.get("statement") or item.get("value") or item.get("subject")
        out.print(f"  {item['kind']} {when}: {screen.plain(str(text))[:100]}")
    _show_unmapped(preview.unmapped, preview.unmapped_count)


def _show_report(report: ImportReport) -> None:
    known = f"; {report.already_there:,} were there already" if report.already_there else ""
    screen.console().print(f"Imported {_counted(report.counts)}{known}.")
    _show_unmapped(report.unmapped, report.unmapped_count)


def _show_unmapped(unmapped: Sequence[Unmapped], count: int) -> None:
    """Show what could not be mapped: each reason once, with how often and where first."""
    if not count:
        return
    out = screen.console()
    out.print(f"Not mapped: {count:,}")
    first = {item.reason: item.place for item in reversed(unmapped)}
    reasons = Counter(item.reason for item in unmapped).most_common()
    for reason, times in reasons[:_REASONS]:
        often = f"{times:,} times, first " if times > 1 else ""
        text = f"  {screen.plain(reason)} ({often}in {screen.plain(first[reason])})"
        out.print(text)
    if len(reasons) > _REASONS:
        out.print(f"  and {len(reasons) - _REASONS:,} other reasons; --json lists them")


async def _load(call: Invocation, file: Path, across_tenants: bool) -> None:
    """Take in an export of Longmind."""
    piped = str(file) == "-"
    size = None if piped else _size(file)
    async with call.store(create=True) as longmind:
        with bar(call, "Importing", size) as advance:
            if piped:
                done = await longmind.load(_lines(sys.stdin.buffer, advance), across_tenants=across_tenants)
            else:
                with file.open("rb") as stream:
                    done = await longmind.load(_lines(stream, advance), across_tenants=across_tenants)
    agents = sorted(f"{tenant}/{agent}" for tenant, agent in done.agents)
    data = {"memories": done.memories, "already_there": done.already_there, "links": done.links, "agents": agents}
    call.answer(data, lambda: _show(done))


def _size(file: Path) -> int:
    if not file.is_file():
        raise NotFound(f"There is no file {file}.")
    return file.stat().st_size


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
