"""The OpenAPI document, made from the table of operations."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from longmind.operations import OPERATIONS, Operation
from longmind.server.rest.events import LINES
from longmind.server.rest.events import MEDIA_TYPE as EVENTS
from longmind.server.rest.limits import PATTERNS, VISIBLE, key_schema, limited, path_schema
from longmind.server.rest.problems import MEDIA_TYPE as PROBLEM
from longmind.server.rest.requests import empty_is_none
from longmind.types import Model

Json = dict[str, Any]
_REF = "#/components/schemas/{model}"


class Problem(Model):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    """Stable: what a program looks at."""
    hint: str
    """What to do about it."""
    details: dict[str, Any]


@cache
def openapi(version: str) -> Json:
    """Return the OpenAPI document of everything under ``/v1``."""
    schemas, components = _schemas()
    paths: dict[str, Json] = {}
    same: dict[str, Operation] = {}  # two paths that differ only in the names of parameters would be one path twice
    for operation in OPERATIONS:
        named = same.setdefault(operation.shape, operation)
        names = dict(zip(operation.path_names, named.path_names, strict=True))
        paths.setdefault("/v1" + named.path, {})[operation.http.lower()] = _operation(operation, schemas, names)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Longmind",
            "version": version,
            "description": "A memory operating system for AI agents.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"key": []}],
        "tags": [{"name": noun} for noun in dict.fromkeys(operation.noun for operation in OPERATIONS)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


_Key = tuple[str, str]


class _SchemaGenerator(GenerateJsonSchema):
    """Says of a response that it has all its fields: those with a default are always written."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        if self.mode == "serialization" and field.get("serialization_exclude_if") is None:
            return True
        return super().field_is_required(field, total)

    def str_schema(self, schema: Any) -> Json:
        json_schema = super().str_schema(schema)
        if schema.get("strip_whitespace") and schema.get("min_length") and "pattern" not in json_schema:
            return {**json_schema, "pattern": VISIBLE}
        return json_schema

    def function_after_schema(self, schema: Any) -> Json:
        json_schema = super().function_after_schema(schema)
        if pattern := PATTERNS.get(schema["function"]["function"]):
            return {**json_schema, "pattern": pattern}
        return json_schema

    def ser_schema(self, schema: Any) -> Json | None:
        if schema["type"] == "function-wrap":
            return None  # it completes a record and writes the fields of its class
        return super().ser_schema(schema)


def _schemas() -> tuple[dict[_Key, Json], Json]:
    """Return the schemas of all requests and responses, and the components that they refer to."""
    wanted: list[tuple[_Key, JsonSchemaMode, TypeAdapter[Any]]] = [
        (("", "problem"), "serialization", TypeAdapter(Problem))
    ]
    for operation in OPERATIONS:
        wanted.append(((operation.name, "query"), "validation", TypeAdapter(operation.query)))
        if operation.body is not None:
            wanted.append(((operation.name, "body"), "validation", TypeAdapter(operation.body)))
        if operation.response.adapter is not None:
            wanted.append(((operation.name, "result"), "serialization", operation.response.adapter))
    found, definitions = TypeAdapter.json_schemas(wanted, ref_template=_REF, schema_generator=_SchemaGenerator)
    components = {_component(name): _renamed(schema) for name, schema in definitions.get("$defs", {}).items()}
    for operation in OPERATIONS:
        if operation.body is not None:
            _describe_body(operation, components[operation.body.__name__])
    return {key: _renamed(schema) for (key, _), schema in found.items()}, components


def _describe_body(operation: Operation, schema: Json) -> None:
    """Say in the schema of a body what the library asks of its fields.

    A field of a change has no default: what is not given stays as it is.
    """
    properties = schema["properties"]
    for name, field in properties.items():
        properties[name] = limited(operation.name, name, field)
    if operation.changes is not None:
        for name in operation.changes.model_fields:
            properties[name].pop("default", None)


def _component(name: str) -> str:
    """Return the name of a record that requests and responses hold: that of its class, or with ``Input``."""
    return name.removesuffix("-Output").replace("-Input", "Input")


def _renamed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_renamed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _component(value) if key == "$ref" else _renamed(value) for key, value in schema.items()}


