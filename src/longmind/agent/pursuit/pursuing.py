"""Pursuing a goal: plan, do the next steps, look how it goes, revise, until it is achieved or somebody is needed.

    pursuit = await pursue(agent, goal)
    pursuit.ending, pursuit.goal.progress, pursuit.why

What is done is told to the plan at once, so a pursuit that was cut off, by a cancellation or a crash, goes on where it
stopped when ``pursue`` is called again. One pursuit of a goal goes on at a time, also across processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longmind.agent.pursuit.chat import CountedChat
from longmind.agent.pursuit.goal import GoalPursuit
from longmind.agent.pursuit.hands import Hands
from longmind.agent.pursuit.models import OnEvent, Pursuit, PursuitLimits
from longmind.agent.pursuit.state import Shared
from longmind.errors import Forbidden, StoreError
from longmind.models.chat import Chat
from longmind.systems.goals import Goal, GoalMemory, GoalState
from longmind.systems.goals.models import PlanBody
from longmind.systems.goals.monitor import Monitor
from longmind.systems.goals.planning import Planner
from longmind.systems.goals.revising import Reviser
from longmind.systems.goals.strategy_selection import Replan
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
    shared = await _shared(agent, limits or PursuitLimits(), on_event)
    scoped = agent.mem.scoped
    known = await shared.goals.get(goal if isinstance(goal, str) else goal.id)
    if known.user != scoped.scope.user:
        raise Forbidden(
            f"The goal {known.id} belongs to {known.user or 'the agent'}, not to {scoped.scope.user or 'the agent'}.",
            hint="Pursue it with the memory of whom it belongs to: rc.agent(name, user=...).",
            id=known.id,
        )
    began = scoped.now()
    ending, why = await GoalPursuit(shared, known.id).run()
    try:
        known = await shared.goals.get(known.id)
    except StoreError as error:
        shared.problem(f"How the goal stands could not be read: {error}")
    await shared.tell("ended", known.id, f"{ending}: {why}" if why else ending)
    return Pursuit(
        goal=known,
        ending=ending,
        why=why,
        steps_done=sum(one.ok for one in shared.outcomes),
        revisions=tuple(shared.revisions),
        outcomes=tuple(shared.outcomes),
        problems=tuple(shared.problems),
        seconds=max(0.0, (scoped.now() - began).total_seconds()),
        usage=shared.usage,
    )


async def _shared(agent: Agent, limits: PursuitLimits, on_event: OnEvent | None) -> Shared:
    """The parts of a pursuit. Plans are made for what this agent can do and with its model, whose use is counted."""
    mem, scoped = agent.mem, agent.mem.scoped
    shared = Shared(mem, limits, on_event)

    async def chat() -> Chat | None:
        own = agent.own_chat or await mem.chat()
        return None if own is None else CountedChat(own, shared.count)

    own_tools = agent.tools is not mem.procedural.tools
    procedural = ProceduralMemory(scoped, agent.tools) if own_tools else mem.procedural
    given: GoalMemory | None = agent.goals if agent.goals is not mem.goals else None
    shared.goals = given or GoalMemory(scoped, procedural, chat)
    records = shared.goals.records
    shared.hands = Hands(agent, procedural, await agent.decides(), limits)
    shared.monitor = Monitor(scoped, records)
    rest = _within_reach(Planner(scoped, records, procedural, chat).replan, shared.hands)
    shared.reviser = Reviser(scoped, records, procedural=procedural, chat=chat, replan=rest, monitor=shared.monitor)
    return shared


def _within_reach(replan: Replan, hands: Hands) -> Replan:
    """A plan for the rest only counts if it can be carried out here; otherwise something else may still help."""

    async def plan(state: GoalState, why: str) -> PlanBody | None:
        made = await replan(state, why)
        if made is None or any([await hands.missing(step) for step in made.steps]):
            return None
        return made

    return plan
