"""Proposals for a better version of a procedure: from rules that compare runs, or from a language model.

A model is shown the definition and some good and bad runs, as data. Its answer has a closed form: attempts, timeouts,
what happens when a step fails, and defaults. So it can tune a procedure but not rewrite it. Every proposal goes on
trial.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from longmind.models import prompts
from longmind.systems.procedural import schema
from longmind.systems.procedural.beta_binomial import SuccessCounts, choice_key, probability_better
from longmind.systems.procedural.models import OnError, Procedure, dump_procedure
from longmind.systems.procedural.runs import Run
from longmind.text.quoting import quote_json
from longmind.types import Model, Scalar

if TYPE_CHECKING:
    from longmind.models.chat import Chat

MIN_RUNS = 5
_SHARE = 0.5
_SURE = 0.95
_NOT_TRANSIENT = {"InvalidInput", "NotFound", "NotApproved", "TooLarge"}
_MAX_ATTEMPTS = 5
_MAX_SECONDS = 3_600.0


class PatchProposal(Model):
    """A patch that may improve a procedure, and the evidence for it."""

    patch: Mapping[str, Any]
    why: str


def propose_from_runs(procedure: Procedure, good: Sequence[Run], bad: Sequence[Run]) -> PatchProposal | None:
    """Propose a better default, a longer timeout or more attempts, whichever the runs support first; None if none."""
    if len(good) < MIN_RUNS or len(bad) < MIN_RUNS:
        return None
    return _better_default(procedure, good, bad) or _sturdier_step(procedure, bad)


def _better_default(procedure: Procedure, good: Sequence[Run], bad: Sequence[Run]) -> PatchProposal | None:
    """Propose another default for a parameter if a value that was tried is clearly better."""
    for name, part in schema.declared_params(procedure.parameters).items():
        if "default" not in part or name in procedure.choices:
            continue
        counts: dict[str, SuccessCounts] = defaultdict(SuccessCounts)
        values: dict[str, Any] = {}
        for success, runs in ((True, good), (False, bad)):
            for run in runs:
                key = choice_key(run.params.get(name))
                counts[key], values[key] = counts[key].plus(success), run.params.get(name)
        old = choice_key(part["default"])
        tried = [key for key, seen in counts.items() if seen.runs >= MIN_RUNS and key != old]
        best = max(tried, key=lambda key: probability_better(counts[old], counts[key]), default=None)
        if best is None or counts[old].runs < MIN_RUNS:
            continue
        sure = probability_better(counts[old], counts[best])
        if sure >= _SURE:
            properties = {**schema.declared_params(procedure.parameters), name: {**part, "default": values[best]}}
            return PatchProposal(
                patch={"parameters": {**procedure.parameters, "properties": properties}},
                why=f"{name}={best} succeeded in {counts[best]} runs and the default {old} in {counts[old]}: "
                f"better with a probability of {sure:.1%}.",
            )
    return None


def _sturdier_step(procedure: Procedure, bad: Sequence[Run]) -> PatchProposal | None:
    """Propose a longer timeout or more attempts for the step where most of the failed runs failed."""
    where = Counter((run.error.step, run.error.type) for run in bad if run.error and run.error.step)
    if not where:
        return None
    (name, kind), count = where.most_common(1)[0]
    step = next((s for s in procedure.steps if s.name == name), None)
    if step is None or count < _SHARE * len(bad) or kind in _NOT_TRANSIENT:
        return None
    evidence = f"{count} of {len(bad)} failed runs failed at {name} with {kind}, and the others passed it"
    if kind == "Timeout" and step.seconds * 2 <= _MAX_SECONDS:
        return PatchProposal(
            patch={"steps": {name: {"timeout": step.seconds * 2}}},
            why=f"{evidence}: it gets {step.seconds * 2:g} seconds in place of {step.seconds:g}.",
        )
    attempts = step.retry.attempts + 2
    if attempts > _MAX_ATTEMPTS:
        return None
    retry = {**step.retry.model_dump(mode="json"), "attempts": attempts}
    return PatchProposal(
        patch={"steps": {name: {"retry": retry}}},
        why=f"{evidence}: it is tried up to {attempts} times in place of {step.retry.attempts}.",
    )


_SHOWN = 10
PROMPT = "improve"


class StepChange(Model):
    """The changes of one step."""

    step: str
    attempts: Annotated[int, Field(ge=1, le=20)] | None = None
    timeout: Annotated[float, Field(gt=0, le=3600)] | None = None
    on_error: OnError | None = None


class DefaultChange(Model):
    """A new default of a parameter."""

    parameter: str
    value: Scalar


class Suggestion(Model):
    """The answer of a model."""

    why: Annotated[str, Field(max_length=1_000)]
    steps: tuple[StepChange, ...] = ()
    defaults: tuple[DefaultChange, ...] = ()


class ModelProposer:
    """Proposes patches by asking a model; pass it to ``ProceduralMemory.improve``."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def __call__(self, procedure: Procedure, good: Sequence[Run], bad: Sequence[Run]) -> PatchProposal | None:
        prompt = prompts.load(PROMPT)
        shown = {
            "procedure": dump_procedure(procedure),
            "went_well": [_describe_run(run) for run in good[:_SHOWN]],
            "went_wrong": [_describe_run(run) for run in bad[:_SHOWN]],
            "counts": {"went_well": len(good), "went_wrong": len(bad)},
        }
        messages = [
            {"role": "system", "content": prompt.fill()},
            {"role": "user", "content": quote_json(shown)},
        ]
        said = (await self._chat.structured(messages, Suggestion, temperature=0.0, prompts=(prompt.id,))).value
        patch = _patch(procedure, said)
        return PatchProposal(patch=patch, why=f"{self._chat.name} ({prompt.id}): {said.why}") if patch else None


def _describe_run(run: Run) -> dict[str, Any]:
    error = run.error.model_dump(mode="json") if run.error else None
    return {"params": run.params, "status": run.status, "seconds": round(run.seconds, 3), "error": error}


def _patch(procedure: Procedure, said: Suggestion) -> dict[str, Any]:
    """Build the patch of a suggestion. Names that do not exist are refused later, by ``apply_patch``."""
    known = {step.name: step for step in procedure.steps}
    steps: dict[str, Any] = {}
    for change in said.steps:
        changes = change.model_dump(mode="json", exclude_none=True, include={"timeout", "on_error"})
        if change.attempts is not None:
            retry = known[change.step].retry if change.step in known else None
            changes["retry"] = {**(retry.model_dump(mode="json") if retry else {}), "attempts": change.attempts}
        if changes:
            steps[change.step] = changes
    properties = schema.declared_params(procedure.parameters)
    for default in said.defaults:
        properties[default.parameter] = {**properties.get(default.parameter, {}), "default": default.value}
    patch: dict[str, Any] = {"steps": steps} if steps else {}
    if said.defaults:
        patch["parameters"] = {**procedure.parameters, "properties": properties}
    return patch
