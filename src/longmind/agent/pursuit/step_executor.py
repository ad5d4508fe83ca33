"""Execute the steps of a plan: by a tool, a stored procedure, or the agent itself.

Every outcome is a ``StepResult``: a tool that raises, hangs or returns ten megabytes gives a failed step or a
truncated result, never an exception.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from longmind.agent.models import Call, Outcome
from longmind.agent.pursuit.models import How, PursuitLimits
from longmind.agent.pursuit.recorder import plan_text
from longmind.agent.toolbox import Toolbox
from longmind.errors import LongmindError, NotFound
from longmind.models.chat import Usage
from longmind.systems.goals import GoalState, Plan, PlanStep, truncate_text, truncate_value
from longmind.systems.procedural import ProceduralMemory, Run, error_message
from longmind.text.quoting import flatten, quote, quote_json

if TYPE_CHECKING:
    from longmind.agent.agent import Agent

REFUSED = "NOT DONE"
"""How an agent's answer begins if it could not do a step."""
_SHOWN, _EARLIER, _LINE = 1_000, 3, 10_000


@dataclass(frozen=True, slots=True)
class StepResult:
    """The outcome of executing a step."""

    how: How
    ok: bool = False
    result: Any = None
    error: str = ""
    needs: str = ""
    """What a person must do before the step can continue; then it neither succeeded nor failed."""
    spent: str = ""
    """Which budget is used up; then it neither succeeded nor failed."""
    episode: str | None = None
    usage: Usage = field(default_factory=Usage)
    problems: tuple[str, ...] = ()


class RunPlanStep(Protocol):
    """Does a step of a plan as a run of the agent."""

    async def __call__(self, agent: Agent, task: str, *, session: str, timeout: float, plan: str) -> Outcome: ...


