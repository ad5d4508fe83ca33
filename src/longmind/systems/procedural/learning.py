"""Learning from how runs end: what a run tries, what its end is counted as, and what callers report later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from longmind.errors import InvalidInput
from longmind.store.base import Update
from longmind.systems.procedural import schema
from longmind.systems.procedural.evidence import choose, generator, tries_candidate
from longmind.systems.procedural.ledger import Ledger
from longmind.systems.procedural.models import Version
from longmind.systems.procedural.runs import (
    FINAL,
    RUN,
    Chosen,
    Failure,
    Request,
    Run,
    Status,
    progress_of,
    request_of,
    run_of,
)
from longmind.systems.procedural.shelf import Shelf, Shelved, current_version
from longmind.systems.procedural.tallies import Learning, Notebook
from longmind.systems.procedural.trials import Decision, Trials
from longmind.systems.procedural.values import plain
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.types import Memory, Model

_PREVIEW = 200


class Learned(Model):
    """What was made of an outcome: the run it was about, and what it decided, if it decided something."""

    run: Run | None
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class Picked:
    """What a run is to do."""

    version: Version
    params: dict[str, Any]
    chosen: dict[str, Chosen]
    candidate: bool


class Learner:
    """Chooses what runs try and counts how they end."""

    def __init__(self, scoped: ScopedStore, shelf: Shelf, notebook: Notebook, trials: Trials) -> None:
        self._scoped = scoped
        self._shelf = shelf
        self._notebook = notebook
        self._trials = trials

    async def pick(self, head: Shelved, run_id: str, params: Mapping[str, Any], number: int | None) -> Picked:
        """The version and the parameters of a run. What the caller gave is never changed."""
        _, learning = await self._notebook.read(head)
        canary = learning.canary
        candidate = number is None and canary is not None and tries_candidate(canary.rule, run_id)
        wanted = canary.candidate if candidate and canary else number
        version = current_version(head) if wanted is None else await self._shelf.version(head, wanted)
        chosen: dict[str, Chosen] = {}
        for name, values in version.procedure.choices.items():
            if name not in params:
                value, why = choose(values, learning.choices.get(name, {}), generator(run_id, name))
                chosen[name] = Chosen(value=value, why=why)
        given = {**params, **{name: choice.value for name, choice in chosen.items()}}
        taken = plain(schema.accept(version.procedure.parameters, given), "The parameters")
        return Picked(version, taken, chosen, candidate)

    async def end(self, ledger: Ledger, status: Status, *, result: Any = None, error: Failure | None = None) -> None:
        """End a run: its last write, its place in the statistics, and a decision if the evidence is clear now."""
        counted = None if status == "cancelled" or (error and error.type == "NotApproved") else status == "succeeded"
        changes: dict[str, Any] = {
            "status": status,
            "open": False,
            "owner": None,
            "waiting": None,
            "result": result,
            "error": error,
            "finished_at": self._scoped.now(),
            "counted": counted,
        }
        content = _told(ledger.request, status, result, error)

        async def write() -> None:
            progress = ledger.changed(changes)
            changes["seconds"] = progress.seconds
            head = await self._shelf.find(ledger.request.procedure)
            if head is None:  # the procedure was deleted: there is nothing left to learn about
                await ledger.save(changes, reason=f"run {status}", content=content)
                return
            record, learning = await self._notebook.read(head)
            learning = learning.ended(ledger.request, progress, ledger.started_at)
            learning, writes, _ = await self._trials.judged(head, learning)
            writes = [*self._notebook.write(head, record, learning), *writes]
            await ledger.save(changes, writes, reason=f"run {status}", content=content)

        await retry_on_conflict(write)

    async def learn(self, name: str, outcome: bool | None, metrics: Mapping[str, float], run_id: str | None) -> Learned:
        """Count what a caller says about a run, in place of what was counted before; or about work done elsewhere."""
        measured = _metrics(metrics)

        async def write() -> Learned:
            head = await self._shelf.need(name)
            record, learning = await self._notebook.read(head)
            run = None if run_id is None else await self._finished(head, run_id)
            updates = []
            if run is None:
                request = Request(procedure=head.id, name=head.name, number=head.card.number, params={})
                learning = learning.counting(request, outcome, self._scoped.now()).measured(request.number, measured)
            else:
                learning, update = _corrected(learning, run, outcome, measured)
                updates.append(update)
            learning, writes, decision = await self._trials.judged(head, learning)
            receipt = await self._scoped.write(
                [*updates, *self._notebook.write(head, record, learning), *writes], reason="learn", actor="learning"
            )
            return Learned(run=run_of(receipt.memories[0]) if run else None, decision=decision)

        return await retry_on_conflict(write)

    async def _finished(self, head: Shelved, run_id: str) -> Memory:
        run = await self._scoped.need(run_id, RUN)
        if request_of(run).procedure != head.id:
            raise InvalidInput(f"Run {run_id} is a run of {request_of(run).name}, not of {head.name}.")
        if progress_of(run).status not in FINAL:
            raise InvalidInput(f"Run {run_id} has not ended yet.", hint="Its end is counted by itself.")
        return run


def _corrected(
    learning: Learning, run: Memory, outcome: bool | None, metrics: Mapping[str, float]
) -> tuple[Learning, Update]:
    request, progress = request_of(run), progress_of(run)
    learning = learning.counting(request, progress.counted, run.occurred_at, times=-1)
    learning = learning.counting(request, outcome, run.occurred_at)
    learning = learning.measured(request.number, progress.metrics, times=-1).measured(request.number, metrics)
    changed = progress.model_copy(update={"counted": outcome, "metrics": metrics})
    return learning, Update(run.id, {"metadata": changed.model_dump(mode="json")}, expected_version=run.version)


def _metrics(metrics: Mapping[str, float]) -> dict[str, float]:
    for name, value in metrics.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidInput(f"The metric {name} must be a number, not {value!r}.")
    if len(metrics) > 50:
        raise InvalidInput(f"{len(metrics)} metrics are too many; at most 50 are kept.")
    return {str(name): float(value) for name, value in plain(dict(metrics), "The metrics").items()}


def _told(request: Request, status: Status, result: Any, error: Failure | None) -> str:
    """What search reads of a run."""
    what = f"Run of the procedure {request.name.replace('_', ' ')} version {request.number}: {status}."
    if error is not None:
        where = f" at {error.step}" if error.step else ""
        return f"{what} {error.type}{where}: {error.message[:_PREVIEW]}"
    if isinstance(result, str | int | float) and not isinstance(result, bool):
        return f"{what} Result: {str(result)[:_PREVIEW]}"
    return what
