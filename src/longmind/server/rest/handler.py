"""Answering a request: one handler for every operation."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
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
            result = getattr(target, operation.method)(*positional, **named)
            if operation.streams:
                first = events.PENDING if operation.resume else await events.first_of(result)
                stream = events.write(operation, self._state, result, first, held.pop_all())
                return StreamingResponse(stream, media_type=events.MEDIA_TYPE, headers={"Cache-Control": "no-store"})
            return self._result(request, await result)

    def _result(self, request: Request, result: Any) -> Response:
        operation = self._operation
        if result is None:
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


def credentials_of(request: Request) -> Credentials:
    """Return what a request says of who makes it."""
    headers = request.headers
    return Credentials.model_construct(
        authorization=headers.get("authorization"),
        address=request.client.host if request.client else None,
        host=headers.get("host"),
        origin=headers.get("origin"),
    )
