"""``longmind procedures``: how to do things, and how it went."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longmind.cli import options, screen
from longmind.cli.command import FAILED, Invocation, agent_command, creating_command
from longmind.cli.ids import memory_id
from longmind.errors import InvalidInput
from longmind.store.base import MAX_PAGE

if TYPE_CHECKING:
    from longmind.memory import AgentMemory
    from longmind.systems.procedural import ProceduralMemory, ProcedureStatistics, Run, ToolRegistry, Version

app = typer.Typer(name="procedures", help="How to do things: list, show, run, resume, diff, roll back, and learn.")

_Name = Annotated[str, typer.Argument(metavar="NAME", help="A procedure's name or id.")]
_RunId = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's id, or 8 or more characters of its beginning or end.")
]
_Tools = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:NAME",
        help="Where the functions are: a ToolRegistry in a module that Python can import from here.",
    ),
]
_Limit = Annotated[int, typer.Option("--limit", "-l", min=1, max=MAX_PAGE, help="How many.")]
_Cursor = Annotated[str | None, typer.Option(help="Where the last page said to go on.")]


@asynccontextmanager
async def _procedural(
    call: Invocation, tools: str | None = None
) -> AsyncIterator[tuple[AgentMemory, ProceduralMemory]]:
    from longmind.systems.procedural import ProceduralMemory, ToolRegistry

    registry = ToolRegistry() if tools is None else tool_registry(tools)
    async with call.agent() as mem:
        yield mem, ProceduralMemory(mem.scoped, registry)


@app.command("list")
@agent_command
async def list_(
    call: Invocation,
    category: Annotated[str | None, typer.Option("--category", "-c", help="Only this category.")] = None,
    limit: _Limit = 50,
    cursor: _Cursor = None,
) -> None:
    """List the procedures."""
    async with _procedural(call) as (_, procedural):
        page = await procedural.list(category, limit=limit, cursor=cursor)
    call.answer(page, lambda: _show_versions(page.items, page.cursor))


@app.command("search")
@agent_command
async def search(
    call: Invocation, task: Annotated[str, typer.Argument(help="What is to be done.")], limit: _Limit = 5
) -> None:
    """Find the procedures that fit a task."""
    async with _procedural(call) as (_, procedural):
        found = await procedural.search(task, limit)
    call.answer({"found": found}, lambda: _show_versions([one.version for one in found], None))


@app.command("show")
@agent_command
async def show(
    call: Invocation,
    name: _Name,
    version: Annotated[str | None, typer.Option(help="A version's number or label; by default the one in use.")] = None,
) -> None:
    """Show a procedure, its kept versions and how they fared."""
    async with _procedural(call) as (_, procedural):
        found = await procedural.retrieve(name, _numbered(version))
        statistics = await procedural.statistics(name)

    def shown() -> None:
        from longmind.systems.procedural import dump_procedure

        screen.console().print(screen.plain(json.dumps(dump_procedure(found.procedure), indent=2, ensure_ascii=False)))
        _show_statistics(statistics)

    call.answer({"version": found, "statistics": statistics}, shown)


@app.command("store")
@creating_command
async def store(
    call: Invocation,
    file: Annotated[Path, typer.Argument(help="A JSON file with the definition.", exists=True, dir_okay=False)],
    why: Annotated[str, typer.Option(help="Why it is changed.")] = "",
) -> None:
    """Store a procedure, or a new version of one, from a JSON file."""
    async with _procedural(call) as (_, procedural):
        made = await procedural.store(_read(file), why=why)
    call.answer(made, lambda: screen.console().print(f"{made.name} version {made.number}"))


@app.command("delete")
@agent_command
async def delete(call: Invocation, name: _Name) -> None:
    """Remove a procedure with its versions; its runs stay, as history."""
    async with _procedural(call) as (_, procedural):
        found = await procedural.retrieve(name)
        await procedural.delete(name)
    call.answer({"deleted": found.id}, lambda: screen.console().print(f"{found.name} is deleted."))


@app.command("diff")
@agent_command
async def diff(
    call: Invocation,
    name: _Name,
    before: Annotated[str | None, typer.Argument(help="A version; by default what the other was made from.")] = None,
    after: Annotated[str | None, typer.Argument(help="A version; by default the one in use.")] = None,
) -> None:
    """Tell what differs between two versions."""
    async with _procedural(call) as (_, procedural):
        found = await procedural.diff(name, _numbered(before), _numbered(after))
    call.answer(found, lambda: screen.console().print(screen.plain(str(found)), soft_wrap=True))


@app.command("rollback")
@agent_command
async def rollback(
    call: Invocation,
    name: _Name,
    version: Annotated[str | None, typer.Argument(help="A number or label; by default the one before.")] = None,
    index: Annotated[int | None, typer.Option(min=0, help="By place: 0 the newest, 1 the one before.")] = None,
    why: Annotated[str, typer.Option(help="Why.")] = "",
) -> None:
    """Put a kept version in use again."""
    async with _procedural(call) as (_, procedural):
        found = await procedural.rollback(name, _numbered(version), index=index, why=why)
    call.answer(found, lambda: screen.console().print(f"{found.name} version {found.number} is in use."))


@app.command("run")
@agent_command
async def run(
    call: Invocation,
    name: _Name,
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", metavar="KEY=VALUE", help="A parameter; may repeat.")
    ] = None,
    tools: _Tools = None,
    version: Annotated[str | None, typer.Option(help="A version's number or label; by default the one in use.")] = None,
    key: Annotated[str | None, typer.Option(help="A name of yours: the same again starts no second run.")] = None,
) -> None:
    """Run a procedure until it ends or waits for approval."""
    async with _procedural(call, tools) as (_, procedural):
        params = options.metadata_of(param or ())
        done = await procedural.execute(name, params, version=_numbered(version), key=key)
    _answer_run(call, done)


@app.command("runs")
@agent_command
async def runs(
    call: Invocation,
    name: Annotated[str | None, typer.Argument(help="Only runs of this procedure.")] = None,
    unfinished: Annotated[bool, typer.Option("--unfinished", help="Only those that have not ended.")] = False,
    limit: _Limit = 20,
    cursor: _Cursor = None,
) -> None:
    """List runs, the newest first."""
    async with _procedural(call) as (_, procedural):
        page = await procedural.runs(name, unfinished=unfinished, limit=limit, cursor=cursor)
    call.answer(page, lambda: _show_runs(page.items, page.cursor))


@app.command("trace")
@agent_command
async def trace(call: Invocation, run: _RunId) -> None:
    """Show what each step of a run did."""
    async with _procedural(call) as (mem, procedural):
        found = await procedural.run(await memory_id(mem, run))
    call.answer(found, lambda: _show_run(found))


@app.command("resume")
@agent_command
async def resume(
    call: Invocation,
    run: _RunId,
    tools: _Tools = None,
    take_over: Annotated[bool, typer.Option("--take-over", help="Its process is gone, so do not wait for it.")] = False,
) -> None:
    """Go on with a run at the step where it stopped."""
    async with _procedural(call, tools) as (mem, procedural):
        done = await procedural.resume(await memory_id(mem, run), take_over=take_over)
    _answer_run(call, done)


@app.command("approve")
@agent_command
async def approve(
    call: Invocation,
    run: _RunId,
    tools: _Tools = None,
    refuse: Annotated[bool, typer.Option("--refuse", help="Say no.")] = False,
    why: Annotated[str, typer.Option(help="Why.")] = "",
) -> None:
    """Approve the step that a run waits with, and go on; without --tools only the decision is stored."""
    async with _procedural(call, tools) as (mem, procedural):
        done = await procedural.approve(
            await memory_id(mem, run), approved=not refuse, why=why, resume=tools is not None
        )
    _answer_run(call, done)


@app.command("cancel")
@agent_command
async def cancel(
    call: Invocation,
    run: _RunId,
    tools: _Tools = None,
    compensate: Annotated[bool, typer.Option("--compensate", help="Take back what it did.")] = False,
) -> None:
    """Cancel a run."""
    async with _procedural(call, tools) as (mem, procedural):
        done = await procedural.cancel(await memory_id(mem, run), compensate=compensate)
    call.answer(done, lambda: _show_run(done))


@app.command("check")
@agent_command
async def check(call: Invocation, name: _Name, tools: _Tools = None) -> None:
    """Test a procedure on its examples; nothing with effects is called."""
    async with _procedural(call, tools) as (_, procedural):
        found = await procedural.check(name)

    def shown() -> None:
        for one in found.examples:
            screen.console().print(f"{'passed' if one.passed else 'FAILED'}  {screen.plain(one.example)}")
            if one.why and not one.passed:
                screen.console().print(screen.dim(f"        {screen.plain(one.why)}"))
        if not found.examples:
            screen.console().print("It has no examples.")

    call.answer(found, shown)
    if not found.passed:
        raise typer.Exit(FAILED)


@app.command("decisions")
@agent_command
async def decisions(call: Invocation, name: _Name) -> None:
    """Tell what was decided about versions, and why."""
    async with _procedural(call) as (_, procedural):
        found = await procedural.decisions(name)

    def shown() -> None:
        for one in found:
            undone = " (undone)" if one.undone else ""
            screen.console().print(f"{screen.short(one.id)}  {screen.minute(one.at)}  {one.action}{undone}: {one.why}")
        if not found:
            screen.console().print("Nothing was decided yet.")

    call.answer({"decisions": found}, shown)


@app.command("undo")
@agent_command
async def undo(
    call: Invocation,
    decision: Annotated[str, typer.Argument(metavar="DECISION", help="A decision's id, or a part of it.")],
) -> None:
    """Take a decision back."""
    async with _procedural(call) as (mem, procedural):
        found = await procedural.undo(await memory_id(mem, decision))
    call.answer(found, lambda: screen.console().print(f"Undone: {found.action} of version {found.candidate}."))


def tool_registry(where: str) -> ToolRegistry:
    """The functions that a program registered, from the module that the user names."""
    import importlib
    import sys

    from longmind.systems.procedural import ToolRegistry

    module, _, name = where.partition(":")
    sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), name or "tools")
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(f"There is no {where}: {error}.", hint="Write --tools package.module:registry.") from error
    finally:
        sys.path.remove("")
    if not isinstance(found, ToolRegistry):
        raise InvalidInput(
            f"{where} is a {type(found).__name__}, not a ToolRegistry.",
            hint="Name the registry, not a function: tools = ToolRegistry(), then @tools.tool above each function, and "
            "--tools package.module:tools.",
        )
    return found


def _numbered(version: str | None) -> int | str | None:
    return int(version) if version is not None and version.isdigit() else version


def _read(file: Path) -> Any:
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{file} is not JSON: {error}.") from error
    if not isinstance(told, dict):
        raise InvalidInput(f"{file} does not hold the definition of a procedure.")
    return told


def _answer_run(call: Invocation, done: Run) -> None:
    call.answer(done, lambda: _show_run(done))
    if done.status == "failed":
        raise typer.Exit(FAILED)


def _show_versions(versions: Sequence[Version], cursor: str | None) -> None:
    from rich.text import Text

    out = screen.console()
    if not versions:
        out.print("Nothing here.")
        return
    made = screen.table("Name", "Version", "Category", "Steps", "Purpose")
    for version in versions:
        purpose = Text(screen.plain(version.procedure.purpose), no_wrap=True, overflow="ellipsis")
        made.add_row(
            screen.plain(version.name),
            str(version.number),
            screen.plain(version.procedure.category),
            str(len(version.procedure.steps)),
            purpose,
        )
    out.print(made)
    if cursor:
        out.print(screen.dim(f"More: --cursor {cursor}"), soft_wrap=True)


def _show_statistics(statistics: ProcedureStatistics) -> None:
    made = screen.table("Version", "Runs", "Succeeded", "Failed", "Last run", "Mean", "95 %")
    for one in statistics.versions:
        made.add_row(
            f"{one.number}{' *' if one.current else ''}",
            str(one.runs),
            str(one.successes),
            str(one.failures),
            screen.minute(one.last_run) if one.last_run else "",
            f"{one.mean_seconds:.2f} s" if one.mean_seconds is not None else "",
            f"{one.p95_seconds:.2f} s" if one.p95_seconds is not None else "",
        )
    screen.console().print(made)
    if statistics.trial:
        trial = statistics.trial
        screen.console().print(
            f"On trial: version {trial.candidate}, {trial.candidate_counts} succeeded, "
            f"against version {trial.base}, {trial.base_counts}."
        )


def _show_runs(runs: Sequence[Run], cursor: str | None) -> None:
    out = screen.console()
    if not runs:
        out.print("Nothing here.")
        return
    made = screen.table("Run", "Started", "Procedure", "Version", "Status", "Took")
    for run in runs:
        row = (screen.plain(run.name), str(run.number), run.status, f"{run.seconds:.2f} s")
        made.add_row(screen.short(run.id), screen.minute(run.started_at), *row)
    out.print(made)
    if cursor:
        out.print(screen.dim(f"More: --cursor {cursor}"), soft_wrap=True)


def _show_run(run: Run) -> None:
    out = screen.console()
    made = screen.table("Step", "Outcome", "Attempts", "Took", "")
    for step in run.steps:
        told = f"{step.error.type}: {step.error.message}" if step.error else step.why
        made.add_row(step.path, step.outcome, str(step.attempts), f"{step.seconds:.2f} s", screen.plain(told))
    if run.steps:
        out.print(made)
    about: dict[str, object] = {"run": run.id, "procedure": f"{run.name} version {run.number}", "status": run.status}
    if run.waiting:
        about["waits for"] = f"{run.waiting.use} {json.dumps(run.waiting.args, ensure_ascii=False)}"
    if run.error:
        about["error"] = f"{run.error.type}: {run.error.message}"
    if run.status == "succeeded":
        about["result"] = json.dumps(run.result, ensure_ascii=False)
    out.print(screen.pairs(about))
