"""Errors as ``application/problem+json`` (RFC 9457), from the one error tree."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

from longmind.errors import InvalidAnswer, InvalidInput, LongmindError
from longmind.problems import problems
from longmind.recall.filters import unknown_fields, unusable_filter
from longmind.types import Filter

MEDIA_TYPE = "application/problem+json"
_FILTER = "where."


def problem(error: LongmindError, status: int | None = None) -> dict[str, Any]:
    """Return an error as the fields of a problem."""
    details = {} if isinstance(error, InvalidAnswer) else error.details  # it would hold what a model said
    return {
        "type": f"urn:longmind:error:{error.code}",
        "title": (type(error).__doc__ or error.code).split("\n", 1)[0],
        "status": status or error.status,
        "detail": error.message,
        "code": error.code,
        "hint": error.hint,
        "details": details,
    }


def problem_response(error: LongmindError, *, status: int | None = None, retry_after: int | None = None) -> Response:
    """Return an error as a response."""
    status = status or error.status
    headers = {}
    seconds = error.details.get("retry_after", retry_after)
    if status in (429, 503) and seconds is not None:
        headers["Retry-After"] = str(seconds)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    content = json.dumps(problem(error, status), default=str, ensure_ascii=False).encode(errors="replace")
    return Response(content, status, headers, MEDIA_TYPE)


def invalid_request(error: ValidationError, where: str, kind: type[InvalidInput] = InvalidInput) -> InvalidInput:
    """Return what is wrong with a request: the fields and the reasons, never what they held."""
    listed = problems(error)
    field, reason = listed[0]
    message, hint = f"{field or 'It'} in the {where} is not valid: {reason}.", ""
    if field.startswith(_FILTER):  # in the words of the library, which names the fields that there are
        fields = [name.removeprefix(_FILTER) for name, _ in listed if name.startswith(_FILTER)]
        unknown = [name for name in fields if name.partition(".")[0] not in Filter.model_fields]
        as_told = unknown_fields(unknown) if unknown else unusable_filter(fields[0], reason)
        message, hint = as_told.message, as_told.hint
    told = [{"field": name, "reason": why} for name, why in listed[:20]]
    return kind(message, hint=hint, field=field, problems=told)
