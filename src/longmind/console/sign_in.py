"""Signing in with a key, and out again. The page is plain HTML and runs no script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from longmind.console.guard import SESSION, SIGN_IN, session_id
from longmind.console.sessions import COOKIE, LIFETIME_SECONDS, Sessions
from longmind.errors import LongmindError
from longmind.security import Credentials

if TYPE_CHECKING:
    from fastapi import FastAPI

    from longmind.server.rest.state import ServerState

_PAGE = """<!doctype html>
<html lang="en">
<head>
<title>Sign in · Longmind</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="/console/mark.svg">
<link rel="stylesheet" href="/console/sign_in.css">
</head>
<body>
<main>
<img src="/console/mark.svg" alt="" width="44" height="44">
<h1>Sign in to Longmind</h1>
<p>Give an API key of this server. What you see and may change is what the key allows.</p>
{problem}
<form method="post" action="/sign-in">
<input type="hidden" name="next" value="{next}">
<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="off" spellcheck="false" required autofocus>
<button type="submit">Sign in</button>
</form>
<p class="hint">No key yet? Whoever runs the server makes one:</p>
<pre>longmind keys create NAME</pre>
</main>
</body>
</html>
"""
_LONGEST = 10_000


class SignIn:
    """The requests that begin and end a session."""

    def __init__(self, state: ServerState, sessions: Sessions) -> None:
        self._state = state
        self._sessions = sessions

    def add(self, app: FastAPI) -> None:
        """Add the page and what its forms are sent to."""
        app.add_route(SIGN_IN, self.show, methods=["GET"])
        app.add_route(SIGN_IN, self.begin, methods=["POST"])
        app.add_route("/sign-out", self.end, methods=["POST"])

    async def show(self, request: Request) -> Response:
        """Return the page, or go on where there is a session already."""
        target = local_path(request.query_params.get("next", "/"))
        if request.scope[SESSION] is not None and "again" not in request.query_params:
            return RedirectResponse(target, 303)
        return _page(target, None, 200)

    async def begin(self, request: Request) -> Response:
        """Begin a session with the key in a form."""
        fields = parse_qs((await request.body())[:_LONGEST].decode("utf-8", "replace"))
        key, target = fields.get("key", [""])[0].strip(), local_path(fields.get("next", ["/"])[0])
        access = request.scope["longmind.access"]
        access.operation = "console.sign_in"
        credentials = Credentials.model_construct(
            authorization=f"Bearer {key}",
            address=request.client.host if request.client else None,
            host=request.headers.get("host"),
            origin=request.headers.get("origin"),
        )
        try:
            await self._state.authenticate(credentials, access)
        except LongmindError as error:
            access.error = error.code
            return _page(target, error, error.status)
        response = RedirectResponse(target, 303)
        secure = request.headers.get("x-forwarded-proto", request.url.scheme) == "https"
        response.set_cookie(
            COOKIE,
            self._sessions.sign_in(key),
            max_age=LIFETIME_SECONDS,
            httponly=True,
            samesite="strict",
            secure=secure,
        )
        return response

    async def end(self, request: Request) -> Response:
        """End the session of a browser."""
        self._sessions.sign_out(session_id(request.headers))
        response = RedirectResponse(SIGN_IN, 303)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return response


def local_path(target: str) -> str:
    """Return a path of this server; one that could lead elsewhere becomes that of the first page."""
    safe = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if safe else "/"


def _page(target: str, error: LongmindError | None, status: int) -> Response:
    said = ""
    if error is not None:
        said = f'<p class="problem" role="alert">{escape(error.message)} {escape(error.hint or "")}</p>'
    body = _PAGE.format(next=escape(target, quote=True), problem=said)
    return HTMLResponse(body, status, {"Cache-Control": "no-store"})
