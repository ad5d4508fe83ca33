"""Execution of the steps of a procedure.

Each step is recorded in a log before the next one starts, and a recorded step is not done again. So resuming a run
means starting from the beginning over the same log. Everything a step depends on (``when``, arguments, the items of a
loop) comes from parameters and logged results, so the result is the same each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Protocol

from longmind.errors import InvalidInput
from longmind.systems.procedural import templates
from longmind.systems.procedural.attempts import AttemptResult, Sleep, attempt, failure_of
from longmind.systems.procedural.conditions import holds
from longmind.systems.procedural.models import Procedure, Retry, Step
from longmind.systems.procedural.run_log import Paused
from longmind.systems.procedural.runs import MAX_TREE_STEPS, PendingApproval, RunFailure, StepRecord
from longmind.systems.procedural.values import MAX_RUN, to_plain_json

Context = dict[str, Any]
_MARGIN = 30.0
_ITEMS_SHOWN = 3
NO_STEPS_LEFT = f"A run and those it starts may do {MAX_TREE_STEPS:,} steps together, and these are done."


class StepLog(Protocol):
    """Where steps are recorded and read back."""

    @property
    def run_id(self) -> str: ...

    @property
    def records(self) -> tuple[StepRecord, ...]: ...

    def now(self) -> datetime: ...

    def find(self, path: str) -> StepRecord | None: ...

    def fits(self, result: Any) -> bool: ...

    def steps_left(self) -> int: ...

    def approval(self, path: str) -> bool | None: ...

    async def record(self, record: StepRecord) -> None: ...


class Caller(Protocol):
    """Makes the call that a step names."""

    async def __call__(self, step: Step, args: Mapping[str, Any], *, path: str, key: str, attempt: int) -> Any: ...

    async def undo(self, step: Step, args: Mapping[str, Any], *, key: str) -> Any: ...


class StepFailed(Exception):
    """A step failed, and the procedure stops because of it."""

    def __init__(self, step: Step, failure: RunFailure) -> None:
        super().__init__(failure.message)
        self.step = step
        self.failure = failure.model_copy(update={"step": step.name})


class Interpreter:
    """Executes one procedure with one set of parameters over one log."""

    def __init__(
        self, procedure: Procedure, params: Mapping[str, Any], log: StepLog, caller: Caller, *, sleep: Sleep
    ) -> None:
        self._procedure = procedure
        self._log = log
        self._caller = caller
        self._sleep = sleep
        self._context: Context = {"params": dict(params), "steps": {}, "run": {"id": log.run_id}}

    # -- forward -------------------------------------------------------------------------------------------------

    async def forward(self) -> Any:
        """Do all steps that are not done yet, and return the result of the procedure."""
        result: Any = None
        for step in self._procedure.steps:
            result = await self._step(step)
            self._context["steps"][step.alias] = result
        if self._procedure.returns is None:
            return result
        try:
            return to_plain_json(templates.render_template(self._procedure.returns, self._context), "The result")
        except InvalidInput as error:
            failure = failure_of(error)
            raise StepFailed(self._procedure.steps[-1], failure) from error

    async def _step(self, step: Step) -> Any:
        record = self._log.find(step.name)
        if record is None:
            record = await self._do(step)
        if record.outcome == "failed":
            if step.on_error != "skip":
                raise StepFailed(step, record.error or RunFailure(type="Unknown", message="It failed."))
            return None
        return self._result(step, record)

    def _result(self, step: Step, record: StepRecord) -> Any:
        """Return the result of a finished step; for a loop, the list of its items' results."""
        if record.items is None:
            return record.result
        items = [self._log.find(f"{step.name}[{n}]") for n in range(record.items)]
        return [item.result if item else None for item in items]

    async def _do(self, step: Step) -> StepRecord:
        """Do a step for the first time, and record it."""
        started = self._log.now()
        try:
            if step.when is not None and not holds(step.when, self._context):
                return await self._record(step, started, outcome="skipped", why="its condition does not hold")
            items = self._items(step)
            refused = await self._check_approval(step, items)
        except InvalidInput as error:
            return await self._record(step, started, outcome="failed", error=failure_of(error))
        if refused is not None:
            return await self._record(step, started, outcome="failed", error=refused)
        if items is None:
            return await self._call(step, step.name, self._context)
        return await self._loop(step, items, started)

    async def _loop(self, step: Step, items: list[Any], started: datetime) -> StepRecord:
        """Do a step for each item and record each; the record of the loop itself holds only their number."""
        for n, item in enumerate(items):
            path = f"{step.name}[{n}]"
            record = self._log.find(path) or await self._call(step, path, {**self._context, "item": item, "index": n})
            if record.outcome == "failed" and step.on_error != "skip":
                return await self._record(step, started, outcome="failed", error=record.error, items=n + 1)
        return await self._record(step, started, items=len(items))

    async def _call(self, step: Step, path: str, context: Context) -> StepRecord:
        if self._log.steps_left() < 1:
            raise StepFailed(step, RunFailure(type="TooManySteps", message=NO_STEPS_LEFT))
        started = self._log.now()
        key = f"{self._log.run_id}/{path}"
        try:
            args = to_plain_json(templates.render_template(step.args, context), "What the arguments come to")
        except InvalidInput as error:
            return await self._record(step, started, path=path, outcome="failed", error=failure_of(error))

        async def call(number: int) -> Any:
            return await self._caller(step, args, path=path, key=key, attempt=number)

        done = self._within_size_limit(await attempt(call, step.retry, step.seconds, self._sleep))
        return await self._record(
            step,
            started,
            path=path,
            outcome="failed" if done.failure else "succeeded",
            result=done.result,
            error=done.failure,
            attempts=done.attempts,
            idempotency_key=key,
        )

    def _within_size_limit(self, done: AttemptResult) -> AttemptResult:
        if self._log.fits(done.result):
            return done
        message = f"With this result the run holds more than {MAX_RUN:,} bytes. Return less from each step."
        return AttemptResult(done.attempts, failure=RunFailure(type="TooLarge", message=message))

    async def _record(self, step: Step, started: datetime, *, path: str | None = None, **fields: Any) -> StepRecord:
        fields = {"outcome": "succeeded", **fields}
        record = StepRecord(
            path=path or step.name, step=step.name, started_at=started, finished_at=self._log.now(), **fields
        )
        await self._log.record(record)
        return record

    # -- items and approval --------------------------------------------------------------------------------------

    def _items(self, step: Step) -> list[Any] | None:
        if step.for_each is None:
            return None
        items = templates.render_template(step.for_each, self._context, limit=MAX_RUN)
        if not isinstance(items, list):
            raise InvalidInput(f"The step {step.name} goes over a list, and {step.for_each} is none.")
        if len(items) > step.max_items:
            raise InvalidInput(
                f"The step {step.name} would go over {len(items)} items; its bound is {step.max_items}.",
                hint="Raise max_items if that is meant.",
            )
        return items

    async def _check_approval(self, step: Step, items: list[Any] | None) -> RunFailure | None:
        """Return None if the step may be done, or the failure if it was refused; ``Paused`` if nobody has decided."""
        if not step.needs_approval:
            return None
        decided = self._log.approval(step.name)
        if decided is None:
            raise Paused(self._pending_approval(step, items))
        return None if decided else RunFailure(type="NotApproved", message="The step was not approved.")

    def _pending_approval(self, step: Step, items: list[Any] | None) -> PendingApproval:
        called = step.use or step.procedure or ""
        if items is None:
            args = to_plain_json(templates.render_template(step.args, self._context), "What the arguments come to")
            return PendingApproval(path=step.name, use=called, args=args)
        shown = [
            templates.render_template(step.args, {**self._context, "item": item, "index": n})
            for n, item in enumerate(items[:_ITEMS_SHOWN])
        ]
        return PendingApproval(
            path=step.name, use=called, args=to_plain_json(shown, "What the arguments come to"), items=len(items)
        )

    # -- backward ------------------------------------------------------------------------------------------------

    async def backward(self) -> None:
        """Compensate finished steps, the last one first. One that fails is recorded, and the others still run."""
        self._load_results()
        for record in reversed([r for r in self._log.records if not r.undo]):
            step = self._procedure.step(record.step)
            path = f"{record.path}!undo"
            wanted = step.compensate and record.outcome == "succeeded" and record.items is None
            if not wanted or self._log.find(path) is not None:
                continue
            await self._undo(step, record, path)

    async def _undo(self, step: Step, record: StepRecord, path: str) -> None:
        started = self._log.now()
        key = f"{self._log.run_id}/{path}"

        async def call(number: int) -> Any:
            assert step.compensate is not None
            args = templates.render_template(step.compensate.args, self._undo_context(step, record))
            return await self._caller.undo(step, to_plain_json(args, "What the arguments come to"), key=key)

        done = self._within_size_limit(await attempt(call, step.retry, step.seconds, self._sleep))
        await self._record(
            step,
            started,
            path=path,
            outcome="failed" if done.failure else "succeeded",
            error=done.failure,
            attempts=done.attempts,
            idempotency_key=key,
        )

    def _undo_context(self, step: Step, record: StepRecord) -> Context:
        context = {**self._context, "result": record.result}
        items = self._items(step)
        if items is not None:
            index = int(record.path.removeprefix(f"{step.name}[").removesuffix("]"))
            context |= {"item": items[index], "index": index}
        return context

    def _load_results(self) -> None:
        """Load the results of finished steps, for a run that is resumed during compensation."""
        for step in self._procedure.steps:
            record = self._log.find(step.name)
            self._context["steps"][step.alias] = None if record is None else self._result(step, record)


def run_lease_seconds(procedure: Procedure) -> float:
    """Return the longest time between two writes of a run: its longest step with all attempts, plus a margin."""

    def of(seconds: float, retry: Retry) -> float:
        return seconds * retry.attempts + sum(retry.wait(n) for n in range(1, retry.attempts))

    return max(of(step.seconds, step.retry) for step in procedure.steps) + _MARGIN


def called_tools(procedure: Procedure) -> Iterator[tuple[Step, str]]:
    """Yield every function that a procedure names, with the step that names it."""
    for step in procedure.steps:
        if step.use:
            yield step, step.use
        if step.compensate:
            yield step, step.compensate.use
