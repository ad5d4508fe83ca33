"""The definition of a procedure: its parameters, its steps, and the examples that test it.

A definition is data. Its steps name functions that the program registered (``tools``). Storing, showing or changing a
definition runs nothing, and a procedure can only do what those functions do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from longmind.errors import InvalidInput
from longmind.systems.procedural import conditions, schema, templates
from longmind.systems.procedural.conditions import Condition
from longmind.systems.procedural.values import MAX_DEPTH, check_bounds
from longmind.types import Json, Model, Moment, PlainJson, Tag

TOOL_TIMEOUT = 60.0
PROCEDURE_TIMEOUT = 3_600.0
MAX_STEPS = 100
MAX_ITEMS = 1_000
MAX_DEFINITION = 1024 * 1024
"""The largest definition of a procedure, in bytes of JSON."""
_DEFINITION_DEPTH = MAX_DEPTH + 4
"""The arguments of a step lie three levels deep and may have as many as any value."""

ProcedureName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
StepName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,49}$")]
ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,99}$")]
Seconds = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]
OnError = Literal["stop", "skip", "compensate"]


class Retry(Model):
    """How often a step is attempted. The wait starts at ``delay`` and grows by ``factor``, up to ``max_delay``."""

    attempts: Annotated[int, Field(ge=1, le=20)] = 1
    delay: Seconds = 0.5
    factor: Annotated[float, Field(ge=1, le=10)] = 2.0
    max_delay: Seconds = 60.0

    def wait(self, attempt: int) -> float:
        """Return the seconds to wait after a failed attempt (1, 2, ...)."""
        return min(self.delay * self.factor ** (attempt - 1), self.max_delay)


class Compensation(Model):
    """The call that undoes a finished step. Its templates may also use ``result``, what that step returned."""

    use: ToolName
    args: PlainJson = Field(default_factory=dict)


class Step(Model):
    """A call of a registered function or of another procedure, once or once for each item of a list."""

    name: StepName
    use: ToolName | None = None
    procedure: ProcedureName | None = None
    args: PlainJson = Field(default_factory=dict)
    """Templates over ``params``, ``steps`` (earlier results) and, in a loop, ``item`` and ``index``."""
    when: Condition | None = None
    for_each: str | tuple[Any, ...] | None = None
    """A list, or a template that names one."""
    max_items: Annotated[int, Field(ge=1, le=MAX_ITEMS)] = 100
    save_as: StepName | None = None
    """The name of its result in ``steps``; by default the name of the step."""
    retry: Retry = Retry()
    timeout: Annotated[float, Field(gt=0, le=86_400)] | None = None
    """Seconds for one attempt; by default a minute for a function and an hour for a procedure."""
    on_error: OnError = "stop"
    compensate: Compensation | None = None
    needs_approval: bool = False

    @model_validator(mode="after")
    def _calls_either_tool_or_procedure(self) -> Step:
        if (self.use is None) == (self.procedure is None):
            raise ValueError("name either a function (use) or a procedure, and not both")
        return self

    @property
    def alias(self) -> str:
        return self.save_as or self.name

    @property
    def seconds(self) -> float:
        """The timeout of one attempt."""
        return self.timeout or (TOOL_TIMEOUT if self.use else PROCEDURE_TIMEOUT)


class Example(Model):
    """A test of a procedure: its parameters, what its steps return, and the expected result."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)] = "example"
    params: PlainJson = Field(default_factory=dict)
    given: PlainJson = Field(default_factory=dict)
    """What steps return, by name, instead of being called. For a loop, a list with one result for each item."""
    expect: Any = None
    fails: bool = False
    """Whether the run is expected to fail; then ``expect`` is ignored."""


