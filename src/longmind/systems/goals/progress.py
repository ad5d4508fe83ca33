"""The progress and status of goals, and how a change of one affects the goals above and below.

Progress is always computed: the weight of the criteria that are met, plus the progress of the sub-goals, each of which
weighs 1. A sub-goal that failed or was abandoned does not count. A goal is achieved exactly when all its criteria are
met and no sub-goal is open, unless somebody failed or abandoned it.

``ProgressPropagation`` collects the changes of one batch and follows them upwards. Every goal on the way is written
with the version that was read and counts the change (``moved``), so that two sub-goals ending at once conflict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from longmind.errors import Conflict, NotFound
from longmind.store.base import Write
from longmind.systems.goals.models import OPEN, Goal, GoalBody, GoalState, GoalStatus, Plan, PlanBody, PlanStep
from longmind.systems.goals.records import GoalRecords
from longmind.systems.goals.steps import halt_running
from longmind.systems.scoped_store import validated

_ALMOST = 0.999999
"""The highest progress of a goal that is not achieved."""
GAVE_UP_STATUSES: tuple[GoalStatus, ...] = ("failed", "abandoned")


def is_complete(goal: GoalBody, children: Sequence[GoalBody]) -> bool:
    """Whether nothing is left to do for a goal."""
    return all(criterion.met for criterion in goal.criteria) and all(child.status not in OPEN for child in children)


def compute_progress(goal: GoalBody, children: Sequence[GoalBody]) -> float:
    """Return the progress of a goal, from 0 to 1; 1 only if nothing is left to do."""
    if is_complete(goal, children):
        return 1.0
    counted = [child for child in children if child.status not in GAVE_UP_STATUSES]
    whole = sum(criterion.weight for criterion in goal.criteria) + len(counted)
    done = sum(criterion.weight for criterion in goal.criteria if criterion.met)
    done += sum(child.progress for child in counted)
    return min(round(done / whole, 6), _ALMOST)


def compute_status(goal: GoalBody, children: Sequence[GoalBody]) -> GoalStatus:
    """Return the status that follows from criteria and sub-goals; failed and abandoned goals stay so."""
    if goal.status in GAVE_UP_STATUSES:
        return goal.status
    if is_complete(goal, children):
        return "achieved"
    return "active" if goal.status == "achieved" else goal.status


@dataclass(slots=True)
class GoalDraft:
    """A goal that a batch changes: as it was read, and as it will be written."""

    before: Goal
    after: Goal
    plan: Plan | None
    steps: tuple[PlanStep, ...] | None = None
    """The steps of its current plan, if they change."""
    replaced: PlanBody | None = None
    """The plan that replaces the current one, if any."""
    new: bool = False
    moved: bool = False


@dataclass(slots=True)
class ProgressPropagation:
    """The changes of one batch, and what follows from them for the goals above."""

    records: GoalRecords
    now: datetime
    drafts: dict[str, GoalDraft] = field(default_factory=dict)
    _order: list[str] = field(default_factory=list)

    def change(
        self,
        state: GoalState,
        *,
        steps: tuple[PlanStep, ...] | None = None,
        plan: PlanBody | None = None,
        new: bool = False,
        **changes: Any,
    ) -> None:
        """Change a goal or the steps of its plan, or replace its plan."""
        draft = self.drafts.get(state.goal.id)
        if draft is None:
            draft = GoalDraft(state.goal, state.goal, state.plan, new=new)
            self.drafts[state.goal.id] = draft
        draft.after = _with(draft.after, changes)
        draft.steps = steps if steps is not None else draft.steps
        draft.replaced = plan if plan is not None else draft.replaced
        self._order.append(state.goal.id)

    async def give_up_below(self, id: str, why: str) -> None:
        """Abandon every open goal below a goal that was given up."""
        levels = [level async for level in self.records.descendants(id)]
        for level in reversed(levels):
            for state in await self.records.with_plans([goal for goal in level if goal.open]):
                self.change(state, status="abandoned", why=why)
        self._order.append(id)

    async def writes(self) -> list[Write]:
        """Return all writes of the batch, including those for the goals above."""
        visits = 0
        while self._order:
            visits += 1
            await self._recompute(self._order.pop(0))
            if visits > 10_000:
                raise Conflict("The goals above this one go round in a circle.", hint="Give one of them no parent.")
        writes: list[Write] = []
        for draft in self.drafts.values():
            writes += self._writes_for(draft)
        return writes

    async def _recompute(self, id: str) -> None:
        """Recompute one goal, and continue with its parent if the change affects it."""
        draft = self.drafts[id]
        children = await self._children(id)
        status = compute_status(draft.after, children)
        changes: dict[str, Any] = {"status": status, "progress": compute_progress(draft.after, children)}
        was_open, is_open = draft.before.open, status in OPEN
        if was_open != is_open or draft.new:
            changes["ended_at"] = None if is_open else self.now
        if (status == "achieved" or (is_open and not was_open)) and draft.before.why == draft.after.why:
            changes["why"] = ""  # it told of how the goal stood before, such as what it waited for
        draft.after = _with(draft.after, changes)
        if not is_open:
            self._halt(draft)
        for parent in dict.fromkeys((draft.before.parent, draft.after.parent)):
            if parent is not None and _affects_parent(draft):
                arrives = draft.new or not was_open or parent != draft.before.parent
                await self._propagate_to(parent, risen=is_open and arrives)

    async def _propagate_to(self, parent: str, *, risen: bool) -> None:
        if parent not in self.drafts:
            try:
                state = await self.records.need(parent)
            except NotFound:
                return  # it was removed; there is nobody to tell
            self.drafts[parent] = GoalDraft(state.goal, state.goal, state.plan)
        draft = self.drafts[parent]
        if risen and draft.after.status in GAVE_UP_STATUSES:
            raise Conflict(
                f"The goal above, {parent}, is {draft.after.status}.", hint="Reopen that one first.", parent=parent
            )
        if not draft.moved and not draft.new:
            draft.moved = True
            draft.after = _with(draft.after, {"moved": draft.after.moved + 1})
        self._order.append(parent)

    async def _children(self, id: str) -> list[Goal]:
        """Return the sub-goals of a goal as they will be after this batch."""
        stored = [] if self.drafts[id].new else await self.records.children([id])
        children = {child.id: child for child in stored}
        children |= {name: draft.after for name, draft in self.drafts.items()}
        return [goal for goal in children.values() if goal.parent == id]

    def _halt(self, draft: GoalDraft) -> None:
        if draft.replaced is not None:
            steps = halt_running(draft.replaced.steps)
            draft.replaced = draft.replaced if steps is None else draft.replaced.model_copy(update={"steps": steps})
        elif draft.plan is not None:
            draft.steps = halt_running(draft.steps or draft.plan.steps) or draft.steps

    def _writes_for(self, draft: GoalDraft) -> list[Write]:
        writes: list[Write] = []
        if draft.new:
            writes += self.records.insert_goal(draft.after)
        else:  # also one that does not change is written, on condition that it is as it was read
            names = [*GoalBody.model_fields, "tags"]
            writes.append(
                self.records.update_goal(draft.before, **{name: getattr(draft.after, name) for name in names})
            )
        if draft.replaced is not None:
            writes += self.records.replace_plan(draft.after, draft.plan, draft.replaced)
        elif draft.plan is not None and (draft.steps is not None or (draft.before.open and not draft.after.open)):
            # when a goal ends, none of its steps may have been started meanwhile
            writes.append(self.records.update_plan(draft.plan, draft.steps or draft.plan.steps))
        return writes


def _affects_parent(draft: GoalDraft) -> bool:
    before, after = draft.before, draft.after
    changed = (before.status, before.progress, before.parent) != (after.status, after.progress, after.parent)
    return draft.new or changed


def _with(goal: Goal, changes: Mapping[str, Any]) -> Goal:
    return validated(Goal, {**dict(goal), **changes}) if changes else goal
