"""The order of steps: a directed graph without a cycle, and what of it may start now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from longmind.systems.goals.models import PlanStep


class Ordered(Protocol):
    """What has a name and comes after others."""

    @property
    def id(self) -> str: ...

    @property
    def after(self) -> tuple[str, ...]: ...


S = TypeVar("S", bound=Ordered)


def arranged(steps: Sequence[S]) -> list[S]:
    """The steps so that each comes after those it depends on, else in the order given.

    What cannot be ordered is a ``ValueError``.
    """
    by_name: Mapping[str, S] = {step.id: step for step in steps}
    if len(by_name) < len(steps):
        twice = next(step.id for n, step in enumerate(steps) if any(step.id == other.id for other in steps[:n]))
        raise ValueError(f"two steps have the id {twice}")
    for step in steps:
        for name in step.after:
            if name not in by_name:
                raise ValueError(f"the step {step.id} comes after {name}, which is not a step of this plan")
    try:
        TopologicalSorter({step.id: step.after for step in steps}).prepare()
    except CycleError as error:
        raise ValueError(f"the steps wait for each other: {' -> '.join(error.args[1])}") from error
    order: dict[str, S] = {}
    while len(order) < len(steps):
        free = next(step for step in steps if step.id not in order and all(name in order for name in step.after))
        order[free.id] = free
    return list(order.values())


def ready(steps: Sequence[PlanStep], now: datetime) -> list[PlanStep]:
    """The steps that may start now, in the plan's order: nothing they wait for is open, and nobody is at work on them.

    One whose runner did not come back may start again, unless it was tried as often as it may be.
    """
    settled = {step.id for step in steps if step.settled}
    return [step for step in steps if settled.issuperset(step.after) and (step.status == "pending" or _left(step, now))]


def waiting_for(step: PlanStep, steps: Sequence[PlanStep]) -> list[str]:
    """The steps that must still be done or skipped before this one."""
    settled = {one.id for one in steps if one.settled}
    return [name for name in step.after if name not in settled]


def without(steps: Iterable[PlanStep], dropped: Collection[str]) -> list[PlanStep]:
    """The steps that stay when some are taken out. What came after one of those comes after what it came after."""
    everything = list(steps)
    instead: dict[str, tuple[str, ...]] = {}
    for step in arranged(everything):
        after = tuple(dict.fromkeys(name for before in step.after for name in instead[before]))
        instead[step.id] = after if step.id in dropped else (step.id,)
    kept = [step for step in everything if step.id not in dropped]
    return [
        step.model_copy(update={"after": tuple(dict.fromkeys(name for old in step.after for name in instead[old]))})
        for step in kept
    ]


def _left(step: PlanStep, now: datetime) -> bool:
    """Whether whoever ran a step did not come back in time, and it may be tried again."""
    expired = step.status == "running" and (step.lease_until is None or step.lease_until <= now)
    return expired and step.attempts < step.max_attempts
