"""Health, readiness and figures, for those who operate the server.

Health and readiness need no key, since balancers have none; they tell nothing but yes or no. The figures count the
requests of all tenants, so they are for the operator only.
"""

from __future__ import annotations

import asyncio
import logging
import secrets

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from longmind.errors import LongmindError, StoreUnavailable, Unauthenticated
from longmind.security.principal import is_local
from longmind.server.rest.handler import credentials_of
from longmind.server.rest.metrics import CONTENT_TYPE
from longmind.server.rest.problems import problem_response
from longmind.server.rest.state import ServerState
from longmind.types import Scope

_READY_SECONDS = 3.0
_log = logging.getLogger(__name__)


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
            async with asyncio.timeout(_READY_SECONDS), state.tenants.open(state.tenants.default) as longmind:
                await longmind.store.backend.head(Scope(tenant=longmind.settings.tenant, agent="readiness"))
        except (TimeoutError, LongmindError) as error:
            _log.warning("The server is not ready: %s.", error.code if isinstance(error, LongmindError) else "timeout")
            # what an error says may name the file or the host of the store
            return problem_response(StoreUnavailable(), retry_after=state.settings.retry_after_seconds)
        return JSONResponse({"status": "ready"})

    async def metrics(request: Request) -> Response:
        """Return the figures for Prometheus."""
        if not _is_operator(request, state):
            return problem_response(
                Unauthenticated(
                    "The figures are given on this machine only, or for their key.",
                    hint="Set LONGMIND_SERVER_METRICS_KEY, and send it as Authorization: Bearer KEY.",
                )
            )
        state.metrics.stores.set(state.tenants.count)
        return Response(state.metrics.render(), media_type=CONTENT_TYPE)

    for path, route in (("/healthz", healthz), ("/readyz", readyz), ("/metrics", metrics)):
        app.add_route(path, route, methods=["GET"])


def _is_operator(request: Request, state: ServerState) -> bool:
    """Return whether a request has the key of the figures; if there is none, whether it comes from this machine."""
    credentials, key = credentials_of(request), state.settings.metrics_key
    if key is None:
        return is_local(credentials)
    expected = f"Bearer {key.get_secret_value()}"
    return secrets.compare_digest((credentials.authorization or "").encode(), expected.encode())
