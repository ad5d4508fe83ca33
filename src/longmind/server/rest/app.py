"""``create_app``: the server as an ASGI application."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route

import longmind
from longmind.config import Settings
from longmind.errors import InvalidInput, InvalidSetting, LongmindError, NotFound
from longmind.operations import OPERATIONS
from longmind.security import AccessStore, Anonymous, AuditWriter, Authenticator, KeyAuthenticator
from longmind.security.limits import RateLimits, TokenBuckets
from longmind.server.mcp.http import McpEndpoint
from longmind.server.rest.handler import Handler
from longmind.server.rest.metrics import Metrics
from longmind.server.rest.middleware import AroundRequest
from longmind.server.rest.openapi import openapi
from longmind.server.rest.problems import problem_response
from longmind.server.rest.routes import health
from longmind.server.rest.state import ServerState
from longmind.server.settings import ServerSettings
from longmind.server.tenants import Tenants
from longmind.store.access import access_store
from longmind.store.base import SharedBackend

if TYPE_CHECKING:
    from longmind.memory import Longmind
    from longmind.systems.procedural import ToolRegistry


def create_app(
    store: Longmind | str | None = None,
    settings: ServerSettings | None = None,
    *,
    authenticator: Authenticator | None = None,
    library: Settings | None = None,
    tools: ToolRegistry | None = None,
) -> FastAPI:
    """Return the server of a store, as an ASGI application.

    ``store`` is a ``Longmind`` that is open, and stays yours to close, or a URL, which the application opens when it
    starts and closes when it stops. ``library`` are the settings of the process, and ``tools`` the functions that
    procedures may call; a ``Longmind`` that is open has its own. Without an ``authenticator`` it answers only on the
    machine's own addresses, unless the settings name a way to know who calls; then every access is noted in the audit.
    """
    settings = settings or ServerSettings.load()
    library = library or Settings.load()
    tenants = Tenants(
        store, library, open_limit=settings.tenants_open, consolidation=settings.consolidation, tools=tools
    )
    access = access_store(tenants.url, library)
    state = ServerState(
        settings,
        tenants,
        authenticator or _authenticator(settings, access, tenants.default),
        Metrics(),
        access,
        RateLimits(
            TokenBuckets(settings.rate_per_second, settings.rate_burst),
            TokenBuckets(settings.failures_per_minute / 60, math.ceil(settings.failures_per_minute)),
        ),
        AuditWriter(access) if settings.auth != "none" else None,
    )
    mcp = McpEndpoint(state, library.agent)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            async with tenants.open(tenants.default) as whole:  # a store that cannot be opened is told at the start
                _require_isolation(whole, settings)
            async with mcp.running():
                yield
        finally:
            state.stopping.set()
            if state.audit is not None:
                await state.audit.close()
            await tenants.close()
            await access.close()

    app = FastAPI(
        title="Longmind",
        version=longmind.__version__,
        lifespan=lifespan,
        openapi_url="/v1/openapi.json",
        docs_url=None,  # FastAPI's pages load scripts from another site
        redoc_url=None,
    )
    app.state.server = state
    app.add_middleware(AroundRequest, state=state)
    app.add_exception_handler(HTTPException, _http_problem)
    app.add_exception_handler(LongmindError, _problem)
    app.openapi = lambda: openapi(longmind.__version__)  # type: ignore[method-assign]
    for operation in OPERATIONS:
        app.add_route(
            "/v1" + operation.path, Handler(operation, state).__call__, methods=[operation.http], name=operation.name
        )
    app.router.routes.append(Route("/mcp", mcp))
    if settings.mem0:
        from longmind.server.rest.mem0 import Mem0Routes

        Mem0Routes(state, library.agent).add(app)
    health.add(app, state)
    return app


def _authenticator(settings: ServerSettings, access: AccessStore, tenant: str) -> Authenticator:
    if settings.auth == "none":
        return Anonymous(tenant)
    keys = KeyAuthenticator(access, cache_seconds=settings.key_cache_seconds)
    if settings.auth == "keys":
        return keys
    if settings.tokens is None:
        raise InvalidSetting("Tokens need an issuer and an audience.", hint="Give --oidc-issuer and --oidc-audience.")
    from longmind.security.tokens import KeysAndTokens, TokenAuthenticator

    return KeysAndTokens(keys, TokenAuthenticator(settings.tokens))


def _require_isolation(whole: Longmind, settings: ServerSettings) -> None:
    """Refuse to serve several tenants from a database that does not keep them apart."""
    backend = whole.store.backend
    if settings.auth == "none" or settings.single_tenant or not isinstance(backend, SharedBackend):
        return
    if backend.unrestricted is not None:
        raise InvalidSetting(
            f"The database would not keep the tenants apart: {backend.unrestricted}.",
            hint="Let the owner run `longmind doctor --create-role NAME` and connect as this role,"
            " or serve one tenant with --single-tenant.",
        )


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, LongmindError)
    return problem_response(error)


def _allowed(request: Request) -> list[str]:
    """Return the HTTP methods of the resource at a path; of two that match, that with fewer parameters."""
    scope = {**request.scope, "path": request.scope["path"].removeprefix(request.scope.get("root_path", ""))}
    names = {route.name for route in request.app.routes if route.matches(scope)[0] is not Match.NONE}
    matching = [operation for operation in OPERATIONS if operation.name in names]
    shape = min((operation.shape for operation in matching), key=lambda shape: shape.count("{}"), default=None)
    return [operation.http for operation in matching if operation.shape == shape]


async def _http_problem(request: Request, error: Exception) -> Response:
    """Answer a request that reached no operation."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return problem_response(NotFound("There is nothing at this path.", hint="See /v1/openapi.json."))
    if error.status_code == 405:
        response = problem_response(InvalidInput("This path does not take this HTTP method."), status=405)
        response.headers["Allow"] = ", ".join(_allowed(request)) or (error.headers or {}).get("Allow", "")
        return response
    return JSONResponse({"detail": error.detail}, error.status_code)
