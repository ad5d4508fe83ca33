"""Asking a language model how a procedure could be made better.

The model is shown the definition and some good and bad runs, as data. It answers in a closed form: how often a step is
tried, how long it may take, what happens when it fails, other defaults. So it can tune a procedure and not rewrite it,
and what it says still goes on trial like any other proposal.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from longmind.models import prompts
from longmind.systems.procedural import schema
from longmind.systems.procedural.contrast import Proposal
from longmind.systems.procedural.diff import dump
from longmind.systems.procedural.models import OnError, Procedure
from longmind.systems.procedural.runs import Run
from longmind.types import Model, Scalar

if TYPE_CHECKING:
    from longmind.models.chat import Chat

_SHOWN = 10
PROMPT = "improve"


class StepChange(Model):
    """What to change in one step."""

    step: str
    attempts: Annotated[int, Field(ge=1, le=20)] | None = None
    timeout: Annotated[float, Field(gt=0, le=3600)] | None = None
    on_error: OnError | None = None


class DefaultChange(Model):
    """Another default for a parameter."""

    parameter: str
    value: Scalar


class Suggestion(Model):
    """What a model may answer."""

    why: Annotated[str, Field(max_length=1_000)]
    steps: tuple[StepChange, ...] = ()
    defaults: tuple[DefaultChange, ...] = ()


class ModelProposer:
    """Proposes patches by asking a model; pass it to ``ProceduralMemory.improve``."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def __call__(self, procedure: Procedure, good: Sequence[Run], bad: Sequence[Run]) -> Proposal | None:
        prompt = prompts.load(PROMPT)
        shown = {
            "procedure": dump(procedure),
            "went_well": [_told(run) for run in good[:_SHOWN]],
            "went_wrong": [_told(run) for run in bad[:_SHOWN]],
            "counts": {"went_well": len(good), "went_wrong": len(bad)},
        }
        messages = [
            {"role": "system", "content": prompt.fill()},
            {"role": "user", "content": json.dumps(shown, ensure_ascii=False)},
        ]
        said = (await self._chat.structured(messages, Suggestion, temperature=0.0, prompts=(prompt.id,))).value
        patch = _patch(procedure, said)
        return Proposal(patch=patch, why=f"{self._chat.name} ({prompt.id}): {said.why}") if patch else None


def _told(run: Run) -> dict[str, Any]:
    error = run.error.model_dump(mode="json") if run.error else None
    return {"params": run.params, "status": run.status, "seconds": round(run.seconds, 3), "error": error}


def _patch(procedure: Procedure, said: Suggestion) -> dict[str, Any]:
    """The patch that a suggestion comes to; names that do not exist are left for ``patched`` to refuse."""
    known = {step.name: step for step in procedure.steps}
    steps: dict[str, Any] = {}
    for change in said.steps:
        told = change.model_dump(mode="json", exclude_none=True, include={"timeout", "on_error"})
        if change.attempts is not None:
            retry = known[change.step].retry if change.step in known else None
            told["retry"] = {**(retry.model_dump(mode="json") if retry else {}), "attempts": change.attempts}
        if told:
            steps[change.step] = told
    properties = schema.properties(procedure.parameters)
    for default in said.defaults:
        properties[default.parameter] = {**properties.get(default.parameter, {}), "default": default.value}
    patch: dict[str, Any] = {"steps": steps} if steps else {}
    if said.defaults:
        patch["parameters"] = {**procedure.parameters, "properties": properties}
    return patch
