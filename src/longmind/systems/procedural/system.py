"""``ProceduralMemory``: the public interface of procedural memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from longmind.arguments import checked_arguments
from longmind.errors import Conflict, InvalidInput
from longmind.store.base import AddLink, Receipt, Write
from longmind.systems.procedural.attempts import Sleep
from longmind.systems.procedural.beta_binomial import TrialRule
from longmind.systems.procedural.changes import Diff, apply_patch, differences, forbid_escalation
from longmind.systems.procedural.checks import CheckReport, check
from longmind.systems.procedural.distill import Distilled, distill_procedure
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
"""Proposes a patch from a procedure, its successful runs and its failed ones, such as ``ModelProposer``."""
Versions = list[Version]
Decisions = list[Decision]
ProcedureHits = list[ProcedureHit]
_RUNS_COMPARED = 200


@checked_arguments
class ProceduralMemory:
    """How to do things: procedures that run, resume after a crash, keep versions, and learn from outcomes."""

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
        """Store a procedure, or a new version of one. Storing the same definition again changes nothing.

        With ``expected``, ``Conflict`` unless that is the number of the version in use. ``derived_from`` names the
        memories it was made from. A trial that is under way ends, since the version it compares with is replaced.
        """
        definition = _validated_definition(procedure)

        async def write() -> Version:
            head = await self._procedures.find(definition.name)
            if head is not None and head.memory.user != self._scoped.scope.user:
                head = None  # the agent's procedure stays; this user gets one of their own
            number = head.meta.number if head else 0
            if expected is not None and expected != number:
                raise Conflict(
                    f"Version {number} of {definition.name} is in use, not {expected}.", hint="Read it again."
                )
            if head is not None and json_equal(dump_procedure(head.procedure), dump_procedure(definition)):
                return current_version(head)
            if head is None:
                record, writes = self._procedures.create(definition, why)
                id = record.id
            else:
                _, writes = await self._procedures.add_version(head, definition, why, use=True)
                writes += await self._trials.displaced(head, "A new version was stored.")
                id = head.id
            links: Sequence[Write] = [
                AddLink(Link(source=id, relation="derived_from", target=origin))
                for origin in dict.fromkeys(derived_from)
            ]
            receipt = await self._scoped.write(
                [*writes, *links], reason=why or f"store {definition.name}", actor="user"
            )
            return _stored_version(receipt, id)

        return await retry_on_conflict(write)

    async def retrieve(self, name: str, version: int | str | None = None) -> Version:
        """Return a procedure by name or id: the version in use, or a kept version by number or label."""
        head = await self._procedures.need(name)
        if version is None:
            return current_version(head)
        return await self._procedures.version(head, self._procedures.resolve_number(head, version, None))

    async def list(self, category: str | None = None, *, limit: int = 50, cursor: str | None = None) -> Page[Version]:
        """List the procedures, of one category or of all, oldest first."""
        where = Filter(states=("active",), metadata={"category": category} if category is not None else None)
        page = await self._scoped.page(PROCEDURE, where=where, limit=limit, cursor=cursor)
        return Page(items=tuple(current_version(load_procedure(memory)) for memory in page.items), cursor=page.cursor)

    async def search(self, query: str, k: int = 5, *, category: str | None = None) -> ProcedureHits:
        """Search the procedures that match a task best."""
        where = Filter(states=("active",), metadata={"category": category} if category is not None else None)
        hits = await self._scoped.search(query, k=k, kinds=(PROCEDURE,), where=where)
        return [ProcedureHit(version=current_version(load_procedure(h.memory)), score=h.score, why=h.why) for h in hits]

    async def versions(self, name: str) -> Versions:
        """Return the kept versions, newest first."""
        return await self._procedures.versions(await self._procedures.need(name))

    async def diff(self, name: str, before: int | str | None = None, after: int | str | None = None) -> Diff:
        """Compare two versions; by default the one in use with the one it was made from."""
        head = await self._procedures.need(name)
        new = current_version(head) if after is None else await self.retrieve(name, after)
        origin = before if before is not None else new.parent
        if origin is None:
            raise InvalidInput(f"Version {new.number} of {name} is the first; name what to compare it with.")
        old = await self.retrieve(name, origin)
        changes = differences(old.procedure, new.procedure)
        return Diff(name=head.name, before=old.number, after=new.number, differences=changes)

    async def rollback(
        self, name: str, version: int | str | None = None, *, index: int | None = None, why: str = ""
    ) -> Version:
        """Put a kept version in use again, by number, by label, or by index (0 is the newest).

        By default it is the version that the one in use was made from.
        """

        async def write() -> Version:
            head = await self._procedures.own(name)
            asked = version if version is not None or index is not None else head.meta.parent
            if asked is None and index is None:
                raise InvalidInput(f"Version {head.meta.number} of {head.name} is the first.", hint="Name a version.")
            restored = await self._procedures.version(head, self._procedures.resolve_number(head, asked, index))
            if restored.current:
                return restored
            reason = why or f"roll {head.name} back to version {restored.number}"
            writes = [self._procedures.use_version(head, restored), *await self._trials.displaced(head, reason)]
            return _stored_version(await self._scoped.write(writes, reason=reason, actor="user"), head.id)

        return await retry_on_conflict(write)

    async def tag(self, name: str, label: str, version: int | None = None) -> Version:
        """Label a version, such as ``stable``; by default the one in use. A labelled version is always kept."""
        if not label.strip() or len(label) > 100 or label.isdigit():
            raise InvalidInput(f"{label!r} cannot be a label.", hint="Use a word.")
        return await self._relabel(name, lambda head: {**head.meta.labels, label: version or head.meta.number})

    async def untag(self, name: str, label: str) -> Version:
        """Remove a label."""

        def without(head: LoadedProcedure) -> dict[str, int]:
            self._procedures.resolve_number(head, label, None)
            return {held: number for held, number in head.meta.labels.items() if held != label}

        return await self._relabel(name, without)

    async def _relabel(self, name: str, labels: Callable[[LoadedProcedure], dict[str, int]]) -> Version:
        async def write() -> Version:
            head = await self._procedures.own(name)
            changed = labels(head)
            for number in changed.values():
                await self._procedures.version(head, number)
            labelled = self._procedures.set_labels(head, changed)
            return _stored_version(await self._scoped.write([labelled], reason="label", actor="user"), head.id)

        return await retry_on_conflict(write)

    async def delete(self, name: str) -> None:
        """Delete a procedure with its versions and statistics. Its runs stay, as history."""

        async def write() -> None:
            head = await self._procedures.own(name)
            await self._scoped.write(await self._procedures.delete(head), reason=f"delete {head.name}", actor="user")

        await retry_on_conflict(write)

    async def clear(self, category: str | None = None) -> int:
        """Delete all procedures of a category, or all that this scope may change; return how many."""
        where = Filter(states=("active",), metadata={"category": category} if category is not None else None)
        where = where.model_copy(update={"kinds": (PROCEDURE,)})
        mine = self._scoped.scope.user
        ids = [m.id async for m in self._scoped.store.scan_all(self._scoped.scope, where) if mine in (None, m.user)]
        for id in ids:
            await self.delete(id)
        return len(ids)

    # -- running -------------------------------------------------------------------------------------------------

    async def execute(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        *,
        version: int | str | None = None,
        key: str | None = None,
    ) -> Run:
        """Run a procedure until it ends or waits for an approval. A step that fails is an outcome, not an exception.

        With a ``key`` the call is idempotent: called again, it returns the run that it started. A given ``version`` is
        used whatever is in use or on trial.
        """
        head = await self._procedures.need(name)
        number = None if version is None else self._procedures.resolve_number(head, version, None)
        return await self._runner.execute(head, params or {}, number=number, key=key)

    async def resume(self, run: str, *, take_over: bool = False) -> Run:
        """Continue a run at the step where it stopped; no finished step is done again.

        ``Conflict`` while another process may be working on it. Pass ``take_over`` if you know that it is gone.
        """
        return await self._runner.resume(run, take_over=take_over)

    async def cancel(self, run: str, *, compensate: bool = False) -> Run:
        """Cancel a run; with ``compensate``, undo what it did. A run in another process stops when it next polls."""
        return await self._runner.cancel(run, compensate=compensate)

    async def approve(
        self, run: str, *, approved: bool = True, by: str = "user", why: str = "", resume: bool = True
    ) -> Run:
        """Approve or refuse the step that a run waits for, and continue. A refusal is a failure of that step."""
        return await self._runner.approve(run, approved=approved, by=by, why=why, resume=resume)

    async def run(self, run: str) -> Run:
        """Return the current state of a run, with its steps."""
        return await self._runner.read(run)

    async def find_run(self, name: str, key: str) -> Run | None:
        """Return the run of a procedure that ``execute`` started with a key, with its steps; None if there is none."""
        head = await self._procedures.need(name)
        record = await self._scoped.store.by_key(self._scoped.scope, f"{RUN}:{head.name}:{key}")
        return None if record is None else await self._runner.read(record.id)

    async def runs(
        self,
        name: str | None = None,
        *,
        status: RunStatus | None = None,
        unfinished: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Run]:
        """List runs without their steps, newest first; of one procedure, of one status, or the unfinished ones."""
        asked: dict[str, Any] = {} if name is None else {"procedure": (await self._procedures.need(name)).id}
        asked |= ({"status": status} if status else {}) | ({"open": True} if unfinished else {})
        where = Filter(states=None, metadata=asked or None)
        page = await self._scoped.page(RUN, where=where, limit=limit, cursor=cursor, descending=True)
        return Page(items=tuple(build_run(memory) for memory in page.items), cursor=page.cursor)

    async def check(self, procedure: str | ProcedureInput, *, effects: bool = False) -> CheckReport:
        """Test a procedure by its examples. Only ``pure`` functions are called, unless ``effects`` is set."""
        definition = (
            (await self.retrieve(procedure)).procedure
            if isinstance(procedure, str)
            else _validated_definition(procedure)
        )
        return await check(self._scoped, definition, self.tools, effects=effects)

    # -- learning ------------------------------------------------------------------------------------------------

    async def learn(
        self,
        procedure: str,
        outcome: bool | None,
        metrics: Mapping[str, float] | None = None,
        *,
        run: str | None = None,
    ) -> LearningResult:
        """Report the outcome of a run, replacing what was counted when it ended; None removes it from the count.

        Without a run, the outcome is of work done elsewhere, and counts for the version in use.
        """
        return await self._learner.learn(procedure, outcome, metrics or {}, run)

    async def propose(
        self, name: str, patch: Mapping[str, Any], *, why: str = "", rule: TrialRule | None = None
    ) -> Decision:
        """Put a changed version on trial. It gets a share of the runs until the evidence promotes or rejects it."""

        async def write() -> Decision:
            head = await self._procedures.own(name)
            return await self._trials.begin(head.id, apply_patch(head.procedure, patch), rule or TrialRule(), why)

        return await retry_on_conflict(write)

    async def improve(
        self, name: str, proposer: Proposer | None = None, *, rule: TrialRule | None = None
    ) -> Decision | None:
        """Derive a new version from successful and failed runs, by rules or by a proposer, and put it on trial.

        A proposal must be valid. It cannot drop an approval, nor call something new without one.
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
        """End the trial and keep the version in use."""
        return await retry_on_conflict(lambda: self._trials.end(name, promote=False, why=why))

    async def decisions(self, name: str) -> Decisions:
        """Return the decisions about the versions of a procedure, newest first."""
        return await self._trials.decisions(await self._procedures.need(name))

    async def undo(self, decision: str) -> Decision:
        """Reverse a decision."""
        return await retry_on_conflict(lambda: self._trials.undo(decision))

    async def statistics(self, name: str) -> ProcedureStatistics:
        """Return the statistics of the kept versions: outcomes, durations, metrics, and outcomes of chosen values."""
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
        """Distill a procedure from successful episodes: those given by id, those that match a task, or the latest.

        It is a proposal. Read it, ``check`` it, and ``store`` it with ``derived_from=distilled.episodes``.
        """
        traces = await load_traces(self._scoped, task, episodes, limit=limit, min_trust=min_trust)
        return distill_procedure(traces, name=name, purpose=purpose, min_support=max(2, min_support))


def _validated_definition(procedure: ProcedureInput) -> Procedure:
    """Return a validated definition; a copy with changes is validated again, which pydantic does not do by itself."""
    return validated(Procedure, dump_procedure(procedure) if isinstance(procedure, Procedure) else procedure)


def _stored_version(receipt: Receipt, id: str) -> Version:
    """Return the version in use as this write left it, since another writer may have stored one meanwhile."""
    return current_version(load_procedure(next(memory for memory in reversed(receipt.memories) if memory.id == id)))
