"""Revise plans: answer a finding by a new version of the plan, by a question to a person, or by giving up.

The new plan, the record of the revision and the goal's count of revisions are one batch, on condition that goal and
plan are as they were read. A goal may be revised a limited number of times; then a person is asked, and after that the
goal fails. So whoever goes on pursuing a goal comes to an end.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from longmind.errors import Conflict
from longmind.store.base import Put, Write
from longmind.systems.configuration import configuration
from longmind.systems.goals.fingerprints import plan_fingerprint
from longmind.systems.goals.models import Finding, Goal, GoalState, Plan, PlanBody, Revision, RevisionBody, Strategy
from longmind.systems.goals.monitor import Monitor, why_invalid
from longmind.systems.goals.policy import LAST, experience_record, judge_revision
from longmind.systems.goals.progress import ProgressPropagation
from longmind.systems.goals.records import GoalRecords, RevisionHistory, RevisionRecord, plan_key
from longmind.systems.goals.strategies import Proposal, give_up_reason, question
from longmind.systems.goals.strategy_selection import (
    ChatProvider,
    Replan,
    RevisionCase,
    RevisionDecision,
    StrategySelector,
)
from longmind.systems.procedural import ProceduralMemory
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.types import Memory, Model

REVISING = "goal revision"
_WHY = 4_000


class RevisionSettings(Model):
    """The limits of automatic revision."""

    max_revisions: Annotated[int, Field(ge=1, le=100)] = 10
    """The number of revisions of one goal after which a person is asked."""
    max_same: Annotated[int, Field(ge=1, le=20)] = 2
    """How often the same strategy is tried for the same step."""


class Reviser:
    """Answers findings and learns from the outcomes."""

    def __init__(
        self,
        scoped: ScopedStore,
        records: GoalRecords,
        *,
        procedural: ProceduralMemory | None = None,
        chat: ChatProvider | None = None,
        replan: Replan | None = None,
        monitor: Monitor | None = None,
        rule: RevisionSettings | None = None,
    ) -> None:
        self._scoped = scoped
        self._records = records
        self._selector = StrategySelector(scoped, procedural, chat, replan)
        self._monitor = monitor or Monitor(scoped, records)
        self._rule = rule or RevisionSettings()
        self._history = RevisionHistory(scoped)

    async def revise(
        self, goal: str, finding: Finding | None = None, strategy: Strategy | None = None, why: str = ""
    ) -> Revision | None:
        """Answer a finding, by default the gravest there is, with a strategy, by default the one most likely to work.

        None when there is nothing to answer, or nothing that could be done about a deadline which is only at risk. The
        same finding again returns the revision that answered it. A strategy that is named is carried out whatever the
        limits say, also for a goal that is blocked, or it is a ``Conflict`` that it is not possible.
        """
        await self.evaluate(goal)
        return await retry_on_conflict(lambda: self._revise(goal, finding, strategy, why))

    async def revisions(self, goal: str) -> list[Revision]:
        """Return the revisions of a goal, the oldest first."""
        return [record.revision for record in await self._history.of(await self._records.goal(goal))]

    async def evaluate(self, goal: str) -> list[Revision]:
        """Record whether revisions worked whose outcome is known by now, and learn from it. Each counts once."""

        async def change() -> list[Revision]:
            state = await self._records.own(goal)
            past = await self._history.of(state.goal)
            now, bodies = self._scoped.now(), [record.body for record in past]
            known: list[tuple[RevisionRecord, bool]] = []
            for n, record in enumerate(past):
                worked = (
                    judge_revision(record.body, bodies[n + 1 :], state, now) if record.body.worked is None else None
                )
                if worked is not None:
                    known.append((record, worked))
            return await self._learn(known) if known else []

        return await retry_on_conflict(change)

    async def _learn(self, known: list[tuple[RevisionRecord, bool]]) -> list[Revision]:
        record = experience_record(self._scoped)
        experience = await record.read()
        writes: list[Write] = []
        for revision, worked in known:
            writes.append(self._history.record_outcome(revision, worked))
            if revision.body.counts:
                experience = experience.plus(revision.body.finding, revision.body.strategy, worked)
        writes.append(record.overwrite(experience))
        await self._scoped.rewrite(writes, f"{len(known)} revisions came out")
        return [revision.revision.model_copy(update={"worked": worked}) for revision, worked in known]

    async def _revise(self, goal: str, finding: Finding | None, strategy: Strategy | None, why: str) -> Revision | None:
        state, past = await self._known(goal, finding)
        if finding is not None and (done := _answer_to(finding, state, past)) is not None:
            return done.revision
        plan = _revisable(state, finding, strategy)
        answered = finding or await self._found(state, past)
        counts = answered is not None
        if answered is None and (strategy is not None or why):
            answered = self._said(state.goal, plan, why or f"Somebody asked for {strategy}.")
        if answered is None:
            return None
        rule = await configuration(self._scoped, REVISING, self._rule)
        case = RevisionCase(state.goal, plan, answered, [record.body for record in past], rule.max_same)
        decision = await self._chosen(case, rule) if strategy is None else await self._named(case, strategy)
        if decision is None:
            return None
        return await self._write(case, decision, why, named=strategy is not None, counts=counts)

    async def _known(self, goal: str, finding: Finding | None) -> tuple[GoalState, list[RevisionRecord]]:
        """The goal and its revisions. Goal and plan are read one after the other: where the plan is not the one that a
        finding is about, the goal may have been read before it was replaced, and is read again."""
        state = await self._records.own(goal)
        if finding is not None and state.plan is not None and state.plan.id != finding.plan:
            state = await self._records.own(goal)
        return state, await self._history.of(state.goal)

    async def _found(self, state: GoalState, past: list[RevisionRecord]) -> Finding | None:
        """Return the gravest unanswered finding. Deadline risk is not answered again until the outcome is known."""
        waiting = any(finding.body.finding == "deadline_risk" and finding.body.worked is None for finding in past)
        for finding in await self._monitor.check_state(state):
            if finding.kind != "deadline_risk" or not waiting:
                return finding
        return None

    def _said(self, goal: Goal, plan: Plan, why: str) -> Finding:
        """Return a finding for a person's request when monitoring finds nothing: a broken assumption."""
        return Finding(kind="broken_assumption", goal=goal.id, plan=plan.id, detail=why, at=self._scoped.now())

    async def _chosen(self, case: RevisionCase, rule: RevisionSettings) -> RevisionDecision | None:
        """Return the policy's decision; at the limit of revisions ask a person, beyond it give up."""
        if case.goal.revisions >= rule.max_revisions:
            reason = f"the plan was revised {case.goal.revisions} times (allowed: {rule.max_revisions})."
            asked = any(revision.strategy == "ask" and revision.number > rule.max_revisions for revision in case.past)
            return RevisionDecision("abandon" if asked else "ask", f"{'abandon' if asked else 'ask'}, since {reason}")
        experience = await experience_record(self._scoped).read()
        decision = await self._selector.best(case, experience)
        if decision.strategy in LAST and case.finding.kind == "deadline_risk" and not case.overdue:
            return None  # to stop now would make sure that it is late
        return decision

    async def _named(self, case: RevisionCase, strategy: Strategy) -> RevisionDecision:
        """Return the decision for a named strategy; ``Conflict`` if it is not possible."""
        if strategy in LAST:
            return RevisionDecision(strategy, f"{strategy}, as it was asked for.")
        notes: list[str] = []
        proposal = await self._selector.made(strategy, case, notes)
        if proposal is None:
            raise Conflict(
                f"The strategy {strategy} is not possible here. {' '.join(notes)}".strip(),
                hint="Leave it out, and one that is possible is chosen.",
                strategy=strategy,
            )
        return RevisionDecision(strategy, f"{strategy}, as it was asked for.", proposal)

    async def _write(
        self, case: RevisionCase, decision: RevisionDecision, why: str, *, named: bool, counts: bool
    ) -> Revision:
        goal, plan, proposal = case.goal, case.plan, decision.proposal
        reasons = [why, case.finding.detail, decision.why, proposal.why if proposal else ""]
        explanation = " ".join(_sentence(reason) for reason in reasons if reason)[:_WHY]
        propagation = await self._propagation_of(case, decision, why, explanation, named=named)
        body = RevisionBody(
            goal=goal.id,
            plan=plan.id,
            number=goal.revisions + 1,
            finding=case.finding.kind,
            step=case.finding.step,
            strategy=decision.strategy,
            why=explanation,
            before=plan.number,
            after=None if proposal is None else plan.number + 1,
            at=self._scoped.now(),
            worked=False if decision.strategy == "abandon" else None,
            print=plan_fingerprint(plan.steps),
            watched=proposal.watched if proposal else (),
            replaced=proposal.replaced if proposal else "",
            counts=counts,
        )
        writes = await propagation.writes()
        recorded = self._history.write(goal, plan, body, _new_plan(writes, goal.id))
        receipt = await self._scoped.rewrite([*writes, *recorded], explanation[:200])
        memory = next(m for m in receipt.memories if m.id == _put(recorded).id)
        return RevisionRecord(memory, body).revision

    async def _propagation_of(
        self, case: RevisionCase, decision: RevisionDecision, why: str, explanation: str, *, named: bool
    ) -> ProgressPropagation:
        """Return the changes of a decision: a new plan, or another status of the goal and the goals below."""
        goal, finding = case.goal, case.finding
        state = GoalState(goal=goal, plan=case.plan)
        propagation = ProgressPropagation(self._records, self._scoped.now())
        number = goal.revisions + 1
        if decision.proposal is not None:
            body = await self._body(case, decision.proposal, explanation)
            propagation.change(state, plan=body, revisions=number, **_going_on(goal))
        elif decision.strategy == "ask":
            asked = why or question(goal, case.plan, finding, case.tried)
            propagation.change(state, status="blocked", why=asked, revisions=number)
        else:
            status = "abandoned" if named else "failed"
            ended = give_up_reason(finding, case.tried, why if named and why else f"Given up: {decision.why}")
            propagation.change(state, status=status, why=ended, revisions=number)
            await propagation.give_up_below(goal.id, f"The goal above was given up. {ended}"[:_WHY])
        return propagation

    async def _body(self, case: RevisionCase, proposal: Proposal, explanation: str) -> PlanBody:
        """Return the new version of the plan, without assumptions and a source that no longer exist."""
        plan, rest = case.plan, proposal.rest
        origin = plan if rest is None else rest
        wanted = [*origin.assumptions, *([origin.source] if origin.source else [])]
        there = {m.id: m for m in await self._scoped.store.get_all(self._scoped.scope, wanted)} if wanted else {}
        kept = [id for id in origin.assumptions if id in there]
        if case.finding.kind == "broken_assumption":
            now = self._scoped.now()
            kept = [id for id in kept if why_invalid(there[id], now) is None]
        return PlanBody(
            goal=plan.goal,
            number=plan.number + 1,
            steps=proposal.steps,
            origin=origin.origin,
            source=origin.source if origin.source in there else None,
            why=explanation,
            assumptions=tuple(kept),
            prompt=", ".join(filter(None, dict.fromkeys([*origin.prompt.split(", "), proposal.prompt]))),
        )


