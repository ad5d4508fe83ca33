"""The JSON schema of a procedure's parameters: validation of schemas and of values.

A subset of JSON schema. A keyword that is not known here is an error when the procedure is stored, so that no
constraint is ever written down and then ignored. ``pattern`` is left out on purpose: a regular expression from a record
can be made to run forever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longmind.errors import InvalidInput
from longmind.systems.procedural.values import check_bounds, json_equal

EMPTY_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}
_NOTES = {"title", "description", "default", "examples"}
_SIZES = {
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
}
_RULES = {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf"} | _SIZES


def validate_schema(schema: Any) -> dict[str, Any]:
    """Validate a schema of parameters and return it; ``InvalidInput`` if it is not valid."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        raise InvalidInput(
            "The parameters must be a JSON schema of an object.",
            hint='Write {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}.',
        )
    _check(schema, "parameters")
    unknown = set(schema.get("required", ())) - set(declared_params(schema))
    if unknown:
        raise InvalidInput(f"The parameters require {', '.join(sorted(unknown))}, which they do not declare.")
    for name, part in declared_params(schema).items():
        if "default" in part:
            check_value(part["default"], part, f"the default of {name}")
    return dict(schema)


def declared_params(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the declared parameters by name."""
    return dict(schema.get("properties", {}))


def bind_params(schema: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a run: those given, the defaults, and None for the rest; unknown ones are refused."""
    check_bounds(params, "What the parameters hold")
    declared = declared_params(schema)
    unknown = sorted(set(params) - set(declared))
    if unknown:
        raise InvalidInput(
            f"There is no parameter {', '.join(unknown)}.",
            hint=f"There are: {', '.join(declared)}." if declared else "This procedure takes none.",
        )
    taken: dict[str, Any] = {}
    for name, part in declared.items():
        if name in params:
            taken[name] = check_value(params[name], part, f"the parameter {name}")
        elif "default" in part:
            taken[name] = part["default"]
        elif name in schema.get("required", ()):
            raise InvalidInput(f"The parameter {name} is missing.", hint=str(part.get("description", "")))
        else:
            taken[name] = None
    return taken


def check_value(value: Any, schema: Mapping[str, Any], what: str) -> Any:
    """The value, if the schema allows it; else ``InvalidInput`` names what is wrong."""
    kinds = _kinds(schema)
    if kinds and not any(_is(value, kind) for kind in kinds):
        raise InvalidInput(f"{_cap(what)} must be {' or '.join(kinds)}, not {_short_repr(value)}.")
    if "enum" in schema and not any(json_equal(value, allowed) for allowed in schema["enum"]):
        raise InvalidInput(
            f"{_cap(what)} must be one of {_short_repr(list(schema['enum']))}, not {_short_repr(value)}."
        )
    if "const" in schema and not json_equal(value, schema["const"]):
        raise InvalidInput(f"{_cap(what)} must be {_short_repr(schema['const'])}, not {_short_repr(value)}.")
    if "anyOf" in schema:
        _any_of(value, schema["anyOf"], what)
    _bounds(value, schema, what)
    if isinstance(value, list | tuple) and "items" in schema:
        for n, item in enumerate(value):
            check_value(item, schema["items"], f"{what}[{n}]")
    if isinstance(value, Mapping):
        _members(value, schema, what)
    return value


def json_type(value: Any) -> str:
    """The schema type of a JSON value, the narrowest."""
    order = ("null", "boolean", "integer", "number", "string", "array", "object")
    return next(kind for kind in order if _is(value, kind))


def _check(schema: Any, where: str) -> None:
    if not isinstance(schema, Mapping):
        raise InvalidInput(f"{_cap(where)} is not a schema: it must be an object.")
    unknown = sorted(set(schema) - _RULES - _NOTES)
    if unknown:
        raise InvalidInput(
            f"{_cap(where)} uses {', '.join(unknown)}, which is not checked here.",
            hint=f"Use only {', '.join(sorted(_RULES))}.",
        )
    bad = [kind for kind in _kinds(schema) if kind not in _TYPES]
    if bad:
        raise InvalidInput(f"{_cap(where)} has the unknown type {bad[0]!r}.", hint=f"Types are {', '.join(_TYPES)}.")
    if not isinstance(schema.get("properties", {}), Mapping):
        raise InvalidInput(f"{_cap(where)} has properties that are not an object.")
    for name, part in schema.get("properties", {}).items():
        _check(part, f"{where}.{name}")
    if "items" in schema:
        _check(schema["items"], f"{where}[]")
    for rule in sorted(_SIZES & set(schema)):
        if not _is(schema[rule], "number"):
            raise InvalidInput(f"{_cap(where)}: {rule} must be a number.")
    for rule in ("enum", "required", "anyOf"):
        if not isinstance(schema.get(rule, []), list | tuple):
            raise InvalidInput(f"{_cap(where)}: {rule} must be a list.")
    for part in schema.get("anyOf", ()):
        _check(part, where)


def _members(value: Mapping[str, Any], schema: Mapping[str, Any], what: str) -> None:
    declared = declared_params(schema)
    for name in schema.get("required", ()):
        if name not in value:
            raise InvalidInput(f"{_cap(what)} has no {name}.")
    for name, item in value.items():
        if name in declared:
            check_value(item, declared[name], f"{what}.{name}")
        elif schema.get("additionalProperties") is False:
            raise InvalidInput(f"{_cap(what)} must not have {name}.", hint=f"It may have: {', '.join(declared)}.")


def _any_of(value: Any, options: Any, what: str) -> None:
    problems: list[str] = []
    for option in options:
        try:
            check_value(value, option, what)
        except InvalidInput as error:
            problems.append(error.message)
        else:
            return
    raise InvalidInput(f"{_cap(what)} fits none of what is allowed. {' '.join(problems)}")


def _bounds(value: Any, schema: Mapping[str, Any], what: str) -> None:
    if _is(value, "number"):
        _between(value, schema, what, "minimum", "maximum", "")
        if "exclusiveMinimum" in schema and not value > schema["exclusiveMinimum"]:
            raise InvalidInput(f"{_cap(what)} must be more than {schema['exclusiveMinimum']}, not {value}.")
        if "exclusiveMaximum" in schema and not value < schema["exclusiveMaximum"]:
            raise InvalidInput(f"{_cap(what)} must be less than {schema['exclusiveMaximum']}, not {value}.")
    elif isinstance(value, str):
        _between(len(value), schema, what, "minLength", "maxLength", " characters long")
    elif isinstance(value, list | tuple):
        _between(len(value), schema, what, "minItems", "maxItems", " items long")


def _between(size: float, schema: Mapping[str, Any], what: str, least: str, most: str, unit: str) -> None:
    if least in schema and size < schema[least]:
        raise InvalidInput(f"{_cap(what)} must be at least {schema[least]}{unit}, not {size}.")
    if most in schema and size > schema[most]:
        raise InvalidInput(f"{_cap(what)} must be at most {schema[most]}{unit}, not {size}.")


def _kinds(schema: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = schema.get("type", ())
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _short_repr(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:99] + "…"


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:]
