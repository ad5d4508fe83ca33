"""Distillation: a procedure from the calls that successful episodes have in common.

The steps are the longest sequence of calls that most episodes share. An argument that was always the same becomes a
constant; one that always came from an earlier result becomes a reference to it; any other becomes a parameter. The
episodes become the examples that test the procedure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longmind.systems.procedural import schema, templates
from longmind.systems.procedural.beta_binomial import choice_key
from longmind.systems.procedural.models import Procedure
from longmind.systems.procedural.templates import ValuePath
from longmind.systems.procedural.traces import Trace, TracedCall
from longmind.systems.procedural.values import json_equal, json_size
from longmind.systems.scoped_store import validated
from longmind.types import Json, Model

_LEAVES = 2_000
_EXAMPLES = 3
_EXAMPLE_BYTES = 16 * 1024
Rows = list[list[TracedCall]]
"""For each episode, the calls that are the steps."""


class Distilled(Model):
    """A procedure that episodes suggest. It is only a proposal; call ``store`` to keep it."""

    procedure: Procedure
    episodes: tuple[str, ...]
    """The episodes that did it this way."""
    considered: int
    why: str


def distill_procedure(traces: Sequence[Trace], *, name: str, purpose: str | None, min_support: int) -> Distilled | None:
    """Return the procedure that at least ``min_support`` traces, and more than half of them, share; None if none."""
    shared = _shared_sequence(traces, min_support)
    if shared is None:
        return None
    sequence, supporting = shared
    rows = [_aligned(sequence, trace.calls) for trace in supporting]
    first = _Builder(rows, {})
    for n in range(len(sequence)):
        first.step(n)
    builder = _Builder(rows, first.values)  # again: a parameter found late may stand inside a text seen early
    steps = [builder.step(n) for n in range(len(sequence))]
    definition: Json = {
        "name": name,
        "purpose": purpose or min((trace.title for trace in supporting), key=len),
        "category": "distilled",
        "parameters": builder.parameters(),
        "steps": steps,
        "examples": builder.examples([trace.title for trace in supporting]),
    }
    why = (
        f"{len(supporting)} of {len(traces)} successful episodes called {', then '.join(sequence)}; "
        f"{len(builder.values)} of the values they used varied with the task."
    )
    ids = tuple(trace.id for trace in supporting)
    return Distilled(procedure=validated(Procedure, definition), episodes=ids, considered=len(traces), why=why)


def _shared_sequence(traces: Sequence[Trace], min_support: int) -> tuple[tuple[str, ...], list[Trace]] | None:
    """Return the longest sequence of calls that enough traces contain in this order, and those traces."""
    tools_of = {trace.id: tuple(call.tool for call in trace.calls) for trace in traces}
    distinct = sorted(set(tools_of.values()))
    candidates = {*distinct, *(_common(a, b) for n, a in enumerate(distinct) for b in distinct[n + 1 :])} - {()}
    best: tuple[int, int, tuple[str, ...]] | None = None
    for sequence in sorted(candidates):
        support = sum(_contains(calls, sequence) for calls in tools_of.values())
        if support >= min_support and 2 * support > len(traces):
            best = max(best or (0, 0, ()), (len(sequence), support, sequence))
    if best is None:
        return None
    return best[2], [trace for trace in traces if _contains(tools_of[trace.id], best[2])]


def _common(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    """Return the longest common subsequence."""
    table: list[list[tuple[str, ...]]] = [[()] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            longer = max(table[i][j + 1], table[i + 1][j], key=len)
            table[i + 1][j + 1] = (*table[i][j], a) if a == b else longer
    return table[-1][-1]


def _contains(calls: Sequence[str], sequence: Sequence[str]) -> bool:
    rest = iter(calls)
    return all(tool in rest for tool in sequence)


def _aligned(sequence: Sequence[str], calls: Sequence[TracedCall]) -> list[TracedCall]:
    """Return the calls of a trace that form the sequence; of repeated calls, the latest."""
    rest = iter(reversed(calls))
    aligned = [next(call for call in rest if call.tool == tool) for tool in reversed(sequence)]
    return aligned[::-1]


class _Builder:
    """Builds the steps from aligned calls, and the parameters they need."""

    def __init__(self, rows: Rows, hints: Mapping[str, list[Any]]) -> None:
        self._rows = rows
        self._hints = hints
        self._names = _step_names([call.tool for call in rows[0]])
        self.values: dict[str, list[Any]] = {}
        """For each parameter, the value it had in each episode."""

    def step(self, n: int) -> Json:
        columns = [row[n] for row in self._rows]
        optional = [set(call.args) for call in columns]
        args = {
            key: self._general(key, [call.args[key] for call in columns], n)
            for key in columns[0].args
            if all(key in names for names in optional)
        }
        return {"name": self._names[n], "use": columns[0].tool, "args": args}

    def _general(self, key: str, values: list[Any], n: int) -> Any:
        """Return the value or template that covers what each episode used in this place."""
        first = values[0]
        if all(json_equal(first, value) for value in values):
            return templates.escape_template(first)
        if path := self._reference(values, n):
            return f"{{{{ {path} }}}}"
        if all(isinstance(value, Mapping) and value.keys() == first.keys() for value in values):
            return {inner: self._general(inner, [value[inner] for value in values], n) for inner in first}
        if all(isinstance(value, list) and len(value) == len(first) for value in values):
            return [self._general(key, [value[i] for value in values], n) for i in range(len(first))]
        return self._inside(values, n) or f"{{{{ params.{self._parameter(key, values)} }}}}"

    def _reference(self, values: list[Any], n: int) -> ValuePath | None:
        """Return the path in the earlier results where every episode had this value: the latest and shortest one."""
        for earlier in reversed(range(n)):
            paths = [
                path
                for path, leaf in _leaves(self._rows[0][earlier].result, ValuePath("steps", (self._names[earlier],)))
                if json_equal(leaf, values[0]) and self._holds(path, earlier, values)
            ]
            if paths:
                return min(paths, key=lambda path: len(path.parts))
        return None

    def _holds(self, path: ValuePath, earlier: int, values: list[Any]) -> bool:
        rest = ValuePath("result", path.parts[1:])
        for row, value in zip(self._rows, values, strict=True):
            context = {"result": row[earlier].result}
            if templates.is_missing(rest, context) or not json_equal(templates.resolve_path(rest, context), value):
                return False
        return True

    def _inside(self, values: list[Any], n: int) -> str | None:
        """A text with a parameter, or a text from an earlier result, somewhere inside it."""
        if not all(isinstance(value, str) for value in values):
            return None
        for path, parts in self._texts(n):
            if all(part and part in value for part, value in zip(parts, values, strict=True)):
                frames = {tuple(value.split(part, 1)) for part, value in zip(parts, values, strict=True)}
                if len(frames) == 1 and frames != {("", "")}:
                    before, after = (templates.escape_template(text) for text in frames.pop())
                    if not before.endswith(("{", "\\")):
                        self._use(path)
                        return f"{before}{{{{ {path} }}}}{after}"
        return None

    def _texts(self, n: int) -> Iterator[tuple[ValuePath, list[str]]]:
        """Yield every path that held a text in all episodes, with the texts: parameters first, then earlier results."""
        for name, values in {**self._hints, **self.values}.items():
            if all(isinstance(value, str) for value in values):
                yield ValuePath("params", (name,)), values
        for earlier in reversed(range(n)):
            for path, leaf in _leaves(self._rows[0][earlier].result, ValuePath("steps", (self._names[earlier],))):
                if isinstance(leaf, str):
                    rest = ValuePath("result", path.parts[1:])
                    contexts = [{"result": row[earlier].result} for row in self._rows]
                    if not any(templates.is_missing(rest, context) for context in contexts):
                        texts = [templates.resolve_path(rest, context) for context in contexts]
                        if all(isinstance(text, str) for text in texts):
                            yield path, texts

    def _use(self, path: ValuePath) -> None:
        """Keep a parameter of the first pass that is needed."""
        if path.root == "params":
            name = str(path.parts[0])
            self.values.setdefault(name, self._hints.get(name, []))

    def _parameter(self, key: str, values: list[Any]) -> str:
        """Return the parameter that had these values in the episodes; add one if there is none."""
        for name, known in {**self._hints, **self.values}.items():
            if all(map(json_equal, known, values)):
                self.values[name] = values
                return name
        base = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in key).lstrip("_0123456789")
        name, n = base or "value", 2
        while name in self.values or name in self._hints:
            name, n = f"{base or 'value'}_{n}", n + 1
        self.values[name] = values
        return name

    def parameters(self) -> Json:
        properties: Json = {}
        for name, values in self.values.items():
            kinds = sorted({schema.json_type(value) for value in values})
            kinds = ["number"] if kinds == ["integer", "number"] else kinds
            properties[name] = {"type": kinds[0] if len(kinds) == 1 else kinds}
        return {"type": "object", "properties": properties, "required": list(properties)}

    def examples(self, titles: list[str]) -> list[Json]:
        """Return the first episodes as examples, as far as they are small enough to store."""
        examples: list[Json] = []
        seen: set[str] = set()
        for i, (row, title) in enumerate(zip(self._rows, titles, strict=True)):
            params = {name: values[i] for name, values in self.values.items()}
            results = {name: call.result for name, call in zip(self._names, row, strict=True)}
            if json_size(results) + json_size(params) > _EXAMPLE_BYTES or choice_key(params) in seen:
                continue
            seen.add(choice_key(params))
            examples.append({"name": title[:200], "params": params, "given": results, "expect": row[-1].result})
            if len(examples) == _EXAMPLES:
                break
        return examples


def _step_names(tools: Sequence[str]) -> list[str]:
    names: list[str] = []
    for tool in tools:
        base = "".join(c if c.isalnum() else "_" for c in tool)[:40]
        number = sum(name == base or name.startswith(f"{base}_") for name in names)
        names.append(base if number == 0 else f"{base}_{number + 1}")
    return names


def _leaves(value: Any, path: ValuePath, budget: list[int] | None = None) -> Iterator[tuple[ValuePath, Any]]:
    """Yield the values inside a result with their paths, the result itself included, up to a limit."""
    left = [_LEAVES] if budget is None else budget
    left[0] -= 1
    if left[0] < 0:
        return
    yield path, value
    inner: Iterator[tuple[str | int, Any]]
    inner = (
        iter(value.items())
        if isinstance(value, Mapping)
        else iter(enumerate(value))
        if isinstance(value, list)
        else iter(())
    )
    for part, item in inner:
        yield from _leaves(item, ValuePath(path.root, (*path.parts, part)), left)
