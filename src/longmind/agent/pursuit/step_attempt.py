"""One attempt at a step: started under a lease, executed, and reported to the plan.

A cancellation leaves the plan consistent at any point: the step has not started, is reported, or is released so that it
may start again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from longmind.agent.pursuit.context import PursuitContext
from longmind.agent.pursuit.models import StepOutcome
from longmind.agent.pursuit.recorder import PursuitRecorder
from longmind.agent.pursuit.step_executor import StepResult
from longmind.errors import Conflict, NotFound, StoreError
from longmind.systems.cancellation import shield_until_done
from longmind.systems.goals import GoalState, PlanStep, result_note, truncate_value

_RENEWALS = 3
"""How often a lease is renewed within its time."""
_TRIES, _PAUSE = 4, 0.1
"""How often a report to the plan is tried, and the first pause in seconds."""


@dataclass(slots=True)
class StepAttempt:
    """An attempt at a step of a goal."""

    context: PursuitContext
    recorder: PursuitRecorder
    goal: str
    step: PlanStep
    needs: str = ""
    """After the run: what a person must do before the step can continue."""
    _begun: GoalState | None = None
    _reported: bool = False

    async def run(self) -> None:
        """Start, execute and report the step. If the plan was changed meanwhile, do nothing."""
        try:
            await self._execute()
        except BaseException:
            if self._begun is not None and not self._reported:
                await shield_until_done(self._release(self._begun))
            raise

    async def _execute(self) -> None:
        context = self.context
        try:
            await shield_until_done(self._start())
        except (Conflict, NotFound) as error:
            context.problem(f"The step {self.step.id} did not begin: {error.message}")
            return
        assert self._begun is not None
        await context.tell("started", self.goal, self.step.description, step=self.step.id)
        scoped = context.mem.scoped
        at = scoped.now()
        async with self._keep_lease():
            done = await context.executor.do(self._begun, self.step)
        context.count(done.usage)
        for problem in done.problems:
            context.problem(problem)
        if done.needs or done.spent:
            self.needs, context.exhausted = done.needs, done.spent or context.exhausted
            await shield_until_done(self._release(self._begun))
            self._reported = True
            await context.tell("stopped", self.goal, done.needs or done.spent, step=self.step.id)
            return
        outcome = StepOutcome(
            goal=self.goal,
            step=self.step.id,
            attempt=self.step.attempts,
            how=done.how,
            ok=done.ok,
            result=truncate_value(done.result, context.executor.agent.limits.result_chars),
            error=done.error,
            episode=done.episode or self.recorder.episode,
            seconds=max(0.0, (scoped.now() - at).total_seconds()),
        )
        await shield_until_done(self._report(outcome, done))
        text = result_note(outcome.result) if outcome.ok else outcome.error
        await context.tell("done" if outcome.ok else "failed", self.goal, text, step=self.step.id)

    async def _start(self) -> None:
        goals, lease = self.context.goals, self.context.limits.lease_seconds
        state = await goals.state(self.goal)
        await self.recorder.began(state.goal, state.plan, self.step)
        self._begun = await goals.start_step(
            self.goal, self.step.id, episode=self.recorder.episode, lease_seconds=lease
        )
        assert self._begun.plan is not None
        self.step = self._begun.plan.step(self.step.id) or self.step

    async def _report(self, outcome: StepOutcome, done: StepResult) -> None:
        """Report the outcome to the plan and the recorder, with retries, so that a short outage does not lose it."""
        self.context.outcomes.append(outcome)
        try:
            if outcome.ok:
                await _retry_on_store_error(lambda: self._complete(outcome, done))
            else:
                error = outcome.error or "It failed, and did not say why."
                await _retry_on_store_error(lambda: self.context.goals.fail_step(self.goal, self.step.id, error))
        except (Conflict, NotFound) as error:
            self.context.problem(f"What came of the step {self.step.id} was not wanted any more: {error.message}")
        self._reported = True
        await self.recorder.ended(self.step, outcome)

    async def _complete(self, outcome: StepOutcome, done: StepResult) -> GoalState:
        goals = self.context.goals
        if outcome.episode is None:
            return await goals.complete_step(self.goal, self.step.id, done.result)
        shown = {"note": result_note(truncate_value(done.result)), "memory": outcome.episode}
        try:
            return await goals.complete_step(self.goal, self.step.id, done.result, evidence=shown)
        except NotFound:  # the episode was forgotten meanwhile; the step is done all the same
            return await goals.complete_step(self.goal, self.step.id, done.result)

    async def _release(self, begun: GoalState) -> None:
        """Release the step if this attempt still holds it. Being stopped does not count as an attempt."""
        goals = self.context.goals
        try:
            plan = await goals.plan(self.goal)
            now = None if plan is None else plan.step(self.step.id)
            if now is not None and (now.status, now.started_at) == ("running", self.step.started_at):
                await goals.release_step(self.goal, self.step.id)
        except (Conflict, NotFound):
            return  # it is not running any more, which is what was wanted
        except StoreError as error:
            self.context.problem(f"The step {self.step.id} could not be let go, and stays taken for a while: {error}")

    @asynccontextmanager
    async def _keep_lease(self) -> AsyncIterator[None]:
        renewing = asyncio.create_task(self._renew(), name=f"lease of {self.step.id}")
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.wait({renewing})

    async def _renew(self) -> None:
        seconds = self.context.limits.lease_seconds
        while True:
            await asyncio.sleep(seconds / _RENEWALS)
            try:
                await shield_until_done(self.context.goals.renew_step(self.goal, self.step.id, lease_seconds=seconds))
            except (Conflict, NotFound):
                return  # somebody ended it; telling its outcome will show that
            except StoreError as error:
                self.context.problem(f"The lease of the step {self.step.id} could not be renewed: {error}")


async def _retry_on_store_error(write: Callable[[], Awaitable[object]]) -> None:
    """Retry a write on a store error."""
    for n in range(_TRIES):
        try:
            await write()
            return
        except StoreError:
            if n == _TRIES - 1:
                raise
            await asyncio.sleep(_PAUSE * 2**n)
