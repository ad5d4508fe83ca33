"""The stored records of goals, plans and revisions: typed reads, and the writes that change them.

The current plan of a goal holds the key ``plan:<goal>``. A revision clears the key of the old record, marks it
superseded and stores the new one under the key, in one batch. So a goal never has two current plans, and every version
is kept.

The n-th revision of a goal holds the key ``revision:<goal>:<n>``. Two concurrent revisions therefore cannot both be
written, and the revisions of many goals are read by key, in one query for some hundreds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple

from longmind.errors import Forbidden, NotFound
from longmind.store.base import AddLink, Put, Receipt, Update, Write
from longmind.systems.goals.models import (
    GOAL,
    OPEN,
    PLAN,
    REVISION,
    Goal,
    GoalBody,
    GoalState,
    Plan,
    PlanBody,
    PlanStep,
    Revision,
    RevisionBody,
)
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.types import Filter, Json, Link, Memory

ABOUT, ACHIEVES, DERIVED, PART_OF, SUPERSEDES = "about", "achieves", "derived_from", "part_of", "supersedes"
_AT_ONCE = 500


class GoalRecords:
    """The goal and plan records of a scope."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    # -- reading -------------------------------------------------------------------------------------------------

    async def goal(self, id: str) -> Goal:
        """Return a goal; ``NotFound`` if there is none with this id."""
        record = await self._scoped.store.get(self._scoped.scope, id)
        if record is None or record.kind != GOAL:
            raise NotFound(f"There is no goal {id} here.", hint="`list` and `search` tell which there are.", id=id)
        return goal_from_record(record)

    async def need(self, id: str) -> GoalState:
        """Return a goal and its current plan; ``NotFound`` if there is no such goal."""
        goal = await self.goal(id)
        plans = await self._current([goal])
        return GoalState(goal=goal, plan=plans.get(goal.id))

    async def own(self, id: str) -> GoalState:
        """Like ``need``, for a change: ``Forbidden`` if a user's scope would change a goal of the whole agent."""
        state = await self.need(id)
        user = self._scoped.scope.user
        if user is not None and state.goal.user != user:
            raise Forbidden(
                f"The goal {id} belongs to the agent, not to the user {user}.",
                hint="Change it without a user, or create a goal of this user's own.",
                id=id,
            )
        return state

    async def every(self, open: bool | None = True) -> list[GoalState]:
        """Return all open goals (False: ended, None: all) with their plans, in a few queries however many there are."""
        where = Filter(kinds=(GOAL,), states=None, metadata=None if open is None else {"open": open})
        goals = [goal_from_record(memory) async for memory in self._scoped.store.scan_all(self._scoped.scope, where)]
        plans = await self._current(goals)
        return [GoalState(goal=goal, plan=plans.get(goal.id)) for goal in goals]

    async def plans(self, goal: Goal) -> list[Plan]:
        """Return all versions of a goal's plan, the newest first."""
        where = Filter(kinds=(PLAN,), states=None, metadata={"goal": goal.id})
        records = self._scoped.store.scan_all(self._scoped.scope, where)
        plans = [plan_from_record(m) async for m in records if m.user == goal.user]
        return sorted(plans, key=lambda plan: -plan.number)

    async def children(self, goals: Sequence[str]) -> list[Goal]:
        """Return the direct sub-goals of these goals, the oldest first."""
        store, scope = self._scoped.store, self._scoped.scope
        links = await store.all_links(scope, goals, relation=PART_OF, direction="in")
        records = await store.get_all(scope, [link.source for link in links])
        return sorted((goal_from_record(m) for m in records if m.kind == GOAL), key=lambda goal: goal.id)

    async def descendants(self, id: str) -> AsyncIterator[list[Goal]]:
        """Yield the sub-goals of a goal at every depth, one level at a time."""
        check_state, frontier = {id}, [id]
        while frontier:
            level = [child for child in await self.children(frontier) if child.id not in check_state]
            if level:
                yield level
            frontier = [child.id for child in level]
            check_state.update(frontier)

    async def with_plans(self, goals: Sequence[Goal]) -> list[GoalState]:
        """Return these goals, each with its current plan."""
        plans = await self._current(goals)
        return [GoalState(goal=goal, plan=plans.get(goal.id)) for goal in goals]

    async def _current(self, goals: Sequence[Goal]) -> dict[str, Plan]:
        """Return the current plans of these goals, by goal id."""
        owners = {goal.id: goal.user for goal in goals}
        current: dict[str, Plan] = {}
        for start in range(0, len(goals), _AT_ONCE):
            keys = tuple(plan_key(goal.id) for goal in goals[start : start + _AT_ONCE])
            where = Filter(keys=keys, kinds=(PLAN,), states=None)
            async for memory in self._scoped.store.scan_all(self._scoped.scope, where):
                plan = plan_from_record(memory)
                if memory.user == owners[plan.goal]:
                    current[plan.goal] = plan
        return current

    # -- writing -------------------------------------------------------------------------------------------------

    def new_goal(self, body: GoalBody, *, tags: Sequence[str] = (), user: str | None) -> Goal:
        """Return a new goal with its own id. It is not stored yet."""
        fields = {"id": self._scoped.clock.new_id(), "version": 1, "created_at": self._scoped.now(), "user": user}
        return validated(Goal, {**_plain(body), **fields, "tags": tuple(tags)})

    def insert_goal(self, goal: Goal) -> list[Write]:
        """Return the writes that store a new goal and link it to its parent, if it has one."""
        record = self._scoped.new(
            GOAL,
            goal_text(goal),
            id=goal.id,
            body=_plain(stored_goal_body(goal)),
            importance=goal.priority,
            tags=goal.tags,
            user=goal.user,
            metadata=_goal_marks(goal),
        )
        writes: list[Write] = [Put(record)]
        if goal.parent is not None:
            writes.append(AddLink(Link(source=goal.id, relation=PART_OF, target=goal.parent)))
        return writes

    def update_goal(self, goal: Goal, **changes: Any) -> Update:
        """Return the update that changes fields of a goal; ``InvalidInput`` if they are not valid.

        It changes this one record. ``ProgressPropagation`` builds the writes for the goals above.
        """
        tags = tuple(changes.pop("tags", goal.tags))
        body = validated(GoalBody, {**_plain(stored_goal_body(goal)), **changes})
        changed: Json = {
            "body": _plain(body),
            "importance": body.priority,
            "tags": list(tags),
            "metadata": _goal_marks(body),
        }
        if goal_text(body) != goal_text(goal):
            changed["content"] = goal_text(body)
        return Update(goal.id, changed, expected_version=goal.version)

    def update_plan(self, plan: Plan, steps: Sequence[PlanStep]) -> Update:
        """Return the update that changes the steps of a plan. Another plan is stored by ``replace_plan``."""
        body = validated(PlanBody, {**_plain(_plan_body(plan)), "steps": [_plain(step) for step in steps]})
        changed: Json = {"body": _plain(body)}
        if plan_text(body) != plan_text(plan):
            changed["content"] = plan_text(body)
        return Update(plan.id, changed, expected_version=plan.version)

    def replace_plan(self, goal: Goal, plan: Plan | None, body: PlanBody) -> list[Write]:
        """Return the writes that make this the goal's plan; the current one is kept as superseded.

        The number is given here. The new record is the one ``Put`` among them. It is linked to the goal
        (``achieves``), to the version before (``supersedes``), and to all it was made from (``derived_from``): erasing
        one of these erases the plan with it, and a fact that changes makes it stale.
        """
        number = 1 if plan is None else plan.number + 1
        stored = validated(PlanBody, {**_plain(body), "goal": goal.id, "number": number})
        record = self._scoped.new(
            PLAN,
            plan_text(stored),
            body=_plain(stored),
            key=plan_key(goal.id),
            importance=goal.priority,
            user=goal.user,
            metadata={"goal": goal.id, "number": number, "current": True},
        )
        writes: list[Write] = []
        links = [(ACHIEVES, goal.id), (DERIVED, goal.id)]
        if plan is not None:
            over: Json = {
                "key": None,
                "state": "superseded",
                "metadata": {"goal": goal.id, "number": plan.number, "current": False},
            }
            writes.append(Update(plan.id, over, expected_version=plan.version))
            links.append((SUPERSEDES, plan.id))
        origins = [*stored.assumptions, *([stored.source] if stored.source else [])]
        links += [(DERIVED, origin) for origin in dict.fromkeys(origins)]
        writes.append(Put(record, existing="fail"))
        return [*writes, *(AddLink(Link(source=record.id, relation=name, target=to)) for name, to in links)]


