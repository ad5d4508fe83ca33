"""Trials of new versions, and the decisions about them, each stored with its reason and reversible.

A trial gives a share of the runs to the new version and counts the outcomes of both. When the evidence is clear, the
better version is used from then on. A decision is a record of the kind ``decision``; ``undo`` reverses it.
"""

from __future__ import annotations

from typing import Any, Literal

from longmind.errors import Conflict, NotFound
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.procedural.beta_binomial import SuccessCounts, TrialRule, judge
from longmind.systems.procedural.models import Procedure
from longmind.systems.procedural.procedure_store import LoadedProcedure, ProcedureStore, procedure_session
from longmind.systems.procedural.runs import DERIVED_FROM
from longmind.systems.procedural.statistics import Canary, LearningRecords, LearningState
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.types import Filter, Link, Memory, Model, Moment

DECISION = "decision"
DecisionKind = Literal["trial", "promoted", "rejected", "withdrawn"]
_VERBS = {
    "trial": "Put version {candidate} of {name} on trial against version {base}.",
    "promoted": "Promoted version {candidate} of {name} over version {base}.",
    "rejected": "Rejected version {candidate} of {name}; version {base} stays in use.",
    "withdrawn": "Ended the trial of version {candidate} of {name} against version {base}.",
}


class Decision(Model):
    """A decision about a version, made by learning or by a person."""

    id: str
    procedure: str
    name: str
    action: DecisionKind
    at: Moment
    why: str
    base: int
    candidate: int
    rule: TrialRule
    base_counts: SuccessCounts
    candidate_counts: SuccessCounts
    probability: float | None = None
    undone: bool = False


