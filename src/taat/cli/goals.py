"""``taat goals``: what the account is to reach, how it stands, and the evidence."""

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from taat.cli import screen
from taat.cli.place import Place, StoreOption, existing_memory
from taat.cli.recorded import JsonOption, moment
from taat.memory import open_memory
from taat.memory.names import goal_key
from taat.memory.targets import target_text
from taat.reports import draw, words
from taat.trader.monitoring import account_goal

goals = typer.Typer(
    help="What the account is to reach: how it stands with evidence, or set a target.", invoke_without_command=True
)
_MARKS = {True: "kept", False: "missed", None: "not measured"}
_DRAFTS = 5


@goals.callback()
def _goals(context: typer.Context, store: StoreOption = None) -> None:
    if context.invoked_subcommand is None:
        show(store)


@goals.command("show")
def show(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Tell what the account is to reach, whether it does, by what evidence, and which alerts were drafted."""
    with screen.problems_told(as_json=as_json):
        told = asyncio.run(_told(store))
        if as_json:
            sys.stdout.write(screen.json_line(told))
            return
        draw(f"{told['goal']}: {told['status']}")
        for criterion in told["criteria"]:
            draw(f"  {_MARKS[criterion['kept']]:<13} {criterion['says']}")
            if criterion["note"]:
                draw(f"                {words.plain(criterion['note'])}")
        if told["measured_at"]:
            draw(f"Measured at {datetime.fromisoformat(told['measured_at']):%Y-%m-%d %H:%M} UTC by `taat run`.")
        for draft in told["drafts"]:
            draw(f"Draft, not sent: {words.plain(draft)}")


@goals.command("set")
def set_(
    name: Annotated[str, typer.Argument(help="index, or maximum-drawdown-percent.")],
    value: Annotated[str, typer.Argument(help="A symbol, or a number of percent.")],
    valid_from: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="From when on it holds; by default from now on.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Set a target from a moment on. The next `taat run` measures the account by it."""
    with screen.problems_told(as_json=False):
        since = moment(valid_from, "--from") or datetime.now(UTC)
        predicate, text = target_text(name, value)
        asyncio.run(_set(Place(store), predicate, text, since))
        draw(f"The target {predicate} is {text} from {since:%Y-%m-%d %H:%M} UTC on.")


async def _set(place: Place, name: str, value: str, since: datetime) -> None:
    place.prepare()
    async with open_memory(place.memory) as memory:
        await memory.knowledge.set_target(name, value, valid_from=since)


async def _told(store: Path | None) -> dict[str, Any]:
    async with existing_memory(store) as memory:
        targets = await memory.knowledge.targets()
        goal = await account_goal(memory.agent)
        attributes = await memory.log(goal_key())
        drafts = [event.what async for event in memory.events("draft")]
    known = attributes.get("criteria", {})
    criteria = [
        {
            "id": criterion.id,
            "says": criterion.description,
            "kept": known.get(criterion.id, {}).get("kept"),
            "note": known.get(criterion.id, {}).get("note", ""),
            "evidence": [{"note": each.note, "event": each.memory} for each in criterion.evidence],
        }
        for criterion in (goal.criteria if goal is not None else ())
    ]
    return {
        "goal": goal.description if goal is not None else targets.goal,
        "status": _status(criteria),
        "criteria": criteria,
        "equity": attributes.get("equity"),
        "drawdown_percent": attributes.get("drawdown_percent"),
        "since": attributes.get("since"),
        "measured_at": attributes.get("measured_at"),
        "drafts": drafts[-_DRAFTS:],
    }


def _status(criteria: list[dict[str, Any]]) -> str:
    kept = [criterion["kept"] for criterion in criteria]
    if not kept:
        return "not measured yet"
    return "missed" if False in kept else "kept" if None not in kept else "kept as far as it was measured"
