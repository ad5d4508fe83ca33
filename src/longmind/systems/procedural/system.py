"""Procedural memory, as its users see it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from longmind.errors import Conflict, InvalidInput
from longmind.store.base import AddLink, Receipt, Write
from longmind.systems.procedural.attempts import Sleep
from longmind.systems.procedural.beta_binomial import TrialRule
from longmind.systems.procedural.changes import Diff, apply_patch, differences, forbid_escalation
from longmind.systems.procedural.checks import CheckReport, check
from longmind.systems.procedural.distill import Distilled, distill
from longmind.systems.procedural.learning import Learner, LearningResult
from longmind.systems.procedural.models import Procedure, ProcedureHit, Version, dump_procedure
from longmind.systems.procedural.procedure_store import (
    PROCEDURE,
    VERSIONS_KEPT,
    LoadedProcedure,
    ProcedureStore,
    current_version,
    load_procedure,
)
from longmind.systems.procedural.proposals import PatchProposal, propose_from_runs
from longmind.systems.procedural.runner import Runner
from longmind.systems.procedural.runs import RUN, Run, RunStatus, build_run
from longmind.systems.procedural.statistics import LearningRecords, ProcedureStatistics, statistics
from longmind.systems.procedural.tools import ToolRegistry
from longmind.systems.procedural.traces import load_traces
from longmind.systems.procedural.trials import Decision, Trials
from longmind.systems.procedural.values import json_equal
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.types import Filter, Link, Page

ProcedureInput = Procedure | Mapping[str, Any]
Proposer = Callable[[Procedure, Sequence[Run], Sequence[Run]], Awaitable[PatchProposal | None]]
"""What proposes a patch from a procedure, its good runs and its bad ones: a model, or anything else."""
Versions = list[Version]
Decisions = list[Decision]
ProcedureHits = list[ProcedureHit]
_RUNS_COMPARED = 200


class ProceduralMemory:
    """How to do things: procedures that run, survive crashes, keep their versions, and learn from how runs end."""

    def __init__(
        self,
        scoped: ScopedStore,
        tools: ToolRegistry,
        *,
        versions_kept: int = VERSIONS_KEPT,
        sleep: Sleep = asyncio.sleep,
        poll_seconds: float = 0.5,
    ) -> None:
        self._scoped = scoped
        self.tools = tools
        self._procedures = ProcedureStore(scoped, versions_kept)
        self._learning_records = LearningRecords(scoped)
        self._trials = Trials(scoped, self._procedures, self._learning_records)
        self._learner = Learner(scoped, self._procedures, self._learning_records, self._trials)
        self._runner = Runner(scoped, tools, self._procedures, self._learner, sleep=sleep, poll_seconds=poll_seconds)

    # -- keeping -------------------------------------------------------------------------------------------------

    async def store(
        self, procedure: ProcedureInput, *, why: str = "", expected: int | None = None, derived_from: Sequence[str] = ()
    ) -> Version:
        """Store a procedure, or a new version of one; the same again changes nothing.

        With ``expected`` only if this is the number of the version in use now. ``derived_from`` names memories it was
        made from. A trial that is under way ends, since what it was measured against is replaced.
        """
        told = _defined(procedure)

        async def write() -> Version:
            head = await self._procedures.find(told.name)
            if head is not None and head.memory.user != self._scoped.scope.user:
                head = None  # the agent's procedure stays; this user gets one of their own
            number = head.meta.number if head else 0
            if expected is not None and expected != number:
                raise Conflict(f"Version {number} of {told.name} is in use, not {expected}.", hint="Read it again.")
            if head is not None and json_equal(dump_procedure(head.procedure), dump_procedure(told)):
                return current_version(head)
            if head is None:
                record, writes = self._procedures.created(told, why)
                id = record.id
            else:
                _, writes = await self._procedures.added(head, told, why, use=True)
                writes += await self._trials.displaced(head, "A new version was stored.")
                id = head.id
            links: Sequence[Write] = [
                AddLink(Link(source=id, relation="derived_from", target=origin))
                for origin in dict.fromkeys(derived_from)
            ]
            receipt = await self._scoped.write([*writes, *links], reason=why or f"store {told.name}", actor="user")
            return _written(receipt, id)

        return await retry_on_conflict(write)

    async def retrieve(self, name: str, version: int | str | None = None) -> Version:
        """A procedure by its name or id, as it is in use, or as one kept version has it (by number or label)."""
        head = await self._procedures.need(name)
        if version is None:
            return current_version(head)
        return await self._procedures.version(head, self._procedures.which(head, version, None))

    async def list(self, category: str | None = None, *, limit: int = 50, cursor: str | None = None) -> Page[Version]:
        """The procedures, of one category or of all, the oldest first."""
        where = Filter(states=("active",), metadata={"category": category} if category is not None else None)
        page = await self._scoped.page(PROCEDURE, where=where, limit=limit, cursor=cursor)
        return Page(items=tuple(current_version(load_procedure(memory)) for memory in page.items), cursor=page.cursor)

    async def search(self, query: str, k: int = 5, *, category: str | None = None) -> ProcedureHits:
        """The procedures that fit a task best."""
        where = Filter(states=("active",), metadata={"category": category} if category is not None else None)
        hits = await self._scoped.search(query, k=k, kinds=(PROCEDURE,), where=where)
        return [ProcedureHit(version=current_version(load_procedure(h.memory)), score=h.score, why=h.why) for h in hits]

    async def versions(self, name: str) -> Versions:
        """The kept versions, the newest first."""
        return await self._procedures.versions(await self._procedures.need(name))

    async def diff(self, name: str, before: int | str | None = None, after: int | str | None = None) -> Diff:
        """What differs between two versions; by default between the one in use and the one it was made from."""
        head = await self._procedures.need(name)
        new = current_version(head) if after is None else await self.retrieve(name, after)
        origin = before if before is not None else new.parent
        if origin is None:
            raise InvalidInput(f"Version {new.number} of {name} is the first; name what to compare it with.")
        old = await self.retrieve(name, origin)
        found = differences(old.procedure, new.procedure)
        return Diff(name=head.name, before=old.number, after=new.number, differences=found)

    async def rollback(
        self, name: str, version: int | str | None = None, *, index: int | None = None, why: str = ""
    ) -> Version:
        """Put a kept version in use again: by number, by label, or by index (0 the newest, 1 the one before).

        Without either it is the version that the one in use was made from.
        """

        async def write() -> Version:
            head = await self._procedures.own(name)
            asked = version if version is not None or index is not None else head.meta.parent
            if asked is None and index is None:
                raise InvalidInput(f"Version {head.meta.number} of {head.name} is the first.", hint="Name a version.")
            found = await self._procedures.version(head, self._procedures.which(head, asked, index))
            if found.current:
                return found
            reason = why or f"roll {head.name} back to version {found.number}"
            writes = [self._procedures.switched(head, found), *await self._trials.displaced(head, reason)]
            return _written(await self._scoped.write(writes, reason=reason, actor="user"), head.id)

        return await retry_on_conflict(write)

    async def tag(self, name: str, label: str, version: int | None = None) -> Version:
        """Give a version a label, such as ``stable``; it is kept as long as it has one. By default the one in use."""
        if not label.strip() or len(label) > 100 or label.isdigit():
            raise InvalidInput(f"{label!r} cannot be a label.", hint="Use a word.")
        return await self._relabel(name, lambda head: {**head.meta.labels, label: version or head.meta.number})

    async def untag(self, name: str, label: str) -> Version:
        """Take a label away."""

        def without(head: LoadedProcedure) -> dict[str, int]:
            self._procedures.which(head, label, None)
            return {held: number for held, number in head.meta.labels.items() if held != label}

        return await self._relabel(name, without)

    async def _relabel(self, name: str, labels: Callable[[LoadedProcedure], dict[str, int]]) -> Version:
        async def write() -> Version:
            head = await self._procedures.own(name)
            changed = labels(head)
            for number in changed.values():
                await self._procedures.version(head, number)
            labelled = self._procedures.labelled(head, changed)
            return _written(await self._scoped.write([labelled], reason="label", actor="user"), head.id)

        return await retry_on_conflict(write)

    async def delete(self, name: str) -> None:
        """Remove a procedure with its versions and what was learnt about it. Its runs stay, as history."""

        async def write() -> None:
            head = await self._procedures.own(name)
            await self._scoped.write(await self._procedures.deletes(head), reason=f"delete {head.name}", actor="user")

        await retry_on_conflict(write)

    async def clear(self, category: str | None = None) -> int:
        """Remove all procedures of a category, or all that this scope may change, and say how many."""
        where = Filter(states=("active",), metadata={"category": category} if category is not None else None)
        where = where.model_copy(update={"kinds": (PROCEDURE,)})
        mine = self._scoped.scope.user
        found = [m.id async for m in self._scoped.store.scan_all(self._scoped.scope, where) if mine in (None, m.user)]
        for id in found:
            await self.delete(id)
        return len(found)

    # -- running -------------------------------------------------------------------------------------------------

    async def execute(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        *,
        version: int | str | None = None,
        key: str | None = None,
    ) -> Run:
        """Run a procedure until it ends, or waits for an approval. A step that fails is an outcome, not an exception.

        With a ``key`` of yours the call can be repeated: the run it started is returned as it stands. A ``version``
        that is named is the one that runs, whatever is in use or on trial.
        """
        head = await self._procedures.need(name)
        number = None if version is None else self._procedures.which(head, version, None)
        return await self._runner.execute(head, params or {}, number=number, key=key)

    async def resume(self, run: str, *, take_over: bool = False) -> Run:
        """Go on with a run at the step where it stopped; no finished step is done again.

        Refused while another process may be at work on it. ``take_over`` says that you know that it is gone.
        """
        return await self._runner.resume(run, take_over=take_over)

    async def cancel(self, run: str, *, compensate: bool = False) -> Run:
        """Cancel a run; with ``compensate`` what it did is taken back. One that is at work stops when it next looks."""
        return await self._runner.cancel(run, compensate=compensate)

    async def approve(
        self, run: str, *, approved: bool = True, by: str = "user", why: str = "", resume: bool = True
    ) -> Run:
        """Decide about the step that a run waits with, and go on. A refusal counts as a failure of that step."""
        return await self._runner.approve(run, approved=approved, by=by, why=why, resume=resume)

    async def run(self, run: str) -> Run:
        """A run as it stands, with what each of its steps did."""
        return await self._runner.read(run)

    async def runs(
        self,
        name: str | None = None,
        *,
        status: RunStatus | None = None,
        unfinished: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Run]:
        """The runs, the newest first, without their steps; of one procedure, of one status, or the unfinished ones."""
        asked: dict[str, Any] = {} if name is None else {"procedure": (await self._procedures.need(name)).id}
        asked |= ({"status": status} if status else {}) | ({"open": True} if unfinished else {})
        where = Filter(states=None, metadata=asked or None)
        page = await self._scoped.page(RUN, where=where, limit=limit, cursor=cursor, descending=True)
        return Page(items=tuple(build_run(memory) for memory in page.items), cursor=page.cursor)

    async def check(self, procedure: str | ProcedureInput, *, effects: bool = False) -> CheckReport:
        """Test a procedure on its examples. Only ``pure`` functions are really called, unless ``effects`` is set."""
        told = (await self.retrieve(procedure)).procedure if isinstance(procedure, str) else _defined(procedure)
        return await check(self._scoped, told, self.tools, effects=effects)

    # -- learning ------------------------------------------------------------------------------------------------

    async def learn(
        self,
        procedure: str,
        outcome: bool | None,
        metrics: Mapping[str, float] | None = None,
        *,
        run: str | None = None,
    ) -> LearningResult:
        """Say how a run really came out, in place of what was counted when it ended; None takes it out of the count.

        Without a run it is about work that was done in this way elsewhere, and counts for the version in use.
        """
        return await self._learner.learn(procedure, outcome, metrics or {}, run)

    async def propose(
        self, name: str, patch: Mapping[str, Any], *, why: str = "", rule: TrialRule | None = None
    ) -> Decision:
        """Put a changed version on trial: it gets a share of the runs until the evidence promotes or rejects it."""

        async def write() -> Decision:
            head = await self._procedures.own(name)
            return await self._trials.begin(head.id, apply_patch(head.procedure, patch), rule or TrialRule(), why)

        return await retry_on_conflict(write)

    async def improve(
        self, name: str, proposer: Proposer | None = None, *, rule: TrialRule | None = None
    ) -> Decision | None:
        """Let good and bad runs suggest a new version and put it on trial; by rules, or by a proposer such as a model.

        A proposal must be valid, and can neither take away an approval nor call something new without one.
        """
        head = await self._procedures.own(name)
        where = Filter(states=None, metadata={"procedure": head.id, "number": head.meta.number, "open": False})
        page = await self._scoped.page(RUN, where=where, limit=_RUNS_COMPARED, descending=True)
        ended = [build_run(memory) for memory in page.items]
        good, bad = [r for r in ended if r.counted is True], [r for r in ended if r.counted is False]
        proposal = (
            propose_from_runs(head.procedure, good, bad)
            if proposer is None
            else await proposer(head.procedure, good, bad)
        )
        if proposal is None:
            return None
        forbid_escalation(head.procedure, apply_patch(head.procedure, proposal.patch))
        return await self.propose(head.id, proposal.patch, why=proposal.why, rule=rule)

    async def promote(self, name: str, *, why: str = "") -> Decision:
        """Put the version on trial in use now."""
        return await retry_on_conflict(lambda: self._trials.end(name, promote=True, why=why))

    async def withdraw(self, name: str, *, why: str = "") -> Decision:
        """End the trial and stay with the version in use."""
        return await retry_on_conflict(lambda: self._trials.end(name, promote=False, why=why))

    async def decisions(self, name: str) -> Decisions:
        """What was decided about the versions of a procedure and why, the newest first."""
        return await self._trials.decisions(await self._procedures.need(name))

    async def undo(self, decision: str) -> Decision:
        """Take a decision back."""
        return await retry_on_conflict(lambda: self._trials.undo(decision))

    async def statistics(self, name: str) -> ProcedureStatistics:
        """How the kept versions fared: successes, failures, durations, metrics, and how the choices did."""
        head = await self._procedures.need(name)
        _, learning = await self._learning_records.read(head)
        return await statistics(self._scoped, head, learning)

    async def distill(
        self,
        name: str,
        task: str | None = None,
        *,
        purpose: str | None = None,
        episodes: Sequence[str] | None = None,
        min_support: int = 3,
        limit: int = 50,
        min_trust: float = 0.5,
    ) -> Distilled | None:
        """A procedure out of what successful episodes did alike: those named, those that fit a task, or the latest.

        It is a proposal. Look at it, ``check`` it, and ``store`` it with ``derived_from=distilled.episodes``.
        """
        found = await load_traces(self._scoped, task, episodes, limit=limit, min_trust=min_trust)
        return distill(found, name=name, purpose=purpose, min_support=max(2, min_support))


def _defined(procedure: ProcedureInput) -> Procedure:
    """A definition that holds; also a copy with changes, which pydantic does not check again by itself."""
    return validated(Procedure, dump_procedure(procedure) if isinstance(procedure, Procedure) else procedure)


def _written(receipt: Receipt, id: str) -> Version:
    """The version in use as this write left it: another may have stored one since."""
    return current_version(load_procedure(next(memory for memory in reversed(receipt.memories) if memory.id == id)))
