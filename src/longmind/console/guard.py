"""What every request for the console passes: its origin, who is signed in, and the headers of the response.

The content security policy lets a page load nothing from elsewhere and run no script that is not ours. What NiceGUI
needs of it, and why, is in ADR 0027: ``unsafe-eval``, because Vue compiles templates in the browser; styles inline,
because positions and sizes are set on elements; inline scripts only with a nonce that is new for each page.
"""

from __future__ import annotations

import re
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longmind.console.sessions import COOKIE, Session, Sessions
from longmind.errors import LongmindError
from longmind.security import Credentials

if TYPE_CHECKING:
    from longmind.server.rest.state import ServerState

SESSION = "longmind.console.session"
"""Where the scope of a request holds its session."""
SIGN_IN = "/sign-in"
_OPEN = ("/_nicegui/", "/console/", "/favicon.ico", SIGN_IN)
"""Paths that need no session: files that are the same for everyone, and the page that begins one."""
_SAFE = ("GET", "HEAD")
_SCRIPT = re.compile(rb"<script\b")
_POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; object-src 'none'"
)


class Guard:
    """An ASGI application around the console."""

    def __init__(self, app: ASGIApp, state: ServerState, sessions: Sessions) -> None:
        self._app = app
        self._state = state
        self._sessions = sessions
        self._local = Session(None, float("inf"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        refusal = _cross_site(scope, headers) or await self._foreign(scope, headers)
        if refusal is not None:
            await _refuse(refusal, scope, receive, send)
            return
        session = self._session(headers)
        scope[SESSION] = session
        if session is None and not scope["path"].startswith(_OPEN):
            if scope["type"] == "websocket" or scope["method"] not in _SAFE:
                await _refuse("Sign in first.", scope, receive, send)
                return
            query = scope["query_string"].decode("latin-1")
            wanted = scope["path"] + (f"?{query}" if query else "")
            response = RedirectResponse(f"{SIGN_IN}?next={quote(wanted, safe='')}", 303)
            await response(scope, receive, _with_headers(send, ""))
            return
        if scope["type"] == "websocket":
            if not _owns_page(scope, session):
                await _refuse("This page belongs to another session.", scope, receive, send)
                return
            await self._app(scope, receive, send)
            return
        nonce = secrets.token_urlsafe(16)
        await self._app(scope, receive, _with_headers(send, nonce))

    def _session(self, headers: Headers) -> Session | None:
        if self._state.settings.auth == "none":
            return self._local
        return self._sessions.get(session_id(headers))

    async def _foreign(self, scope: Scope, headers: Headers) -> str | None:
        """Return why a request is refused where nobody needs a key: it comes from elsewhere, or by another name."""
        if self._state.settings.auth != "none":
            return None
        client = scope.get("client")
        credentials = Credentials.model_construct(
            authorization=None,
            address=client[0] if client else None,
            host=headers.get("host"),
            origin=headers.get("origin"),
        )
        try:
            await self._state.authenticator.authenticate(credentials)
        except LongmindError as error:
            return error.message
        return None


def session_id(headers: Headers) -> str | None:
    """Return the id of a session that a request's cookie holds."""
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return cookie.value if cookie is not None else None


def _cross_site(scope: Scope, headers: Headers) -> str | None:
    """Return why a request is refused that another site's page makes."""
    origin, host = headers.get("origin"), headers.get("host", "")
    changes = scope["type"] == "websocket" or scope["method"] not in _SAFE
    if (origin is None and changes) or (origin is not None and urlsplit(origin).netloc != host):
        return "Requests of other sites are refused."
    if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
        return "Requests of other sites are refused."
    return None


def _owns_page(scope: Scope, session: Session | None) -> bool:
    """Return whether a websocket is of the session that loaded its page."""
    from nicegui import Client

    named = parse_qs(scope["query_string"].decode("latin-1")).get("client_id", [""])[0]
    client = Client.instances.get(named)
    return client is None or client.request.scope.get(SESSION) is session


async def _refuse(why: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": why})
        return
    await PlainTextResponse(why, 403)(scope, receive, _with_headers(send, ""))


def _with_headers(send: Send, nonce: str) -> Send:
    """Return ``send`` with the security headers, and with the nonce in the scripts of a page."""
    rewritten = False
    start: Message | None = None
    parts: list[bytes] = []

    async def send_safely(message: Message) -> None:
        nonlocal rewritten, start
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Content-Security-Policy"] = _POLICY.format(nonce=nonce)
            headers["X-Frame-Options"] = "DENY"
            headers["Referrer-Policy"] = "same-origin"  # with no-referrer a form would have no origin
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Cross-Origin-Opener-Policy"] = "same-origin"
            headers["Cross-Origin-Resource-Policy"] = "same-origin"
            rewritten = headers.get("content-type", "").startswith("text/html") and bool(nonce)
            if rewritten:
                start = message
                return
        elif rewritten and start is not None:
            parts.append(message.get("body", b""))
            if message.get("more_body"):
                return
            body = _SCRIPT.sub(b'<script nonce="%s"' % nonce.encode(), b"".join(parts))
            MutableHeaders(scope=start)["content-length"] = str(len(body))
            await send(start)
            await send({"type": "http.response.body", "body": body})
            return
        await send(message)

    return send_safely
