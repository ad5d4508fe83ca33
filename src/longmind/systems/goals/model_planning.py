"""Ask a language model for a plan.

The model is shown the goal, what is known about it, and what can be called, all as data. It answers in a closed form.
The answer is accepted only if every tool, procedure, criterion and step it names exists and the steps can be ordered;
otherwise the model gets the problem and is asked once more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, WithJsonSchema, create_model

from longmind.errors import InvalidAnswer, InvalidInput, NotFound
from longmind.models import prompts
from longmind.systems.goals.models import MAX_STEPS, Goal, PlanStep, order_steps
from longmind.systems.procedural import ProceduralMemory, Version, declared_params
from longmind.systems.scoped_store import validated
from longmind.text.quoting import flatten, quote_json
from longmind.types import Json, Model, Scalar

if TYPE_CHECKING:
    from longmind.models.chat import Chat

PROMPT = "plan"
_TOOLS_SHOWN = 60
_DESCRIPTION_SHOWN = 400
_STEPS, _STEPS_A_CRITERION = 6, 2
"""The most steps of a plan, and how many more for each open criterion. A weak model uses every step it may."""
_LINE, _NAMED = 200, 8
"""The schema's limits for a sentence (characters) and a list (names). A longer answer is still accepted."""


class Argument(Model):
    """One argument of a call, as a pair: many servers enforce a schema only for objects with known names."""

    name: str
    value: Scalar | tuple[Scalar, ...]


class PlannedStep(Model):
    """A step in a model's answer."""

    id: str
    description: str
    after: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    tool: str | None = None
    procedure: str | None = None
    args: tuple[Argument, ...] = ()
    expected: str = ""


class PlannedSteps(Model):
    """The form of a model's answer."""

    why: Annotated[str, Field(max_length=1_000)]
    steps: Annotated[tuple[PlannedStep, ...], Field(min_length=1, max_length=MAX_STEPS)]


@dataclass(frozen=True, slots=True)
class PlanVocabulary:
    """The names that a plan may use, and the limits of its size."""

    criteria: tuple[str, ...]
    tools: tuple[str, ...]
    procedures: tuple[str, ...]
    arguments: tuple[str, ...]
    most_arguments: int
    """The most arguments of one call."""
    most: int

    @classmethod
    def shown(cls, shown: Mapping[str, Any]) -> PlanVocabulary:
        """Collect the names from the data that the model is shown."""
        taken = [declared_params(item["parameters"]) for item in (*shown["tools"], *shown["procedures"])]
        open_ones = [item for item in shown["criteria"] if not item["met"]]
        return cls(
            criteria=tuple(item["id"] for item in shown["criteria"]),
            tools=tuple(item["name"] for item in shown["tools"]),
            procedures=tuple(item["name"] for item in shown["procedures"]),
            arguments=tuple(dict.fromkeys(name for properties in taken for name in properties)),
            most_arguments=max(map(len, taken), default=0),
            most=min(MAX_STEPS, _STEPS + _STEPS_A_CRITERION * len(open_ones)),
        )


@lru_cache(maxsize=64)
def plan_schema(names: PlanVocabulary) -> type[PlannedSteps]:
    """Return ``PlannedSteps`` with a schema that allows only these names, for servers that enforce schemas.

    Only the schema is stricter. An answer from a server that enforces none is parsed as usual and checked afterwards.
    """
    ids, texts = _one_of(f"s{n}" for n in range(1, names.most + 1)), tuple[str, ...]
    line: Json = {"type": "string", "maxLength": _LINE}
    scalars = [line, *({"type": kind} for kind in ("integer", "number", "boolean"))]
    value = {"anyOf": [*scalars, _some({"anyOf": scalars}, _NAMED)]}
    argument = {"type": "object", "properties": {"name": _one_of(names.arguments), "value": value}}
    step = create_model(
        "PlannedStep",
        __base__=PlannedStep,
        id=(_with_schema(str, ids), ...),
        description=(_with_schema(str, {**line, "minLength": 1}), ...),
        after=(_with_schema(texts, _some(ids, names.most - 1)), ()),
        criteria=(_with_schema(texts, _some(_one_of(names.criteria), len(names.criteria))), ()),
        tool=(_with_schema(str | None, _one_or_none(names.tools)), None),
        procedure=(_with_schema(str | None, _one_or_none(names.procedures)), None),
        args=(_with_schema(tuple[Argument, ...], _some(argument, names.most_arguments)), ()),
        expected=(_with_schema(str, line), ""),
    )
    steps = Field(min_length=1, max_length=MAX_STEPS, json_schema_extra={"maxItems": names.most})
    why = Field(max_length=1_000, json_schema_extra={"maxLength": _LINE})
    return create_model("PlannedSteps", __base__=PlannedSteps, why=(str, why), steps=(tuple[step, ...], steps))


def _with_schema(kind: Any, schema: Json) -> Any:
    """Return the type with this JSON schema."""
    return Annotated[kind, WithJsonSchema(schema)]


def _one_of(names: Iterable[str]) -> Json:
    return {"type": "string", "enum": list(names)}


