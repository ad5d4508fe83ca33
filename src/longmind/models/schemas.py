"""JSON schemas as servers want them: every object closed, every property asked for.

What a schema says is checked again when the answer is here, so leaving a rule out that a server does not know loses
nothing but help.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel

from longmind.types import Json

_NOT_STRICT = frozenset(
    "minLength maxLength uniqueItems minProperties maxProperties propertyNames patternProperties contains minContains "
    "maxContains unevaluatedItems unevaluatedProperties format examples".split()
)
"""What OpenAI's strict mode refuses, or takes only in part."""


def schema_of(model: type[BaseModel]) -> Json:
    """The JSON schema of what a model should answer, named after its class."""
    return {**closed(model.model_json_schema()), "title": model.__name__}


def closed(schema: Json) -> Json:
    """No property beyond those named, and all of those; defaults and generated titles are left out."""
    return _walked(schema, _close)


def strict(schema: Json) -> Json:
    """Closed, and without the rules that OpenAI's strict mode does not know."""
    return _walked(schema, lambda node: {k: v for k, v in _close(node).items() if k not in _NOT_STRICT})


def _close(node: Json) -> Json:
    kept = {key: value for key, value in node.items() if key not in ("default", "title")}
    if isinstance(kept.get("properties"), dict):
        kept |= {"additionalProperties": False, "required": list(kept["properties"])}
    return kept


def _walked(node: Json, change: Callable[[Json], Json]) -> Json:
    """The schema with each schema in it changed; values that are no schemas (enum, const) are left alone."""
    kept = change(node)
    for key, value in kept.items():
        if key in ("properties", "$defs", "definitions") and isinstance(value, dict):
            kept[key] = {name: _walked(inner, change) for name, inner in value.items()}
        elif key in ("items", "additionalProperties", "not"):
            kept[key] = _walked(value, change) if isinstance(value, dict) else value
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
            kept[key] = [_walked(inner, change) for inner in value]
    return kept
