"""Changes to goals: read the goal, decide, and write everything that follows in one batch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from longmind.errors import Conflict, InvalidInput, NotFound
from longmind.store.base import AddLink, RemoveLink, Write
from longmind.systems.goals import criteria as criteria_
from longmind.systems.goals.criteria import build_criteria
from longmind.systems.goals.models import OPEN, CriterionEvidence, Goal, GoalBody, GoalState, GoalStatus, PlanBody
from longmind.systems.goals.progress import ProgressPropagation
from longmind.systems.goals.records import ABOUT, PART_OF, GoalRecords, state_from_receipt, stored_goal_body
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.types import Link

Decide = Callable[[ProgressPropagation, GoalState], Awaitable[Sequence[Write] | None]]
"""Changes a goal that was read: registers the changes and returns further writes; None changes nothing."""
FIELDS = ("description", "criteria", "priority", "deadline", "parent", "tags", "attributes")
MAX_LEVELS = 32


class GoalTransaction:
    """Changes goals, each change in one batch. Retries on a version conflict."""

    def __init__(self, scoped: ScopedStore, records: GoalRecords) -> None:
        self._scoped = scoped
        self.records = records

    async def created(
        self, body: GoalBody, tags: Sequence[str], planned: Callable[[Goal], Awaitable[PlanBody]] | None
    ) -> GoalState:
        """Store a goal, with the plan that ``planned`` makes for it, if given."""
        bodies: list[PlanBody] = []

        async def write() -> GoalState:
            user = self._scoped.scope.user
            if body.parent is not None:
                user = (await load_parent(self.records, body.parent)).goal.user
            state = GoalState(goal=self.records.new_goal(body, tags=tags, user=user))
            if planned is not None and not bodies:
                bodies.append(await planned(state.goal))
            propagation = ProgressPropagation(self.records, self._scoped.now())
            propagation.change(state, new=True, plan=await self.without_missing_sources(bodies[0]) if bodies else None)
            receipt = await self._scoped.rewrite(await propagation.writes(), "create a goal")
            return state_from_receipt(receipt, state.goal.id)

        return await retry_on_conflict(write)

    async def change(self, id: str, reason: str, decide: Decide) -> GoalState:
        """Read a goal, let ``decide`` change it, and write everything in one batch; retry on a version conflict."""

        async def write() -> GoalState:
            state = await self.records.own(id)
            propagation = ProgressPropagation(self.records, self._scoped.now())
            more = await decide(propagation, state)
            if more is None:
                return state
            receipt = await self._scoped.rewrite([*await propagation.writes(), *more], reason)
            after = state_from_receipt(receipt, id)
            return after if after.plan is not None else GoalState(goal=after.goal, plan=state.plan)

        return await retry_on_conflict(write)

    async def moved(self, goal: Goal, parent: str | None) -> Sequence[Write]:
        """Return the link writes that give a goal another parent, or none."""
        if parent is not None:
            await load_parent(self.records, parent, below=goal)
        held = await self._scoped.store.links(self._scoped.scope, [goal.id], relation=PART_OF)
        links: list[Write] = [RemoveLink(link.source, link.relation, link.target) for link in held]
        return [*links, *([] if parent is None else [AddLink(Link(source=goal.id, relation=PART_OF, target=parent))])]

    async def without_missing_sources(self, body: PlanBody) -> PlanBody:
        """Return a plan without assumptions and a source that no longer exist."""
        ids = [*body.assumptions, *([body.source] if body.source else [])]
        there = {memory.id for memory in await self._scoped.store.get_all(self._scoped.scope, ids)} if ids else set()
        kept = tuple(id for id in body.assumptions if id in there)
        return body.model_copy(update={"assumptions": kept, "source": body.source if body.source in there else None})

    async def evidence_links(self, goal: Goal, evidence: Iterable[CriterionEvidence]) -> Sequence[Write]:
        """Return the links from memories in the evidence to the goal; ``NotFound`` for one that does not exist."""
        return await self.linked(goal, [piece.memory for piece in evidence if piece.memory is not None], ABOUT)

    async def linked(self, goal: Goal, ids: Sequence[str], relation: str) -> Sequence[Write]:
        """Return the links from memories to a goal; ``NotFound`` for a missing one or another user's."""
        wanted = list(dict.fromkeys(ids))
        memories = await self._scoped.store.get_all(self._scoped.scope, wanted) if wanted else []
        there = {memory.id for memory in memories if memory.user in (None, goal.user)}
        for id in wanted:
            if id not in there:
                raise NotFound(f"There is no memory {id} here for this goal.", hint="Name one by its id.", id=id)
        return [AddLink(Link(source=id, relation=relation, target=goal.id)) for id in wanted]


