"""Learning from outcomes: which version and values a run uses, how its end is counted, and what callers report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from longmind.errors import InvalidInput
from longmind.store.base import Update
from longmind.systems.procedural import schema
from longmind.systems.procedural.beta_binomial import choose, seeded_generator, tries_candidate
from longmind.systems.procedural.models import Version
from longmind.systems.procedural.procedure_store import LoadedProcedure, ProcedureStore, current_version
from longmind.systems.procedural.run_log import RunLog
from longmind.systems.procedural.runs import (
    FINAL,
    RUN,
    Chosen,
    Run,
    RunFailure,
    RunRequest,
    RunStatus,
    build_run,
    read_progress,
    read_request,
)
from longmind.systems.procedural.statistics import LearningRecords, LearningState
from longmind.systems.procedural.trials import Decision, Trials
from longmind.systems.procedural.values import to_plain_json
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.types import Memory, Model

_PREVIEW = 200


class LearningResult(Model):
    """The result of reporting an outcome: the run it was about, and the decision it led to, if any."""

    run: Run | None
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The version and the parameters of a run, with the values that learning chose."""

    version: Version
    params: dict[str, Any]
    chosen: dict[str, Chosen]
    candidate: bool


class Learner:
    """Chooses the version and values of runs, and counts how runs end."""

    def __init__(
        self, scoped: ScopedStore, procedures: ProcedureStore, learning_records: LearningRecords, trials: Trials
    ) -> None:
        self._scoped = scoped
        self._procedures = procedures
        self._learning_records = learning_records
        self._trials = trials

    async def pick(self, head: LoadedProcedure, run_id: str, params: Mapping[str, Any], number: int | None) -> RunPlan:
        """Choose the version and the parameters of a run. Parameters of the caller are never changed."""
        _, learning = await self._learning_records.read(head)
        canary = learning.canary
        candidate = number is None and canary is not None and tries_candidate(canary.rule, run_id)
        wanted = canary.candidate if candidate and canary else number
        version = current_version(head) if wanted is None else await self._procedures.version(head, wanted)
        chosen: dict[str, Chosen] = {}
        for name, values in version.procedure.choices.items():
            if name not in params:
                value, why = choose(values, learning.choices.get(name, {}), seeded_generator(run_id, name))
                chosen[name] = Chosen(value=value, why=why)
        merged = {**params, **{name: choice.value for name, choice in chosen.items()}}
        bound = to_plain_json(schema.bind_params(version.procedure.parameters, merged), "The parameters")
        return RunPlan(version, bound, chosen, candidate)

    async def end(
        self, run_log: RunLog, status: RunStatus, *, result: Any = None, error: RunFailure | None = None
    ) -> None:
        """End a run: store its end, count it, and decide a trial if the evidence is clear now, in one transaction."""
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
        content = _describe_run(run_log.request, status, result, error)

        async def write() -> None:
            progress = run_log.changed(changes)
            changes["seconds"] = progress.seconds
            head = await self._procedures.find(run_log.request.procedure)
            if head is None:  # the procedure was deleted: there is nothing left to learn about
                await run_log.save(changes, reason=f"run {status}", content=content)
                return
            record, learning = await self._learning_records.read(head)
            learning = learning.ended(run_log.request, progress, run_log.started_at)
            learning, writes, _ = await self._trials.judged(head, learning)
            writes = [*self._learning_records.write(head, record, learning), *writes]
            await run_log.save(changes, writes, reason=f"run {status}", content=content)

        await retry_on_conflict(write)

    async def learn(
        self, name: str, outcome: bool | None, metrics: Mapping[str, float], run_id: str | None
    ) -> LearningResult:
        """Count the outcome that a caller reports, of a run (replacing what was counted) or of work done elsewhere."""
        measured = _metrics(metrics)

        async def write() -> LearningResult:
            head = await self._procedures.need(name)
            record, learning = await self._learning_records.read(head)
            run = None if run_id is None else await self._finished(head, run_id)
            updates = []
            if run is None:
                request = RunRequest(procedure=head.id, name=head.name, number=head.meta.number, params={})
                learning = learning.counting(request, outcome, self._scoped.now()).measured(request.number, measured)
            else:
                learning, update = _corrected(learning, run, outcome, measured)
                updates.append(update)
            learning, writes, decision = await self._trials.judged(head, learning)
            receipt = await self._scoped.write(
                [*updates, *self._learning_records.write(head, record, learning), *writes],
                reason="learn",
                actor="learning",
            )
            return LearningResult(run=build_run(receipt.memories[0]) if run else None, decision=decision)

        return await retry_on_conflict(write)

    async def _finished(self, head: LoadedProcedure, run_id: str) -> Memory:
        run = await self._scoped.need(run_id, RUN)
        if read_request(run).procedure != head.id:
            raise InvalidInput(f"Run {run_id} is a run of {read_request(run).name}, not of {head.name}.")
        if read_progress(run).status not in FINAL:
            raise InvalidInput(f"Run {run_id} has not ended yet.", hint="Its end is counted by itself.")
        return run


def _corrected(
    learning: LearningState, run: Memory, outcome: bool | None, metrics: Mapping[str, float]
) -> tuple[LearningState, Update]:
    request, progress = read_request(run), read_progress(run)
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
    return {str(name): float(value) for name, value in to_plain_json(dict(metrics), "The metrics").items()}


def _describe_run(request: RunRequest, status: RunStatus, result: Any, error: RunFailure | None) -> str:
    """Return the text of a run that search indexes."""
    what = f"Run of the procedure {request.name.replace('_', ' ')} version {request.number}: {status}."
    if error is not None:
        where = f" at {error.step}" if error.step else ""
        return f"{what} {error.type}{where}: {error.message[:_PREVIEW]}"
    if isinstance(result, str | int | float) and not isinstance(result, bool):
        return f"{what} Result: {str(result)[:_PREVIEW]}"
    return what
