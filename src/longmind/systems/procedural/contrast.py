"""What runs that went well do differently from runs that did not: a patch, by rules, without a model."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from longmind.systems.procedural import schema
from longmind.systems.procedural.evidence import Counts, key_of, probability_better
from longmind.systems.procedural.models import Procedure
from longmind.systems.procedural.runs import Run
from longmind.types import Model

MIN_RUNS = 5
_SHARE = 0.5
_SURE = 0.95
_NOT_TRANSIENT = {"InvalidInput", "NotFound", "NotApproved", "TooLarge"}
_MAX_ATTEMPTS = 5
_MAX_SECONDS = 3_600.0


class Proposal(Model):
    """A patch that may make a procedure better, and the evidence for it."""

    patch: Mapping[str, Any]
    why: str


def contrast(procedure: Procedure, good: Sequence[Run], bad: Sequence[Run]) -> Proposal | None:
    """The first of these that the runs speak for: a better default, more time, more attempts. None if nothing does."""
    if len(good) < MIN_RUNS or len(bad) < MIN_RUNS:
        return None
    return _better_default(procedure, good, bad) or _sturdier_step(procedure, bad)


def _better_default(procedure: Procedure, good: Sequence[Run], bad: Sequence[Run]) -> Proposal | None:
    """A default value of a parameter that does clearly worse than another value that was tried."""
    for name, part in schema.properties(procedure.parameters).items():
        if "default" not in part or name in procedure.choices:
            continue
        counts: dict[str, Counts] = defaultdict(Counts)
        values: dict[str, Any] = {}
        for success, runs in ((True, good), (False, bad)):
            for run in runs:
                key = key_of(run.params.get(name))
                counts[key], values[key] = counts[key].plus(success), run.params.get(name)
        old = key_of(part["default"])
        tried = [key for key, seen in counts.items() if seen.runs >= MIN_RUNS and key != old]
        best = max(tried, key=lambda key: probability_better(counts[old], counts[key]), default=None)
        if best is None or counts[old].runs < MIN_RUNS:
            continue
        sure = probability_better(counts[old], counts[best])
        if sure >= _SURE:
            properties = {**schema.properties(procedure.parameters), name: {**part, "default": values[best]}}
            return Proposal(
                patch={"parameters": {**procedure.parameters, "properties": properties}},
                why=f"{name}={best} succeeded in {counts[best]} runs and the default {old} in {counts[old]}: "
                f"better with a probability of {sure:.1%}.",
            )
    return None


def _sturdier_step(procedure: Procedure, bad: Sequence[Run]) -> Proposal | None:
    """More time, or more attempts, for the step where most failed runs failed and the others passed."""
    where = Counter((run.error.step, run.error.type) for run in bad if run.error and run.error.step)
    if not where:
        return None
    (name, kind), count = where.most_common(1)[0]
    step = next((s for s in procedure.steps if s.name == name), None)
    if step is None or count < _SHARE * len(bad) or kind in _NOT_TRANSIENT:
        return None
    told = f"{count} of {len(bad)} failed runs failed at {name} with {kind}, and the others passed it"
    if kind == "Timeout" and step.seconds * 2 <= _MAX_SECONDS:
        return Proposal(
            patch={"steps": {name: {"timeout": step.seconds * 2}}},
            why=f"{told}: it gets {step.seconds * 2:g} seconds in place of {step.seconds:g}.",
        )
    attempts = step.retry.attempts + 2
    if attempts > _MAX_ATTEMPTS:
        return None
    retry = {**step.retry.model_dump(mode="json"), "attempts": attempts}
    return Proposal(
        patch={"steps": {name: {"retry": retry}}},
        why=f"{told}: it is tried up to {attempts} times in place of {step.retry.attempts}.",
    )