def goal_body(
    description: str,
    criteria: Iterable[criteria_.CriterionInput],
    priority: float,
    deadline: datetime | None,
    parent: str | None,
    status: GoalStatus,
    attributes: Mapping[str, Any] | None,
) -> GoalBody:
    """Build the body of a goal from a caller's input; ``InvalidInput`` if it is not valid."""
    if not isinstance(description, str) or not description.strip():
        raise InvalidInput("A goal needs a description.", hint="Say what is wanted, in a sentence.")
    if status not in OPEN:
        raise InvalidInput(f"A goal cannot begin as {status!r}.", hint=f"It begins as {', '.join(OPEN)}.")
    fields = {
        "description": description,
        "criteria": criteria_.build_criteria(criteria, description.strip()),
        "priority": priority,
        "deadline": deadline,
        "parent": parent,
        "status": status,
        "attributes": dict(attributes or {}),
    }
    return validated(GoalBody, fields)


def require_open(goal: Goal) -> None:
    """Raise ``Conflict`` if a goal has ended."""
    if not goal.open:
        raise Conflict(f"The goal {goal.id} is {goal.status}.", hint="Reopen it first.", id=goal.id)


@dataclass(frozen=True, slots=True)
class GoalChange:
    """The changed fields of a goal, and the reasons why its plan must follow."""

    fields: dict[str, Any]
    reasons: tuple[str, ...]
    """What changed that the plan depends on, in words."""


def build_goal_change(goal: Goal, changes: Mapping[str, Any]) -> GoalChange:
    """Return what an update changes; ``InvalidInput`` for fields that an update may not change."""
    unknown = sorted(set(changes) - set(FIELDS))
    if unknown:
        hint = "Use the verbs: activate, block, fail ..." if "status" in unknown else f"Change {', '.join(FIELDS)}."
        raise InvalidInput(f"{unknown[0]} is not changed by an update.", hint=hint)
    fields = dict(changes)
    description = changes.get("description", goal.description)
    if not isinstance(description, str) or not description.strip():
        raise InvalidInput("A goal needs a description.", hint="Say what is wanted, in a sentence.")
    if "description" in fields:
        fields["description"] = description.strip()
    if "criteria" in fields:
        fields["criteria"] = build_criteria(fields["criteria"] or (), description, goal.criteria)
    elif len(goal.criteria) == 1 and goal.criteria[0].description == goal.description:
        only = {"id": goal.criteria[0].id, "description": description}
        fields["criteria"] = build_criteria([only], description, goal.criteria)
    tags = tuple(fields.pop("tags", goal.tags))
    new = validated(GoalBody, {**dict(stored_goal_body(goal)), **fields})
    kept = {name: getattr(new, name) for name in fields if getattr(new, name) != getattr(goal, name)}
    if tags != goal.tags:
        kept["tags"] = tags
    return GoalChange(kept, tuple(_reasons(goal, new)))


def _reasons(old: Goal, new: GoalBody) -> list[str]:
    reasons: list[str] = []
    if old.description != new.description:
        reasons.append(f"it is now “{new.description[:200]}”")
    before = {criterion.id: criterion for criterion in old.criteria}
    after = {criterion.id: criterion for criterion in new.criteria}
    for id in dict.fromkeys((*before, *after)):
        if id not in after:
            reasons.append(f"{id} is no longer asked for")
        elif id not in before:
            reasons.append(f"{id} is new: {after[id].description[:100]}")
        elif before[id].description != after[id].description:
            reasons.append(f"{id} is now: {after[id].description[:100]}")
    if old.deadline != new.deadline:
        reasons.append(f"the deadline is {new.deadline.isoformat() if new.deadline else 'gone'}")
    return reasons


async def load_parent(records: GoalRecords, id: str, *, below: Goal | None = None) -> GoalState:
    """Load the parent of a goal and check that it may be one. ``below`` is the sub-goal, if it exists already."""
    state = await records.own(id)
    if not state.goal.open:
        raise Conflict(
            f"The goal {id} is {state.goal.status}, so it gets no new sub-goal.", hint="Reopen it first.", id=id
        )
    if below is not None and state.goal.user != below.user:
        raise InvalidInput("A goal and its sub-goals belong to the same user.", hint="Choose a goal of that user.")
    above = [id]
    while (parent := (await records.goal(above[-1])).parent) is not None and len(above) < MAX_LEVELS:
        above.append(parent)
    if below is not None and below.id in above:
        raise InvalidInput(
            f"The goal {below.id} would be a part of itself.", hint="Choose a goal that is not below it."
        )
    if len(above) >= MAX_LEVELS:
        raise InvalidInput(f"Goals go at most {MAX_LEVELS} levels deep.", hint="Give it a parent further up.")
    return state
