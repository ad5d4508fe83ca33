"""Answering a finding: which strategies are possible, which one is tried, and the plan it makes.

A strategy that asks a model or a planner is only prepared when it was chosen. One that turns out not to be possible is
left out and the choice is made again, so a choice is always one that can be carried out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longmind.errors import Conflict, InvalidInput, ModelError, NotFound
from longmind.systems.goals import strategies
from longmind.systems.goals.alternatives import alternatives
from longmind.systems.goals.criteria import checked
from longmind.systems.goals.history import RevisionBody
from longmind.systems.goals.models import Finding, Goal, Plan, PlanBody, PlanStep, Standing, Strategy
from longmind.systems.goals.parts import (
    Part,
    parts_by_criteria,
    parts_by_model,
    parts_by_procedure,
    parts_by_words,
)
from longmind.systems.goals.policy import LAST, PRIORS, Choice, Experience, chance, choose
from longmind.systems.goals.prints import plan_print
from longmind.systems.goals.strategies import Proposal
from longmind.systems.procedural import ProceduralMemory
from longmind.systems.scoped_store import ScopedStore, validated

if TYPE_CHECKING:
    from longmind.models.chat import Chat

AskChat = Callable[[], Awaitable["Chat | None"]]
"""What gives the agent's language model, if there is one."""
PlanRest = Callable[[Standing, str], Awaitable[PlanBody | None]]
"""What plans the rest of a goal anew: from the goal, its plan and the reason to the steps for what is not done yet,
which may come after steps of the current plan that are done; None when it knows no way."""


@dataclass(frozen=True, slots=True)
class Case:
    """What has to be answered, and what was answered before."""

    goal: Goal
    plan: Plan
    finding: Finding
    past: Sequence[RevisionBody]
    max_same: int

    def used(self, strategy: Strategy) -> int:
        """How often a strategy was tried for the step that this is about."""
        return sum(one.strategy == strategy and one.step == self.finding.step for one in self.past)

    @property
    def overdue(self) -> bool:
        return self.goal.deadline is not None and self.finding.at > self.goal.deadline

    @property
    def tried(self) -> list[str]:
        """The strategies tried for it, in words."""
        return [f"{one.strategy} ({_OUTCOME[one.worked]})" for one in self.past if one.step == self.finding.step]


_OUTCOME = {True: "worked", False: "failed again", None: "open"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A strategy, the plan it makes (none for asking and giving up), and why it was chosen."""

    strategy: Strategy
    why: str
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """Makes answers, with what is there to make them from."""

    scoped: ScopedStore
    procedural: ProceduralMemory | None = None
    chat: AskChat | None = None
    plan_rest: PlanRest | None = None

    async def best(self, case: Case, experience: Experience) -> Answer:
        """The answer that the policy chooses among those that are possible."""
        kind, finding = case.finding.kind, case.finding
        left = [one for one in (*PRIORS[kind], *LAST) if case.used(one) < case.max_same or one == "abandon"]
        if kind == "deadline_risk" and case.overdue:
            left = [one for one in left if one in LAST]  # no order of steps brings back the time
        rng = chance(case.goal.id, case.plan.id, kind, finding.step)
        notes: list[str] = []
        if _answered(case) and "retry" in left and (made := await self.made("retry", case, notes)) is not None:
            return Answer("retry", "retry, since a person was asked and let the goal go on.", made)
        while True:
            choice = choose(kind, left, experience, rng)
            assert choice is not None, "giving up is always possible"
            if choice.strategy in LAST:
                return Answer(choice.strategy, _joined(choice, notes))
            made = await self.made(choice.strategy, case, notes)
            if made is not None and self._leads_on(made, choice.strategy, case):
                return Answer(choice.strategy, _joined(choice, notes), made)
            left.remove(choice.strategy)

    async def made(self, strategy: Strategy, case: Case, notes: list[str]) -> Proposal | None:
        """The plan that a strategy makes; None when it is not possible, and ``notes`` may then say why."""
        try:
            proposal = await self._proposal(strategy, case)
            if proposal is not None:
                checked(case.goal, proposal.steps)
                validated(PlanBody, {"goal": case.goal.id, "steps": [step.model_dump() for step in proposal.steps]})
        except (Conflict, InvalidInput, ModelError, NotFound) as error:
            notes.append(f"{strategy} was not possible: {error.message}")
            return None
        return proposal

    async def _proposal(self, strategy: Strategy, case: Case) -> Proposal | None:
        plan, finding = case.plan, case.finding
        step = plan.step(finding.step) if finding.step else None
        match strategy:
            case "retry":
                return strategies.retry(plan, finding, answered=_answered(case))
            case "reorder":
                return strategies.reorder(case.goal, plan, finding)
            case "substitute" if step is not None and self.procedural is not None:
                found = await alternatives(self.scoped, case.goal, step, self.procedural)
                failed = {one.replaced for one in case.past if one.step == step.id and one.replaced}
                return strategies.substitute(plan, finding, found, failed)
            case "decompose" if step is not None and not step.settled:
                return strategies.decompose(plan, finding, await self._parts(case.goal, step))
            case "replan" if self.plan_rest is not None:
                rest = await self.plan_rest(Standing(goal=case.goal, plan=plan), finding.detail)
                return strategies.replan(plan, finding, rest)
        return None

    async def _parts(self, goal: Goal, step: PlanStep) -> Sequence[Part]:
        """The pieces of a step, from whoever knows: a model, its procedure, its words, its criteria."""
        chat = None if self.chat is None else await self.chat()
        if chat is not None and (parts := await parts_by_model(chat, goal, step)):
            return parts
        if step.procedure is not None and self.procedural is not None:
            procedure = (await self.procedural.retrieve(step.procedure)).procedure
            if parts := parts_by_procedure(procedure, step.args):
                return parts
        return parts_by_words(step) or parts_by_criteria(step, goal)

    def _leads_on(self, proposal: Proposal, strategy: Strategy, case: Case) -> bool:
        """Whether a plan is not one that was there before. To try again, or to rest on less, changes no step."""
        if strategy == "retry" or case.finding.kind == "broken_assumption":
            return True
        before = {plan_print(case.plan.steps), *(one.print for one in case.past)}
        return plan_print(proposal.steps) not in before


def _answered(case: Case) -> bool:
    """Whether the last thing done about this step was to ask a person, who has let the goal go on."""
    about = [one for one in case.past if one.step == case.finding.step]
    return bool(about) and about[-1].strategy == "ask"


def _joined(choice: Choice, notes: Sequence[str]) -> str:
    return " ".join([choice.why, *notes])
