"""What is counted about a procedure: how its versions and choices fared, and the version on trial.

The counters are one small record for each procedure (``procedure:<name>#learning``). It is written in the same
transaction that ends a run, so every run counts exactly once, even if a process crashes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.procedural.beta_binomial import SuccessCounts, TrialRule, choice_key
from longmind.systems.procedural.procedure_store import PROCEDURE, LoadedProcedure, procedure_session
from longmind.systems.procedural.runs import DERIVED_FROM, RUN, Progress, RunRequest, read_progress
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.types import Filter, Link, Memory, Model, Moment


class Metric(Model):
    """A metric that callers report about runs: its count and sum."""

    count: int = 0
    total: float = 0.0

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0


class VersionTally(Model):
    """The counters of one version."""

    successes: int = 0
    failures: int = 0
    cancelled: int = 0
    seconds: float = 0.0
    timed: int = 0
    last_run: Moment | None = None
    metrics: Mapping[str, Metric] = Field(default_factory=dict)


class Canary(Model):
    """A version on trial against the one in use, with the outcomes of both since the trial began."""

    base: int
    candidate: int
    rule: TrialRule
    base_counts: SuccessCounts = SuccessCounts()
    candidate_counts: SuccessCounts = SuccessCounts()
    started_at: Moment


class LearningState(Model):
    """The counters of one procedure: by version, by chosen value, and of its trial."""

    tallies: Mapping[str, VersionTally] = Field(default_factory=dict)
    choices: Mapping[str, Mapping[str, SuccessCounts]] = Field(default_factory=dict)
    canary: Canary | None = None

    def tally(self, number: int) -> VersionTally:
        return self.tallies.get(str(number), VersionTally())

    def with_tally(self, number: int, tally: VersionTally) -> LearningState:
        return self.model_copy(update={"tallies": {**self.tallies, str(number): tally}})

    def ended(self, request: RunRequest, progress: Progress, started_at: datetime) -> LearningState:
        """Return the state with one more ended run, counted as ``progress.counted`` says."""
        tally = self.tally(request.number)
        changes: dict[str, Any] = {
            "last_run": max(filter(None, (tally.last_run, progress.finished_at)), default=None),
            "cancelled": tally.cancelled + (progress.status == "cancelled"),
        }
        if progress.status != "cancelled":
            changes |= {"seconds": tally.seconds + progress.seconds, "timed": tally.timed + 1}
        changed = self.with_tally(request.number, tally.model_copy(update=changes))
        return changed.counting(request, progress.counted, started_at)

    def counting(
        self, request: RunRequest, success: bool | None, started_at: datetime, times: int = 1
    ) -> LearningState:
        """Return the state with this outcome of a run added or, with ``times=-1``, removed.

        A run that started before the trial does not count in the trial.
        """
        if success is None:
            return self
        tally = self.tally(request.number)
        counts = SuccessCounts(successes=tally.successes, failures=tally.failures).plus(success, times)
        changed = self.with_tally(request.number, tally.model_copy(update=counts.model_dump()))
        choices = {name: dict(values) for name, values in self.choices.items()}
        for name, chosen in request.chosen.items():
            of = choices.setdefault(name, {})
            of[choice_key(chosen.value)] = of.get(choice_key(chosen.value), SuccessCounts()).plus(success, times)
        canary = self.canary
        if canary is not None and started_at >= canary.started_at:
            canary = _on_trial(canary, request.number, success, times)
        return changed.model_copy(update={"choices": choices, "canary": canary})

    def measured(self, number: int, metrics: Mapping[str, float], times: int = 1) -> LearningState:
        """Return the state with these metrics of a run added to its version, or removed with ``times=-1``."""
        tally = self.tally(number)
        changed = dict(tally.metrics)
        for name, value in metrics.items():
            old = changed.get(name, Metric())
            changed[name] = Metric(count=max(0, old.count + times), total=old.total + times * value)
        return self.with_tally(number, tally.model_copy(update={"metrics": changed}))

    def only(self, kept: tuple[int, ...]) -> LearningState:
        """Return the state without the counters of versions that are no longer kept."""
        return self.model_copy(update={"tallies": {k: v for k, v in self.tallies.items() if int(k) in kept}})


class LearningRecords:
    """Reads and writes what was learnt."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def read(self, head: LoadedProcedure) -> tuple[Memory | None, LearningState]:
        """The record, if there is one yet, and what it says."""
        where = Filter(keys=(_key(head.name),), kinds=(PROCEDURE,), states=None)
        async for memory in self._scoped.store.scan_all(self._scoped.scope, where):
            if memory.user == head.memory.user:
                return memory, validated(LearningState, memory.metadata)
        return None, LearningState()

    def write(self, head: LoadedProcedure, record: Memory | None, learning: LearningState) -> list[Write]:
        """The writes that replace what was learnt, if nobody replaced it since it was read."""
        state = learning.only(
            head.meta.kept if learning.canary is None else (*head.meta.kept, learning.canary.candidate)
        )
        if record is not None:
            return [Update(record.id, {"metadata": state.model_dump(mode="json")}, expected_version=record.version)]
        memory = self._scoped.new(
            PROCEDURE,
            "",
            key=_key(head.name),
            session=procedure_session(head.name),
            user=head.memory.user,
            state="archived",
            metadata=state.model_dump(mode="json"),
        )
        link = Link(source=memory.id, relation=DERIVED_FROM, target=head.id)
        return [Put(memory, existing="fail"), AddLink(link)]


