"""The procedures of the example: their versions, the runs of each, a trial, and a run that waits for an approval."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longmind.systems.procedural import ProceduralMemory

Practice = Callable[[], Awaitable[object]]


def practise(procedural: ProceduralMemory, part: dict[str, Any]) -> Iterator[tuple[float, Practice]]:
    """Yield what happens to a procedure, and how many days ago."""
    name, days = part["name"], 0.0
    for version in part["versions"]:
        days = version["days"]
        yield days, partial(procedural.store, {"name": name, **version["definition"]}, why=version["why"])
        yield from _runs(procedural, part, days - 0.5, version["runs"])
    if "label" in part:
        yield days, partial(procedural.tag, name, part["label"]["name"], part["label"]["version"])
    if "proposal" in part:
        proposal = part["proposal"]
        yield proposal["days"], partial(procedural.propose, name, proposal["patch"], why=proposal["why"])
        yield from _runs(procedural, part, proposal["days"] - 0.5, proposal["runs"])
    if "waiting" in part:
        yield part["waiting"]["days"], partial(procedural.execute, name, part["waiting"]["params"])


def _runs(
    procedural: ProceduralMemory, part: dict[str, Any], days: float, outcomes: list[int]
) -> Iterator[tuple[float, Practice]]:
    async def execute(works: bool) -> None:
        run = await procedural.execute(part["name"], {**part["params"], "works": works})
        if run.status == "waiting":
            await procedural.approve(run.id, by=part["user"])

    for number, outcome in enumerate(outcomes):
        yield days - number * 0.6, partial(execute, bool(outcome))