def _operation(operation: Operation, schemas: dict[_Key, Json], names: dict[str, str]) -> Json:
    summary, _, description = operation.documentation.partition("\n")
    document: Json = {
        "operationId": operation.name,
        "tags": [operation.noun],
        "summary": summary.strip(),
        "description": description.strip(),
        "parameters": _parameters(operation, schemas, names),
        "responses": _responses(operation, schemas),
        "x-permission": operation.permission,
    }
    if operation.body is not None:
        content: Json = {"schema": schemas[operation.name, "body"]}
        if operation.example is not None:
            content["example"] = dict(operation.example)
        document["requestBody"] = {"required": operation.body_required, "content": {"application/json": content}}
    return document


def _parameters(operation: Operation, schemas: dict[_Key, Json], names: dict[str, str]) -> list[Json]:
    path = [
        {"name": names[name], "in": "path", "required": True, "schema": path_schema(operation.name, names[name])}
        for name in operation.path_names
    ]
    schema = _resolved(schemas[operation.name, "query"], operation)
    required = schema.get("required", ())
    query = [
        {"name": name, "in": "query", "required": name in required, "schema": _in_query(operation, name, value)}
        for name, value in schema.get("properties", {}).items()
    ]
    headers = []
    if operation.idempotency is not None:
        once = "A request with the same key is carried out once."
        headers.append(_header("Idempotency-Key", once, **key_schema(operation.idempotency)))
    if operation.expected_version is not None:
        headers.append(_header("If-Match", "The ETag of the record that is changed.", pattern=r'^"[1-9][0-9]{0,9}"$'))
    if operation.resume is not None:
        headers.append(_header("Last-Event-ID", "The id of the last event.", pattern=r"^[0-9]{1,18}$"))
    return [*path, *query, *headers]


def _in_query(operation: Operation, name: str, schema: Json) -> Json:
    """Return the schema of a parameter of the query, with the empty text where that means None."""
    schema = limited(operation.name, name, schema)
    field = operation.query.model_fields.get(name)
    if field is None or not empty_is_none(field):
        return schema
    options = [option for option in schema["anyOf"] if option != {"type": "null"}]
    return {**schema, "anyOf": [*options, {"type": "string", "enum": [""]}]}


def _resolved(schema: Json, operation: Operation) -> Json:
    """Return the schema of a query itself, which may be referred to."""
    if "$ref" not in schema:
        return schema
    own = operation.query.model_json_schema(ref_template=_REF, schema_generator=_SchemaGenerator)
    own.pop("$defs", None)
    return own


def _header(name: str, description: str, **schema: Any) -> Json:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string", **schema},
    }


def _events(options: list[Json]) -> Json:
    """Return a stream of server-sent events, as OpenAPI 3.2 describes it: the data is JSON, of ``end`` empty."""
    data = {"anyOf": [*options, {"type": "object", "maxProperties": 0}]}
    fields = {
        "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": data},
        "event": {"type": "string"},
        "id": {"type": "string"},
    }
    return {"itemSchema": {"type": "object", "properties": fields, "required": ["data"]}}


def _responses(operation: Operation, schemas: dict[_Key, Json]) -> Json:
    responses: Json = {
        "default": {"description": "An error.", "content": {PROBLEM: {"schema": schemas["", "problem"]}}}
    }
    result = schemas.get((operation.name, "result"))
    if operation.streams and result is not None:
        content = {EVENTS: _events([result, schemas["", "problem"]])}
        if operation.as_lines:
            content[LINES] = {"itemSchema": {}}
        responses["200"] = {"description": "A stream of events.", "content": content}
    elif result is not None:
        content = {"application/json": {"schema": result}}
        if operation.progress:
            fields = {name: TypeAdapter(kind).json_schema() for name, kind in operation.progress.items()}
            progress = {"type": "object", "properties": fields, "required": list(fields)}
            content[EVENTS] = _events([progress, result, schemas["", "problem"]])
        responses[str(operation.status)] = {"description": "Done.", "content": content}
        if operation.version is not None:
            responses[str(operation.status)]["headers"] = {"ETag": {"schema": {"type": "string"}}}
            if operation.http == "GET":
                responses["304"] = {"description": "It has this ETag still."}
    if result is None or (operation.response.may_be_none and not operation.none_is_missing):
        responses["204"] = {"description": "Nothing to return."}
    return responses
