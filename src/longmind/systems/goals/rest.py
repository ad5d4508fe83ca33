"""Planning the rest of a goal anew, in another way than the one that is in trouble."""

from __future__ import annotations

from longmind.errors import InvalidInput
from longmind.systems.goals.answers import PlanRest
from longmind.systems.goals.models import PlanBody, Standing
from longmind.systems.goals.planning import HOWS, Planner
from longmind.systems.goals.prints import step_print


def rest_of(planner: Planner) -> PlanRest:
    """What plans the rest by the first way of planning whose steps are not those that are open now.

    The planner would choose the same way again: the procedure that just failed still fits the goal best. When every way
    leads to the same steps, those are given, and whoever asked decides whether that is an answer.
    """

    async def plan(standing: Standing, why: str) -> PlanBody | None:
        current = standing.plan.steps if standing.plan else ()
        left = sorted(step_print(step) for step in current if not step.settled)
        same: PlanBody | None = None
        for how in HOWS:
            try:
                made = await planner.plan(standing.goal, how)
            except InvalidInput:
                continue  # this way has nothing to offer, which is no trouble as long as another has
            told = made.model_copy(update={"why": f"{made.why} {why}".strip()})
            if sorted(map(step_print, made.steps)) != left:
                return told
            same = same or told
        return same

    return plan
