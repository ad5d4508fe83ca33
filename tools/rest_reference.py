"""The reference of REST, made from the OpenAPI document. ``tools.reference_pages`` writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import longmind
from longmind.server.rest.openapi import openapi
from tools.markdown import MADE_BY, table

Json = dict[str, Any]
_REF = "#/components/schemas/"
_LINK = re.compile(r"\(#([^)]+)\)")
_LOCATING = {"agent", "user", "all_users"}
_HEAD = """Every operation of the server, made from its OpenAPI document, which a server gives at `/v1/openapi.json`.
[How to use it](../howto/serving.md) has examples, and says how errors, pages, ETags and streams work.

`agent` in the path is the agent's name. `?user=NAME` is the user whose memories are meant; without it those of no user.
`?all_users=true` means all of them and needs the permission `admin`. They are not repeated below. A field or parameter
that is not known is refused with 422.

Where a body is named, it is JSON with these fields; those without *required* may be left out."""


def page() -> str:
    """Return the whole reference as Markdown."""
    document = openapi(longmind.__version__)
    schemas: Json = document["components"]["schemas"]
    parts = ["# REST", MADE_BY, _HEAD]
    for tag in document["tags"]:
        parts.append(f"## {tag['name'].replace('_', ' ').capitalize()}")
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if tag["name"] in operation["tags"]:
                    parts += _operation(method.upper(), path, operation, schemas)
    parts += ["## Records", "What the operations return and take."]
    parts += _records(parts, schemas)
    return "\n\n".join(parts) + "\n"


def _operation(method: str, path: str, operation: Json, schemas: Json) -> Iterator[str]:
    yield f"### {method} {path}"
    yield _text(operation["summary"])
    if operation["description"]:
        yield _text(operation["description"])
    yield f"Permission: `{operation['x-permission']}`. {_answer(operation)}"
    rows = [
        (f"`{parameter['name']}`", parameter["in"], _type(parameter["schema"]), _note(parameter, parameter["schema"]))
        for parameter in operation["parameters"]
        if parameter["name"] not in _LOCATING
    ]
    if "requestBody" in operation:
        content = operation["requestBody"]["content"]["application/json"]
        body = _resolved(content["schema"], schemas)
        required = body.get("required", ())
        for name, field in body.get("properties", {}).items():
            rows.append((f"`{name}`", "body", _type(field), _note({"required": name in required}, field)))
    if rows:
        yield table(rows, "name", "in", "type", "")
    if "requestBody" in operation and "example" in content:
        yield f"```json\n{json.dumps(content['example'], ensure_ascii=False)}\n```"


def _answer(operation: Json) -> str:
    answers = []
    for status, response in operation["responses"].items():
        if status == "default":
            continue
        content: Json = response.get("content", {})
        if "application/json" in content:
            progress = ", or a stream of its progress that ends with it" if "text/event-stream" in content else ""
            answers.append(f"{status}: {_result(content['application/json']['schema'])}{progress}")
        elif content:
            data = content["text/event-stream"]["itemSchema"]["properties"]["data"]["contentSchema"]
            answers.append(f"{status}: a stream of {_result(data['anyOf'][0])}")
        else:
            answers.append(f"{status}: nothing" if status == "204" else f"{status}: unchanged")
    return "Answers " + "; ".join(sorted(answers)) + "."


def _result(schema: Json) -> str:
    """Return the type of a result; an object with one named field is told by the field."""
    if "anyOf" in schema:
        return " or ".join(map(_result, schema["anyOf"]))
    name = schema.get("$ref", "").removeprefix(_REF)
    fields = openapi(longmind.__version__)["components"]["schemas"].get(name, {}).get("properties", {})
    if name.endswith("Result") and len(fields) == 1:
        ((field, value),) = fields.items()
        return f"`{field}`, {_type(value)}"
    return _type(schema)


def _records(parts: list[str], schemas: Json) -> list[str]:
    """Return the sections of the records that the operations link to, and of those that these link to."""
    by_anchor = {name.lower(): name for name in schemas}
    sections: dict[str, str] = {}
    open_links = set(_LINK.findall("\n".join(parts)))
    while open_links:
        name = by_anchor[open_links.pop()]
        sections[name] = "\n\n".join(_record(name, schemas[name]))
        open_links |= {link for link in _LINK.findall(sections[name]) if by_anchor[link] not in sections}
    return [sections[name] for name in sorted(sections)]


def _record(name: str, schema: Json) -> Iterator[str]:
    yield f"### {name}"
    if schema.get("description"):
        yield _text(schema["description"])
    if "properties" in schema:
        required = schema.get("required", ())
        input_only = name.endswith("Input")
        rows = [
            (f"`{field}`", _type(value), _note({"required": input_only and field in required}, value))
            for field, value in schema["properties"].items()
        ]
        yield table(rows, "field", "type", "")
    else:
        yield _type(schema)


def _resolved(schema: Json, schemas: Json) -> Json:
    found: Json = schemas[schema["$ref"].removeprefix(_REF)] if "$ref" in schema else schema
    return found


def _type(schema: Json) -> str:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_REF)
        return f"[{name}](#{name.lower()})"
    choices: list[Json] = schema.get("anyOf") or schema.get("oneOf") or []
    if choices:
        return " or ".join(dict.fromkeys(map(_type, choices)))
    if "enum" in schema:
        return ", ".join(f"`{value}`" if value != "" else "empty" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("contentMediaType") == "application/json":
        return f"JSON: {_type(schema['contentSchema'])}"
    kind = schema.get("type")
    if kind == "array":
        return f"list of {_type(schema['items'])}" if "items" in schema else "list"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"object of {_type(values)}" if isinstance(values, dict) and values else "object"
    if kind == "string":
        return {"date-time": "time", "duration": "duration"}.get(schema.get("format", ""), "text")
    return str(kind) if kind else "any"


def _note(parameter: Json, schema: Json) -> str:
    if parameter.get("required"):
        note = "*required*"
    elif schema.get("default") not in (None, "", [], {}):
        note = f"default `{json.dumps(schema['default'])}`"
    else:
        note = ""
    description = _text(parameter.get("description") or schema.get("description") or "")
    return " ".join(part for part in (note, description) if part).replace("|", "\\|")


def _text(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")
