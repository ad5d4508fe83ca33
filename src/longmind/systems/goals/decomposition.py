"""Split a step into smaller ones: by a model, by its procedure, by its words, or by its criteria."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from longmind.errors import InvalidInput
from longmind.models import prompts
from longmind.systems.goals.models import Goal, Line, PlanStep
from longmind.systems.procedural import Procedure, bind_params, render_template, template_references
from longmind.text.quoting import quote_json
from longmind.types import Json, Model

if TYPE_CHECKING:
    from longmind.models.chat import Chat

PROMPT = "decompose"
MAX_PARTS = 12
_STAGE = re.compile(
    r"\s*(?:;|\n+\s*(?:[-*•]|\d+[.)])?|\.(?=\s+[A-Z]))\s*(?:(?:and\s+)?then\s+|finally,?\s+)?"
    r"|,?\s+(?:and\s+)?(?:then|after that|afterwards|finally),?\s+",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")
_BESIDE = re.compile(r",?\s+and\s+", re.IGNORECASE)
_DETERMINERS = frozenset("the a an its their his her my your our some all every each this that these those".split())
_VERBS = frozenset(
    """add ask assign attach book build buy call cancel change check choose clean close collect compare compile
    compute confirm contact copy count create delete deliver deploy describe download draft edit email estimate
    evaluate export fetch file fill find fix gather generate get import inform install invite list load look mail make
    measure merge move notify open order pay pick plan post prepare present print publish read record remove rename
    repair replace report request reserve restart review run save schedule search select send set share ship sign sort
    start stop store submit summarise summarize tell test train translate update upload validate verify visit wait
    write""".split()
)


@dataclass(frozen=True, slots=True)
class StepPart:
    """One part of a step: what to do, and after which other parts (by their index)."""

    description: str
    after: tuple[int, ...] = ()
    criteria: tuple[str, ...] | None = None
    """The criteria of the step that this part serves; None: all of them."""
    tool: str | None = None
    procedure: str | None = None
    args: Json = field(default_factory=dict)
    expected: str = ""
    prompt: str = ""
    """The prompt and its version, if a model proposed the part."""


class SmallerStep(Model):
    """A smaller step in a model's answer."""

    # The schema asks for less than is taken: a weak model fills whatever space it is given.
    description: Annotated[Line, Field(json_schema_extra={"maxLength": 200})]
    expected: Annotated[str, Field(max_length=500, json_schema_extra={"maxLength": 100})] = ""


class SmallerSteps(Model):
    """The form of a model's answer."""

    steps: Annotated[tuple[SmallerStep, ...], Field(max_length=MAX_PARTS, json_schema_extra={"maxItems": 6})] = ()


async def split_by_model(chat: Chat, goal: Goal, step: PlanStep) -> list[StepPart]:
    """Return the parts that a model proposes, in sequence; none if it only repeats the step."""
    prompt = prompts.load(PROMPT)
    shown = {
        "goal": goal.description,
        "step": {"description": step.description, "expected": step.expected},
        "errors": list(step.errors[-3:]) or [step.error],
    }
    messages = [
        {"role": "system", "content": prompt.fill()},
        {"role": "user", "content": quote_json(shown)},
    ]
    answer = (await chat.structured(messages, SmallerSteps, temperature=0.0, prompts=(prompt.id,))).value
    known = {_folded(step.description)}
    parts: list[StepPart] = []
    for proposed in answer.steps:
        if _folded(proposed.description) not in known:
            known.add(_folded(proposed.description))
            after = (len(parts) - 1,) if parts else ()
            parts.append(StepPart(proposed.description, after=after, expected=proposed.expected, prompt=prompt.id))
    return parts if len(parts) > 1 else []


def split_by_procedure(procedure: Procedure, args: Json) -> list[StepPart]:
    """Return the procedure's own steps as parts; none if one of them depends on the state of a run.

    A step that asks for an approval stays inside its procedure, where the approval is asked for.
    """
    try:
        params = bind_params(procedure.parameters, args)
    except InvalidInput:
        return []
    parts: list[StepPart] = []
    for n, step in enumerate(procedure.steps):
        roots = {path.root for path in template_references(step.args)}
        bound = step.when is not None or step.for_each is not None or step.compensate is not None
        if roots - {"params"} or bound or step.needs_approval:
            return []
        description = f"{procedure.purpose}: {step.name.replace('_', ' ')}"[:2_000]
        step_args = render_template(step.args, {"params": params})
        parts.append(
            StepPart(description, (n - 1,) if n else (), tool=step.use, procedure=step.procedure, args=step_args)
        )
    return parts if 1 < len(parts) <= MAX_PARTS else []


def split_by_words(step: PlanStep) -> list[StepPart]:
    """Return the clauses of a description: "then" makes a sequence, "and" makes parallel parts."""
    stages = [text for piece in _STAGE.split(_LISTED.sub("", step.description)) if (text := piece.strip(" ,;."))]
    parts: list[StepPart] = []
    before: tuple[int, ...] = ()
    for stage in stages:
        start = len(parts)
        parts += [StepPart(text[:2_000], after=before) for text in _beside(stage)]
        before = tuple(range(start, len(parts)))
    return parts if 1 < len(parts) <= MAX_PARTS else []


def split_by_criteria(step: PlanStep, goal: Goal) -> list[StepPart]:
    """Return one part for each open criterion that the step serves, if there are several."""
    served = [criterion for criterion in goal.criteria if criterion.id in step.criteria and not criterion.met]
    if not 1 < len(served) <= MAX_PARTS:
        return []
    return [StepPart(criterion.description, criteria=(criterion.id,)) for criterion in served]


def _beside(stage: str) -> Sequence[str]:
    """Split at "and" where the second part is a clause: it begins with a verb, or is an object of the first verb."""
    words = stage.split()
    clauses: list[str] = []
    for text in _BESIDE.split(stage):
        first, *rest = text.split() or [""]
        verb = first.lower() in _VERBS and bool(rest)
        if not clauses or verb:
            clauses.append(text)
        elif first.lower() in _DETERMINERS and words[0].lower() in _VERBS:
            clauses.append(f"{clauses[-1].split()[0]} {text}")
        else:
            clauses[-1] = f"{clauses[-1]} and {text}"
    return clauses


def _folded(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")
