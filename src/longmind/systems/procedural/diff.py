"""What differs between two versions of a procedure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from longmind.systems.procedural.models import Procedure
from longmind.systems.procedural.values import same
from longmind.types import Json, Model


class Difference(Model):
    """One place where two versions differ; what is missing on one side is null there and named by ``kind``."""

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
    """How one version became another."""

    name: str
    before: int
    after: int
    differences: tuple[Difference, ...]

    def __str__(self) -> str:
        lines = [f"{self.name} version {self.before} -> {self.after}", *map(str, self.differences)]
        return "\n".join(lines if self.differences else [*lines, "no difference"])


def dump(procedure: Procedure) -> Json:
    """A procedure as it is stored: what has its default is left out, so that old records take on new fields."""
    return procedure.model_dump(mode="json", exclude_defaults=True)


def differences(before: Procedure, after: Procedure) -> tuple[Difference, ...]:
    """Field by field; steps are compared by name, so that a step put in between changes nothing else."""
    one, other = dump(before), dump(after)
    steps_before, steps_after = _by_name(one.pop("steps")), _by_name(other.pop("steps"))
    found = [*_compare("", one, other), *_compare("steps", steps_before, steps_after)]
    kept_before = [name for name in steps_before if name in steps_after]
    kept_after = [name for name in steps_after if name in steps_before]
    if kept_before != kept_after:
        found.append(Difference(path="steps", kind="reordered", before=list(steps_before), after=list(steps_after)))
    return tuple(found)


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
    elif not same(before, after):
        yield Difference(path=path, kind="changed", before=before, after=after)


def _by_name(steps: list[Json]) -> Json:
    return {str(step["name"]): {key: value for key, value in step.items() if key != "name"} for step in steps}
