"""JSON schemas in the form that servers accept: no additional properties, every property required.

Answers are validated again on arrival, so rules that a server does not support can be left out safely.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel

from longmind.types import Json

_NOT_STRICT = frozenset(
    "minLength maxLength uniqueItems minProperties maxProperties propertyNames patternProperties contains minContains "
    "maxContains unevaluatedItems unevaluatedProperties format examples".split()
)
"""Keywords that OpenAI's strict mode refuses, or supports only in part."""


def schema_of(model: type[BaseModel]) -> Json:
    """Return the JSON schema of an answer, with the class name as its title."""
    return {**closed(model.model_json_schema()), "title": model.__name__}


def closed(schema: Json) -> Json:
    """Forbid additional properties and require all others; drop defaults and generated titles."""
    return _walked(schema, _close)


def strict(schema: Json) -> Json:
    """Return the closed schema without the keywords that OpenAI's strict mode does not support."""
    return _walked(schema, lambda node: {k: v for k, v in _close(node).items() if k not in _NOT_STRICT})


def _close(node: Json) -> Json:
    result = {key: value for key, value in node.items() if key not in ("default", "title")}
    if isinstance(result.get("properties"), dict):
        result |= {"additionalProperties": False, "required": list(result["properties"])}
    return result


def _walked(node: Json, change: Callable[[Json], Json]) -> Json:
    """Apply a change to a schema and every schema inside it; values that are not schemas (enum, const) stay."""
    result = change(node)
    for key, value in result.items():
        if key in ("properties", "$defs", "definitions") and isinstance(value, dict):
            result[key] = {name: _walked(inner, change) for name, inner in value.items()}
        elif key in ("items", "additionalProperties", "not"):
            result[key] = _walked(value, change) if isinstance(value, dict) else value
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
            result[key] = [_walked(inner, change) for inner in value]
    return result
