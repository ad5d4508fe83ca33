"""Goals, as their users see them: create, change, end and render them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, overload

from longmind.arguments import checked_arguments
from longmind.errors import Conflict, InvalidInput
from longmind.store.base import Write
from longmind.systems.goals import criteria as criteria_
from longmind.systems.goals.adaptation import adapt_to_changed_goal
from longmind.systems.goals.criteria import EvidenceInput, build_evidence
from longmind.systems.goals.models import (
    GOAL,
    OPEN,
    Goal,
    GoalHit,
    GoalProgress,
    GoalState,
    GoalStatus,
    Plan,
    PlanBody,
    PlanStep,
)
from longmind.systems.goals.plan_memory import PlanMemory
from longmind.systems.goals.planning import How, StepInput
from longmind.systems.goals.progress import GAVE_UP_STATUSES, ProgressPropagation
from longmind.systems.goals.records import ABOUT, ACHIEVES, goal_from_record
from longmind.systems.goals.rendering import Format, GoalTree, build_tree, render_tree
from longmind.systems.goals.transaction import build_goal_change, goal_body, require_open
from longmind.systems.scoped_store import validated
from longmind.types import Filter, Json, Memory, Page

if TYPE_CHECKING:
    pass

Goals = list[GoalHit]
SubGoals = list[Goal]
Memories = list[Memory]


@checked_arguments
class GoalMemory(PlanMemory):
    """What is wanted and how to get there: goals with criteria and sub-goals, and plans with their history."""

    # -- goals ---------------------------------------------------------------------------------------------------------

    async def create(
        self,
        description: str,
        *,
        criteria: Iterable[criteria_.CriterionInput] = (),
        priority: float = 0.5,
        deadline: datetime | None = None,
        parent: str | None = None,
        status: GoalStatus = "active",
        tags: Sequence[str] = (),
        attributes: Mapping[str, Any] | None = None,
    ) -> Goal:
        """Store a goal. Without criteria its description is the one criterion; with ``parent`` it is a sub-goal.

        A deadline that has passed is taken as it is; monitoring will say so at once.
        """
        body = goal_body(description, criteria, priority, deadline, parent, status, attributes)
        return (await self._transaction.created(body, tags, None)).goal

    async def create_goal_with_plan(
        self,
        description: str,
        criteria: Iterable[criteria_.CriterionInput] = (),
        steps: Iterable[StepInput] | None = None,
        *,
        how: How = "auto",
        priority: float = 0.5,
        deadline: datetime | None = None,
        parent: str | None = None,
        status: GoalStatus = "active",
        tags: Sequence[str] = (),
        attributes: Mapping[str, Any] | None = None,
    ) -> tuple[Goal, Plan]:
        """Store a goal and its plan together, or neither: from these steps, or as ``plan_for`` makes one."""
        body = goal_body(description, criteria, priority, deadline, parent, status, attributes)

        async def planned(goal: Goal) -> PlanBody:
            return await self._planner.plan(goal, how, steps)

        state = await self._transaction.created(body, tags, planned)
        assert state.plan is not None
        return state.goal, state.plan

    async def get(self, id: str) -> Goal:
        """Return a goal."""
        return await self.records.goal(id)

    async def list(
        self,
        *,
        status: GoalStatus | None = None,
        open: bool | None = None,
        parent: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Goal]:
        """List goals, the newest first: of one status, only open or ended ones, or the sub-goals of one."""
        options: dict[str, Any] = {"status": status, "open": open, "parent": parent}
        metadata = {name: value for name, value in options.items() if value is not None}
        where = Filter(states=None, metadata=metadata or None)
        page = await self._scoped.page(GOAL, where=where, limit=limit, cursor=cursor, descending=True)
        return Page(items=tuple(goal_from_record(memory) for memory in page.items), cursor=page.cursor)

    async def search(self, query: str, k: int = 5) -> Goals:
        """Return the goals that match a text best, including ended ones."""
        hits = await self._scoped.search(query, k=k, kinds=(GOAL,), where=Filter(states=None))
        return [GoalHit(goal=goal_from_record(hit.memory), score=hit.score, why=hit.why) for hit in hits]

    async def update(self, id: str, /, *, why: str = "", **changes: Any) -> Goal:
        """Change a goal: description, criteria, priority, deadline, parent, tags, attributes.

        When what the plan depends on changes, the plan is revised in the same write: what was done stays, what served
        only criteria that are gone is left out, and new criteria get steps. The reason is kept with the new version.
        """

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            goal, plan = state.goal, state.plan
            require_open(goal)
            change = build_goal_change(goal, changes)
            if not change.fields:
                return None
            links: Sequence[Write] = ()
            if "parent" in change.fields:
                links = await self._transaction.moved(goal, change.fields["parent"])
            propagation.change(state, **change.fields)
            if plan is not None and change.reasons:
                after = propagation.drafts[id].after
                reason = f"The goal changed: {'; '.join(change.reasons)}. {why}".strip()
                propagation.change(state, plan=_revision(plan, adapt_to_changed_goal(plan, goal, after), reason))
            return links

        return (await self._transaction.change(id, why or "change a goal", decide)).goal

    async def activate(self, id: str) -> Goal:
        """Activate a goal that was proposed."""
        return await self._move(id, "active", ("proposed",))

    async def block(self, id: str, why: str) -> Goal:
        """Block a goal and say what it waits for. No step starts; running steps may end."""
        return await self._move(id, "blocked", ("proposed", "active"), _said(why, "what blocks it"))

    async def unblock(self, id: str) -> Goal:
        """Unblock a goal."""
        return await self._move(id, "active", ("blocked",))

    async def achieve(self, id: str) -> Goal:
        """Return the goal if it is achieved; ``Conflict`` names what is open. The status follows from the criteria."""
        goal = await self.records.goal(id)
        if goal.status == "achieved":
            return goal
        missing = [f"{item.id} ({item.description[:100]})" for item in goal.criteria if not item.met]
        missing += [
            f"the sub-goal {item.id} ({item.description[:100]})"
            for item in await self.records.children([id])
            if item.open
        ]
        if goal.status in GAVE_UP_STATUSES:
            raise Conflict(f"The goal {id} is {goal.status}.", hint="Reopen it first.", id=id)
        raise Conflict(
            f"The goal is not achieved: open are {', '.join(missing)}.",
            hint="Complete the steps, or say what shows it with `meet`.",
            id=id,
        )

    async def fail(self, id: str, why: str) -> Goal:
        """Mark a goal as failed: it cannot be reached. Its open sub-goals are abandoned."""
        return await self._move(id, "failed", OPEN, _said(why, "why it failed"))

    async def abandon(self, id: str, why: str) -> Goal:
        """Abandon a goal that is no longer wanted, with its open sub-goals."""
        return await self._move(id, "abandoned", OPEN, _said(why, "why it is abandoned"))

    async def reopen(self, id: str, *criteria: str, why: str = "") -> Goal:
        """Reopen a goal that ended. For an achieved one, name the criteria that are no longer met."""

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            goal = state.goal
            if goal.open:
                raise Conflict(f"The goal {id} is {goal.status}: it has not ended.", id=id)
            if goal.status == "achieved" and not criteria:
                known = ", ".join(criterion.id for criterion in goal.criteria)
                raise InvalidInput("Say which criteria are no longer met.", hint=f"There are {known}.")
            propagation.change(state, status="active", why="")
            if criteria:
                self._again(propagation, state, criteria, why)
            return ()

        return (await self._transaction.change(id, why or "reopen a goal", decide)).goal

    async def meet(self, id: str, criterion: str, evidence: EvidenceInput) -> Goal:
        """Mark a criterion as met, with evidence: the id of a memory, a note, or several of these."""

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            goal = state.goal
            require_open(goal)
            criteria_.require_criteria(goal, [criterion])
            told = build_evidence(evidence, propagation.now)
            if not told:
                raise InvalidInput("Say what shows that the criterion is met.", hint="Give a note or a memory's id.")
            after = [
                criteria_.meet_criterion(one, told, propagation.now) if one.id == criterion else one
                for one in goal.criteria
            ]
            propagation.change(state, criteria=after)
            return await self._transaction.evidence_links(goal, told)

        return (await self._transaction.change(id, f"meet {criterion}", decide)).goal

    async def reopen_criterion(self, id: str, criterion: str, why: str = "") -> Goal:
        """Mark a criterion as no longer met. The steps that were done for it are planned again."""

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            goal = state.goal
            if goal.status in GAVE_UP_STATUSES:
                raise Conflict(f"The goal {id} is {goal.status}.", hint="Reopen it first.", id=id)
            if not criteria_.require_criteria(goal, [criterion])[0].met:
                return None
            self._again(propagation, state, [criterion], why)
            return ()

        return (await self._transaction.change(id, why or f"reopen {criterion}", decide)).goal

    async def link(self, id: str, memory: str, relation: Literal["about", "achieves"] = "about") -> None:
        """Link an episode, a procedure or any other memory to a goal: it is about it, or it achieves it."""
        if relation not in (ABOUT, ACHIEVES):
            raise InvalidInput(f"A memory is not linked to a goal by {relation!r}.", hint="Use about or achieves.")
        goal = (await self.records.own(id)).goal
        await self._scoped.write(await self._transaction.linked(goal, [memory], relation), reason=f"link {relation}")

    async def linked(self, id: str, relation: Literal["about", "achieves"] | None = None) -> Memories:
        """Return the memories that are linked to a goal; those that achieve it include its plans."""
        goal = await self.records.goal(id)
        store, scope = self._scoped.store, self._scoped.scope
        links = await store.links(scope, [goal.id], relation=relation, direction="in")
        sources = [link.source for link in links if link.relation in (ABOUT, ACHIEVES)]
        return await store.get_all(scope, list(dict.fromkeys(sources)))

    # -- reading -------------------------------------------------------------------------------------------------------

    async def sub_goals(self, id: str) -> SubGoals:
        """Return the direct sub-goals of a goal, the oldest first."""
        return await self.records.children([id])

    async def progress(self, id: str) -> GoalProgress:
        """Return the progress of a goal and its sub-goals."""
        return (await self._tree(id)).progress(self._scoped.now())

    @overload
    async def render(self, id: str, format: Literal["text", "mermaid"] = "text") -> str: ...

    @overload
    async def render(self, id: str, format: Literal["dict"]) -> Json: ...

    async def render(self, id: str, format: Format = "text") -> str | Json:
        """Render a goal, its plan and its sub-goals as text, as plain data, or as a Mermaid diagram."""
        return render_tree(await self._tree(id), format, self._scoped.now())

    # -- internal ------------------------------------------------------------------------------------------------------

    async def _move(self, id: str, to: GoalStatus, ways: Sequence[GoalStatus], why: str = "") -> Goal:
        """Change the status of a goal; ``Conflict`` if its current status does not allow it."""

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            goal = state.goal
            if goal.status == to and goal.why == why:
                return None
            if goal.status not in ways:
                hint = "Reopen it first." if not goal.open else f"Possible from {', '.join(ways)}."
                raise Conflict(f"The goal {id} is {goal.status} and cannot become {to}.", hint=hint, id=id)
            propagation.change(state, status=to, why=why)
            if to in GAVE_UP_STATUSES:
                await propagation.give_up_below(id, f"The goal above it is {to}.")
            return ()

        return (await self._transaction.change(id, why or to, decide)).goal

    def _again(self, propagation: ProgressPropagation, state: GoalState, ids: Sequence[str], why: str) -> None:
        """Reopen criteria, and plan again what was done for them."""
        goal, plan = state.goal, state.plan
        criteria_.require_criteria(goal, ids)
        after = [
            criteria_.reopen_criterion(criterion) if criterion.id in ids else criterion for criterion in goal.criteria
        ]
        propagation.change(state, criteria=after)
        if plan is not None:
            reason = f"{', '.join(ids)} {'is' if len(ids) == 1 else 'are'} no longer met. {why}".strip()
            steps = adapt_to_changed_goal(plan, goal, propagation.drafts[goal.id].after, again=ids)
            propagation.change(state, plan=_revision(plan, steps, reason))

    async def _tree(self, id: str) -> GoalTree:
        goals = [await self.records.goal(id)]
        async for level in self.records.descendants(id):
            goals += level
        return build_tree(id, await self.records.with_plans(goals))


def _revision(plan: Plan, steps: Sequence[PlanStep], why: str) -> PlanBody:
    """Return the next version of a plan, built from the one before."""
    fields = {name: getattr(plan, name) for name in PlanBody.model_fields}
    return validated(PlanBody, {**fields, "steps": steps, "why": why})


def _said(why: str, what: str) -> str:
    if not isinstance(why, str) or not why.strip():
        raise InvalidInput(f"Say {what}.")
    return why.strip()
