"""Answering a request: one handler for every operation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from longmind.errors import Forbidden, LongmindError, NotFound, StoreUnavailable, TimedOut, VersionConflict
from longmind.operations import Operation
from longmind.security import Credentials, Principal
from longmind.server.rest import events
from longmind.server.rest.problems import problem_response
from longmind.server.rest.requests import read_body, read_headers, read_path, read_query, split
from longmind.server.rest.state import Access, ServerState

_log = logging.getLogger(__name__)


class InternalError(LongmindError):
    """The server failed; the request may or may not have been carried out."""

    code = "internal"


class Handler:
    """Answers the requests of one operation: authenticates, reads, calls the method, and writes the result."""

    def __init__(self, operation: Operation, state: ServerState) -> None:
        self._operation = operation
        self._state = state

    async def __call__(self, request: Request) -> Response:
        access: Access = request.scope["longmind.access"]
        access.operation = self._operation.name
        try:
            async with asyncio.timeout(self._state.settings.request_seconds):
                return await self._answer(request, access)
        except LongmindError as error:
            return self._problem(error, access, request)
        except TimeoutError:
            seconds = self._state.settings.request_seconds
            late = TimedOut(f"The request took longer than {seconds:g} s.", hint="Ask for less, or repeat it later.")
            return self._problem(late, access, request)
        except (ClientDisconnect, asyncio.CancelledError):
            raise
        except Exception:  # a fault of ours: the client learns no more than that, the log where it is
            _log.exception("The operation %s failed (request %s).", self._operation.name, access.request_id)
            return self._problem(InternalError(request_id=access.request_id), access, request)

    async def _answer(self, request: Request, access: Access) -> Response:
        operation = self._operation
        principal = await self._state.authenticate(credentials_of(request), access)
        path = read_path(request)
        access.agent = path.get("agent")
        principal.require(operation.permission, access.agent)
        query = read_query(request, operation)
        located, arguments = split(operation, path, query)
        if principal.user is not None:
            _require_user(principal, operation, located)
        access.user = located.get("user")
        if located.get("all_users"):
            principal.require("admin", access.agent)
        arguments |= await read_body(request, operation) | read_headers(request, operation)
        async with AsyncExitStack() as held:
            if operation.face.of_server:
                target = self._state.administration(operation.face.cls, principal)
            else:
                longmind = await held.enter_async_context(self._state.tenants.open(principal.tenant))
                target = operation.face.locate(longmind, located)
            positional, named = operation.arguments(arguments)
            method = partial(getattr(target, operation.method), *positional, **named)
            if operation.progress and _accepts(request, events.MEDIA_TYPE):
                items = events.with_progress(operation, lambda tell: method(**{operation.progress_parameter: tell}))
                return self._stream(request, items, events.PENDING, held.pop_all())
            if operation.streams:
                items = method()
                first = events.PENDING if operation.resume else await events.first_of(items)
                return self._stream(request, items, first, held.pop_all())
            return self._result(request, await method())

    def _stream(self, request: Request, items: AsyncIterator[Any], first: Any, held: AsyncExitStack) -> Response:
        operation, headers = self._operation, {"Cache-Control": "no-store"}
        if operation.as_lines and _accepts(request, events.LINES):
            return StreamingResponse(
                events.lines(operation, items, first, held), media_type=events.LINES, headers=headers
            )
        stream = events.write(operation, self._state, items, first, held)
        return StreamingResponse(stream, operation.status, media_type=events.MEDIA_TYPE, headers=headers)

    def _result(self, request: Request, result: Any) -> Response:
        operation = self._operation
        if result is None and not operation.response.holds_none:
            if operation.none_is_missing:
                raise NotFound(f"There is no such {operation.noun.removesuffix('s')} here.", none=True)
            return Response(status_code=204)
        headers = {}
        version = getattr(result, operation.version, None) if operation.version else None
        if version is not None:
            headers["ETag"] = tag = f'"{version}"'
            if operation.http == "GET" and tag in request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers=headers)
        return Response(operation.response.dump(result), operation.status, headers, "application/json")

    def _problem(self, error: LongmindError, access: Access, request: Request) -> Response:
        access.error = error.code
        status = 412 if isinstance(error, VersionConflict) and "if-match" in request.headers else error.status
        if isinstance(error, StoreUnavailable):
            _log.warning("The store does not answer (request %s).", access.request_id)
        return problem_response(error, status=status, retry_after=self._state.settings.retry_after_seconds)


def _require_user(principal: Principal, operation: Operation, located: dict[str, Any]) -> None:
    """Keep a principal that stands for one user to the memories of this user and of no user."""
    if "user" not in operation.face.query:
        principal.require("admin")
    elif located.get("all_users"):
        raise Forbidden("This token reaches the memories of one user only.")
    else:
        located["user"] = principal.reachable_user(located.get("user"))


def _accepts(request: Request, media: str) -> bool:
    """Return whether the client asks for a media type by its name."""
    accepted = request.headers.get("accept", "").lower().split(",")
    return any(choice.partition(";")[0].strip() == media for choice in accepted)


def credentials_of(request: Request) -> Credentials:
    """Return what a request says of who makes it."""
    headers = request.headers
    return Credentials.model_construct(
        authorization=headers.get("authorization"),
        address=request.client.host if request.client else None,
        host=headers.get("host"),
        origin=headers.get("origin"),
    )