def _one_or_none(names: Sequence[str]) -> Json:
    return {"anyOf": [_one_of(names), {"type": "null"}]} if names else {"type": "null"}


def _some(items: Json, most: int) -> Json:
    return {"type": "array", "items": items if most else {"type": "null"}, "maxItems": min(most, _NAMED)}


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """The steps that a model proposed, its reason, and the prompt that was used."""

    steps: tuple[PlanStep, ...]
    why: str
    prompt: str


Check = Callable[[PlannedSteps], Awaitable[tuple[PlanStep, ...]]]


async def request_plan(chat: Chat, shown: Mapping[str, Any], check: Check) -> ModelPlan:
    """Return a model's plan; ``InvalidAnswer`` if its second answer cannot be used either."""
    prompt, correction = prompts.load(PROMPT), prompts.load("correction")
    names = PlanVocabulary.shown(shown)
    form = plan_schema(names)
    messages = [
        {"role": "system", "content": prompt.fill(most=str(names.most))},
        {"role": "user", "content": quote_json(shown)},
    ]
    said = (await chat.structured(messages, form, temperature=0.0, prompts=(prompt.id,))).value
    try:
        steps = await check(said)
    except InvalidInput as error:
        messages += [
            {"role": "assistant", "content": said.model_dump_json()},
            {"role": "user", "content": correction.fill(problem=flatten(str(error)))},
        ]
        asked_with = (prompt.id, correction.id)
        said = (await chat.structured(messages, form, temperature=0.0, prompts=asked_with)).value
        try:
            steps = await check(said)
        except InvalidInput as again:
            raise InvalidAnswer(
                f"The model's plan cannot be used: {again.message}",
                hint="Give the steps yourself, or let them follow from the criteria.",
            ) from again
    return ModelPlan(steps, f"{chat.name}: {said.why}", prompt.id)


def told(goal: Goal, facts: Sequence[str], procedural: ProceduralMemory, procedures: Sequence[Version]) -> Any:
    """Return the data that the model is shown."""
    tools = [
        {"name": tool.name, "description": tool.description[:_DESCRIPTION_SHOWN], "parameters": tool.parameters}
        for tool in procedural.tools.described()[:_TOOLS_SHOWN]
    ]
    return {
        "goal": goal.description,
        "criteria": [
            {"id": criterion.id, "description": criterion.description, "met": criterion.met}
            for criterion in goal.criteria
        ],
        "deadline": goal.deadline.isoformat() if goal.deadline else None,
        "attributes": goal.attributes,
        "known_facts": list(facts),
        "tools": tools,
        "procedures": [
            {"name": one.name, "purpose": one.procedure.purpose, "parameters": one.procedure.parameters}
            for one in procedures
        ],
    }


def plan_checker(goal: Goal, procedural: ProceduralMemory) -> Check:
    """Return the check of a proposed plan; it raises ``InvalidInput`` with what is wrong."""

    async def check(said: PlannedSteps) -> tuple[PlanStep, ...]:
        steps = tuple([await _step(step, procedural) for step in said.steps])
        try:
            order_steps(steps)
        except ValueError as error:
            raise InvalidInput(f"{error}.") from error
        known = {criterion.id for criterion in goal.criteria}
        unknown = sorted({id for step in steps for id in step.criteria} - known)
        if unknown:
            raise InvalidInput(f"there is no criterion {unknown[0]}.", hint=f"There are {', '.join(sorted(known))}.")
        served = {id for step in steps for id in step.criteria}
        open_ones = [criterion.id for criterion in goal.criteria if not criterion.met and criterion.id not in served]
        if open_ones:
            raise InvalidInput(f"no step serves the criterion {open_ones[0]}.", hint="Each open criterion needs one.")
        return steps

    return check


async def _step(said: PlannedStep, procedural: ProceduralMemory) -> PlanStep:
    """Convert a proposed step into a plan step; what it calls must exist and take these arguments."""
    args = {argument.name: argument.value for argument in said.args}
    takes: Mapping[str, Any] = {}
    if said.tool is not None:
        if said.tool not in procedural.tools:
            raise InvalidInput(f"the step {said.id} names the tool {said.tool}, which does not exist.")
        takes = procedural.tools.get(said.tool).described().parameters
    if said.procedure is not None:
        try:
            takes = (await procedural.retrieve(said.procedure)).procedure.parameters
        except NotFound as error:
            raise InvalidInput(
                f"the step {said.id} names the procedure {said.procedure}, which does not exist."
            ) from error
    unknown = sorted(set(args) - set(declared_params(takes)))
    if unknown and (said.tool or said.procedure):
        raise InvalidInput(f"the step {said.id} gives {unknown[0]}, which {said.tool or said.procedure} does not take.")
    once = {"after": tuple(dict.fromkeys(said.after)), "criteria": tuple(dict.fromkeys(said.criteria))}
    fields = {**said.model_dump(exclude={"args"}), **once, "args": {} if unknown else args}
    return validated(PlanStep, fields)
