"""What was revised before, and how that went: one record of the kind ``revision`` for each.

The n-th revision of a goal holds the key ``revision:<goal>:<n>``, so two who revise at once cannot both write it, and
the revisions of any number of goals are read by their keys, in one query for some hundreds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.goals.models import (
    REVISION,
    FindingKind,
    Goal,
    Label,
    Plan,
    Revision,
    Strategy,
)
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.types import Filter, Id, Link, Memory, Model, Moment, Text

ABOUT, DERIVED = "about", "derived_from"
_AT_ONCE = 500


class RevisionBody(Model):
    """A revision as it is stored."""

    goal: Id
    plan: Id
    """The plan that was revised."""
    number: int
    """The how many-th of its goal."""
    finding: FindingKind
    step: Label | None = None
    strategy: Strategy
    why: Text
    before: int
    after: int | None = None
    at: Moment
    worked: bool | None = None
    print: str
    """What the plan said that was revised."""
    watched: tuple[Label, ...] = ()
    """The steps of the new plan whose outcome tells whether it worked."""
    replaced: str = ""
    """The tool or procedure that the step no longer uses, as ``tool:send``."""
    counts: bool = True
    """Whether its outcome teaches the policy; not where a person named no finding that monitoring knows."""


class Print(NamedTuple):
    """What a version of a plan said."""

    number: int
    print: str


class Recorded(NamedTuple):
    """A revision and the record it was read from."""

    memory: Memory
    body: RevisionBody

    @property
    def revision(self) -> Revision:
        told = {name: getattr(self.body, name) for name in Revision.model_fields if name != "id"}
        return Revision(id=self.memory.id, **told)


class History:
    """The revisions of a room's goals."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def of(self, goal: Goal) -> list[Recorded]:
        """The revisions of one goal, the oldest first."""
        return (await self._read([goal])).get(goal.id, [])

    async def prints(self, goals: Sequence[Goal]) -> dict[str, list[Print]]:
        """What the revised versions of these goals' plans said, by goal, the oldest first."""
        found = await self._read(goals)
        return {goal: [Print(one.body.before, one.body.print) for one in recorded] for goal, recorded in found.items()}

    def write(self, goal: Goal, plan: Plan, body: RevisionBody, new_plan: str | None) -> list[Write]:
        """The writes that record a revision; it must be the next one of its goal."""
        record = self._scoped.new(
            REVISION,
            f"{body.strategy} after {body.finding}: {body.why}"[:4_000],
            body=body.model_dump(mode="json"),
            key=revision_key(goal.id, body.number),
            importance=goal.priority,
            user=goal.user,
            metadata={"goal": goal.id, "strategy": body.strategy, "finding": body.finding, **_mark(body.worked)},
        )
        links = [(ABOUT, goal.id), (DERIVED, plan.id), *([(ABOUT, new_plan)] if new_plan else [])]
        return [
            Put(record, existing="fail"),
            *(AddLink(Link(source=record.id, relation=name, target=to)) for name, to in links),
        ]

    def settled(self, one: Recorded, worked: bool) -> Update:
        """The write that says how a revision went. It carries the version that was open, so it is said once."""
        body = one.body.model_copy(update={"worked": worked})
        told = {"body": body.model_dump(mode="json"), "metadata": {**one.memory.metadata, **_mark(worked)}}
        return Update(one.memory.id, told, expected_version=one.memory.version)

    async def _read(self, goals: Sequence[Goal]) -> dict[str, list[Recorded]]:
        owners = {goal.id: goal.user for goal in goals}
        keys = [revision_key(goal.id, n) for goal in goals for n in range(1, goal.revisions + 1)]
        found: dict[str, list[Recorded]] = {}
        for start in range(0, len(keys), _AT_ONCE):
            where = Filter(keys=tuple(keys[start : start + _AT_ONCE]), kinds=(REVISION,), states=None)
            async for memory in self._scoped.store.scan_all(self._scoped.scope, where):
                body = validated(RevisionBody, memory.body)
                if memory.user == owners[body.goal]:
                    found.setdefault(body.goal, []).append(Recorded(memory, body))
        for recorded in found.values():
            recorded.sort(key=lambda one: one.body.number)
        return found


def revision_key(goal: str, number: int) -> str:
    return f"{REVISION}:{goal}:{number}"


def _mark(worked: bool | None) -> dict[str, bool]:
    """What settled revisions are filtered by; one that is open has no such mark."""
    return {} if worked is None else {"worked": worked}