def goal_from_record(memory: Memory) -> Goal:
    """Return the goal that a record holds."""
    fields = {"id": memory.id, "version": memory.version, "created_at": memory.recorded_at, "user": memory.user}
    return validated(Goal, {**memory.body, **fields, "tags": memory.tags})


def plan_from_record(memory: Memory) -> Plan:
    """Return the plan that a record holds."""
    fields = {"id": memory.id, "version": memory.version, "made_at": memory.recorded_at}
    return validated(Plan, {**memory.body, **fields, "current": memory.key is not None})


def state_from_receipt(receipt: Receipt, id: str) -> GoalState:
    """Return a goal and its plan as a batch left them. The batch must have written the goal."""
    goal = next(goal_from_record(m) for m in reversed(receipt.memories) if m.id == id)
    plan = next((plan_from_record(m) for m in reversed(receipt.memories) if m.key == plan_key(id)), None)
    return GoalState(goal=goal, plan=plan)


def plan_key(goal: str) -> str:
    """Return the key of the current plan of a goal."""
    return f"{PLAN}:{goal}"


def stored_goal_body(goal: Goal) -> GoalBody:
    """Return the part of a goal that is stored in the record's body."""
    return GoalBody.model_validate({name: getattr(goal, name) for name in GoalBody.model_fields})


