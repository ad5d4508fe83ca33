"""``longmind consolidate``: turn experience into knowledge."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, agent_command
from longmind.types import ConsolidationReport


@agent_command
async def consolidate(
    call: Invocation,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would change.")] = False,
) -> None:
    """Turn experience into knowledge: facts, summaries, one memory of what was said twice; `undo` takes it back."""
    async with call.agent() as mem:
        report = await mem.consolidate(dry_run=dry_run)
        ids = {id for change in report.proposed for id in (change.memory_id, change.because_of)}
        texts = {memory.id: memory.content for memory in await mem.store.get_all(mem.scope, sorted(ids))}
    call.answer(report, lambda: show(report, texts, call.again("undo", screen.short(report.id))))


def show(report: ConsolidationReport, texts: dict[str, str], undo: str) -> None:
    """What changed, or would, as a table. ``undo`` is the command that takes it back."""
    out = screen.console()
    read = f"Read {screen.counted(report.read, 'memory')}"
    if not report.proposed:
        out.print(f"{read}; nothing to change.")
        _remarks(report)
        return
    verb = "would change" if report.dry_run else "changed"
    out.print(f"{read}, {verb} {len(report.proposed)}:")
    table = screen.table("Did", "Memory", "Because of", "Why")
    table.columns[0].no_wrap = True
    for change in report.proposed:
        table.add_row(
            change.action,
            screen.plain(change.content or texts.get(change.memory_id) or f"({change.kind or change.memory_id})"),
            screen.plain(texts.get(change.because_of, change.because_of)),
            screen.dim(screen.plain(change.why)),
        )
    out.print(table)
    if not report.dry_run:
        out.print(screen.dim(f"To take it back: {undo}"), soft_wrap=True)
    _remarks(report)


def _remarks(report: ConsolidationReport) -> None:
    """What was refused, what a model could not do, and why the rest waits."""
    out = screen.console()
    refused: Counter[str] = Counter()
    for stage in report.stages:
        refused.update(stage.rejected)
    if refused:
        reasons = ", ".join(f"{count} {reason}" for reason, count in refused.most_common())
        out.print(screen.dim(f"Not taken: {reasons}."))
    for stage in report.stages:
        if stage.failed and stage.failed != report.stopped:
            out.print(screen.plain(f"{stage.stage}: {stage.failed}"), style="yellow")
    if report.stopped:
        out.print(screen.plain(f"The rest waits: {report.stopped}"), style="yellow")
