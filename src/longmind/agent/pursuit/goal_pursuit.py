"""The pursuit of one goal: its sub-goals first, then the steps of its plan, revised when monitoring finds a problem."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from longmind.agent.pursuit.context import PursuitContext
from longmind.agent.pursuit.models import PursuitEnding
from longmind.agent.pursuit.recorder import PursuitRecorder
from longmind.agent.pursuit.step_attempt import StepAttempt
from longmind.agent.run_recorder import close_interrupted_run
from longmind.errors import Conflict, NotFound, StoreError
from longmind.systems.cancellation import shield_until_done
from longmind.systems.goals import Finding, Goal, GoalState, Plan, PlanStep, ready_steps
from longmind.systems.records import Lease

NEEDED = "Somebody is needed. "
"""How ``why`` begins for a goal that a pursuit blocked because something was missing here. The next pursuit looks
again whether it is still missing; what monitoring asked a person stays blocked until a person says otherwise."""
_LOOK_AGAIN = 1.0
_CONFLICTS = 20
_AT_ONCE = 0.001
Ended = tuple[PursuitEnding, str]


@dataclass(slots=True)
class GoalPursuit:
    """A running pursuit of one goal."""

    context: PursuitContext
    id: str
    _lease: Lease = field(init=False)
    _recorder: PursuitRecorder = field(init=False)
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _attempts: dict[str, StepAttempt] = field(default_factory=dict)
    _held: dict[str, str] = field(default_factory=dict)
    """Steps that wait for a person, and why."""
    _seen: set[str] = field(default_factory=set)
    """Sub-goals that were already pursued."""
    _review: bool = True
    """Whether something happened since the plan was last monitored."""
    _conflicts: int = 0

    def __post_init__(self) -> None:
        context, scoped = self.context, self.context.mem.scoped
        self._recorder = PursuitRecorder(context.mem, scoped.clock.new_id(), context.problem)
        self._lease = Lease(scoped, f"goal:{self.id}", self._recorder.id, context.limits.lease_seconds, context.problem)

    async def run(self) -> Ended:
        """Pursue the goal until it ends or a limit is reached. ``Conflict`` if another pursuit holds its lease."""
        await self._acquire_lease()
        ending: PursuitEnding | None = None
        why = "The pursuit was cancelled."
        try:
            try:
                await self._recover_from_interrupted()
                ending, why = await self._pursue_to_end()
            except StoreError as error:
                ending, why = "broken_off", f"Memory failed: {error}"
                self.context.problem(why)
            return ending, why
        finally:
            await shield_until_done(self._finish(ending, why))

    async def _acquire_lease(self) -> None:
        if not await self._lease.acquire(self.context.limits.wait_seconds):
            raise Conflict(
                f"Somebody else pursues the goal {self.id}.", hint="Wait for that to end, or cancel it.", goal=self.id
            )

    async def _recover_from_interrupted(self) -> None:
        """Close the episode of a pursuit whose process died, and release the steps it was running."""
        interrupted = self._lease.taken_over_from
        if interrupted is None:
            return
        await close_interrupted_run(self.context.mem.scoped, interrupted)
        plan = await self.context.goals.plan(self.id)
        for step in plan.steps if plan else ():
            if step.status == "running" and step.episode == interrupted:
                with suppress(Conflict, NotFound):  # it has just been ended, which is as good
                    await self.context.goals.renew_step(self.id, step.id, lease_seconds=_AT_ONCE)

    async def _finish(self, ending: PursuitEnding | None, why: str) -> None:
        try:
            await self._cancel_steps()
            await self.context.goals.evaluate_revisions(self.id)
        except Exception as error:
            self.context.problem(f"The pursuit could not be ended properly: {error}")
        finally:
            await self._recorder.close(ending, why)
            await self._lease.release()

    async def _cancel_steps(self) -> None:
        """Cancel running steps; each releases its lease."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled() and (error := task.exception()) is not None:
                self.context.problem(f"A step could not be stopped properly: {error}")
        self._running.clear()

    # -- the loop --------------------------------------------------------------------------------------------------

    async def _pursue_to_end(self) -> Ended:
        await self._activate()
        while True:
            state = await self.context.goals.state(self.id)
            if (ended := await self._check_ending(state)) is not None:
                return ended
            if state.goal.status == "blocked" or self.context.over():
                await self._wait()
                continue
            if not self._running and (ended := await self._pursue_sub_goals()) is not None:
                return ended
            if self._review and (moved := await self._monitor_and_revise(state)) is not False:
                if isinstance(moved, tuple):
                    return moved
                continue
            if state.plan is None and any(not criterion.met for criterion in state.goal.criteria):
                await self._make_plan()
                continue
            started = await self._start_ready_steps(state.plan)
            if self._running:
                await self._wait()
            elif started or self.context.over():
                continue  # the next look ends it, if a limit was reached meanwhile
            elif (ended := await self._wait_or_block(state)) is not None:
                return ended

    async def _activate(self) -> None:
        """Activate a proposed goal, and unblock one that an earlier pursuit blocked because something was missing."""
        goals = self.context.goals
        goal = await goals.get(self.id)
        if goal.status == "proposed":
            await goals.activate(self.id)
        elif goal.status == "blocked" and goal.why.startswith(NEEDED):
            await goals.unblock(self.id)

    async def _check_ending(self, state: GoalState) -> Ended | None:
        """Return how the pursuit ended, or None. Running steps are waited for while time is left."""
        goal, context = state.goal, self.context
        if not goal.open:
            ending: PursuitEnding = "abandoned" if goal.status == "abandoned" else "failed"
            return ("achieved", "") if goal.status == "achieved" else (ending, goal.why)
        if self._lease.lost:
            return "broken_off", "Another process has taken the goal over, since this one seemed dead."
        if self._running and context.left:
            return None
        if goal.status == "blocked":
            await context.tell("blocked", self.id, goal.why)
            return "blocked", goal.why
        over = context.over()
        return ("out_of_budget", over) if over else None

    async def _pursue_sub_goals(self) -> Ended | None:
        """Pursue the open sub-goals, the most important first, each once."""
        context = self.context
        children = [
            child for child in await context.goals.sub_goals(self.id) if child.open and child.id not in self._seen
        ]
        for child in sorted(children, key=lambda child: (-child.priority, child.id)):
            self._seen.add(child.id)
            if child.status == "proposed":
                continue  # nobody said yet that it is wanted
            await context.tell("sub_goal", child.id, child.description)
            self._review = True
            try:
                ending, why = await GoalPursuit(context, child.id).run()
            except Conflict as error:
                context.problem(error.message)
                continue
            if ending in ("out_of_budget", "broken_off"):
                return ending, why
        return None

    async def _make_plan(self) -> None:
        plan = await self.context.goals.plan_for(self.id)
        self._review = True
        await self.context.tell("planned", self.id, f"{len(plan.steps)} steps ({plan.origin}): {plan.why}")

    # -- monitoring ------------------------------------------------------------------------------------------------

    async def _monitor_and_revise(self, state: GoalState) -> Ended | bool:
        """Monitor the plan and answer the gravest finding. True if that changed something, or may have."""
        context = self.context
        await context.goals.evaluate_revisions(self.id)
        for finding in await context.goals.monitor(state):
            if not await self._needs_answer(state, finding):
                continue
            if len(context.revisions) >= context.limits.revisions:
                limit_reached = f"{len(context.revisions)} revisions were made, and no more are allowed."
                if not self._running:
                    return "out_of_budget", f"{limit_reached} {finding.detail}"
                self._review = False  # what runs may end; the next to end makes it look again
                return False
            try:
                revision = await context.goals.revise(self.id, finding)
            except Conflict as error:
                self._conflicts += 1
                if self._conflicts > _CONFLICTS:
                    return "broken_off", f"The goal is being changed by others all the time: {error.message}"
                return True
            if revision is not None:
                context.revisions.append(revision)
                await context.tell("revised", self.id, f"{revision.strategy}: {revision.why}", step=revision.step)
                return True
        self._review = False
        return False

    async def _needs_answer(self, state: GoalState, finding: Finding) -> bool:
        """Whether a finding must be answered. A stalled step that may start needs no answer: the pursuit starts it."""
        if finding.kind == "stall" and finding.step is not None and state.plan is not None:
            able = {step.id for step in ready_steps(state.plan.steps, self.context.mem.scoped.now())}
            return finding.step not in able and finding.step not in self._running
        if finding.kind == "deadline_risk":
            past = await self.context.goals.revisions(self.id)
            return not any(revision.finding == "deadline_risk" and revision.worked is None for revision in past)
        return True

    # -- steps -------------------------------------------------------------------------------------------------------

    async def _start_ready_steps(self, plan: Plan | None) -> bool:
        """Start the steps that are ready, up to the parallel limit. Return whether any was started."""
        context, started = self.context, False
        for step in ready_steps(plan.steps, context.mem.scoped.now()) if plan else ():
            if step.id in self._running or step.id in self._held:
                continue
            if len(self._running) >= context.limits.parallel or context.over():
                break
            if missing := await context.executor.missing(step):
                self._held[step.id] = missing
                continue
            self._start(step)
            started = True
        return started

    def _start(self, step: PlanStep) -> None:
        attempt = StepAttempt(self.context, self._recorder, self.id, step)
        self.context.begun += 1
        self._attempts[step.id] = attempt
        self._running[step.id] = asyncio.create_task(attempt.run(), name=f"step {step.id}")

    async def _wait(self) -> None:
        """Wait until a step has ended, or the time is up."""
        if not self._running:
            return
        await asyncio.wait(self._running.values(), timeout=self.context.left, return_when=asyncio.FIRST_COMPLETED)
        for id in [id for id, task in self._running.items() if task.done()]:
            task, attempt = self._running.pop(id), self._attempts.pop(id)
            self._review = True
            if attempt.needs:
                self._held[id] = attempt.needs
            task.result()

    async def _wait_or_block(self, state: GoalState) -> Ended | None:
        """Nothing can start or runs here: wait for another runner, or block the goal and say what is needed."""
        now = self.context.mem.scoped.now()
        elsewhere = [item for item in state.plan.steps if item.status == "running"] if state.plan else []
        if any(item.lease_until is not None and item.lease_until > now for item in elsewhere):
            await asyncio.sleep(min(_LOOK_AGAIN, self.context.left))
            self._review = True
            return None
        below = [item for item in await self.context.goals.sub_goals(self.id) if item.open]
        needed = [*self._held.values(), *map(_describe_open_sub_goal, below)] or ["Nothing of the plan can begin."]
        if state.plan is not None and state.plan.number > 1:
            needed.append(f"Why the plan is what it is: {state.plan.why}")
        try:
            goal = await self.context.goals.block(self.id, f"{NEEDED}{' '.join(needed)}"[:4_000])
        except (Conflict, NotFound):
            return None  # it is not open any more, which the next look tells
        await self.context.tell("blocked", self.id, goal.why)
        return "blocked", goal.why


def _describe_open_sub_goal(goal: Goal) -> str:
    text = f"The sub-goal {goal.id} ({goal.description[:200]}) is {goal.status}"
    return f"{text}: {goal.why[:1_000]}" if goal.why else f"{text}."