def goal_text(goal: GoalBody) -> str:
    """Return the text of a goal that is searched."""
    return "\n".join(dict.fromkeys([goal.description, *(criterion.description for criterion in goal.criteria)]))


def plan_text(plan: PlanBody) -> str:
    """Return the text of a plan that is searched."""
    return "\n".join(step.description for step in plan.steps)


def _plan_body(plan: Plan) -> PlanBody:
    return PlanBody.model_validate({name: getattr(plan, name) for name in PlanBody.model_fields})


def _goal_marks(body: GoalBody) -> Json:
    """Return the metadata that goals are filtered by."""
    marks: Json = {"status": body.status, "open": body.status in OPEN}
    return marks if body.parent is None else {**marks, "parent": body.parent}


def _plain(model: GoalBody | PlanBody | PlanStep) -> dict[str, Any]:
    payload: Mapping[str, Any] = model.model_dump(mode="json")
    return dict(payload)


class PlanFingerprint(NamedTuple):
    """The fingerprint of one version of a plan."""

    number: int
    print: str


class RevisionRecord(NamedTuple):
    """A revision and the memory that holds it."""

    memory: Memory
    body: RevisionBody

    @property
    def revision(self) -> Revision:
        fields = {name: getattr(self.body, name) for name in Revision.model_fields if name != "id"}
        return Revision(id=self.memory.id, **fields)


class RevisionHistory:
    """The revision records of a scope's goals."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def of(self, goal: Goal) -> list[RevisionRecord]:
        """Return the revision records of one goal, the oldest first."""
        return (await self._read([goal])).get(goal.id, [])

    async def fingerprints(self, goals: Sequence[Goal]) -> dict[str, list[PlanFingerprint]]:
        """Return the fingerprints of the revised plan versions of these goals, by goal, the oldest first."""
        revisions = await self._read(goals)
        return {
            goal: [PlanFingerprint(record.body.before, record.body.print) for record in recorded]
            for goal, recorded in revisions.items()
        }

    def write(self, goal: Goal, plan: Plan, body: RevisionBody, replace_plan: str | None) -> list[Write]:
        """Return the writes that record a revision. Its number must be the next one of its goal."""
        record = self._scoped.new(
            REVISION,
            f"{body.strategy} after {body.finding}: {body.why}"[:4_000],
            body=body.model_dump(mode="json"),
            key=revision_key(goal.id, body.number),
            importance=goal.priority,
            user=goal.user,
            metadata={"goal": goal.id, "strategy": body.strategy, "finding": body.finding, **_mark(body.worked)},
        )
        links = [(ABOUT, goal.id), (DERIVED, plan.id), *([(ABOUT, replace_plan)] if replace_plan else [])]
        return [
            Put(record, existing="fail"),
            *(AddLink(Link(source=record.id, relation=name, target=to)) for name, to in links),
        ]

    def record_outcome(self, revision: RevisionRecord, worked: bool) -> Update:
        """Return the write that records whether a revision worked. The expected version makes it happen once."""
        body = revision.body.model_copy(update={"worked": worked})
        told = {"body": body.model_dump(mode="json"), "metadata": {**revision.memory.metadata, **_mark(worked)}}
        return Update(revision.memory.id, told, expected_version=revision.memory.version)

    async def _read(self, goals: Sequence[Goal]) -> dict[str, list[RevisionRecord]]:
        owners = {goal.id: goal.user for goal in goals}
        keys = [revision_key(goal.id, n) for goal in goals for n in range(1, goal.revisions + 1)]
        revisions: dict[str, list[RevisionRecord]] = {}
        for start in range(0, len(keys), _AT_ONCE):
            where = Filter(keys=tuple(keys[start : start + _AT_ONCE]), kinds=(REVISION,), states=None)
            async for memory in self._scoped.store.scan_all(self._scoped.scope, where):
                body = validated(RevisionBody, memory.body)
                if memory.user == owners[body.goal]:
                    revisions.setdefault(body.goal, []).append(RevisionRecord(memory, body))
        for recorded in revisions.values():
            recorded.sort(key=lambda revision: revision.body.number)
        return revisions


def revision_key(goal: str, number: int) -> str:
    return f"{REVISION}:{goal}:{number}"


def _mark(worked: bool | None) -> dict[str, bool]:
    """Return the metadata that evaluated revisions are filtered by; an open one has none."""
    return {} if worked is None else {"worked": worked}