def _on_trial(canary: Canary, number: int, success: bool, times: int) -> Canary:
    if number not in (canary.base, canary.candidate):
        return canary
    arm = "candidate_counts" if number == canary.candidate else "base_counts"
    return canary.model_copy(update={arm: getattr(canary, arm).plus(success, times)})


def _key(name: str) -> str:
    return f"{PROCEDURE}:{name}#learning"


RECENT = 200
"""How many of the latest runs of a version the 95th percentile is computed from."""


class VersionStatistics(Model):
    """The statistics of one version."""

    number: int
    current: bool
    runs: int
    successes: int
    failures: int
    cancelled: int
    success_rate: float | None
    last_run: Moment | None
    mean_seconds: float | None
    p95_seconds: float | None
    metrics: Mapping[str, float]
    """The mean of each metric that callers reported."""


class ProcedureStatistics(Model):
    """The statistics of a procedure."""

    name: str
    versions: tuple[VersionStatistics, ...]
    """Newest first."""
    choices: Mapping[str, Mapping[str, SuccessCounts]]
    """For each parameter that learning tunes, the outcomes of each value (as JSON)."""
    trial: Canary | None

    def version(self, number: int) -> VersionStatistics:
        return next(version for version in self.versions if version.number == number)


async def statistics(scoped: ScopedStore, head: LoadedProcedure, learning: LearningState) -> ProcedureStatistics:
    """Compute the statistics of every kept version."""
    numbers = sorted(head.meta.kept, reverse=True)
    versions = [_of_version(head, learning, number, await _p95(scoped, head, number)) for number in numbers]
    return ProcedureStatistics(
        name=head.name, versions=tuple(versions), choices=learning.choices, trial=learning.canary
    )


def _of_version(head: LoadedProcedure, learning: LearningState, number: int, p95: float | None) -> VersionStatistics:
    tally = learning.tally(number)
    judged = tally.successes + tally.failures
    return VersionStatistics(
        number=number,
        current=number == head.meta.number,
        runs=judged + tally.cancelled,
        successes=tally.successes,
        failures=tally.failures,
        cancelled=tally.cancelled,
        success_rate=tally.successes / judged if judged else None,
        last_run=tally.last_run,
        mean_seconds=tally.seconds / tally.timed if tally.timed else None,
        p95_seconds=p95,
        metrics={name: metric.mean for name, metric in tally.metrics.items() if metric.count},
    )


async def _p95(scoped: ScopedStore, head: LoadedProcedure, number: int) -> float | None:
    where = Filter(metadata={"procedure": head.id, "number": number, "open": False}, states=None)
    page = await scoped.page(RUN, where=where, limit=RECENT, descending=True)
    ended = [read_progress(memory) for memory in page.items]
    return percentile([run.seconds for run in ended if run.status != "cancelled"], 0.95)


def percentile(values: list[float], share: float) -> float | None:
    """Return the smallest value that at least this share of the values do not exceed; None if there are no values."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