class Procedure(Model):
    """A reusable way to do something: parameters, steps and a result."""

    name: ProcedureName
    purpose: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    category: Annotated[str, StringConstraints(min_length=1, max_length=100)] = "general"
    parameters: PlainJson = Field(default_factory=lambda: dict(schema.EMPTY_SCHEMA))
    """A JSON schema of an object."""
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=MAX_STEPS)]
    returns: Any = None
    """A template for the result; by default what the last step returned."""
    examples: Annotated[tuple[Example, ...], Field(max_length=50)] = ()
    choices: Mapping[str, tuple[Any, ...]] = Field(default_factory=dict)
    """Parameters that learning sets when the caller does not, each with the values to choose from."""
    tags: tuple[Tag, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _is_bounded(cls, definition: Any) -> Any:
        """Refuse what is too large or too deep before anything walks over it."""
        check_bounds(definition, "The procedure", MAX_DEFINITION, max_depth=_DEFINITION_DEPTH)
        return definition

    @model_validator(mode="after")
    def _is_consistent(self) -> Procedure:
        schema.validate_schema(self.parameters)
        _names_are_unique(self.steps)
        _references_resolve(self)
        _choices_fit(self)
        for example in self.examples:
            schema.bind_params(self.parameters, example.params)
            unknown = sorted(set(example.given) - {step.name for step in self.steps})
            if unknown:
                raise InvalidInput(f"The example {example.name!r} gives a result for {unknown[0]}, which is no step.")
        return self

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)

    def text(self) -> str:
        """Return the text that search indexes."""
        parts = [self.name.replace("_", " ").replace("-", " "), self.purpose, self.category, *self.tags]
        parts += [str(part.get("description", name)) for name, part in schema.declared_params(self.parameters).items()]
        parts += [f"{step.name} {step.use or step.procedure}".replace("_", " ") for step in self.steps]
        return "\n".join(dict.fromkeys(parts))


class Version(Model):
    """One version of a procedure."""

    id: str
    """The procedure's own id: the same for all its versions."""
    number: int
    procedure: Procedure
    current: bool
    made_at: Moment
    why: str = ""
    parent: int | None = None
    """The version this one was made from."""
    labels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.procedure.name


class ProcedureHit(Model):
    """A procedure that matches a search, with its score and the reason."""

    version: Version
    score: float
    why: str


def dump_procedure(procedure: Procedure) -> Json:
    """Return a procedure as it is stored.

    Defaults are left out, so that an old record takes on the defaults of fields that were added later.
    """
    return procedure.model_dump(mode="json", exclude_defaults=True)


def _names_are_unique(steps: tuple[Step, ...]) -> None:
    for kind, names in (("name", [s.name for s in steps]), ("result name", [s.alias for s in steps])):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise InvalidInput(f"Two steps have the {kind} {twice}.", hint="Give each step its own.")


def _references_resolve(procedure: Procedure) -> None:
    params = set(schema.declared_params(procedure.parameters))
    earlier: set[str] = set()
    for step in procedure.steps:
        own = {"item", "index"} if step.for_each is not None else set()
        where = f"step {step.name}"
        wanted = list(templates.template_references(step.args))
        _known(wanted, {"params", "steps", "run"} | own, params, earlier, where)
        outer = list(templates.template_references(step.for_each)) + (
            list(conditions.condition_references(step.when)) if step.when else []
        )
        _known(outer, {"params", "steps", "run"}, params, earlier, where)
        earlier.add(step.alias)
        if step.compensate:
            undo = list(templates.template_references(step.compensate.args))
            _known(undo, {"params", "steps", "run", "result"} | own, params, earlier, f"the compensation of {where}")
    _known(
        list(templates.template_references(procedure.returns)), {"params", "steps", "run"}, params, earlier, "returns"
    )


def _known(paths: list[templates.ValuePath], roots: set[str], params: set[str], steps: set[str], where: str) -> None:
    for path in paths:
        if path.root not in roots:
            raise InvalidInput(
                f"{where[0].upper() + where[1:]} refers to {path}, and there is no {path.root} there.",
                hint=f"It may refer to {', '.join(sorted(roots))}.",
            )
        first = path.parts[0] if path.parts else None
        for root, names in (("params", params), ("steps", steps)):
            if path.root == root and isinstance(first, str) and first not in names:
                earlier = "declared parameters" if root == "params" else "earlier results"
                raise InvalidInput(
                    f"{where[0].upper() + where[1:]} refers to {path}, which is not there.",
                    hint=f"The {earlier} are: {', '.join(sorted(names)) or 'none'}.",
                )


def _choices_fit(procedure: Procedure) -> None:
    declared = schema.declared_params(procedure.parameters)
    for name, values in procedure.choices.items():
        if name not in declared:
            raise InvalidInput(f"There are choices for {name}, which is not a parameter.")
        if not 2 <= len(values) <= 20:
            raise InvalidInput(f"The parameter {name} has {len(values)} choices; give from 2 to 20.")
        if any(isinstance(value, dict | list | tuple) for value in values):
            raise InvalidInput(f"The choices for {name} must be plain values, not lists or objects.")
        for value in values:
            schema.check_value(value, declared[name], f"a choice for {name}")
