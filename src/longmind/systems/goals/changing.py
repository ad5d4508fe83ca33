"""What a change of a goal comes to: which of its fields differ, why its plan must be revised, and who is above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from longmind.errors import Conflict, InvalidInput
from longmind.systems.goals.book import PlanBook, body_of
from longmind.systems.goals.criteria import criteria_of
from longmind.systems.goals.models import Goal, GoalBody, Standing
from longmind.systems.scoped_store import validated

FIELDS = ("description", "criteria", "priority", "deadline", "parent", "tags", "attributes")
MAX_LEVELS = 32


@dataclass(frozen=True, slots=True)
class Change:
    """A goal's new fields, and what of it the plan has to follow."""

    fields: dict[str, Any]
    reasons: tuple[str, ...]
    """What changed that the plan depends on, told for a person."""


def change_of(goal: Goal, told: Mapping[str, Any]) -> Change:
    """What an update comes to; ``InvalidInput`` for what cannot be changed in this way."""
    unknown = sorted(set(told) - set(FIELDS))
    if unknown:
        hint = "Use the verbs: activate, block, fail ..." if "status" in unknown else f"Change {', '.join(FIELDS)}."
        raise InvalidInput(f"{unknown[0]} is not changed by an update.", hint=hint)
    fields = dict(told)
    description = told.get("description", goal.description)
    if not isinstance(description, str) or not description.strip():
        raise InvalidInput("A goal needs a description.", hint="Say what is wanted, in a sentence.")
    if "description" in fields:
        fields["description"] = description.strip()
    if "criteria" in fields:
        fields["criteria"] = criteria_of(fields["criteria"] or (), description, goal.criteria)
    elif len(goal.criteria) == 1 and goal.criteria[0].description == goal.description:
        only = {"id": goal.criteria[0].id, "description": description}
        fields["criteria"] = criteria_of([only], description, goal.criteria)
    tags = tuple(fields.pop("tags", goal.tags))
    new = validated(GoalBody, {**dict(body_of(goal)), **fields})
    kept = {name: getattr(new, name) for name in fields if getattr(new, name) != getattr(goal, name)}
    if tags != goal.tags:
        kept["tags"] = tags
    return Change(kept, tuple(_reasons(goal, new)))


def _reasons(old: Goal, new: GoalBody) -> list[str]:
    found: list[str] = []
    if old.description != new.description:
        found.append(f"it is now “{new.description[:200]}”")
    before = {criterion.id: criterion for criterion in old.criteria}
    after = {criterion.id: criterion for criterion in new.criteria}
    for id in dict.fromkeys((*before, *after)):
        if id not in after:
            found.append(f"{id} is no longer asked for")
        elif id not in before:
            found.append(f"{id} is new: {after[id].description[:100]}")
        elif before[id].description != after[id].description:
            found.append(f"{id} is now: {after[id].description[:100]}")
    if old.deadline != new.deadline:
        found.append(f"the deadline is {new.deadline.isoformat() if new.deadline else 'gone'}")
    return found


async def parent_for(book: PlanBook, id: str, *, below: Goal | None = None) -> Standing:
    """The goal that another one is to be a part of; ``below`` is that other one, if it exists already."""
    standing = await book.own(id)
    if not standing.goal.open:
        raise Conflict(
            f"The goal {id} is {standing.goal.status}, so it gets no new sub-goal.", hint="Reopen it first.", id=id
        )
    if below is not None and standing.goal.user != below.user:
        raise InvalidInput("A goal and its sub-goals belong to the same user.", hint="Choose a goal of that user.")
    above = [id]
    while (parent := (await book.goal(above[-1])).parent) is not None and len(above) < MAX_LEVELS:
        above.append(parent)
    if below is not None and below.id in above:
        raise InvalidInput(
            f"The goal {below.id} would be a part of itself.", hint="Choose a goal that is not below it."
        )
    if len(above) >= MAX_LEVELS:
        raise InvalidInput(f"Goals go at most {MAX_LEVELS} levels deep.", hint="Give it a parent further up.")
    return standing
