"""What was learnt about a procedure: how its versions and choices fared, and the version on trial.

One small record for each procedure (``procedure:<name>#learning``). It is written in the same transaction that ends a
run, so every run counts once, whatever crashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.procedural.evidence import Counts, Rule, key_of
from longmind.systems.procedural.runs import DERIVED, Progress, Request
from longmind.systems.procedural.shelf import PROCEDURE, Shelved, session_of
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.types import Filter, Link, Memory, Model, Moment


class Metric(Model):
    """A number that callers report about runs."""

    count: int = 0
    total: float = 0.0

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0


class Tally(Model):
    """How one version fared."""

    successes: int = 0
    failures: int = 0
    cancelled: int = 0
    seconds: float = 0.0
    timed: int = 0
    last_run: Moment | None = None
    metrics: Mapping[str, Metric] = Field(default_factory=dict)


class Canary(Model):
    """A version on trial against the one in use; both are counted from the moment the trial began."""

    base: int
    candidate: int
    rule: Rule
    base_counts: Counts = Counts()
    candidate_counts: Counts = Counts()
    started_at: Moment


class Learning(Model):
    """All that was learnt about one procedure."""

    tallies: Mapping[str, Tally] = Field(default_factory=dict)
    choices: Mapping[str, Mapping[str, Counts]] = Field(default_factory=dict)
    canary: Canary | None = None

    def tally(self, number: int) -> Tally:
        return self.tallies.get(str(number), Tally())

    def with_tally(self, number: int, tally: Tally) -> Learning:
        return self.model_copy(update={"tallies": {**self.tallies, str(number): tally}})

    def ended(self, request: Request, progress: Progress, started_at: datetime) -> Learning:
        """With one more run that has ended; it counts as what ``progress.counted`` says."""
        tally = self.tally(request.number)
        changes: dict[str, Any] = {
            "last_run": max(filter(None, (tally.last_run, progress.finished_at)), default=None),
            "cancelled": tally.cancelled + (progress.status == "cancelled"),
        }
        if progress.status != "cancelled":
            changes |= {"seconds": tally.seconds + progress.seconds, "timed": tally.timed + 1}
        changed = self.with_tally(request.number, tally.model_copy(update=changes))
        return changed.counting(request, progress.counted, started_at)

    def counting(self, request: Request, success: bool | None, started_at: datetime, times: int = 1) -> Learning:
        """With this outcome of a run added or, with ``times=-1``, taken away again.

        A run that started before the trial did says nothing in the trial.
        """
        if success is None:
            return self
        tally = self.tally(request.number)
        counts = Counts(successes=tally.successes, failures=tally.failures).plus(success, times)
        changed = self.with_tally(request.number, tally.model_copy(update=counts.model_dump()))
        choices = {name: dict(values) for name, values in self.choices.items()}
        for name, chosen in request.chosen.items():
            of = choices.setdefault(name, {})
            of[key_of(chosen.value)] = of.get(key_of(chosen.value), Counts()).plus(success, times)
        canary = self.canary
        if canary is not None and started_at >= canary.started_at:
            canary = _on_trial(canary, request.number, success, times)
        return changed.model_copy(update={"choices": choices, "canary": canary})

    def measured(self, number: int, metrics: Mapping[str, float], times: int = 1) -> Learning:
        """With these metrics of a run added to, or taken from, its version."""
        tally = self.tally(number)
        changed = dict(tally.metrics)
        for name, value in metrics.items():
            old = changed.get(name, Metric())
            changed[name] = Metric(count=max(0, old.count + times), total=old.total + times * value)
        return self.with_tally(number, tally.model_copy(update={"metrics": changed}))

    def only(self, kept: tuple[int, ...]) -> Learning:
        """Without the tallies of versions that are no longer kept."""
        return self.model_copy(update={"tallies": {k: v for k, v in self.tallies.items() if int(k) in kept}})


class Notebook:
    """Reads and writes what was learnt."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def read(self, head: Shelved) -> tuple[Memory | None, Learning]:
        """The record, if there is one yet, and what it says."""
        where = Filter(keys=(_key(head.name),), kinds=(PROCEDURE,), states=None)
        async for memory in self._scoped.store.scan_all(self._scoped.scope, where):
            if memory.user == head.memory.user:
                return memory, validated(Learning, memory.metadata)
        return None, Learning()

    def write(self, head: Shelved, record: Memory | None, learning: Learning) -> list[Write]:
        """The writes that replace what was learnt, if nobody replaced it since it was read."""
        told = learning.only(
            head.card.kept if learning.canary is None else (*head.card.kept, learning.canary.candidate)
        )
        if record is not None:
            return [Update(record.id, {"metadata": told.model_dump(mode="json")}, expected_version=record.version)]
        made = self._scoped.new(
            PROCEDURE,
            "",
            key=_key(head.name),
            session=session_of(head.name),
            user=head.memory.user,
            state="archived",
            metadata=told.model_dump(mode="json"),
        )
        link = Link(source=made.id, relation=DERIVED, target=head.id)
        return [Put(made, existing="fail"), AddLink(link)]


def _on_trial(canary: Canary, number: int, success: bool, times: int) -> Canary:
    if number not in (canary.base, canary.candidate):
        return canary
    arm = "candidate_counts" if number == canary.candidate else "base_counts"
    return canary.model_copy(update={arm: getattr(canary, arm).plus(success, times)})


def _key(name: str) -> str:
    return f"{PROCEDURE}:{name}#learning"
