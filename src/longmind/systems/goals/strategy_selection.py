"""Choose the strategy that answers a finding, and build the plan that it leads to.

A strategy that needs a model or a planner is prepared only after it was chosen. One that turns out to be impossible is
removed and the choice is made again, so the result can always be carried out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from longmind.errors import Conflict, InvalidInput, ModelError, NotFound
from longmind.systems.goals import strategies
from longmind.systems.goals.criteria import check_criteria_exist
from longmind.systems.goals.decomposition import (
    StepPart,
    split_by_criteria,
    split_by_model,
    split_by_procedure,
    split_by_words,
)
from longmind.systems.goals.fingerprints import plan_fingerprint
from longmind.systems.goals.models import Finding, Goal, GoalState, Plan, PlanBody, PlanStep, RevisionBody, Strategy
from longmind.systems.goals.policy import (
    LAST,
    PRIORS,
    StrategyChoice,
    StrategyExperience,
    choose_strategy,
    strategy_rng,
)
from longmind.systems.goals.similarity import similarities
from longmind.systems.goals.strategies import Alternative, Proposal, label_of
from longmind.systems.procedural import ProceduralMemory, Procedure, ToolRegistry, bind_params, declared_params
from longmind.systems.scoped_store import ScopedStore, validated

if TYPE_CHECKING:
    from longmind.models.chat import Chat

ChatProvider = Callable[[], Awaitable["Chat | None"]]
"""Returns the agent's language model, if there is one."""
Replan = Callable[[GoalState, str], Awaitable[PlanBody | None]]
"""Makes a new plan for the rest of a goal, given the goal with its plan and the reason; None if there is no other plan.

The new steps may depend on finished steps of the current plan."""
_OUTCOME = {True: "worked", False: "failed again", None: "open"}
FITS = 0.3
"""The least similarity, from 0 to 1, between a step and the purpose of an alternative."""
_LOOKED_AT = 10


@dataclass(frozen=True, slots=True)
class RevisionCase:
    """A finding to answer, with the goal, its plan and its earlier revisions."""

    goal: Goal
    plan: Plan
    finding: Finding
    past: Sequence[RevisionBody]
    max_same: int

    def used(self, strategy: Strategy) -> int:
        """Return how often a strategy was tried for the step of the finding."""
        return sum(revision.strategy == strategy and revision.step == self.finding.step for revision in self.past)

    @property
    def overdue(self) -> bool:
        return self.goal.deadline is not None and self.finding.at > self.goal.deadline

    @property
    def tried(self) -> list[str]:
        """The strategies tried for the step so far, in words."""
        return [
            f"{revision.strategy} ({_OUTCOME[revision.worked]})"
            for revision in self.past
            if revision.step == self.finding.step
        ]


