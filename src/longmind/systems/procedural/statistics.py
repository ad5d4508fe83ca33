"""How the versions of a procedure fared."""

from __future__ import annotations

import math
from collections.abc import Mapping

from longmind.systems.procedural.evidence import Counts
from longmind.systems.procedural.runs import RUN, progress_of
from longmind.systems.procedural.shelf import Shelved
from longmind.systems.procedural.tallies import Canary, Learning
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Model, Moment

RECENT = 200
"""The runs that the 95th percentile is taken over: the latest of a version that were not cancelled."""


class VersionStatistics(Model):
    """How one version fared."""

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


class Statistics(Model):
    """How a procedure fared."""

    name: str
    versions: tuple[VersionStatistics, ...]
    """The newest first."""
    choices: Mapping[str, Mapping[str, Counts]]
    """For each parameter that learning tunes, how each value (as JSON) fared."""
    trial: Canary | None

    def version(self, number: int) -> VersionStatistics:
        return next(one for one in self.versions if one.number == number)


async def statistics(scoped: ScopedStore, head: Shelved, learning: Learning) -> Statistics:
    """The statistics of every kept version."""
    numbers = sorted(head.card.kept, reverse=True)
    versions = [_of_version(head, learning, number, await _p95(scoped, head, number)) for number in numbers]
    return Statistics(name=head.name, versions=tuple(versions), choices=learning.choices, trial=learning.canary)


def _of_version(head: Shelved, learning: Learning, number: int, p95: float | None) -> VersionStatistics:
    tally = learning.tally(number)
    judged = tally.successes + tally.failures
    return VersionStatistics(
        number=number,
        current=number == head.card.number,
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


async def _p95(scoped: ScopedStore, head: Shelved, number: int) -> float | None:
    where = Filter(metadata={"procedure": head.id, "number": number, "open": False}, states=None)
    page = await scoped.page(RUN, where=where, limit=RECENT, descending=True)
    ended = [progress_of(memory) for memory in page.items]
    return percentile([run.seconds for run in ended if run.status != "cancelled"], 0.95)


def percentile(values: list[float], share: float) -> float | None:
    """The smallest value that at least this share of the values do not exceed; None of none."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
