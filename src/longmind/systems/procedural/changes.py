"""Differences between two versions of a procedure, and patches that change one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from longmind.errors import Forbidden, InvalidInput
from longmind.systems.procedural.interpreter import called_tools
from longmind.systems.procedural.models import Procedure, dump_procedure
from longmind.systems.procedural.values import json_equal
from longmind.systems.scoped_store import validated
from longmind.types import Json, Model


class Difference(Model):
    """One place where two versions differ. For ``added`` and ``removed``, the missing side is None."""

    path: str
    kind: str
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        if self.kind == "added":
            return f"+ {self.path}: {self.after!r}"
        if self.kind == "removed":
            return f"- {self.path}: {self.before!r}"
        return f"~ {self.path}: {self.before!r} -> {self.after!r}"


class Diff(Model):
    """The differences between two versions."""

    name: str
    before: int
    after: int
    differences: tuple[Difference, ...]

    def __str__(self) -> str:
        lines = [f"{self.name} version {self.before} -> {self.after}", *map(str, self.differences)]
        return "\n".join(lines if self.differences else [*lines, "no difference"])


def differences(before: Procedure, after: Procedure) -> tuple[Difference, ...]:
    """Compare two versions field by field. Steps are compared by name, so that an inserted step changes no other."""
    old, new = dump_procedure(before), dump_procedure(after)
    steps_before, steps_after = _by_name(old.pop("steps")), _by_name(new.pop("steps"))
    changes = [*_compare("", old, new), *_compare("steps", steps_before, steps_after)]
    kept_before = [name for name in steps_before if name in steps_after]
    kept_after = [name for name in steps_after if name in steps_before]
    if kept_before != kept_after:
        changes.append(Difference(path="steps", kind="reordered", before=list(steps_before), after=list(steps_after)))
    return tuple(changes)


def _compare(path: str, before: Any, after: Any) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            inner = f"{path}.{key}" if path else str(key)
            if key not in after:
                yield Difference(path=inner, kind="removed", before=before[key])
            elif key not in before:
                yield Difference(path=inner, kind="added", after=after[key])
            else:
                yield from _compare(inner, before[key], after[key])
    elif not json_equal(before, after):
        yield Difference(path=path, kind="changed", before=before, after=after)


def _by_name(steps: list[Json]) -> Json:
    return {str(step["name"]): {key: value for key, value in step.items() if key != "name"} for step in steps}


def apply_patch(procedure: Procedure, patch: Mapping[str, Any]) -> Procedure:
    """Return the procedure with some fields replaced.

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
    fields = {**dump_procedure(procedure), **patch}
    if isinstance(patch.get("steps"), Mapping):
        fields["steps"] = _steps(dump_procedure(procedure)["steps"], patch["steps"])
    changed = validated(Procedure, fields)
    if dump_procedure(changed) == dump_procedure(procedure):
        raise InvalidInput(f"The patch changes nothing in {procedure.name}.")
    return changed


def forbid_escalation(before: Procedure, after: Procedure) -> None:
    """Raise ``Forbidden`` for a change that drops an approval, or calls something new without one."""
    asked = {used for step, used in called_tools(before) if step.needs_approval}
    known = {used for _, used in called_tools(before)} | {step.procedure for step in before.steps}
    for step, used in called_tools(after):
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