@dataclass(slots=True)
class StepExecutor:
    """Executes steps with the tools, procedures and policy of one agent."""

    agent: Agent
    procedural: ProceduralMemory
    decides: bool
    """Whether the agent has a policy or a model, and so can do steps that name no tool."""
    limits: PursuitLimits
    run_plan_step: RunPlanStep
    """Gives a step to the agent; see ``longmind.agent.agent.run_plan_step``."""

    async def missing(self, step: PlanStep) -> str:
        """Return what a step needs that is missing here; empty if it can be executed."""
        if step.tool is not None:
            return "" if step.tool in self.agent.tools else f"{step.id} needs the tool {step.tool}, which is not here."
        if step.procedure is None:
            return "" if self.decides else f"{step.id} needs somebody to do it: {step.description.rstrip('. ')}."
        try:
            procedure = (await self.procedural.retrieve(step.procedure)).procedure
        except NotFound:
            return f"{step.id} needs the procedure {step.procedure}, which is not here."
        lacking = [
            inner.use for inner in procedure.steps if inner.use is not None and inner.use not in self.agent.tools
        ]
        return f"{step.id} needs the tool {lacking[0]}, for the procedure {procedure.name}." if lacking else ""

    async def do(self, state: GoalState, step: PlanStep) -> StepResult:
        """Execute a step that was started."""
        assert state.plan is not None
        how: How = "tool" if step.tool else "procedure" if step.procedure else "agent"
        key = f"{state.plan.id}:{step.id}"
        # A new version of the plan is a new key. Within one version a step only begins again when its runner was lost,
        # and then it goes on with what that one began.
        try:
            if step.tool is not None:
                return await self._call(step, step.tool, key)
            if step.procedure is not None:
                return await self._execute(step, step.procedure, key)
            return await self._ask(state, state.plan, step)
        except LongmindError as error:
            return StepResult(how, error=str(error))
        except Exception as error:
            return StepResult(how, error=f"{type(error).__name__}: {error_message(error)}")

    async def _call(self, step: PlanStep, tool: str, key: str) -> StepResult:
        agent = self.agent
        toolbox = Toolbox(agent.tools, self.procedural, agent.mem.scoped.clock, agent.limits)
        seen = await toolbox.perform(Call(tool=tool, args=step.args), key)
        return StepResult("tool", ok=seen.ok, result=seen.result, error=seen.error)

    async def _execute(self, step: PlanStep, name: str, key: str) -> StepResult:
        seconds = self.limits.step_seconds
        try:
            async with asyncio.timeout(seconds) as limit:
                run = await self._run(name, step.args, key)
        except NotFound as error:
            return StepResult("procedure", needs=f"{step.id}: {error.message}")
        except TimeoutError:
            if not limit.expired():
                raise
            left = await self.procedural.execute(name, step.args, key=key)
            await self.procedural.cancel(left.id)  # the next attempt starts a run of its own
            return StepResult("procedure", error=f"{name} did not finish within {seconds:g} seconds.")
        if run.status == "succeeded":
            return StepResult("procedure", ok=True, result=truncate_value(run.result, self.agent.limits.result_chars))
        if run.status == "waiting":
            return StepResult("procedure", needs=f"{step.id} waits for an approval: the run {run.id} of {name}.")
        return StepResult("procedure", error=run.error.message if run.error else f"The run {run.id} is {run.status}.")

    async def _run(self, name: str, args: dict[str, Any], key: str) -> Run:
        """Return the run of this step: a new one, or the interrupted one resumed."""
        run = await self.procedural.execute(name, args, key=key)
        if run.status in ("running", "interrupted"):  # whoever ran it is gone: the goal is ours now
            run = await self.procedural.resume(run.id, take_over=True)
        return run

    async def _ask(self, state: GoalState, plan: Plan, step: PlanStep) -> StepResult:
        """Give a step to the agent. Attempts share a session, so each sees what the one before said."""
        outcome = await self.run_plan_step(
            self.agent,
            task_of(state, plan, step),
            session=f"goal:{state.goal.id}:{step.id}",
            timeout=self.limits.step_seconds,
            plan=plan_text(plan),
        )
        fields: dict[str, Any] = {
            "episode": outcome.episode,
            "usage": outcome.usage,
            "problems": outcome.problems,
        }
        if outcome.ending == "out_of_budget":
            return StepResult("agent", spent=outcome.text, **fields)
        if succeeded(outcome):
            return StepResult("agent", ok=True, result=outcome.text, **fields)
        return StepResult("agent", error=outcome.text or f"The run ended as {outcome.ending}.", **fields)


def succeeded(outcome: Outcome) -> bool:
    """Whether a run did its step: as its judge or policy says, otherwise by how the answer begins."""
    if outcome.success is not None:
        return outcome.success
    return outcome.ending == "answered" and not outcome.text.lstrip(" *_#\n").upper().startswith(REFUSED)


def task_of(state: GoalState, plan: Plan, step: PlanStep) -> str:
    """Return a step as a task for the agent: what to do first, then its context as data."""
    goal = state.goal
    before = {other.id: other for other in plan.steps}
    results = {
        name: truncate_value(before[name].result, _SHOWN) for name in step.after if before[name].result is not None
    }
    around: dict[str, Any] = {
        "goal": goal.description,
        "criteria": [criterion.description for criterion in goal.criteria if criterion.id in step.criteria],
        "given": step.args,
        "results_of_earlier_steps": results,
        "went_wrong_before": [truncate_text(error, _SHOWN) for error in step.errors[-_EARLIER:]],
    }
    lines = [flatten(step.description, _LINE)]
    lines.append(f"Expected result: {quote(step.expected, _LINE)}" if step.expected else "")
    lines.append(f"If it cannot be done, begin your answer with {REFUSED} and say what is missing.")
    shown = {name: value for name, value in around.items() if value}
    lines.append(f"What it is for, as data: {quote_json(shown)}")
    return "\n".join(filter(None, lines))
