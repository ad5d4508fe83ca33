"""``taat procedures``: what TAAT does by stored procedures, their versions, how they did and what they learnt."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from taat.cli import screen
from taat.cli.place import StoreOption, existing_memory
from taat.cli.recorded import JsonOption
from taat.memory import TraderMemory
from taat.procedures import EXECUTE_TRADE, LearntLimits, Limits
from taat.reports import draw, rows_table, words

procedures = typer.Typer(
    help="The stored procedures: list them, show one with its versions, or put an earlier version in use again.",
    invoke_without_command=True,
)
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The procedure, such as execute_trade.")]


@procedures.callback()
def _procedures(context: typer.Context, store: StoreOption = None) -> None:
    if context.invoked_subcommand is None:
        list_(store)


@procedures.command("list")
def list_(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the procedures with the version in use, how often they ran and how often they succeeded."""
    with screen.problems_told(as_json=as_json):
        rows = asyncio.run(_listed(store))
        if as_json:
            sys.stdout.write(screen.json_line({"procedures": rows}))
            return
        cells = [(row["name"], f"{row['version']}", f"{row['runs']:,}", _rate(row), row["purpose"]) for row in rows]
        draw(rows_table(("procedure", "version", "runs", "success", "says"), (), cells))
        draw("", f"A run of {EXECUTE_TRADE} counts as a success when its trade earned something.")


@procedures.command("show")
def show(name: NameArgument, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show what a procedure is for, its steps, its versions with reasons, and what it learnt of announcers."""
    with screen.problems_told(as_json=as_json):
        told = asyncio.run(_shown(store, name))
        if as_json:
            sys.stdout.write(screen.json_line(told))
            return
        draw(f"{told['name']}: {told['purpose']}", "")
        for step in told["steps"]:
            draw(f"  step {step['name']}: {step['calls']}")
        draw("")
        cells = [
            (
                f"{each['number']}{' (in use)' if each['current'] else ''}",
                each["made_at"][:16].replace("T", " "),
                f"{each['runs']:,}",
                _rate(each),
                words.plain(each["why"]),
            )
            for each in told["versions"]
        ]
        draw(rows_table(("version", "made (UTC)", "runs", "success", "says"), (), cells))
        for announcer, limits in told["learnt"].items():
            draw(f"Learnt of {words.plain(announcer)}: {limits_text(Limits.model_validate(limits))}.")


@procedures.command("rollback")
def rollback(
    name: NameArgument,
    version: Annotated[int | None, typer.Option(metavar="N", help="By default the version before.")] = None,
    store: StoreOption = None,
) -> None:
    """Put an earlier version in use again. It holds until something is learnt that changes it."""

    async def back() -> int:
        async with existing_memory(store) as memory:
            current = await memory.agent.procedural.rollback(name, version, why="asked for on the command line")
            return current.number

    with screen.problems_told(as_json=False):
        draw(f"Version {asyncio.run(back())} of {name} is in use.")


def limits_text(limits: Limits) -> str:
    """Return limits in words."""
    age = limits.maximum_age_seconds
    size = "the usual size" if limits.size == 1 else f"{limits.size * 100:.0f} % of the usual size"
    return f"{size}, announcements of any age" if age is None else f"{size}, announcements up to {age} s old"


async def _listed(store: Path | None) -> list[dict[str, Any]]:
    async with existing_memory(store) as memory:
        versions = (await memory.agent.procedural.list("taat", limit=200)).items
        rows = []
        for version in versions:
            counted = await _counts(memory, version.name)
            rows.append(
                {
                    "name": version.name,
                    "version": version.number,
                    "runs": sum(each["runs"] for each in counted.values()),
                    **_summed(counted),
                    "purpose": version.procedure.purpose,
                }
            )
        return rows


async def _shown(store: Path | None, name: str) -> dict[str, Any]:
    async with existing_memory(store) as memory:
        procedural = memory.agent.procedural
        current, counted = await procedural.retrieve(name), await _counts(memory, name)
        learnt: dict[str, Any] = {}
        if name == EXECUTE_TRADE:
            limits = LearntLimits(memory.agent)
            await limits.load()
            learnt = {announcer: each.model_dump(mode="json") for announcer, each in limits.all().items()}
        return {
            "name": current.name,
            "purpose": current.procedure.purpose,
            "steps": [{"name": step.name, "calls": step.use or step.procedure} for step in current.procedure.steps],
            "versions": [
                {
                    "number": version.number,
                    "current": version.current,
                    "made_at": version.made_at.isoformat(),
                    "why": version.why,
                    **counted.get(version.number, {"runs": 0, "successes": 0, "failures": 0}),
                }
                for version in await procedural.versions(name)
            ],
            "learnt": learnt,
        }


async def _counts(memory: TraderMemory, name: str) -> dict[int, dict[str, int]]:
    statistics = await memory.agent.procedural.statistics(name)
    return {
        each.number: {"runs": each.runs, "successes": each.successes, "failures": each.failures}
        for each in statistics.versions
    }


def _summed(counted: dict[int, dict[str, int]]) -> dict[str, int]:
    return {name: sum(each[name] for each in counted.values()) for name in ("successes", "failures")}


def _rate(row: dict[str, Any]) -> str:
    judged = row["successes"] + row["failures"]
    return f"{row['successes'] / judged * 100:.0f} %" if judged else "–"
