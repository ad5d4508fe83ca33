"""Requests to the server's own application, without a network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from starlette.types import ASGIApp, Message

from longmind.console.sessions import Session
from longmind.errors import Unauthenticated

_END = b""


class InProcessTransport(httpx2.AsyncBaseTransport):
    """Calls the server's application with the key of a session, for a browser at an address.

    A response is read while it is made, so streams work. Who signs out reaches nothing any more.
    """

    def __init__(self, app: ASGIApp, session: Session, address: str | None) -> None:
        self._app = app
        self._session = session
        self._address = address

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._session.signed_out:
            raise Unauthenticated("You are signed out.", hint="Sign in again.")
        if self._session.key is not None:
            request.headers["Authorization"] = f"Bearer {self._session.key}"
        exchange = _Exchange(await request.aread())
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "scheme": request.url.scheme,
            "path": request.url.path,
            "raw_path": request.url.raw_path.split(b"?")[0],
            "query_string": request.url.query,
            "server": (request.url.host, request.url.port),
            "client": (self._address, 0) if self._address is not None else None,
            "root_path": "",
        }
        task = asyncio.create_task(exchange.run(self._app, scope), name="console request")
        try:
            status, headers = await exchange.begun
        except BaseException:
            task.cancel()
            raise
        return httpx2.Response(status, headers=headers, stream=_Body(exchange, task))


class _Exchange:
    """One request and its response, as ASGI messages."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._done = asyncio.Event()
        self.begun: asyncio.Future[tuple[int, Any]] = asyncio.get_running_loop().create_future()
        self.chunks: asyncio.Queue[bytes] = asyncio.Queue(16)

    async def run(self, app: ASGIApp, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._send)
        except Exception as error:
            if self.begun.done():
                raise
            self.begun.set_exception(error)
        finally:
            self._done.set()
            if not self.begun.done():
                self.begun.cancel()
            elif not self.begun.cancelled() and self.begun.exception() is None:
                await self.chunks.put(_END)

    async def _receive(self) -> Message:
        if self._body is None:
            await self._done.wait()
            return {"type": "http.disconnect"}
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun.set_result((message["status"], message.get("headers", [])))
        elif message.get("body"):
            await self.chunks.put(message["body"])


class _Body(httpx2.AsyncByteStream):
    """The body of a response that may still be made."""

    def __init__(self, exchange: _Exchange, task: asyncio.Task[None]) -> None:
        self._exchange = exchange
        self._task = task

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while chunk := await self._exchange.chunks.get():
            yield chunk
        await self._task

    async def aclose(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
