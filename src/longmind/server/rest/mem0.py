"""The routes of mem0's server, for programs that were written for it: ``longmind serve --mem0``.

``/memories``, ``/search`` and ``/reset``, beside ``/v1``. Authentication, limits, metrics and audit are those of REST.
A request that names a user needs the permission to read or write; one that reaches every user needs ``admin``. Errors
have the form of that server: ``{"detail": ...}``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from longmind.adapters.mem0 import AsyncMemory, InvalidRequest
from longmind.errors import InvalidInput, LongmindError, NotFound, TimedOut
from longmind.problems import first_problem
from longmind.security import Credentials, Permission
from longmind.server.rest.handler import InternalError, credentials_of
from longmind.server.rest.requests import read_path
from longmind.server.rest.state import Access, ServerState

_log = logging.getLogger(__name__)
_ID_NEEDED = "At least one identifier (user_id, agent_id, run_id) is required."
Json = dict[str, Any]
B = TypeVar("B", bound=BaseModel)


class _Body(BaseModel):
    """A body; what a newer client sends beside these fields is not read."""

    model_config = ConfigDict(extra="ignore")


class _Ids(_Body):
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    def ids(self) -> dict[str, str]:
        """The ids that are given, of which there must be one."""
        named = {name: value for name in ("user_id", "agent_id", "run_id") if (value := getattr(self, name))}
        if not named:
            raise InvalidRequest(_ID_NEEDED)
        return named


class _Message(_Body):
    role: str
    content: str | list[Any] | Json
    name: str | None = None


class _Addition(_Ids):
    messages: list[_Message]
    metadata: Json | None = None
    infer: bool = True
    memory_type: str | None = None
    prompt: str | None = None
    expiration_date: str | None = None


class _Search(_Ids):
    query: str
    filters: Json | None = None
    top_k: int = 20
    threshold: float | None = 0.1
    explain: bool = False
    show_expired: bool = False


class _Change(_Body):
    text: str | None = None
    data: str | None = None
    metadata: Json | None = None


class _Listing(_Ids):
    top_k: int = 20
    show_expired: bool = False


class Mem0Routes:
    """Answers the requests of mem0's clients, for one agent."""

    def __init__(self, state: ServerState, agent: str) -> None:
        self._state = state
        self._agent = agent

    def add(self, app: FastAPI) -> None:
        """Add the routes to an application."""
        routes: list[tuple[str, str, Permission, Callable[[Request, _Call], Awaitable[Any]]]] = [
            ("POST", "/memories", "write", self._add),
            ("GET", "/memories", "read", self._get_all),
            ("DELETE", "/memories", "write", self._delete_all),
            ("POST", "/search", "read", self._search),
            ("GET", "/memories/{memory_id}", "read", self._get),
            ("PUT", "/memories/{memory_id}", "write", self._update),
            ("DELETE", "/memories/{memory_id}", "write", self._delete),
            ("GET", "/memories/{memory_id}/history", "read", self._history),
            ("POST", "/reset", "admin", self._reset),
        ]
        for method, path, permission, answer in routes:
            name = f"mem0.{answer.__name__.removeprefix('_')}"
            endpoint = _Endpoint(self._state, self._agent, name, permission, answer)
            app.add_route(path, endpoint.__call__, methods=[method], name=name)

    async def _add(self, request: Request, call: _Call) -> Any:
        body = await _body(request, _Addition)
        ids = body.ids()
        more: Json = body.model_dump(exclude={"messages", "user_id", "agent_id", "run_id"}, exclude_none=True)
        messages = [message.model_dump(exclude_none=True) for message in body.messages]
        return await call.memory(ids.get("user_id")).add(messages, **{**more, **ids})

    async def _get_all(self, request: Request, call: _Call) -> Any:
        query = _query(request, _Listing)
        ids = query.ids()
        return await call.memory(ids.get("user_id")).get_all(
            filters=ids, top_k=query.top_k, show_expired=query.show_expired
        )

    async def _search(self, request: Request, call: _Call) -> Any:
        body = await _body(request, _Search)
        named = {name: value for name in ("user_id", "agent_id", "run_id") if (value := getattr(body, name))}
        filters = {**(body.filters or {}), **named}
        more = body.model_dump(include={"top_k", "threshold", "explain", "show_expired"})
        user = filters.get("user_id")
        return await call.memory(None if user is None else str(user)).search(body.query, filters=filters, **more)

    async def _get(self, request: Request, call: _Call) -> Any:
        item = await call.memory(None).get(read_path(request)["memory_id"])
        if item is None:
            raise NotFound("Memory not found")
        return item

    async def _update(self, request: Request, call: _Call) -> Any:
        body = await _body(request, _Change)
        return await call.memory(None).update(read_path(request)["memory_id"], body.text, body.metadata, data=body.data)

    async def _delete(self, request: Request, call: _Call) -> Any:
        await call.memory(None).delete(read_path(request)["memory_id"])
        return {"message": "Memory deleted successfully"}

    async def _delete_all(self, request: Request, call: _Call) -> Any:
        ids = _query(request, _Ids).ids()
        await call.memory(ids.get("user_id")).delete_all(**ids)
        return {"message": "All relevant memories deleted"}

    async def _history(self, request: Request, call: _Call) -> Any:
        return await call.memory(None).history(read_path(request)["memory_id"])

    async def _reset(self, request: Request, call: _Call) -> Any:
        await call.memory(None).reset()
        return {"message": "All memories reset"}


