"""Health, readiness and figures, for those who operate the server."""

from __future__ import annotations

import asyncio

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from longmind.errors import LongmindError, StoreUnavailable
from longmind.server.rest.metrics import CONTENT_TYPE
from longmind.server.rest.problems import problem_response
from longmind.server.rest.state import ServerState
from longmind.types import Scope

_READY_SECONDS = 3.0


def add(app: FastAPI, state: ServerState) -> None:
    """Add ``/healthz``, ``/readyz`` and ``/metrics``."""

    async def healthz(request: Request) -> Response:
        """Answer that the process is alive."""
        return JSONResponse({"status": "ok"})

    async def readyz(request: Request) -> Response:
        """Answer whether the store can be read now."""
        try:
            if state.stopping.is_set():
                raise StoreUnavailable("The server is stopping.")
            async with asyncio.timeout(_READY_SECONDS), state.tenants.open(state.tenants.default) as rc:
                await rc.store.backend.head(Scope(tenant=rc.settings.tenant, agent="readiness"))
        except TimeoutError:
            return problem_response(StoreUnavailable(), retry_after=state.settings.retry_after_seconds)
        except LongmindError as error:
            return problem_response(error, status=503, retry_after=state.settings.retry_after_seconds)
        return JSONResponse({"status": "ready"})

    async def metrics(request: Request) -> Response:
        """Return the figures for Prometheus."""
        state.metrics.stores.set(state.tenants.count)
        return Response(state.metrics.render(), media_type=CONTENT_TYPE)

    for path, route in (("/healthz", healthz), ("/readyz", readyz), ("/metrics", metrics)):
        app.add_route(path, route, methods=["GET"])
