"""Starting, resuming, cancelling and approving runs.

A run is driven by its owner: the process that started it or, after a crash, the one that took it over. A step that
fails is an outcome of the run. Exceptions are raised only for what keeps the run from being worked on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from datetime import timedelta
from typing import Any

from longmind.errors import Conflict, InvalidInput, LongmindError, NotFound, OperationMismatch
from longmind.store.base import Put, Update
from longmind.systems.procedural.attempts import CallFailed, Sleep
from longmind.systems.procedural.interpreter import (
    NO_STEPS_LEFT,
    Interpreter,
    StepFailed,
    called_tools,
    run_lease_seconds,
)
from longmind.systems.procedural.learning import Learner
from longmind.systems.procedural.models import Procedure, Step
from longmind.systems.procedural.procedure_store import LoadedProcedure, ProcedureStore
from longmind.systems.procedural.run_log import CancelRequested, Halt, Paused, RunLog, TakenOver, claim_run, load_steps
from longmind.systems.procedural.runs import (
    FINAL,
    MAX_TREE_STEPS,
    RUN,
    Approval,
    Parent,
    Progress,
    Run,
    RunFailure,
    RunRequest,
    build_run,
    has_live_owner,
    read_progress,
    read_request,
    run_session,
)
from longmind.systems.procedural.tools import ToolRegistry
from longmind.systems.procedural.values import json_equal
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.types import Filter, Memory

log = logging.getLogger("longmind")
MAX_DEPTH = 8
_ASK_AGAIN = 5.0
_CLAIM = 30.0


class Runner:
    """Drives runs: start, resume, cancel, approve."""

    def __init__(
        self,
        scoped: ScopedStore,
        tools: ToolRegistry,
        procedures: ProcedureStore,
        learner: Learner,
        *,
        sleep: Sleep,
        poll_seconds: float,
    ) -> None:
        self._scoped = scoped
        self.tools = tools
        self._procedures = procedures
        self._learner = learner
        self._sleep = sleep
        self._poll = poll_seconds

    # -- starting ------------------------------------------------------------------------------------------------

    async def execute(
        self, head: LoadedProcedure, params: Mapping[str, Any], *, number: int | None, key: str | None
    ) -> Run:
        """Start a run and drive it as far as it goes. For a key that was used before, return the run it started."""
        named = None if key is None else f"{RUN}:{head.name}:{key}"
        await self._check_tools(head.procedure, {head.name})
        memory, procedure, created = await self._create_run(head, params, named, number=number)
        if not created:
            asked = read_request(memory)
            if asked.procedure != head.id or not all(json_equal(asked.params.get(k), v) for k, v in params.items()):
                raise OperationMismatch(
                    f"The key {key} was used before for a run with other parameters.", run=memory.id
                )
            return build_run(memory, await load_steps(self._scoped, memory))
        return await self._drive_to_run(RunLog(self._scoped, memory, (), run_lease_seconds(procedure)), procedure)

    async def _create_run(
        self,
        head: LoadedProcedure,
        params: Mapping[str, Any],
        key: str | None,
        *,
        number: int | None = None,
        parent: Parent | None = None,
        depth: int = 0,
        max_steps: int | None = None,
    ) -> tuple[Memory, Procedure, bool]:
        run_id = self._scoped.clock.new_id()
        picked = await self._learner.pick(head, run_id, params, number)
        procedure = picked.version.procedure
        request = RunRequest(
            procedure=head.id,
            name=head.name,
            number=picked.version.number,
            params=picked.params,
            chosen=picked.chosen,
            candidate=picked.candidate,
            parent=parent,
            depth=depth,
            max_steps=MAX_TREE_STEPS if max_steps is None else max_steps,
        )
        progress = Progress(
            procedure=head.id,
            name=head.name,
            number=request.number,
            parent=parent.run if parent else None,
            owner=self._scoped.clock.new_id(),
            lease_until=self._scoped.now() + timedelta(seconds=run_lease_seconds(procedure)),
        )
        memory = self._scoped.new(
            RUN,
            "",
            id=run_id,
            body=request.model_dump(mode="json"),
            key=key,
            session=run_session(run_id),
            importance=0.3,
            metadata=progress.model_dump(mode="json"),
        )
        receipt = await self._scoped.write([Put(memory)], reason=f"run {head.name}", actor="procedure")
        return receipt.memories[0], procedure, receipt.created[0]

    # -- going on ------------------------------------------------------------------------------------------------

    async def resume(self, run_id: str, *, take_over: bool) -> Run:
        """Continue a run at the step where it stopped. Return a run that has ended as it is."""
        memory = await self._scoped.need(run_id, RUN)
        if read_progress(memory).status in FINAL:
            return build_run(memory, await load_steps(self._scoped, memory))
        procedure = await self._procedure(memory)
        await self._check_tools(procedure, set())
        run_log = await claim_run(self._scoped, memory, run_lease_seconds(procedure), take_over=take_over)
        return await self._drive_to_run(run_log, procedure, take_over=take_over)

    async def _check_tools(self, procedure: Procedure, seen: set[str]) -> None:
        """Raise ``NotFound`` if a function that the procedure may call is not registered in this process."""
        for step, used in called_tools(procedure):
            if used not in self.tools:
                raise NotFound(
                    f"The step {step.name} of {procedure.name} calls {used}, which is not registered here.",
                    hint="Register it with @tool before running the procedure. Nothing was run.",
                    tool=used,
                )
        for name in {step.procedure for step in procedure.steps if step.procedure} - seen:
            seen.add(name)
            await self._check_tools((await self._procedures.need(name)).procedure, seen)

    async def _procedure(self, run: Memory) -> Procedure:
        """Return the version of the procedure that the run started with, whichever is in use now."""
        asked = read_request(run)
        head = await self._procedures.need(asked.procedure)
        return (await self._procedures.version(head, asked.number)).procedure

    async def _drive_to_run(self, run_log: RunLog, procedure: Procedure, *, take_over: bool = False) -> Run:
        try:
            await self._drive(run_log, procedure, take_over)
        except TakenOver as gone:
            raise Conflict(str(gone), hint="Read the run to see how it goes on.", run=run_log.run_id) from gone
        return run_log.run()

    async def _drive(self, run_log: RunLog, procedure: Procedure, take_over: bool) -> None:
        caller = _RunCaller(self, run_log, take_over)
        steps = Interpreter(procedure, run_log.request.params, run_log, caller, sleep=self._sleep)
        try:
            if run_log.progress.ending is None:
                await self._run_forward(run_log, steps)
            else:
                await self._compensate(run_log, steps)
        except Paused as paused:
            await run_log.wait_for(paused.waiting)
        except asyncio.CancelledError:
            await self._release(run_log)
            raise
        if any(step.procedure for step in procedure.steps) and run_log.progress.status in FINAL:
            await self._cancel_children(run_log)

    async def _release(self, run_log: RunLog) -> None:
        """Give up an interrupted run so that it can be resumed at once. Otherwise its lease has to expire first."""
        try:
            await asyncio.shield(run_log.interrupt())
        except (Halt, LongmindError) as error:
            log.warning("Run %s was interrupted and could not be released: %s", run_log.run_id, error)

    async def _run_forward(self, run_log: RunLog, steps: Interpreter) -> None:
        try:
            if run_log.progress.cancel is not None:
                raise CancelRequested(run_log.run_id)
            result = await self._run_until_cancelled(run_log, steps.forward())
        except CancelRequested:
            if run_log.progress.cancel == "compensate":
                await run_log.compensating("cancelled", None)
                await self._compensate(run_log, steps)
            else:
                await self._learner.end(run_log, "cancelled")
        except StepFailed as failed:
            if failed.step.on_error == "compensate":
                await run_log.compensating("failed", failed.failure)
                await self._compensate(run_log, steps)
            else:
                await self._learner.end(run_log, "failed", error=failed.failure)
        else:
            await self._learner.end(run_log, "succeeded", result=result)

    async def _compensate(self, run_log: RunLog, steps: Interpreter) -> None:
        """Compensate what was done, and end the run. Requests to cancel are ignored from here on."""
        ending, error = run_log.progress.ending, run_log.progress.error
        assert ending is not None
        await steps.backward()
        left = [record.step for record in run_log.records if record.undo and record.outcome == "failed"]
        if left:
            message = f"{error.message if error else 'Cancelled.'} Not taken back: {', '.join(left)}."
            kind, step = (error.type, error.step) if error else ("CompensationFailed", None)
            error = RunFailure(type=kind, message=message, step=step)
        await self._learner.end(run_log, ending, error=error)

    async def _run_until_cancelled(self, run_log: RunLog, work: Coroutine[Any, Any, Any]) -> Any:
        """Do the work, and poll for a request to cancel the run."""
        task, look = asyncio.ensure_future(work), None
        try:
            while True:
                await asyncio.wait({task}, timeout=self._poll)
                if not task.done():
                    look = asyncio.ensure_future(run_log.cancel_requested())
                    await asyncio.wait({task, look}, return_when=asyncio.FIRST_COMPLETED)
                if task.done():
                    return task.result()
                if look is not None and look.done() and look.result():
                    raise CancelRequested(run_log.run_id)
        finally:
            await _stop(task)
            if look is not None:
                await _stop(look)

    # -- cancelling and approving --------------------------------------------------------------------------------

    async def cancel(self, run_id: str, *, compensate: bool) -> Run:
        """Request that a run is cancelled. Its owner stops at the next poll; a run without an owner ends here."""

        async def ask() -> Memory:
            memory = await self._scoped.need(run_id, RUN)
            progress = read_progress(memory)
            if progress.status in FINAL:
                return memory
            asked = progress.model_copy(update={"cancel": "compensate" if compensate else "stop"})
            update = Update(run_id, {"metadata": asked.model_dump(mode="json")}, expected_version=memory.version)
            return (await self._scoped.write([update], reason="cancel", actor="user")).memories[0]

        memory = await retry_on_conflict(ask)
        progress = read_progress(memory)
        if progress.status in FINAL or has_live_owner(progress, self._scoped.now()):
            return build_run(memory, await load_steps(self._scoped, memory))
        if compensate or progress.ending is not None:
            return await self.resume(run_id, take_over=False)
        run_log = await claim_run(
            self._scoped, memory, _CLAIM, take_over=False
        )  # nothing is called, so no function is needed
        await self._learner.end(run_log, "cancelled")
        await self._cancel_children(run_log)
        return run_log.run()

    async def _cancel_children(self, run_log: RunLog) -> None:
        """Cancel the child runs that are still open, after a timeout or a cancellation of this run."""
        where = Filter(kinds=(RUN,), metadata={"open": True, "parent": run_log.run_id}, states=None)
        async for child in self._scoped.store.scan_all(self._scoped.scope, where):
            await self.cancel(child.id, compensate=run_log.progress.cancel == "compensate")

    async def approve(self, run_id: str, *, approved: bool, by: str, why: str, resume: bool) -> Run:
        """Store the decision about the step that waits, and continue."""
        memory = await self._scoped.need(run_id, RUN)
        progress = read_progress(memory)
        if progress.status != "waiting" or progress.waiting is None:
            raise Conflict(f"Run {run_id} waits for nothing; it is {progress.status}.", run=run_id)
        if progress.waiting.run is not None:
            await self.approve(progress.waiting.run, approved=approved, by=by, why=why, resume=False)
            changes: dict[str, Any] = {}
        else:
            decided = Approval(approved=approved, by=by, at=self._scoped.now(), why=why)
            changes = {"approvals": {**progress.approvals, progress.waiting.path: decided}}
        ready = progress.model_copy(update={**changes, "status": "interrupted", "waiting": None})
        update = Update(run_id, {"metadata": ready.model_dump(mode="json")}, expected_version=memory.version)
        verb = "approve" if approved else "refuse"
        await self._scoped.write([update], reason=f"{verb} {progress.waiting.path}: {why}".strip(": "), actor=by)
        return await (self.resume(run_id, take_over=False) if resume else self.read(run_id))

    async def read(self, run_id: str) -> Run:
        """Return the current state of a run, with its steps."""
        memory = await self._scoped.need(run_id, RUN)
        return build_run(memory, await load_steps(self._scoped, memory))

    # -- procedures that steps call ------------------------------------------------------------------------------

    async def run_child(
        self, run_log: RunLog, step: Step, args: Mapping[str, Any], path: str, attempt: int, take_over: bool
    ) -> Any:
        """Run the procedure that a step names, or continue the child run that was started before."""
        depth = run_log.request.depth + 1
        if depth > MAX_DEPTH:
            raise InvalidInput(
                f"Procedures call each other more than {MAX_DEPTH} deep.", hint="Does one of them call itself?"
            )
        max_steps = run_log.steps_left() - 1  # one for the step that starts it
        if max_steps < 1:
            raise InvalidInput(NO_STEPS_LEFT)
        assert step.procedure is not None
        head = await self._procedures.need(step.procedure)
        parent = Parent(run=run_log.run_id, path=path)
        key = f"{RUN}:{run_log.run_id}/{path}~{attempt}"
        memory, procedure, created = await self._create_run(
            head, args, key, parent=parent, depth=depth, max_steps=max_steps
        )
        try:
            if created:
                run = await self._drive_to_run(
                    RunLog(self._scoped, memory, (), run_lease_seconds(procedure)), procedure
                )
            else:
                run = await self.resume(memory.id, take_over=take_over)
        except Conflict as conflict:
            raise TakenOver(conflict.message) from conflict
        if run.finished:
            run_log.count_child(run.steps_done)
        if run.status == "waiting" and run.waiting is not None:
            raise Paused(run.waiting.model_copy(update={"run": run.id, "path": path}))
        if run.status != "succeeded":
            failure = run.error or RunFailure(type="Cancelled", message=f"Run {run.id} of {run.name} was cancelled.")
            raise CallFailed(failure)
        return run.result


class _RunCaller:
    """Makes the calls of one run: registered functions and child runs."""

    def __init__(self, runner: Runner, run_log: RunLog, take_over: bool) -> None:
        self._runner = runner
        self._ledger = run_log
        self._take_over = take_over

    async def __call__(self, step: Step, args: Mapping[str, Any], *, path: str, key: str, attempt: int) -> Any:
        if step.use is not None:
            return await self._runner.tools.get(step.use).call(args, key)
        return await self._runner.run_child(self._ledger, step, args, path, attempt, self._take_over)

    async def undo(self, step: Step, args: Mapping[str, Any], *, key: str) -> Any:
        assert step.compensate is not None
        return await self._runner.tools.get(step.compensate.use).call(args, key)


async def _stop(task: asyncio.Future[Any]) -> None:
    """Cancel a task and wait for its end. Repeat: before Python 3.12 a database driver can lose a cancellation."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_ASK_AGAIN)
    if not task.cancelled():
        task.exception()  # retrieved so that asyncio does not report it
