"""Reading a request: its path, query, headers and body become the arguments of a method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from starlette.requests import Request

from longmind.errors import InvalidInput
from longmind.operations import Operation
from longmind.operations.wire import is_list
from longmind.server.rest.problems import invalid_request

Values = dict[str, Any]


def read_path(request: Request) -> dict[str, str]:
    """Return the parameters of the path. The path was matched as it came, so each is decoded by itself."""
    encoded = "%" in request.scope["path"]
    return {name: unquote(value) if encoded else value for name, value in request.path_params.items()}


def read_query(request: Request, operation: Operation) -> Values:
    """Return the parameters of the query that were given."""
    model = operation.query
    values: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        field = model.model_fields.get(name)
        if field is not None and is_list(field.annotation):
            values.setdefault(name, []).append(value)
        elif name in values:
            raise InvalidInput(f"{name} is in the query twice.", field=name)
        else:
            values[name] = None if value == "" and field is not None and empty_is_none(field) else value
    return _given(_validated(model, values))


def empty_is_none(field: FieldInfo) -> bool:
    """Return whether an empty value means None: where None can be asked for and leaving it out means something else."""
    return field.default is not None and not field.is_required() and type(None) in get_args(field.annotation)


def _validated(model: type[BaseModel], values: Values) -> BaseModel:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise invalid_request(error, "query") from None


async def read_body(request: Request, operation: Operation) -> Values:
    """Return the fields of the body that were given."""
    text = await request.body()
    if operation.body is None or (not text and not operation.body_required):
        if text.strip() not in (b"", b"{}"):
            raise InvalidInput("This request takes no body.")
        return {}
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise InvalidInput("The body must be JSON.", hint="Send the header Content-Type: application/json.")
    try:
        return _given(operation.body.model_validate_json(text, strict=True))
    except ValidationError as error:
        raise invalid_request(error, "body", operation.invalid) from None


def read_headers(request: Request, operation: Operation) -> Values:
    """Return the parameters that headers set: the expected version, the id of the operation, and where to resume."""
    values: Values = {}
    key = request.headers.get("idempotency-key")
    if key is not None and operation.idempotency is not None:
        values[operation.idempotency] = key
    match = request.headers.get("if-match")
    if match is not None and operation.expected_version is not None and match.strip() != "*":
        values[operation.expected_version] = _version(match)
    last = request.headers.get("last-event-id")
    if last is not None and operation.resume is not None:
        if not last.isdigit() or len(last) > 18:
            raise InvalidInput("Last-Event-ID must be the id of an event.", field="Last-Event-ID")
        values[operation.resume] = int(last)
    return values


def _version(tag: str) -> int:
    text = tag.strip().removeprefix("W/").strip('"')
    if not text.isdigit() or len(text) > 18:
        raise InvalidInput('If-Match must be an ETag that this server gave, such as "3".', field="If-Match")
    return int(text)


def split(operation: Operation, path: Mapping[str, str], query: Values) -> tuple[Values, Values]:
    """Return what locates the object, and what are arguments of the method."""
    names = operation.face.names()
    located = {name: value for name, value in (*path.items(), *query.items()) if name in names}
    arguments = {name: value for name, value in (*path.items(), *query.items()) if name not in names}
    return located, arguments


def _given(model: BaseModel) -> Values:
    return {name: getattr(model, name) for name in type(model).model_fields if name in model.model_fields_set}
