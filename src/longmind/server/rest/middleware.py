"""What happens around every request: its id, the limit of its body, the log line, the figures and the observers.

It is plain ASGI: Starlette's ``BaseHTTPMiddleware`` would cost as much as a recall.
"""

from __future__ import annotations

import logging
import re
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longmind.clock import SystemClock
from longmind.errors import LimitExceeded, LongmindError, StoreUnavailable
from longmind.security import AuditEvent
from longmind.server.rest.problems import problem_response
from longmind.server.rest.state import Access, ServerState

_log = logging.getLogger("longmind.server.access")
_CLOCK = SystemClock()
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class AroundRequest:
    """The outermost part of the application."""

    def __init__(self, app: ASGIApp, state: ServerState) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        raw = scope.get("raw_path") or b""
        if b"%" in raw:  # a name may hold an encoded slash, so paths are matched as they came
            scope["path"] = raw.partition(b"?")[0].decode("ascii", "replace")
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"").decode("latin-1")
        client = scope.get("client")
        access = Access(
            given if _ID.fullmatch(given) else _CLOCK.new_id(), scope["method"], client[0] if client else None
        )
        scope["longmind.access"] = access
        request_id = access.request_id.encode()

        withheld = False

        async def send_with_id(message: Message) -> None:
            nonlocal withheld
            if withheld:
                return
            if message["type"] == "http.response.start":
                access.status = message["status"]
                if (error := await self._note(access)) is not None:
                    withheld = True
                    access.status, access.error = error.status, error.code
                    seconds = self._state.settings.retry_after_seconds
                    response = problem_response(error, retry_after=seconds)
                    response.headers["x-request-id"] = access.request_id
                    await response(scope, receive, send)
                    return
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id)]
            await send(message)

        metrics = self._state.metrics
        metrics.in_flight.inc()
        begun = time.perf_counter()
        try:
            limited = _limited(receive, headers, self._state.settings.body_bytes)
            if limited is None:
                access.error = LimitExceeded.code
                await problem_response(_too_large(self._state.settings.body_bytes))(scope, receive, send_with_id)
            else:
                await self._app(scope, limited, send_with_id)
        finally:
            access.seconds = time.perf_counter() - begun
            metrics.in_flight.dec()
            operation = access.operation or "none"
            metrics.requests.labels(operation, str(access.status)).inc()
            metrics.seconds.labels(operation).observe(access.seconds)
            if _log.isEnabledFor(logging.INFO):
                _log.info("request", extra={"access": _line(access)})
            for observer in self._state.observers:
                await observer(access)

    async def _note(self, access: Access) -> LongmindError | None:
        """Note an access before its response is sent. Return the error if that fails: then nobody sees the response."""
        if self._state.audit is None or not access.operation:
            return None
        try:
            await self._state.audit.write(_event(access))
        except LongmindError as error:
            _log.warning("The audit cannot be written (request %s): %s", access.request_id, error.code)
            return StoreUnavailable("The audit cannot be written, and nothing is shown without it.", hint="Try again.")
        return None


def _event(access: Access) -> AuditEvent:
    principal = access.principal
    return AuditEvent.model_construct(
        at=_CLOCK.now(),
        tenant=principal.tenant if principal else "",
        key=principal.key_id if principal else None,
        subject=principal.subject if principal else None,
        operation=access.operation,
        agent=access.agent,
        user=access.user,
        http=access.http,
        status=access.status,
        error=access.error,
        address=access.address,
        request_id=access.request_id,
    )


def _limited(receive: Receive, headers: dict[bytes, bytes], limit: int) -> Receive | None:
    """Return ``receive`` with a limit on the bytes of the body; None if the headers tell that it is exceeded."""
    length = headers.get(b"content-length", b"")
    if length.isdigit():
        return receive if int(length) <= limit else None
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise _too_large(limit)
        return message

    return counted


def _too_large(limit: int) -> LimitExceeded:
    return LimitExceeded(f"The body is larger than {limit:,} bytes.", hint="Send it in parts.", limit=limit)


def _line(access: Access) -> dict[str, Any]:
    """Return what the log tells of a request: who, what and how it went, and nothing of what it said."""
    principal = access.principal
    return {
        "request_id": access.request_id,
        "http": access.http,
        "operation": access.operation,
        "status": access.status,
        "error": access.error,
        "ms": round(access.seconds * 1000, 2),
        "tenant": principal.tenant if principal else None,
        "key": principal.key_id if principal else None,
        "agent": access.agent,
        "address": access.address,
    }