@dataclass(frozen=True, slots=True)
class RevisionDecision:
    """The chosen strategy, why it was chosen, and the plan it leads to (none for ``ask`` and ``abandon``)."""

    strategy: Strategy
    why: str
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True)
class StrategySelector:
    """Chooses strategies and builds their plans from the procedures, the model and the planner it is given."""

    scoped: ScopedStore
    procedural: ProceduralMemory | None = None
    chat: ChatProvider | None = None
    replan: Replan | None = None

    async def best(self, case: RevisionCase, experience: StrategyExperience) -> RevisionDecision:
        """Return the policy's choice among the strategies that are possible."""
        kind, finding = case.finding.kind, case.finding
        left = [
            strategy
            for strategy in (*PRIORS[kind], *LAST)
            if case.used(strategy) < case.max_same or strategy == "abandon"
        ]
        if kind == "deadline_risk" and case.overdue:
            left = [strategy for strategy in left if strategy in LAST]  # no order of steps brings back the time
        rng = strategy_rng(case.goal.id, case.plan.id, kind, finding.step)
        notes: list[str] = []
        if _answered(case) and "retry" in left and (proposal := await self.made("retry", case, notes)) is not None:
            return RevisionDecision("retry", "retry, since a person was asked and let the goal go on.", proposal)
        while True:
            choice = choose_strategy(kind, left, experience, rng)
            assert choice is not None, "giving up is always possible"
            if choice.strategy in LAST:
                return RevisionDecision(choice.strategy, _joined(choice, notes))
            proposal = await self.made(choice.strategy, case, notes)
            if proposal is not None and self._leads_on(proposal, choice.strategy, case):
                return RevisionDecision(choice.strategy, _joined(choice, notes), proposal)
            left.remove(choice.strategy)

    async def made(self, strategy: Strategy, case: RevisionCase, notes: list[str]) -> Proposal | None:
        """Return the plan that a strategy leads to; None if it is not possible, and ``notes`` may then say why."""
        try:
            proposal = await self._proposal(strategy, case)
            if proposal is not None:
                check_criteria_exist(case.goal, proposal.steps)
                validated(PlanBody, {"goal": case.goal.id, "steps": [step.model_dump() for step in proposal.steps]})
        except (Conflict, InvalidInput, ModelError, NotFound) as error:
            notes.append(f"{strategy} was not possible: {error.message}")
            return None
        return proposal

    async def _proposal(self, strategy: Strategy, case: RevisionCase) -> Proposal | None:
        plan, finding = case.plan, case.finding
        step = plan.step(finding.step) if finding.step else None
        match strategy:
            case "retry":
                return strategies.retry(plan, finding, answered=_answered(case))
            case "reorder":
                return strategies.reorder(case.goal, plan, finding)
            case "substitute" if step is not None and self.procedural is not None:
                candidates = await find_alternatives(self.scoped, case.goal, step, self.procedural)
                failed = {revision.replaced for revision in case.past if revision.step == step.id and revision.replaced}
                return strategies.substitute(plan, finding, candidates, failed)
            case "decompose" if step is not None and not step.is_finished:
                return strategies.decompose(plan, finding, await self._parts(case.goal, step))
            case "replan" if self.replan is not None:
                rest = await self.replan(GoalState(goal=case.goal, plan=plan), finding.detail)
                return strategies.replan(plan, finding, rest)
        return None

    async def _parts(self, goal: Goal, step: PlanStep) -> Sequence[StepPart]:
        """Return the parts of a step: by a model, its procedure, its words, or its criteria."""
        chat = None if self.chat is None else await self.chat()
        if chat is not None and (parts := await split_by_model(chat, goal, step)):
            return parts
        if step.procedure is not None and self.procedural is not None:
            procedure = (await self.procedural.retrieve(step.procedure)).procedure
            if parts := split_by_procedure(procedure, step.args):
                return parts
        return split_by_words(step) or split_by_criteria(step, goal)

    def _leads_on(self, proposal: Proposal, strategy: Strategy, case: RevisionCase) -> bool:
        """Whether a plan differs from all earlier ones. Retries and dropped assumptions change no step and pass."""
        if strategy == "retry" or case.finding.kind == "broken_assumption":
            return True
        before = {plan_fingerprint(case.plan.steps), *(revision.print for revision in case.past)}
        return plan_fingerprint(proposal.steps) not in before


def _answered(case: RevisionCase) -> bool:
    """Whether the last answer for this step was to ask a person, who then unblocked the goal."""
    about = [revision for revision in case.past if revision.step == case.finding.step]
    return bool(about) and about[-1].strategy == "ask"


def _joined(choice: StrategyChoice, notes: Sequence[str]) -> str:
    return " ".join([choice.why, *notes])


async def find_alternatives(
    scoped: ScopedStore, goal: Goal, step: PlanStep, procedural: ProceduralMemory
) -> list[Alternative]:
    """Return other tools and procedures that could do a step, procedures first, then by fit.

    Procedures of another user are left out, even if this scope can see them.
    """
    candidates: list[tuple[str, Alternative]] = []
    hits = await procedural.search(step.description, k=_LOOKED_AT)
    owners = {m.id: m.user for m in await scoped.store.get_all(scoped.scope, [hit.version.id for hit in hits])}
    for hit in hits:
        procedure = hit.version.procedure
        if owners.get(hit.version.id) not in (None, goal.user):
            continue
        if all(alternative.use is None or alternative.use in procedural.tools for alternative in procedure.steps):
            candidates += _taking(procedure, step)
    for tool in procedural.tools.described():
        candidates += _called(procedural.tools, tool.name, tool.description, step)
    others = [(text, alternative) for text, alternative in candidates if alternative.label != label_of(step)]
    (fits,) = await similarities(scoped, [step.description], [text for text, _ in others])
    fitting = [replace(alternative, fit=fit) for (_, alternative), fit in zip(others, fits, strict=True) if fit >= FITS]
    return sorted(fitting, key=lambda alternative: (not alternative.procedure, -alternative.fit, alternative.name))


def _taking(procedure: Procedure, step: PlanStep) -> Iterable[tuple[str, Alternative]]:
    """Return the procedure with those arguments of the step that it declares, if it can run with these."""
    declared = declared_params(procedure.parameters)
    args = {name: value for name, value in step.args.items() if name in declared}
    try:
        bind_params(procedure.parameters, args)
    except InvalidInput:
        return ()
    return ((f"{_spelt(procedure.name)} {procedure.purpose}", Alternative(procedure.name, args, procedure=True)),)


def _called(tools: ToolRegistry, name: str, description: str, step: PlanStep) -> Iterable[tuple[str, Alternative]]:
    """Return the tool with those arguments of the step that it takes, if these are enough."""
    tool = tools.get(name)
    args = {param: value for param, value in step.args.items() if param in tool.names}
    try:
        tool.arguments.model_validate(args)
    except ValidationError:
        return ()
    return ((f"{_spelt(name)} {description}", Alternative(name, args)),)


def _spelt(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").replace(".", " ")
