"""How a change of a goal is made: read, decide, and write all that follows from it in one batch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from longmind.errors import Conflict, InvalidInput, NotFound
from longmind.store.base import AddLink, RemoveLink, Write
from longmind.systems.goals import criteria as criteria_
from longmind.systems.goals.book import PART_OF, PlanBook, written
from longmind.systems.goals.changing import parent_for
from longmind.systems.goals.models import OPEN, Evidence, Goal, GoalBody, GoalStatus, PlanBody, Standing
from longmind.systems.goals.progress import Carry
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.types import Link

ABOUT = "about"
Decide = Callable[[Carry, Standing], Awaitable[Sequence[Write] | None]]
"""What a verb does to a goal as it was read: it tells the carry, and returns further writes; None changes nothing."""


class Desk:
    """Where changes of goals are made. One writer wins, the others read again."""

    def __init__(self, scoped: ScopedStore, book: PlanBook) -> None:
        self._scoped = scoped
        self.book = book

    async def created(
        self, body: GoalBody, tags: Sequence[str], planned: Callable[[Goal], Awaitable[PlanBody]] | None
    ) -> Standing:
        """Store a goal, with the plan that is made for it if there is to be one."""
        made: list[PlanBody] = []

        async def write() -> Standing:
            user = self._scoped.scope.user
            if body.parent is not None:
                user = (await parent_for(self.book, body.parent)).goal.user
            standing = Standing(goal=self.book.drafted(body, tags=tags, user=user))
            if planned is not None and not made:
                made.append(await planned(standing.goal))
            carry = Carry(self.book, self._scoped.now())
            carry.change(standing, new=True, plan=await self.grounded(made[0]) if made else None)
            receipt = await self._scoped.rewrite(await carry.writes(), "create a goal")
            return written(receipt, standing.goal.id)

        return await retry_on_conflict(write)

    async def change(self, id: str, reason: str, decide: Decide) -> Standing:
        """Read a goal, decide, and write all that follows in one batch; again if somebody was faster."""

        async def write() -> Standing:
            standing = await self.book.own(id)
            carry = Carry(self.book, self._scoped.now())
            more = await decide(carry, standing)
            if more is None:
                return standing
            receipt = await self._scoped.rewrite([*await carry.writes(), *more], reason)
            after = written(receipt, id)
            return after if after.plan is not None else Standing(goal=after.goal, plan=standing.plan)

        return await retry_on_conflict(write)

    async def moved(self, goal: Goal, parent: str | None) -> Sequence[Write]:
        """The writes that make a goal a part of another one, or of none."""
        if parent is not None:
            await parent_for(self.book, parent, below=goal)
        held = await self._scoped.store.links(self._scoped.scope, [goal.id], relation=PART_OF)
        links: list[Write] = [RemoveLink(link.source, link.relation, link.target) for link in held]
        return [*links, *([] if parent is None else [AddLink(Link(source=goal.id, relation=PART_OF, target=parent))])]

    async def grounded(self, body: PlanBody) -> PlanBody:
        """A plan without what it was made from and what is gone since."""
        ids = [*body.assumptions, *([body.source] if body.source else [])]
        there = {memory.id for memory in await self._scoped.store.get_all(self._scoped.scope, ids)} if ids else set()
        kept = tuple(id for id in body.assumptions if id in there)
        return body.model_copy(update={"assumptions": kept, "source": body.source if body.source in there else None})

    async def evident(self, goal: Goal, evidence: Iterable[Evidence]) -> Sequence[Write]:
        """The links from the memories among the evidence to the goal; ``NotFound`` for one that is not there."""
        return await self.linked(goal, [one.memory for one in evidence if one.memory is not None], ABOUT)

    async def linked(self, goal: Goal, ids: Sequence[str], relation: str) -> Sequence[Write]:
        """The links from memories to a goal; ``NotFound`` for one that is not there, or is another user's."""
        wanted = list(dict.fromkeys(ids))
        found = await self._scoped.store.get_all(self._scoped.scope, wanted) if wanted else []
        there = {memory.id for memory in found if memory.user in (None, goal.user)}
        for id in wanted:
            if id not in there:
                raise NotFound(f"There is no memory {id} here for this goal.", hint="Name one by its id.", id=id)
        return [AddLink(Link(source=id, relation=relation, target=goal.id)) for id in wanted]


def goal_body(
    description: str,
    criteria: Iterable[criteria_.Given],
    priority: float,
    deadline: datetime | None,
    parent: str | None,
    status: GoalStatus,
    attributes: Mapping[str, Any] | None,
) -> GoalBody:
    """A goal from what a caller gives, or ``InvalidInput``."""
    if not isinstance(description, str) or not description.strip():
        raise InvalidInput("A goal needs a description.", hint="Say what is wanted, in a sentence.")
    if status not in OPEN:
        raise InvalidInput(f"A goal cannot begin as {status!r}.", hint=f"It begins as {', '.join(OPEN)}.")
    told = {
        "description": description,
        "criteria": criteria_.criteria_of(criteria, description.strip()),
        "priority": priority,
        "deadline": deadline,
        "parent": parent,
        "status": status,
        "attributes": dict(attributes or {}),
    }
    return validated(GoalBody, told)


def be_open(goal: Goal) -> None:
    """Refuse to change a goal that ended."""
    if not goal.open:
        raise Conflict(f"The goal {goal.id} is {goal.status}.", hint="Reopen it first.", id=goal.id)