def _revisable(state: GoalState, finding: Finding | None, strategy: Strategy | None) -> Plan:
    """Return the plan; ``Conflict`` if it cannot be revised now."""
    goal, plan = state.goal, state.plan
    if not goal.open:
        raise Conflict(f"The goal is {goal.status}; its plan is not revised any more.", hint="Reopen it.", goal=goal.id)
    if plan is None:
        raise Conflict("The goal has no plan that could be revised.", hint="Make one with `plan_for`.", goal=goal.id)
    if goal.status != "active" and strategy is None and finding is not None:
        raise Conflict(f"The goal is {goal.status}: {goal.why[:500]}", hint="Activate it first.", goal=goal.id)
    if finding is not None and (finding.goal != goal.id or finding.plan != plan.id):
        raise Conflict("The plan was replaced since this was found.", hint="Look again.", plan=plan.id)
    return plan


def _answer_to(finding: Finding, state: GoalState, past: list[RevisionRecord]) -> RevisionRecord | None:
    """Return the revision that already answered a finding, if the plan or the goal's status changed since."""
    if state.goal.status == "active" and state.plan is not None and state.plan.id == finding.plan:
        return None
    wanted = (finding.plan, finding.kind, finding.step)
    return next(
        (record for record in reversed(past) if (record.body.plan, record.body.finding, record.body.step) == wanted),
        None,
    )


def _going_on(goal: Goal) -> dict[str, Any]:
    """Return the changes that unblock a goal, if a person's revision lets it go on."""
    return {"status": "active", "why": ""} if goal.status == "blocked" else {}


def _new_plan(writes: list[Write], goal: str) -> str | None:
    memories = (write.memory for write in writes if isinstance(write, Put))
    return next((memory.id for memory in memories if memory.key == plan_key(goal)), None)


def _put(writes: list[Write]) -> Memory:
    return next(write.memory for write in writes if isinstance(write, Put))


def _sentence(text: str) -> str:
    """Return a text with the stop at its end that sets it off from the next."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
