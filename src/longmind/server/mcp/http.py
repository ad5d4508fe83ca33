"""MCP over streamable HTTP: ``/mcp?agent=NAME&user=NAME`` of the server.

Each request stands for itself: there are no sessions, so that any process can answer it. Who calls and what they may do
is found out as for REST, before the body is read; without a key the addresses in ``Host`` and ``Origin`` must be this
machine's own, so that no web page can reach it by a name that resolves here.

The SDK is loaded with the first request, in a thread: it is a quarter of what a server loads, and most are never asked
for MCP.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from longmind.agent_memory import AgentMemory
from longmind.errors import InvalidInput, LongmindError, StoreUnavailable
from longmind.security import Permission, Principal
from longmind.server.rest.handler import credentials_of
from longmind.server.rest.problems import problem_response
from longmind.server.rest.state import Access, ServerState
from longmind.server.starting import without_garbage_collection

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from longmind.server.mcp.context import Context

_KEY = "longmind.mcp"


@dataclass(frozen=True, slots=True)
class RequestAccess:
    """The memory that the principal of a request may reach."""

    state: ServerState
    principal: Principal
    agent: str
    user: str | None
    access: Access

    @asynccontextmanager
    async def memory(self, permission: Permission, operation: str) -> AsyncIterator[AgentMemory]:
        self.access.operation = operation
        try:
            self.principal.require(permission, self.agent)
            async with self.state.tenants.open(self.principal.tenant) as longmind:
                yield longmind.agent(self.agent, self.user)
        except LongmindError as error:
            self.access.error = error.code  # the status of the response does not tell it
            raise


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The SDK's part of the endpoint, which is loaded when it is wanted."""

    manager: asyncio.Future[StreamableHTTPSessionManager]
    wanted: asyncio.Event = field(default_factory=asyncio.Event)

    async def get(self) -> StreamableHTTPSessionManager:
        self.wanted.set()
        return await asyncio.shield(self.manager)  # others wait for it too


class McpEndpoint:
    """The ASGI application at ``/mcp``."""

    def __init__(self, state: ServerState, default_agent: str) -> None:
        self._state = state
        self._default_agent = default_agent
        self._loaded: _Loaded | None = None
        """None while the server does not run."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests; when it ends, those under way are cancelled."""
        self._loaded = loaded = _Loaded(asyncio.get_running_loop().create_future())
        serving = asyncio.create_task(self._serve(loaded))
        try:
            yield
        finally:
            self._loaded = None
            serving.cancel()
            await asyncio.wait({serving})
            if not loaded.manager.done():
                loaded.manager.set_exception(_not_running())
                loaded.manager.exception()  # there need not be a request that waits for it

    async def _serve(self, loaded: _Loaded) -> None:
        """Run the SDK's part from the first request on, until cancelled."""
        await loaded.wanted.wait()
        try:
            manager = await asyncio.to_thread(self._load)
        except Exception as error:  # it is told to every request
            loaded.manager.set_exception(error)
            return
        async with manager.run():
            loaded.manager.set_result(manager)
            await asyncio.Event().wait()

    def _load(self) -> StreamableHTTPSessionManager:
        with without_garbage_collection():  # a full collection would hold the requests of others
            from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

            from longmind.server.mcp.server import create_server

        settings = self._state.settings
        return StreamableHTTPSessionManager(
            create_server(_access_of, seconds=settings.request_seconds),
            json_response=True,
            stateless=True,
            max_request_body_size=settings.body_bytes,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        access: Access = scope["longmind.access"]
        access.operation = "mcp"
        try:
            if (loaded := self._loaded) is None:
                raise _not_running()
            principal = await self._state.authenticate(credentials_of(request), access)
            agent, user = self._read_query(request, principal)
            access.agent, access.user = agent, user
            principal.require("read", agent)
            if request.method != "POST":
                response = problem_response(InvalidInput("MCP requests are POST; there is no stream."), status=405)
                response.headers["Allow"] = "POST"
                await response(scope, receive, send)
                return
            scope[_KEY] = RequestAccess(self._state, principal, agent, user, access)
            manager = await loaded.get()
        except LongmindError as error:
            access.error = error.code
            response = problem_response(error, retry_after=self._state.settings.retry_after_seconds)
            await response(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)

    def _read_query(self, request: Request, principal: Principal) -> tuple[str, str | None]:
        """Return the agent and the user. A key for one agent means that one."""
        values: dict[str, str] = {}
        for name, value in request.query_params.multi_items():
            if name not in ("agent", "user") or name in values or not value:
                raise InvalidInput("The query of /mcp is agent=NAME and user=NAME, each at most once.")
            values[name] = value
        only = next(iter(principal.agents)) if principal.agents is not None and len(principal.agents) == 1 else None
        return values.get("agent", only or self._default_agent), principal.reachable_user(values.get("user"))


def _not_running() -> StoreUnavailable:
    return StoreUnavailable("The server is starting or stopping.")


def _access_of(ctx: Context) -> RequestAccess:
    assert ctx.request is not None
    access: RequestAccess = ctx.request.scope[_KEY]
    return access
