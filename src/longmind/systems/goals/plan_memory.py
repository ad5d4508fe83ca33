"""Plans: make them, report what happens to their steps, watch and revise them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from longmind.arguments import checked_arguments
from longmind.errors import Conflict, InvalidInput
from longmind.store.base import Write
from longmind.systems import configuration
from longmind.systems.goals import criteria as criteria_
from longmind.systems.goals import steps as steps_
from longmind.systems.goals.criteria import EvidenceInput, build_evidence
from longmind.systems.goals.models import (
    Finding,
    GoalState,
    Plan,
    PlanBody,
    PlanStep,
    Revision,
    Strategy,
)
from longmind.systems.goals.monitor import MONITORING, Monitor, MonitorSettings
from longmind.systems.goals.planning import CanExecute, How, Planner, StepInput, step_list
from longmind.systems.goals.progress import ProgressPropagation
from longmind.systems.goals.records import ABOUT, GoalRecords
from longmind.systems.goals.reporting import report_findings
from longmind.systems.goals.revising import Reviser
from longmind.systems.goals.steps import ready_steps
from longmind.systems.goals.strategy_selection import ChatProvider
from longmind.systems.goals.transaction import GoalTransaction, require_open
from longmind.systems.procedural import ProceduralMemory
from longmind.systems.scoped_store import ScopedStore

Plans = list[Plan]
Steps = list[PlanStep]
Revisions = list[Revision]


@checked_arguments
class PlanMemory:
    """The plans of goals and their steps, with every version and revision. ``GoalMemory`` adds the goals."""

    def __init__(
        self,
        scoped: ScopedStore,
        procedural: ProceduralMemory,
        chat: ChatProvider | None = None,
        can_execute: CanExecute | None = None,
    ) -> None:
        self._scoped = scoped
        self._procedural = procedural
        self._chat = chat
        self._can_execute = can_execute
        self.records = GoalRecords(scoped)
        self._transaction = GoalTransaction(scoped, self.records)
        self._planner = Planner(scoped, self.records, procedural, chat, can_execute)
        self._monitor = Monitor(scoped, self.records)
        self._reviser = Reviser(
            scoped,
            self.records,
            procedural=procedural,
            chat=chat,
            replan=self._planner.replan,
            monitor=self._monitor,
        )

    def with_resources(
        self,
        *,
        procedural: ProceduralMemory | None = None,
        chat: ChatProvider | None = None,
        can_execute: CanExecute | None = None,
    ) -> Self:
        """Return the same goals, planned and revised with other procedures, another model, or another executor.

        What is left out stays as it is here. A plan for the rest of a goal is only used if ``can_execute`` accepts all
        of its steps.
        """
        return type(self)(
            self._scoped, procedural or self._procedural, chat or self._chat, can_execute or self._can_execute
        )

    # -- plans ---------------------------------------------------------------------------------------------------------

    async def plan_for(self, id: str, *, how: How = "auto", steps: Iterable[StepInput] | None = None) -> Plan:
        """Plan what is left of a goal. The current plan is replaced and kept as history.

        By ``steps``, or ``how``: a stored procedure, a past plan of a goal like this, the model, or the criteria;
        ``auto`` takes the first of these that has one.
        """
        inputs = None if steps is None else step_list(steps)
        bodies: dict[tuple[str, Any], PlanBody] = {}

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            goal, plan = state.goal, state.plan
            require_open(goal)
            running = [step.id for step in plan.steps if step.status == "running"] if plan else []
            if running:
                raise Conflict(f"The step {running[0]} is running.", hint="Complete, fail or skip it first.", id=id)
            asked = (goal.description, goal.criteria)
            if asked not in bodies:  # not again after a conflict, unless the goal is another one since
                bodies[asked] = await self._planner.plan(goal, how, inputs)
            propagation.change(state, plan=await self._transaction.without_missing_sources(bodies[asked]))
            return ()

        state = await self._transaction.change(id, "plan", decide)
        assert state.plan is not None
        return state.plan

    async def plan(self, id: str) -> Plan | None:
        """Return the current plan of a goal."""
        return (await self.records.need(id)).plan

    async def plans(self, id: str) -> Plans:
        """Return all versions of a goal's plan, the newest first."""
        return await self.records.plans(await self.records.goal(id))

    async def map_step(self, id: str, step: str, *criteria: str) -> Plan:
        """Add criteria that a step serves. If the step is done, it counts as evidence for them at once."""
        if not criteria:
            raise InvalidInput("Say which criteria the step serves.", hint="map_step(goal, 's1', 'c1')")

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            goal, plan = state.goal, _planned(state)
            require_open(goal)
            current = steps_.find_step(plan, step)
            criteria_.require_criteria(goal, criteria)
            changed = current.model_copy(update={"criteria": tuple(dict.fromkeys((*current.criteria, *criteria)))})
            steps = tuple(changed if other.id == step else other for other in plan.steps)
            after = (
                criteria_.criteria_after_step(goal, steps, changed, (), propagation.now)
                if changed.is_finished
                else goal.criteria
            )
            propagation.change(state, steps=steps, criteria=after)
            return ()

        return _planned(await self._transaction.change(id, f"map {step}", decide))

    async def state(self, id: str) -> GoalState:
        """Return a goal together with its current plan."""
        return await self.records.need(id)

    # -- steps ---------------------------------------------------------------------------------------------------------

    async def next_steps(self, id: str) -> Steps:
        """Return the steps that may start now, in parallel; none for a goal that is not active."""
        state = await self.records.need(id)
        if state.goal.status != "active" or state.plan is None:
            return []
        return ready_steps(state.plan.steps, self._scoped.now())

    async def start_step(
        self, id: str, step: str, *, episode: str | None = None, lease_seconds: float = steps_.LEASE_SECONDS
    ) -> GoalState:
        """Start a step under a lease. Until it ends or the lease expires, nobody else can start it."""

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            goal, plan = state.goal, _planned(state)
            steps = steps_.start_step(goal, plan, step, propagation.now, lease_seconds=lease_seconds, episode=episode)
            propagation.change(state, steps=steps)
            return () if episode is None else await self._transaction.linked(goal, [episode], ABOUT)

        return await self._transaction.change(id, f"start {step}", decide)

    async def renew_step(self, id: str, step: str, *, lease_seconds: float = steps_.LEASE_SECONDS) -> GoalState:
        """Renew the lease of a running step."""

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            propagation.change(state, steps=steps_.renew_lease(_planned(state), step, propagation.now, lease_seconds))
            return ()

        return await self._transaction.change(id, f"renew {step}", decide)

    async def release_step(self, id: str, step: str) -> GoalState:
        """Release a running step without an outcome. It does not count as an attempt."""

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            propagation.change(state, steps=steps_.release_step(_planned(state), step))
            return ()

        return await self._transaction.change(id, f"release {step}", decide)

    async def complete_step(
        self, id: str, step: str, result: Any = None, *, evidence: EvidenceInput = None
    ) -> GoalState:
        """Mark a step as done. This updates its criteria, the goal's progress and the goals above.

        The evidence (by default the result) is kept with the criteria that the step serves. The same again changes
        nothing.
        """

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            goal, plan = state.goal, _planned(state)
            steps = steps_.complete_step(plan, step, result, propagation.now)
            if steps is None:
                return None
            require_open(goal)
            shown = build_evidence(evidence, propagation.now, step=step)
            done = next(other for other in steps if other.id == step)
            propagation.change(
                state, steps=steps, criteria=criteria_.criteria_after_step(goal, steps, done, shown, propagation.now)
            )
            return await self._transaction.evidence_links(goal, shown)

        return await self._transaction.change(id, f"complete {step}", decide)

    async def fail_step(self, id: str, step: str, error: str) -> GoalState:
        """Mark a step as failed, with the error. It is not tried again until the plan is revised."""

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            steps = steps_.fail_step(_planned(state), step, error, propagation.now)
            if steps is None:
                return None
            require_open(state.goal)
            propagation.change(state, steps=steps)
            return ()

        return await self._transaction.change(id, f"fail {step}", decide)

    async def skip_step(self, id: str, step: str, why: str = "") -> GoalState:
        """Skip a step: later steps need not wait. It is no evidence for the criteria it serves."""

        async def decide(propagation: ProgressPropagation, state: GoalState) -> Sequence[Write] | None:
            goal, plan = state.goal, _planned(state)
            steps = steps_.skip_step(plan, step, why, propagation.now)
            if steps is None:
                return None
            require_open(goal)
            left = next(other for other in steps if other.id == step)
            propagation.change(
                state, steps=steps, criteria=criteria_.criteria_after_step(goal, steps, left, (), propagation.now)
            )
            return ()

        return await self._transaction.change(id, f"skip {step}", decide)

    # -- monitoring and revision ---------------------------------------------------------------------------------------

    async def monitor(self, goal: str | GoalState | None = None) -> tuple[Finding, ...]:
        """Return what is wrong with one goal's plan, or with every active plan, the gravest first for each goal.

        A ``GoalState`` that was just read is not read again.
        """
        if isinstance(goal, GoalState):
            return await self._monitor.check_state(goal)
        return await self._monitor.check(goal)

    async def report_problems(self) -> tuple[Finding, ...]:
        """Check every active plan and record each new problem as an event of episodic memory; return the new ones.

        A problem is reported once for as long as it lasts, and again if it comes back. The consolidation service and
        the worker call this on their schedule.
        """
        states = await self.records.every(open=True)
        goals = [state.goal for state in states]
        return await report_findings(self._scoped, goals, await self._monitor.check_states(states))

    async def monitoring(self) -> MonitorSettings:
        """Return the thresholds from which something counts as a problem."""
        return await configuration.configuration(self._scoped, MONITORING, MonitorSettings())

    async def configure_monitoring(self, /, **changes: Any) -> MonitorSettings:
        """Change thresholds of this agent permanently."""
        return await configuration.configure(self._scoped, MONITORING, MonitorSettings(), changes)

    async def revise(
        self, id: str, finding: Finding | None = None, strategy: Strategy | None = None, why: str = ""
    ) -> Revision | None:
        """Answer a finding with a new plan, a question to a person, or by giving up; None: nothing to answer."""
        return await self._reviser.revise(id, finding, strategy, why)

    async def revisions(self, id: str) -> Revisions:
        """Return the revisions of a goal, the oldest first."""
        return await self._reviser.revisions(id)

    async def evaluate_revisions(self, id: str) -> Revisions:
        """Record whether revisions worked whose outcome is known by now, and learn from it."""
        return await self._reviser.evaluate(id)


def _planned(state: GoalState) -> Plan:
    if state.plan is None:
        raise Conflict(f"The goal {state.goal.id} has no plan.", hint="Make one with `plan_for`.")
    return state.plan
