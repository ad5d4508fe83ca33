"""Make plans: from the caller's steps, a stored procedure, a past plan, a model, or the criteria.

``auto`` tries them in this order, from what is best known to work to what can always be done. Why the earlier ones
were not taken is kept in the plan.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from longmind.errors import Conflict, InvalidInput, ModelError
from longmind.systems.goals.adaptation import (
    adapt_past_plan,
    name_changes,
    replace_names,
    reset_step,
    steps_for_criteria,
    unused_id,
)
from longmind.systems.goals.criteria import check_criteria_exist
from longmind.systems.goals.fingerprints import step_fingerprint
from longmind.systems.goals.model_planning import plan_checker, request_plan, told
from longmind.systems.goals.models import GOAL, Criterion, Goal, GoalState, PlanBody, PlanStep, order_steps
from longmind.systems.goals.records import GoalRecords, goal_from_record
from longmind.systems.goals.similarity import best_match, similarities
from longmind.systems.procedural import ProceduralMemory, Version, bind_params, declared_params
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.text.analysis import terms
from longmind.text.similarity import shared_words
from longmind.types import Filter, Hit, Memory

if TYPE_CHECKING:
    from longmind.models.chat import Chat

CanExecute = Callable[[PlanStep], Awaitable[bool]]
"""Whether a step can be executed here: its tool, its procedure or somebody to do it is present."""
How = Literal["auto", "procedure", "past", "model", "criteria"]
METHODS: tuple[How, ...] = ("procedure", "past", "model", "criteria")
StepInput = str | PlanStep | Mapping[str, Any]
"""A step as a caller passes it. Texts run one after the other; a mapping names its dependencies in ``after``."""
_LEAST_SCORE = 0.1
"""A fact becomes an assumption of the plan if it fits the goal at least one time in ten."""
_ALIKE, _SAME = 0.6, 0.9
"""The similarity from which two texts are about the same kind of thing, and from which they say the same."""
_CRITERION_ALIKE = 0.5
_LOOKED_AT = 5
_ASSUMED = 5
_SHOWN = 20
_THEN = re.compile(r"^\W*(?:and\s+)?(?:then|afterwards|after that|finally)\b", re.IGNORECASE)
_AFTER = re.compile(r"\bafter\s+(?P<what>[^.;,]+)", re.IGNORECASE)


class PlanUnavailable(Exception):
    """A planning method has no plan; the message says why."""


class Planner:
    """Makes plans for goals. It never writes."""

    def __init__(
        self,
        scoped: ScopedStore,
        records: GoalRecords,
        procedural: ProceduralMemory,
        chat: Callable[[], Awaitable[Chat | None]] | None = None,
        can_execute: CanExecute | None = None,
    ) -> None:
        self._scoped = scoped
        self._records = records
        self._procedural = procedural
        self._chat = chat
        self._can_execute = can_execute

    async def plan(self, goal: Goal, how: How = "auto", steps: Iterable[StepInput] | None = None) -> PlanBody:
        """Return a plan for what is left of a goal; with ``auto`` by the first method that has one."""
        if how != "auto" and how not in METHODS:
            raise InvalidInput(
                f"There is no way of planning called {how!r}.", hint=f"There are auto, {', '.join(METHODS)}."
            )
        facts = await self._facts(goal)
        if steps is not None:
            body = validated(
                PlanBody, {"goal": goal.id, "steps": build_steps(goal, steps), "why": "Given by the caller."}
            )
            return _assuming(body, facts)
        if all(criterion.met for criterion in goal.criteria):
            raise Conflict("All criteria of the goal are met; it waits for its sub-goals.", hint="Plan those.")
        if how != "auto":
            try:
                return _assuming(await self._by(how, goal, facts), facts)
            except PlanUnavailable as error:
                raise InvalidInput(
                    f"No plan could be made in this way: {error}", hint="Try how='auto', or --plan auto."
                ) from error
        reasons: list[str] = []
        for way in METHODS:
            try:
                body = await self._by(way, goal, facts)
            except PlanUnavailable as error:
                reasons.append(str(error))
            else:
                return _assuming(body.model_copy(update={"why": " ".join([body.why, *reasons])}), facts)
        raise InvalidInput("No plan could be made.", hint=" ".join(reasons))

    async def replan(self, state: GoalState, why: str) -> PlanBody | None:
        """Plan what is left of a goal by another method; None if there is none, or it cannot be executed here."""
        body = await self._plan_differently(state, why)
        if body is None or self._can_execute is None:
            return body
        return body if all([await self._can_execute(step) for step in body.steps]) else None

    async def _plan_differently(self, state: GoalState, why: str) -> PlanBody | None:
        """Plan what is left of a goal, by the first method whose steps differ from those that are open now.

        ``plan`` would choose the same method again: the procedure that just failed still fits the goal best. If every
        method leads to the open steps, return these, and let the caller decide whether that helps.
        """
        current = state.plan.steps if state.plan else ()
        left = sorted(step_fingerprint(step) for step in current if not step.is_finished)
        same: PlanBody | None = None
        for how in METHODS:
            try:
                body = await self.plan(state.goal, how)
            except InvalidInput:
                continue  # this method has nothing to offer; another one may
            body = body.model_copy(update={"why": f"{body.why} {why}".strip()})
            if sorted(map(step_fingerprint, body.steps)) != left:
                return body
            same = same or body
        return same

    async def _by(self, how: How, goal: Goal, facts: Sequence[Hit]) -> PlanBody:
        match how:
            case "procedure":
                return await self._from_procedure(goal)
            case "past":
                return await self._from_past(goal)
            case "model":
                return await self._from_model(goal, facts)
            case _:
                steps = await self._in_told_order(steps_for_criteria(_open(goal)))
                return _body(goal, steps, origin="criteria", why="A step for each criterion.")

    # -- from a stored procedure -----------------------------------------------------------------------------------

    async def _from_procedure(self, goal: Goal) -> PlanBody:
        reason = "No stored procedure fits."
        for version in await self._fitting(goal):
            procedure = version.procedure
            args = {
                name: goal.attributes[name] for name in declared_params(procedure.parameters) if name in goal.attributes
            }
            try:
                bind_params(procedure.parameters, args)
            except InvalidInput as error:
                reason = f"The procedure {procedure.name} fits, but not with the goal's attributes: {error.message}"
                continue
            main = PlanStep(id="s1", description=procedure.purpose, procedure=procedure.name, args=args)
            steps = await self._covering(goal, [main], [procedure.text()])
            why = f"The procedure {procedure.name} does this."
            return _body(goal, steps, origin="procedure", why=why, source=version.id)
        raise PlanUnavailable(reason)

    async def _fitting(self, goal: Goal) -> list[Version]:
        """Return the procedures that do what the goal says, the best first."""
        hits = await self._procedural.search(goal.description, _LOOKED_AT)
        versions = await self._usable(goal, [hit.version for hit in hits])
        (alike,) = await similarities(
            self._scoped, [goal.description], [candidate.procedure.purpose for candidate in versions]
        )
        verb = set(terms(goal.description)[:1])
        kept: list[tuple[float, Version]] = []
        for version, similarity in zip(versions, alike, strict=True):
            name = version.name.replace("_", " ").replace("-", " ")
            fit = max(similarity, shared_words(goal.description, name))
            if fit >= (_ALIKE if verb <= set(terms(version.procedure.text())) else _SAME):
                kept.append((fit, version))
        return [version for _, version in sorted(kept, key=lambda pair: -pair[0])]

    async def _usable(self, goal: Goal, versions: Sequence[Version]) -> list[Version]:
        """Return the procedures that a plan for this goal may use, each once."""
        by_id = {version.id: version for version in versions}
        records = await self._scoped.store.get_all(self._scoped.scope, list(by_id)) if by_id else []
        return [by_id[record.id] for record in records if _may_use(goal, record)]

    # -- from a past plan --------------------------------------------------------------------------------------------

    async def _from_past(self, goal: Goal) -> PlanBody:
        for past in await self._alike(goal):
            plan = (await self._records.need(past.id)).plan
            if plan is None or all(step.status != "done" for step in plan.steps):
                continue
            names = name_changes(past.description, goal.description)
            criteria = await self._matched(past.criteria, goal, names)
            existing = {step.id for step in plan.steps if await self._exists(step)}
            steps = adapt_past_plan(plan, names, criteria, existing)
            steps = await self._covering(goal, steps, [step.description for step in steps])
            changed = "".join(f", with {new} for {old}" for old, new in names.items())
            why = f"A plan that worked for “{past.description[:200]}”{changed}."
            return _body(goal, steps, origin="past", why=why, source=plan.id)
        raise PlanUnavailable("No achieved goal is alike enough.")

    async def _alike(self, goal: Goal) -> list[Goal]:
        """Return similar goals that were achieved, the most similar first."""
        where = Filter(states=None, metadata={"status": "achieved"})
        hits = await self._scoped.search(goal.description, k=_LOOKED_AT, kinds=(GOAL,), where=where)
        goals = [
            goal_from_record(hit.memory) for hit in hits if hit.memory.id != goal.id and _may_use(goal, hit.memory)
        ]
        (alike,) = await similarities(self._scoped, [goal.description], [past.description for past in goals])
        verb = terms(goal.description)[:1]
        kept = [
            (alike[n], past)
            for n, past in enumerate(goals)
            if alike[n] >= (_ALIKE if terms(past.description)[:1] == verb else _SAME)
        ]
        return [past for _, past in sorted(kept, key=lambda pair: -pair[0])]

    async def _matched(self, old: Sequence[Criterion], goal: Goal, names: Mapping[str, str]) -> dict[str, str | None]:
        """Map each criterion of a past goal to the most similar one of this goal, or None."""
        texts = [replace_names(criterion.description, names) for criterion in old]
        table = await similarities(self._scoped, texts, [criterion.description for criterion in goal.criteria])
        matches: dict[str, str | None] = {}
        for criterion, row in zip(old, table, strict=True):
            best = max(range(len(row)), key=row.__getitem__)
            matches[criterion.id] = goal.criteria[best].id if row[best] >= _CRITERION_ALIKE else None
        return matches

    async def _exists(self, step: PlanStep) -> bool:
        """Whether the tool or procedure of a step exists here."""
        if step.tool is not None:
            return step.tool in self._procedural.tools
        if step.procedure is None:
            return True
        record = await self._scoped.store.by_key(self._scoped.scope, f"procedure:{step.procedure}")
        return record is not None

    # -- by a model --------------------------------------------------------------------------------------------------

    async def _from_model(self, goal: Goal, facts: Sequence[Hit]) -> PlanBody:
        chat = None if self._chat is None else await self._chat()
        if chat is None:
            raise PlanUnavailable("No model is configured.")
        hits = await self._procedural.search(goal.description, _SHOWN)
        step_list = (await self._procedural.list(limit=_SHOWN)).items
        known = await self._usable(goal, [*(hit.version for hit in hits), *step_list])
        shown = told(goal, [hit.memory.content for hit in facts], self._procedural, known[:_SHOWN])
        try:
            asked = await request_plan(chat, shown, plan_checker(goal, self._procedural))
        except ModelError as error:
            raise PlanUnavailable(f"The model gave no plan: {error.message[:500]}") from error
        return _body(goal, asked.steps, origin="model", why=asked.why, prompt=asked.prompt)

    # -- what they share -----------------------------------------------------------------------------------------------

    async def _facts(self, goal: Goal) -> list[Hit]:
        """Return the facts that matter for the goal; the plan assumes them."""
        where = Filter(states=("active",), valid_at=self._scoped.now())
        hits = await self._scoped.search(goal.description, k=_ASSUMED, kinds=("fact",), where=where)
        return [hit for hit in hits if hit.score >= _LEAST_SCORE and _may_use(goal, hit.memory)]

    async def _covering(self, goal: Goal, steps: Sequence[PlanStep], texts: Sequence[str]) -> list[PlanStep]:
        """Return the steps so that each open criterion is served: by the most similar step, or by a new last one."""
        criteria = _open(goal)
        by_id = {step.id: step for step in steps}
        served = {id for step in steps for id in step.criteria}
        left: list[Criterion] = []
        for criterion in criteria:
            if criterion.id in served:
                continue
            best = 0 if len(criteria) == len(steps) == 1 else None
            if best is None:
                best = await best_match(self._scoped, criterion.description, texts, least=_CRITERION_ALIKE, within=True)
            if best is None:
                left.append(criterion)
            else:
                step = by_id[steps[best].id]
                by_id[step.id] = step.model_copy(update={"criteria": (*step.criteria, criterion.id)})
        last = tuple(id for id in by_id if all(id not in step.after for step in by_id.values()))
        own = [step.model_copy(update={"after": last}) for step in steps_for_criteria(left, taken=set(by_id))]
        return [*by_id.values(), *own]

    async def _in_told_order(self, steps: Sequence[PlanStep]) -> list[PlanStep]:
        """Return the steps with dependencies only where their text says "then" or "after"."""
        ordered = list(steps)
        for n, step in enumerate(steps):
            after = {steps[n - 1].id} if n and _THEN.match(step.description) else set[str]()
            others = [other for other in steps if other.id != step.id]
            for said in _AFTER.finditer(step.description):
                best = await best_match(
                    self._scoped, said["what"], [other.description for other in others], least=_CRITERION_ALIKE
                )
                after |= set() if best is None else {others[best].id}
            changed = [*ordered]
            changed[n] = step.model_copy(update={"after": tuple(sorted(after))})
            if not _circular(changed):
                ordered = changed
        return ordered


def step_list(steps: Iterable[StepInput]) -> list[StepInput]:
    """Return the steps as a list. A single text is refused: Python would take its letters for steps."""
    if isinstance(steps, str | Mapping):
        raise InvalidInput("The steps must be a list.", hint='Write steps=["Search.", "Book."].')
    return list(steps)


def build_steps(goal: Goal, inputs: Iterable[StepInput]) -> list[PlanStep]:
    """Build steps from a caller's input. If none names a criterion and the goal has only one, all serve it."""
    wanted = step_list(inputs)
    taken = {id for item in wanted if (id := _id(item)) is not None}
    steps: list[PlanStep] = []
    for n, item in enumerate(wanted, start=1):
        if isinstance(item, PlanStep):
            steps.append(reset_step(item))
            continue
        id = _id(item) or unused_id(f"s{n}", taken)
        taken.add(id)
        if isinstance(item, str):
            before = (steps[-1].id,) if steps else ()
            steps.append(validated(PlanStep, {"id": id, "description": item, "after": before}))
        else:
            steps.append(reset_step(validated(PlanStep, {**item, "id": id})))
    if len(goal.criteria) == 1 and not any(step.criteria for step in steps):
        steps = [step.model_copy(update={"criteria": (goal.criteria[0].id,)}) for step in steps]
    check_criteria_exist(goal, steps)
    return steps


def _assuming(body: PlanBody, facts: Sequence[Hit]) -> PlanBody:
    return body.model_copy(update={"assumptions": tuple(hit.memory.id for hit in facts)})


def _body(goal: Goal, steps: Sequence[PlanStep], **fields: Any) -> PlanBody:
    return validated(PlanBody, {"goal": goal.id, "steps": [step.model_dump() for step in steps], **fields})


def _open(goal: Goal) -> list[Criterion]:
    return [criterion for criterion in goal.criteria if not criterion.met]


def _may_use(goal: Goal, memory: Memory) -> bool:
    """Whether a plan may use a memory: never one of another user, even if this scope can see it."""
    return memory.user in (None, goal.user)


def _circular(steps: Sequence[PlanStep]) -> bool:
    try:
        order_steps(steps)
    except ValueError:
        return True
    return False


def _id(step: StepInput) -> str | None:
    id = step.id if isinstance(step, PlanStep) else step.get("id") if isinstance(step, Mapping) else None
    return id if isinstance(id, str) else None
