"""Changing a procedure by a patch, and what a patch that no person wrote must not do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longmind.errors import Forbidden, InvalidInput
from longmind.systems.procedural.diff import dump
from longmind.systems.procedural.interpreter import calls
from longmind.systems.procedural.models import Procedure
from longmind.systems.scoped_store import validated
from longmind.types import Json


def patched(procedure: Procedure, patch: Mapping[str, Any]) -> Procedure:
    """The procedure with some fields replaced.

    ``{"purpose": "..."}`` replaces a field. ``{"steps": {"fetch": {"timeout": 10}}}`` changes fields of one step,
    ``{"steps": {"fetch": None}}`` removes it, and a list replaces all steps.
    """
    unknown = sorted(set(patch) - set(Procedure.model_fields))
    if unknown:
        raise InvalidInput(
            f"A procedure has no {', '.join(unknown)}.", hint=f"It has: {', '.join(Procedure.model_fields)}."
        )
    if patch.get("name", procedure.name) != procedure.name:
        raise InvalidInput("A patch cannot rename a procedure.", hint="Store it under the new name.")
    told = {**dump(procedure), **patch}
    if isinstance(patch.get("steps"), Mapping):
        told["steps"] = _steps(dump(procedure)["steps"], patch["steps"])
    made = validated(Procedure, told)
    if dump(made) == dump(procedure):
        raise InvalidInput(f"The patch changes nothing in {procedure.name}.")
    return made


def guard(before: Procedure, after: Procedure) -> None:
    """Refuse what only a person may do: take away an approval, or call a function or procedure that is new here."""
    asked = {used for step, used in calls(before) if step.needs_approval}
    known = {used for _, used in calls(before)} | {step.procedure for step in before.steps}
    for step, used in calls(after):
        if not step.needs_approval and (used in asked or used not in known):
            why = "needed approval before" if used in asked else "was not called before"
            raise Forbidden(
                f"The proposed step {step.name} calls {used}, which {why}, without approval.",
                hint="A person can store that version; a proposal must set needs_approval.",
            )
    for step in after.steps:
        if step.procedure and step.procedure not in known and not step.needs_approval:
            raise Forbidden(
                f"The proposed step {step.name} runs the procedure {step.procedure}, which was not run before.",
                hint="A person can store that version; a proposal must set needs_approval.",
            )
    for step in before.steps:
        kept = next((s for s in after.steps if s.procedure and s.procedure == step.procedure), None)
        if step.needs_approval and kept is not None and not kept.needs_approval:
            raise Forbidden(f"The proposal takes away the approval that the procedure {step.procedure} needs.")


def _steps(steps: list[Json], changes: Mapping[str, Any]) -> list[Json]:
    names = [step["name"] for step in steps]
    unknown = sorted(set(changes) - set(names))
    if unknown:
        raise InvalidInput(f"There is no step {unknown[0]} to change.", hint=f"Steps are: {', '.join(names)}.")
    changed: list[Json] = []
    for step in steps:
        change = changes.get(step["name"], {})
        if change is None:
            continue
        if not isinstance(change, Mapping):
            raise InvalidInput(f"The change of step {step['name']} must be an object, or null to remove it.")
        changed.append({**step, **change})
    return changed
