"""Arguments as templates over parameters and earlier results, without ``eval``.

``"{{ params.city }}"`` and ``"{{ steps.find.items[0].id }}"`` name a value by its path: a root, then ``.name``,
``[number]`` (from the end when negative) or ``["any key"]``. A text that is one placeholder becomes the value itself,
with its type; a placeholder inside a longer text becomes part of the text. ``\\{{`` is a literal ``{{``.

A path only ever walks objects and lists, so it reaches nothing but the data. What a placeholder becomes is never
parsed again: a value that contains ``{{`` stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from longmind.errors import InvalidInput
from longmind.systems.procedural.values import MAX_VALUE, check_bounds

_MARK = re.compile(r"\\\{\{|\{\{")
_HEAD = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)")
_PART = re.compile(r"\.([A-Za-z_][A-Za-z0-9_-]*)|\[(-?\d{1,9})\]|\[(\"(?:[^\"\\]|\\.)*\")\]")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_HINT = 'Write a path such as {{ params.city }}, {{ steps.find.items[0] }} or {{ steps.find["a key"] }}.'


@dataclass(frozen=True, slots=True)
class ValuePath:
    """The location of a value: the name of the root, then keys and indexes."""

    root: str
    parts: tuple[str | int, ...]

    def __str__(self) -> str:
        return self.root + "".join(_part(part) for part in self.parts)


@lru_cache(maxsize=4096)
def parse_template(text: str) -> tuple[str | ValuePath, ...]:
    """Split a template into literal texts and paths."""
    parts: list[str | ValuePath] = []
    at = 0
    while mark := _MARK.search(text, at):
        parts.append(text[at : mark.start()])
        at = mark.end()
        if mark.group() == "\\{{":
            parts.append("{{")
            continue
        end = text.find("}}", at)
        if end < 0:
            raise InvalidInput(f"In {_short(text)} a placeholder has no end.", hint="Close it with }}.")
        parts.append(_path(text[at:end], text))
        at = end + 2
    parts.append(text[at:])
    return tuple(part for part in parts if part != "")


def template_references(node: Any) -> Iterator[ValuePath]:
    """Yield every path that a template, or an object or list of templates, refers to."""
    if isinstance(node, str):
        yield from (part for part in parse_template(node) if isinstance(part, ValuePath))
    elif isinstance(node, Mapping):
        for item in node.values():
            yield from template_references(item)
    elif isinstance(node, list | tuple):
        for item in node:
            yield from template_references(item)


def render_template(node: Any, context: Mapping[str, Any], *, limit: int = MAX_VALUE) -> Any:
    """Replace the placeholders of a template by the values they name.

    What the values come to is counted on the way: ``InvalidInput`` as soon as it is more than ``limit`` bytes of JSON.
    A template that is one placeholder is the value itself, which exists already and is not counted.
    """
    if isinstance(node, str):
        parts = parse_template(node)
        if len(parts) == 1 and isinstance(parts[0], ValuePath):
            return resolve_path(parts[0], context)
    return _Renderer(context, limit).render(node)


class _Renderer:
    """Renders one template and counts what it has come to."""

    def __init__(self, context: Mapping[str, Any], limit: int) -> None:
        self._context = context
        self._limit = self._left = limit

    def render(self, node: Any) -> Any:
        if isinstance(node, str):
            parts = parse_template(node)
            if len(parts) == 1 and isinstance(parts[0], ValuePath):
                return self._resolve(parts[0])
            return "".join([self._text(part) for part in parts])
        if isinstance(node, Mapping):
            return {key: self.render(item) for key, item in node.items()}
        if isinstance(node, list | tuple):
            return [self.render(item) for item in node]
        return node

    def _text(self, part: str | ValuePath) -> str:
        if isinstance(part, str):
            self._count(part)
            return part
        return _as_text(self._resolve(part))

    def _resolve(self, path: ValuePath) -> Any:
        value = resolve_path(path, self._context)
        self._count(value)
        return value

    def _count(self, value: Any) -> None:
        try:
            self._left -= check_bounds(value, "What a template names", self._left)
        except InvalidInput as error:
            if error.details.get("limit") != self._left:
                raise
            raise InvalidInput(
                f"What a template comes to is more than {self._limit:,} bytes of JSON.",
                hint="Store the large thing elsewhere and pass on where it is.",
                limit=self._limit,
            ) from error


def resolve_path(path: ValuePath, context: Mapping[str, Any]) -> Any:
    """Return the value at a path; ``InvalidInput`` says where the path ends."""
    if path.root not in context:
        raise InvalidInput(f"There is no {path.root} here.", hint=f"There are: {', '.join(sorted(context))}.")
    value = context[path.root]
    for n, part in enumerate(path.parts):
        here = ValuePath(path.root, path.parts[:n])
        if isinstance(part, str) and isinstance(value, Mapping):
            if part not in value:
                raise InvalidInput(f"{here} has no {part!r}, which {path} asks for.", hint=_keys(value))
            value = value[part]
        elif isinstance(part, int) and isinstance(value, list | tuple):
            if not -len(value) <= part < len(value):
                raise InvalidInput(f"{here} has {len(value)} items, so there is no {path}.")
            value = value[part]
        else:
            raise InvalidInput(f"{here} is {_kind(value)}, so there is no {path}.")
    return value


def escape_template(node: Any) -> Any:
    """Return the template that renders to exactly this value."""
    if isinstance(node, str):
        return node.replace("{{", "\\{{")
    if isinstance(node, Mapping):
        return {key: escape_template(item) for key, item in node.items()}
    return [escape_template(item) for item in node] if isinstance(node, list | tuple) else node


def is_missing(path: ValuePath, context: Mapping[str, Any]) -> bool:
    """Whether a path leads to nothing, or to null."""
    try:
        return resolve_path(path, context) is None
    except InvalidInput:
        return True


def _path(inside: str, text: str) -> ValuePath:
    head = _HEAD.match(inside)
    if head is None:
        raise InvalidInput(f"In {_short(text)} the placeholder {inside.strip()!r} is not a path.", hint=_HINT)
    at, parts = head.end(), list[str | int]()
    while part := _PART.match(inside, at):
        name, index, quoted = part.groups()
        parts.append(name if name is not None else int(index) if index is not None else str(json.loads(quoted)))
        at = part.end()
    if inside[at:].strip():
        raise InvalidInput(f"In {_short(text)} the placeholder {inside.strip()!r} is not a path.", hint=_HINT)
    return ValuePath(head.group(1), tuple(parts))


def _part(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _PLAIN.fullmatch(part) else f"[{json.dumps(part, ensure_ascii=False)}]"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "true or false", str: "a text", int: "a number", float: "a number", list: "a list", tuple: "a list"}
    return kinds.get(type(value), "an object")


def _keys(value: Mapping[str, Any]) -> str:
    names = [str(key) for key in value]
    return f"It has: {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}." if names else "It is empty."


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")
