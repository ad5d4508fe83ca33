"""Other ways to do a step: procedures and functions that fit what it says and take what it gives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from longmind.errors import InvalidInput
from longmind.systems.goals.likeness import likenesses
from longmind.systems.goals.models import Goal, PlanStep
from longmind.systems.procedural import ProceduralMemory, Procedure, ToolRegistry, bind_params, declared_params
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Json

FITS = 0.3
"""How alike, from 0 to 1, what a step says and what another way is for must be."""
_LOOKED_AT = 10


@dataclass(frozen=True, slots=True)
class Alternative:
    """Something else that a step could use."""

    name: str
    args: Json = field(default_factory=dict)
    procedure: bool = False
    fit: float = 1.0

    @property
    def label(self) -> str:
        return f"{'procedure' if self.procedure else 'tool'}:{self.name}"


async def alternatives(
    scoped: ScopedStore, goal: Goal, step: PlanStep, procedural: ProceduralMemory
) -> list[Alternative]:
    """What else could do a step, the best fit first; procedures, which were found to work, before functions.

    What belongs to another user is not among them, even if this scope can see it.
    """
    found: list[tuple[str, Alternative]] = []
    hits = await procedural.search(step.description, k=_LOOKED_AT)
    owners = {m.id: m.user for m in await scoped.store.get_all(scoped.scope, [hit.version.id for hit in hits])}
    for hit in hits:
        procedure = hit.version.procedure
        if owners.get(hit.version.id) not in (None, goal.user):
            continue
        if all(one.use is None or one.use in procedural.tools for one in procedure.steps):
            found += _taking(procedure, step)
    for told in procedural.tools.described():
        found += _called(procedural.tools, told.name, told.description, step)
    others = [(text, one) for text, one in found if one.label != label_of(step)]
    (fits,) = await likenesses(scoped, [step.description], [text for text, _ in others])
    fitting = [replace(one, fit=fit) for (_, one), fit in zip(others, fits, strict=True) if fit >= FITS]
    return sorted(fitting, key=lambda one: (not one.procedure, -one.fit, one.name))


def label_of(step: PlanStep) -> str:
    """What a step uses, as ``tool:send`` or ``procedure:send_report``; empty when it names neither."""
    if step.tool is not None:
        return f"tool:{step.tool}"
    return f"procedure:{step.procedure}" if step.procedure is not None else ""


def _taking(procedure: Procedure, step: PlanStep) -> Iterable[tuple[str, Alternative]]:
    """The procedure with the arguments of the step that it declares, if it can run with these."""
    declared = declared_params(procedure.parameters)
    args = {name: value for name, value in step.args.items() if name in declared}
    try:
        bind_params(procedure.parameters, args)
    except InvalidInput:
        return ()
    return ((f"{_spelt(procedure.name)} {procedure.purpose}", Alternative(procedure.name, args, procedure=True)),)


def _called(tools: ToolRegistry, name: str, description: str, step: PlanStep) -> Iterable[tuple[str, Alternative]]:
    """The function with the arguments of the step that it takes, if these are all it needs."""
    tool = tools.get(name)
    args = {given: value for given, value in step.args.items() if given in tool.names}
    try:
        tool.arguments.model_validate(args)
    except ValidationError:
        return ()
    return ((f"{_spelt(name)} {description}", Alternative(name, args)),)


def _spelt(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").replace(".", " ")
