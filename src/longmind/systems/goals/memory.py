"""Goals and plans, as their users see them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, overload

from longmind.errors import Conflict, InvalidInput
from longmind.store.base import Write
from longmind.systems.goals import criteria as criteria_
from longmind.systems.goals import stepping
from longmind.systems.goals.adapting import revised
from longmind.systems.goals.book import ACHIEVES, PlanBook, goal_of
from longmind.systems.goals.changing import change_of
from longmind.systems.goals.desk import ABOUT, Desk, be_open, goal_body
from longmind.systems.goals.models import (
    GOAL,
    OPEN,
    Finding,
    Found,
    Goal,
    GoalStatus,
    Plan,
    PlanBody,
    PlanStep,
    Progress,
    Revision,
    Standing,
    Strategy,
)
from longmind.systems.goals.monitor import Monitor
from longmind.systems.goals.order import ready
from longmind.systems.goals.planning import GivenStep, How, Planner, listed
from longmind.systems.goals.progress import GIVEN_UP, Carry
from longmind.systems.goals.rendering import Format, Tree, rendered, tree_of
from longmind.systems.goals.rest import rest_of
from longmind.systems.goals.results import Given, evidence_of
from longmind.systems.goals.revising import Reviser
from longmind.systems.procedural import ProceduralMemory
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.types import Filter, Json, Memory, Page

if TYPE_CHECKING:
    from longmind.models.chat import Chat

Goals = list[Found]
Plans = list[Plan]
Steps = list[PlanStep]
Revisions = list[Revision]
Memories = list[Memory]


class GoalMemory:
    """What is wanted and how to get there: goals with criteria and sub-goals, and plans with their history."""

    def __init__(
        self,
        scoped: ScopedStore,
        procedural: ProceduralMemory,
        chat: Callable[[], Awaitable[Chat | None]] | None = None,
    ) -> None:
        self._scoped = scoped
        self.book = PlanBook(scoped)
        self._desk = Desk(scoped, self.book)
        self._planner = Planner(scoped, self.book, procedural, chat)
        self._monitor = Monitor(scoped, self.book)
        self._reviser = Reviser(
            scoped,
            self.book,
            procedural=procedural,
            chat=chat,
            plan_rest=rest_of(self._planner),
            monitor=self._monitor,
        )

    # -- goals ---------------------------------------------------------------------------------------------------------

    async def create(
        self,
        description: str,
        *,
        criteria: Iterable[criteria_.Given] = (),
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
        return (await self._desk.created(body, tags, None)).goal

    async def create_goal_with_plan(
        self,
        description: str,
        criteria: Iterable[criteria_.Given] = (),
        steps: Iterable[GivenStep] | None = None,
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

        standing = await self._desk.created(body, tags, planned)
        assert standing.plan is not None
        return standing.goal, standing.plan

    async def get(self, id: str) -> Goal:
        """A goal as it stands."""
        return await self.book.goal(id)

    async def list(
        self,
        *,
        status: GoalStatus | None = None,
        open: bool | None = None,
        parent: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Goal]:
        """The goals, the newest first: of one status, the open or the ended ones, or the sub-goals of one."""
        told: dict[str, Any] = {"status": status, "open": open, "parent": parent}
        asked = {name: value for name, value in told.items() if value is not None}
        where = Filter(states=None, metadata=asked or None)
        page = await self._scoped.page(GOAL, where=where, limit=limit, cursor=cursor, descending=True)
        return Page(items=tuple(goal_of(memory) for memory in page.items), cursor=page.cursor)

    async def search(self, query: str, k: int = 5) -> Goals:
        """The goals that fit a text best, also those that ended."""
        hits = await self._scoped.search(query, k=k, kinds=(GOAL,), where=Filter(states=None))
        return [Found(goal=goal_of(hit.memory), score=hit.score, why=hit.why) for hit in hits]

    async def update(self, id: str, /, *, why: str = "", **changes: Any) -> Goal:
        """Change a goal: description, criteria, priority, deadline, parent, tags, attributes.

        When what the plan depends on changes, the plan is revised in the same write: what was done stays, what served
        only criteria that are gone is left out, and new criteria get steps. The reason is kept with the new version.
        """

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            goal, plan = standing.goal, standing.plan
            be_open(goal)
            change = change_of(goal, changes)
            if not change.fields:
                return None
            links: Sequence[Write] = ()
            if "parent" in change.fields:
                links = await self._desk.moved(goal, change.fields["parent"])
            carry.change(standing, **change.fields)
            if plan is not None and change.reasons:
                after = carry.drafts[id].after
                reason = f"The goal changed: {'; '.join(change.reasons)}. {why}".strip()
                carry.change(standing, plan=_revision(plan, revised(plan, goal, after), reason))
            return links

        return (await self._desk.change(id, why or "change a goal", decide)).goal

    async def activate(self, id: str) -> Goal:
        """Begin with a goal that was proposed."""
        return await self._move(id, "active", ("proposed",))

    async def block(self, id: str, why: str) -> Goal:
        """Say what a goal waits for. Nothing new starts; what runs may end."""
        return await self._move(id, "blocked", ("proposed", "active"), _said(why, "what blocks it"))

    async def unblock(self, id: str) -> Goal:
        """Go on with a goal that was blocked."""
        return await self._move(id, "active", ("blocked",))

    async def achieve(self, id: str) -> Goal:
        """The goal, if it is achieved. That follows from its criteria and sub-goals and is not said without them."""
        goal = await self.book.goal(id)
        if goal.status == "achieved":
            return goal
        missing = [f"{one.id} ({one.description[:100]})" for one in goal.criteria if not one.met]
        missing += [
            f"the sub-goal {one.id} ({one.description[:100]})" for one in await self.book.children([id]) if one.open
        ]
        if goal.status in GIVEN_UP:
            raise Conflict(f"The goal {id} is {goal.status}.", hint="Reopen it first.", id=id)
        raise Conflict(
            f"The goal is not achieved: open are {', '.join(missing)}.",
            hint="Complete the steps, or say what shows it with `meet`.",
            id=id,
        )

    async def fail(self, id: str, why: str) -> Goal:
        """Give a goal up because it cannot be reached. Its open sub-goals are abandoned with it."""
        return await self._move(id, "failed", OPEN, _said(why, "why it failed"))

    async def abandon(self, id: str, why: str) -> Goal:
        """Give a goal up because it is no longer wanted. Its open sub-goals are abandoned with it."""
        return await self._move(id, "abandoned", OPEN, _said(why, "why it is abandoned"))

    async def reopen(self, id: str, *criteria: str, why: str = "") -> Goal:
        """Take up a goal that ended. One that was achieved needs the criteria that are no longer met."""

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            goal = standing.goal
            if goal.open:
                raise Conflict(f"The goal {id} is {goal.status}: it has not ended.", id=id)
            if goal.status == "achieved" and not criteria:
                known = ", ".join(one.id for one in goal.criteria)
                raise InvalidInput("Say which criteria are no longer met.", hint=f"There are {known}.")
            carry.change(standing, status="active", why="")
            if criteria:
                self._again(carry, standing, criteria, why)
            return ()

        return (await self._desk.change(id, why or "reopen a goal", decide)).goal

    async def meet(self, id: str, criterion: str, evidence: Given) -> Goal:
        """Say that a criterion is met, and what shows it: the id of a memory, a note, or several of these."""

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            goal = standing.goal
            be_open(goal)
            criteria_.need(goal, [criterion])
            told = evidence_of(evidence, carry.now)
            if not told:
                raise InvalidInput("Say what shows that the criterion is met.", hint="Give a note or a memory's id.")
            after = [criteria_.met(one, told, carry.now) if one.id == criterion else one for one in goal.criteria]
            carry.change(standing, criteria=after)
            return await self._desk.evident(goal, told)

        return (await self._desk.change(id, f"meet {criterion}", decide)).goal

    async def reopen_criterion(self, id: str, criterion: str, why: str = "") -> Goal:
        """Say that a criterion is no longer met. What was done for it is planned once more."""

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            goal = standing.goal
            if goal.status in GIVEN_UP:
                raise Conflict(f"The goal {id} is {goal.status}.", hint="Reopen it first.", id=id)
            if not criteria_.need(goal, [criterion])[0].met:
                return None
            self._again(carry, standing, [criterion], why)
            return ()

        return (await self._desk.change(id, why or f"reopen {criterion}", decide)).goal

    async def link(self, id: str, memory: str, relation: Literal["about", "achieves"] = "about") -> None:
        """Link an episode, a procedure or any other memory to a goal: it is about it, or it achieves it."""
        if relation not in (ABOUT, ACHIEVES):
            raise InvalidInput(f"A memory is not linked to a goal by {relation!r}.", hint="Use about or achieves.")
        goal = (await self.book.own(id)).goal
        await self._scoped.write(await self._desk.linked(goal, [memory], relation), reason=f"link {relation}")

    async def linked(self, id: str, relation: Literal["about", "achieves"] | None = None) -> Memories:
        """The memories that are linked to a goal; those that achieve it include its plans."""
        goal = await self.book.goal(id)
        store, scope = self._scoped.store, self._scoped.scope
        links = await store.links(scope, [goal.id], relation=relation, direction="in")
        sources = [link.source for link in links if link.relation in (ABOUT, ACHIEVES)]
        return await store.get_all(scope, list(dict.fromkeys(sources)))

    # -- plans -------------------------------------------------------------------------------------------------------

    async def plan_for(self, id: str, *, how: How = "auto", steps: Iterable[GivenStep] | None = None) -> Plan:
        """Make a plan for what of a goal is still to be done, in place of the current one, which is kept as history.

        By ``steps``, or ``how``: a stored procedure, a past plan of a goal like this, the model, or the criteria;
        ``auto`` takes the first of these that has one.
        """
        given = None if steps is None else listed(steps)
        made: dict[tuple[str, Any], PlanBody] = {}

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            goal, plan = standing.goal, standing.plan
            be_open(goal)
            running = [step.id for step in plan.steps if step.status == "running"] if plan else []
            if running:
                raise Conflict(f"The step {running[0]} is running.", hint="Complete, fail or skip it first.", id=id)
            asked = (goal.description, goal.criteria)
            if asked not in made:  # not again after a conflict, unless the goal is another one since
                made[asked] = await self._planner.plan(goal, how, given)
            carry.change(standing, plan=await self._desk.grounded(made[asked]))
            return ()

        standing = await self._desk.change(id, "plan", decide)
        assert standing.plan is not None
        return standing.plan

    async def plan(self, id: str) -> Plan | None:
        """The current plan of a goal."""
        return (await self.book.need(id)).plan

    async def plans(self, id: str) -> Plans:
        """All versions of a goal's plan, the newest first."""
        return await self.book.plans(await self.book.goal(id))

    async def map_step(self, id: str, step: str, *criteria: str) -> Plan:
        """Say which criteria a step serves, in addition to those it serves already. One that is done shows them now."""
        if not criteria:
            raise InvalidInput("Say which criteria the step serves.", hint="map_step(goal, 's1', 'c1')")

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            goal, plan = standing.goal, _planned(standing)
            be_open(goal)
            found = stepping.step_of(plan, step)
            criteria_.need(goal, criteria)
            changed = found.model_copy(update={"criteria": tuple(dict.fromkeys((*found.criteria, *criteria)))})
            steps = tuple(changed if one.id == step else one for one in plan.steps)
            after = criteria_.served(goal, steps, changed, (), carry.now) if changed.settled else goal.criteria
            carry.change(standing, steps=steps, criteria=after)
            return ()

        return _planned(await self._desk.change(id, f"map {step}", decide))

    async def next_steps(self, id: str) -> Steps:
        """The steps that may start now, side by side; none for a goal that is not active."""
        standing = await self.book.need(id)
        if standing.goal.status != "active" or standing.plan is None:
            return []
        return ready(standing.plan.steps, self._scoped.now())

    async def start_step(
        self, id: str, step: str, *, episode: str | None = None, lease_seconds: float = stepping.LEASE_SECONDS
    ) -> Standing:
        """Begin a step. Until it ends, or its lease does, nobody else can begin it."""

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            goal, plan = standing.goal, _planned(standing)
            steps = stepping.started(goal, plan, step, carry.now, lease_seconds=lease_seconds, episode=episode)
            carry.change(standing, steps=steps)
            return () if episode is None else await self._desk.linked(goal, [episode], ABOUT)

        return await self._desk.change(id, f"start {step}", decide)

    async def renew_step(self, id: str, step: str, *, lease_seconds: float = stepping.LEASE_SECONDS) -> Standing:
        """Say that whoever runs a step is still at work."""

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            carry.change(standing, steps=stepping.renewed(_planned(standing), step, carry.now, lease_seconds))
            return ()

        return await self._desk.change(id, f"renew {step}", decide)

    async def release_step(self, id: str, step: str) -> Standing:
        """Give a running step back untried, as somebody does who is stopped at it. It counts as no attempt."""

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            carry.change(standing, steps=stepping.released(_planned(standing), step))
            return ()

        return await self._desk.change(id, f"release {step}", decide)

    async def complete_step(self, id: str, step: str, result: Any = None, *, evidence: Given = None) -> Standing:
        """Say that a step is done. The criteria it serves, the goal's progress and that of the goals above follow.

        The evidence (by default the result) is kept with the criteria that the step serves. The same again changes
        nothing.
        """

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            goal, plan = standing.goal, _planned(standing)
            steps = stepping.completed(plan, step, result, carry.now)
            if steps is None:
                return None
            be_open(goal)
            told = evidence_of(evidence, carry.now, step=step)
            done = next(one for one in steps if one.id == step)
            carry.change(standing, steps=steps, criteria=criteria_.served(goal, steps, done, told, carry.now))
            return await self._desk.evident(goal, told)

        return await self._desk.change(id, f"complete {step}", decide)

    async def fail_step(self, id: str, step: str, error: str) -> Standing:
        """Say that a step went wrong, and how. It is not tried again until the plan is revised."""

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            steps = stepping.failed(_planned(standing), step, error, carry.now)
            if steps is None:
                return None
            be_open(standing.goal)
            carry.change(standing, steps=steps)
            return ()

        return await self._desk.change(id, f"fail {step}", decide)

    async def skip_step(self, id: str, step: str, why: str = "") -> Standing:
        """Leave a step out: what comes after it need not wait. It shows nothing for the criteria it would serve."""

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            goal, plan = standing.goal, _planned(standing)
            steps = stepping.skipped(plan, step, why, carry.now)
            if steps is None:
                return None
            be_open(goal)
            left = next(one for one in steps if one.id == step)
            carry.change(standing, steps=steps, criteria=criteria_.served(goal, steps, left, (), carry.now))
            return ()

        return await self._desk.change(id, f"skip {step}", decide)

    # -- looking -----------------------------------------------------------------------------------------------------

    async def progress(self, id: str) -> Progress:
        """How far a goal has come, with its sub-goals."""
        return (await self._tree(id)).progress(self._scoped.now())

    @overload
    async def render(self, id: str, format: Literal["text", "mermaid"] = "text") -> str: ...

    @overload
    async def render(self, id: str, format: Literal["dict"]) -> Json: ...

    async def render(self, id: str, format: Format = "text") -> str | Json:
        """A goal, its plan and its sub-goals for reading: as text, as plain data, or as a Mermaid diagram."""
        return rendered(await self._tree(id), format, self._scoped.now())

    # -- within ------------------------------------------------------------------------------------------------------

    async def _move(self, id: str, to: GoalStatus, ways: Sequence[GoalStatus], why: str = "") -> Goal:
        """Give a goal another status, if it is in one from which that is possible."""

        async def decide(carry: Carry, standing: Standing) -> Sequence[Write] | None:
            goal = standing.goal
            if goal.status == to and goal.why == why:
                return None
            if goal.status not in ways:
                hint = "Reopen it first." if not goal.open else f"Possible from {', '.join(ways)}."
                raise Conflict(f"The goal {id} is {goal.status} and cannot become {to}.", hint=hint, id=id)
            carry.change(standing, status=to, why=why)
            if to in GIVEN_UP:
                await carry.give_up_below(id, f"The goal above it is {to}.")
            return ()

        return (await self._desk.change(id, why or to, decide)).goal

    def _again(self, carry: Carry, standing: Standing, ids: Sequence[str], why: str) -> None:
        """Reopen criteria, and plan once more what was done for them."""
        goal, plan = standing.goal, standing.plan
        criteria_.need(goal, ids)
        after = [criteria_.reopened(one) if one.id in ids else one for one in goal.criteria]
        carry.change(standing, criteria=after)
        if plan is not None:
            reason = f"{', '.join(ids)} {'is' if len(ids) == 1 else 'are'} no longer met. {why}".strip()
            steps = revised(plan, goal, carry.drafts[goal.id].after, again=ids)
            carry.change(standing, plan=_revision(plan, steps, reason))

    # -- what goes wrong, and what is done about it ------------------------------------------------------------------

    async def monitor(self, id: str | None = None) -> tuple[Finding, ...]:
        """What is wrong with one goal's plan, or with every active plan, the gravest first for each goal."""
        return await self._monitor.look(id)

    async def revise(
        self, id: str, finding: Finding | None = None, strategy: Strategy | None = None, why: str = ""
    ) -> Revision | None:
        """Answer a finding with a new plan, a question to a person, or by giving up; None: nothing to answer."""
        return await self._reviser.revise(id, finding, strategy, why)

    async def revisions(self, id: str) -> Revisions:
        """The revisions of a goal, the oldest first."""
        return await self._reviser.revisions(id)

    async def settle(self, id: str) -> Revisions:
        """Say of each revision whose outcome is known whether it worked, and learn from it."""
        return await self._reviser.settle(id)

    # -- inside --------------------------------------------------------------------------------------------------

    async def _tree(self, id: str) -> Tree:
        goals = [await self.book.goal(id)]
        async for level in self.book.descendants(id):
            goals += level
        return tree_of(id, await self.book.with_plans(goals))


def _planned(standing: Standing) -> Plan:
    if standing.plan is None:
        raise Conflict(f"The goal {standing.goal.id} has no plan.", hint="Make one with `plan_for`.")
    return standing.plan


def _revision(plan: Plan, steps: Sequence[PlanStep], why: str) -> PlanBody:
    """The next version of a plan, made from the one before."""
    told = {name: getattr(plan, name) for name in PlanBody.model_fields}
    return validated(PlanBody, {**told, "steps": steps, "why": why})


def _said(why: str, what: str) -> str:
    if not isinstance(why, str) or not why.strip():
        raise InvalidInput(f"Say {what}.")
    return why.strip()