class Trials:
    """Puts versions on trial and decides about them."""

    def __init__(self, scoped: ScopedStore, procedures: ProcedureStore, learning_records: LearningRecords) -> None:
        self._scoped = scoped
        self._procedures = procedures
        self._learning_records = learning_records

    async def begin(self, name: str, procedure: Procedure, rule: TrialRule, why: str) -> Decision:
        """Add a version and start its trial."""
        head = await self._procedures.own(name)
        record, learning = await self._learning_records.read(head)
        if learning.canary is not None:
            raise Conflict(
                f"Version {learning.canary.candidate} of {name} is on trial already.",
                hint="Let it be decided, or promote or withdraw it first.",
            )
        number, writes = await self._procedures.add_version(head, procedure, why, use=False)
        canary = Canary(base=head.meta.number, candidate=number, rule=rule, started_at=self._scoped.now())
        memory, decision = self._new_decision(head, canary, "trial", why or "Asked for.")
        changed = learning.model_copy(update={"canary": canary})
        writes = [*writes, *self._learning_records.write(head, record, changed), *_decision_writes(memory, head)]
        await self._scoped.write(writes, reason=memory.content, actor="learning")
        return decision

    async def judged(
        self, head: LoadedProcedure, learning: LearningState
    ) -> tuple[LearningState, list[Write], Decision | None]:
        """Judge the trial. If it is decided, return the state without it, the writes, and the decision."""
        canary = learning.canary
        if canary is None:
            return learning, [], None
        said = judge(canary.base_counts, canary.candidate_counts, canary.rule)
        if said.verdict == "wait":
            return learning, [], None
        action: DecisionKind = "promoted" if said.verdict == "promote" else "rejected"
        return await self._end_trial(head, learning, action, said.why, said.probability)

    async def end(self, name: str, *, promote: bool, why: str) -> Decision:
        """End a trial without waiting for evidence."""
        head = await self._procedures.own(name)
        record, learning = await self._learning_records.read(head)
        if learning.canary is None:
            raise Conflict(f"No version of {name} is on trial.")
        action: DecisionKind = "promoted" if promote else "withdrawn"
        changed, writes, decision = await self._end_trial(head, learning, action, why or "Decided by hand.", None)
        assert decision is not None
        writes = [*writes, *self._learning_records.write(head, record, changed)]
        await self._scoped.write(writes, reason=decision.why, actor="user")
        return decision

    async def displaced(self, head: LoadedProcedure, why: str) -> list[Write]:
        """The writes that end a trial because the version in use is replaced by hand."""
        record, learning = await self._learning_records.read(head)
        if learning.canary is None:
            return []
        changed, writes, _ = await self._end_trial(head, learning, "withdrawn", why, None)
        return [*writes, *self._learning_records.write(head, record, changed)]

    async def decisions(self, head: LoadedProcedure) -> list[Decision]:
        """Return all decisions about a procedure, newest first."""
        where = Filter(kinds=(DECISION,), sessions=(procedure_session(head.name),), states=None)
        memories = [
            m
            async for m in self._scoped.store.scan_all(self._scoped.scope, where)
            if m.metadata["procedure"] == head.id
        ]
        return [_decision(memory) for memory in reversed(memories)]

    async def undo(self, id: str) -> Decision:
        """Reverse a decision, if nothing was decided since."""
        memory = await self._scoped.need(id, DECISION)
        decision = _decision(memory)
        head = await self._procedures.own(decision.procedure)
        record, learning = await self._learning_records.read(head)
        after = decision.candidate if decision.action == "promoted" else decision.base
        on_trial = learning.canary.candidate if learning.canary else None
        expected = decision.candidate if decision.action == "trial" else None
        if decision.undone or head.meta.number != after or on_trial != expected:
            raise Conflict(
                f"The decision about version {decision.candidate} of {decision.name} cannot be undone: "
                + ("it was undone before." if decision.undone else "others were made since."),
                hint="`rollback` restores any kept version.",
            )
        canary: Canary | None = None
        writes: list[Write] = []
        if decision.action == "promoted":
            writes.append(self._procedures.use_version(head, await self._procedures.version(head, decision.base)))
        elif decision.action in ("rejected", "withdrawn"):
            await self._procedures.version(head, decision.candidate)
            canary = Canary(
                base=decision.base, candidate=decision.candidate, rule=decision.rule, started_at=self._scoped.now()
            )
        writes += self._learning_records.write(head, record, learning.model_copy(update={"canary": canary}))
        undone = decision.model_copy(update={"undone": True})
        changes = {"body": undone.model_dump(mode="json", exclude={"id"})}
        writes.append(Update(id, changes, expected_version=memory.version))
        await self._scoped.write(writes, reason=f"undo: {memory.content}", actor="user")
        return undone

    async def _end_trial(
        self, head: LoadedProcedure, learning: LearningState, action: DecisionKind, why: str, probability: float | None
    ) -> tuple[LearningState, list[Write], Decision | None]:
        canary = learning.canary
        assert canary is not None
        memory, decision = self._new_decision(head, canary, action, why, probability=probability)
        writes = _decision_writes(memory, head)
        if action == "promoted":
            writes.append(self._procedures.use_version(head, await self._procedures.version(head, canary.candidate)))
        return learning.model_copy(update={"canary": None}), writes, decision

    def _new_decision(
        self, head: LoadedProcedure, canary: Canary, action: DecisionKind, why: str, **more: Any
    ) -> tuple[Memory, Decision]:
        """Build a decision and its record."""
        fields = {
            "procedure": head.id,
            "name": head.name,
            "action": action,
            "at": self._scoped.now(),
            "why": why,
            "base": canary.base,
            "candidate": canary.candidate,
            "rule": canary.rule,
            "base_counts": canary.base_counts,
            "candidate_counts": canary.candidate_counts,
            **more,
        }
        verb = _VERBS[action].format(name=head.name, base=canary.base, candidate=canary.candidate)
        body = Decision(id="", **fields).model_dump(mode="json", exclude={"id"})
        memory = self._scoped.new(
            DECISION,
            f"{verb} {why}",
            body=body,
            session=procedure_session(head.name),
            user=head.memory.user,
            metadata={"procedure": head.id, "action": action},
        )
        return memory, _decision(memory)


def _decision_writes(memory: Memory, head: LoadedProcedure) -> list[Write]:
    return [Put(memory), AddLink(Link(source=memory.id, relation=DERIVED_FROM, target=head.id))]


def _decision(memory: Memory) -> Decision:
    if memory.kind != DECISION:
        raise NotFound(f"There is no decision {memory.id} here.")
    return validated(Decision, {**memory.body, "id": memory.id})