class _Call:
    """A request whose principal is known, and the store of its tenant."""

    def __init__(self, longmind: Any, agent: str, principal: Any, access: Access) -> None:
        self._longmind, self._agent, self._principal, self._access = longmind, agent, principal, access

    def memory(self, user: str | None) -> AsyncMemory:
        """Return the memory that a request is about: of a user, or of everyone the principal may reach."""
        only = self._principal.reachable_user(user)
        if only is None:
            self._principal.require("admin", self._agent)
        self._access.user = only
        return AsyncMemory(self._longmind, agent=self._agent, user=self._principal.user)


class _Endpoint:
    """Answers one route: authenticates, calls, and writes the result or the error."""

    def __init__(
        self,
        state: ServerState,
        agent: str,
        name: str,
        permission: Permission,
        answer: Callable[[Request, _Call], Awaitable[Any]],
    ) -> None:
        self._state, self._agent, self._name = state, agent, name
        self._permission, self._answer = permission, answer

    async def __call__(self, request: Request) -> Response:
        access: Access = request.scope["longmind.access"]
        access.operation, access.agent = self._name, self._agent
        try:
            async with asyncio.timeout(self._state.settings.request_seconds):
                principal = await self._state.authenticate(_credentials_of(request), access)
                principal.require(self._permission, self._agent)
                async with self._state.tenants.open(principal.tenant) as longmind:
                    return JSONResponse(await self._answer(request, _Call(longmind, self._agent, principal, access)))
        except LongmindError as error:
            return self._refused(error, access)
        except TimeoutError:
            return self._refused(TimedOut("The request took too long."), access)
        except ClientDisconnect:
            raise
        except Exception:  # a fault of ours: the client learns no more than that, the log where it is
            _log.exception("The operation %s failed (request %s).", self._name, access.request_id)
            return self._refused(InternalError(), access)

    def _refused(self, error: LongmindError, access: Access) -> Response:
        access.error = error.code
        status = error.status
        if isinstance(error, InvalidRequest):
            status = 404 if "not found" in error.message else 400
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        if status in (429, 503):
            headers["Retry-After"] = str(error.details.get("retry_after", self._state.settings.retry_after_seconds))
        return JSONResponse({"detail": error.message}, status, headers)


def _credentials_of(request: Request) -> Credentials:
    """Return what a request says of who makes it; mem0's programs give their key as ``X-API-Key``."""
    credentials, key = credentials_of(request), request.headers.get("x-api-key")
    if credentials.authorization is not None or key is None:
        return credentials
    return credentials.model_copy(update={"authorization": f"Bearer {key}"})


async def _body(request: Request, model: type[B]) -> B:
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        field, reason = first_problem(error)
        raise InvalidInput(f"{field or 'The body'} is not valid: {reason}.") from None


def _query(request: Request, model: type[B]) -> B:
    try:
        return model.model_validate(dict(request.query_params))
    except ValidationError as error:
        field, reason = first_problem(error)
        raise InvalidInput(f"{field or 'The query'} is not valid: {reason}.") from None
