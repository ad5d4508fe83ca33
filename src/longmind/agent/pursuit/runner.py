"""Pursue a goal: plan, execute the next steps, monitor and revise, until it is achieved or somebody is needed.

    pursuit = await pursue(agent, goal)
    pursuit.ending, pursuit.goal.progress, pursuit.why

Each outcome is reported to the plan at once, so a pursuit that was cancelled or crashed continues where it stopped when
``pursue`` is called again. Only one pursuit of a goal runs at a time, also across processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longmind.agent.agent import run_plan_step
from longmind.agent.pursuit.context import PursuitContext
from longmind.agent.pursuit.counted_chat import CountedChat
from longmind.agent.pursuit.goal_pursuit import GoalPursuit
from longmind.agent.pursuit.models import OnEvent, Pursuit, PursuitLimits
from longmind.agent.pursuit.step_executor import StepExecutor
from longmind.errors import Forbidden, StoreError
from longmind.models.chat import Chat
from longmind.systems.goals import Goal, GoalMemory, PlanStep
from longmind.systems.procedural import ProceduralMemory

if TYPE_CHECKING:
    from longmind.agent.agent import Agent


async def pursue(
    agent: Agent, goal: str | Goal, *, limits: PursuitLimits | None = None, on_event: OnEvent | None = None
) -> Pursuit:
    """Pursue a goal and its sub-goals, with the tools, the procedures and the model of an agent.

    A goal that has ended, or that waits for a person, is returned as it is. ``NotFound`` for one that does not exist,
    ``Conflict`` when somebody else pursues it. ``on_event`` is told what happens while it goes on.
    """
    context = await _build_context(agent, limits or PursuitLimits(), on_event)
    scoped = agent.mem.scoped
    known = await context.goals.get(goal if isinstance(goal, str) else goal.id)
    if known.user != scoped.scope.user:
        raise Forbidden(
            f"The goal {known.id} belongs to {known.user or 'the agent'}, not to {scoped.scope.user or 'the agent'}.",
            hint="Pursue it with the memory of whom it belongs to: longmind.agent(name, user=...).",
            id=known.id,
        )
    began = scoped.now()
    ending, why = await GoalPursuit(context, known.id).run()
    try:
        known = await context.goals.get(known.id)
    except StoreError as error:
        context.problem(f"How the goal stands could not be read: {error}")
    await context.tell("ended", known.id, f"{ending}: {why}" if why else ending)
    return Pursuit(
        goal=known,
        ending=ending,
        why=why,
        steps_done=sum(outcome.ok for outcome in context.outcomes),
        revisions=tuple(context.revisions),
        outcomes=tuple(context.outcomes),
        problems=tuple(context.problems),
        seconds=max(0.0, (scoped.now() - began).total_seconds()),
        usage=context.usage,
    )


async def _build_context(agent: Agent, limits: PursuitLimits, on_event: OnEvent | None) -> PursuitContext:
    """Build the shared state. Plans use the tools and the model of this agent, and the model's usage is counted."""
    mem = agent.mem
    context = PursuitContext(mem, limits, on_event)

    async def chat() -> Chat | None:
        own = agent.own_chat or await mem.chat()
        return None if own is None else CountedChat(own, context.count)

    own_tools = agent.tools is not mem.procedural.tools
    procedural = ProceduralMemory(mem.scoped, agent.tools) if own_tools else mem.procedural
    context.executor = StepExecutor(agent, procedural, await agent.decides(), limits, run_plan_step)

    async def can_execute(step: PlanStep) -> bool:
        return not await context.executor.missing(step)

    goals: GoalMemory = agent.goals or mem.goals
    context.goals = goals.with_resources(procedural=procedural, chat=chat, can_execute=can_execute)
    return context
