"""Mounting the console on a server: NiceGUI's application behind the guard, at the paths that are its own."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from longmind.console.guard import SESSION, SIGN_IN, Guard
from longmind.console.pages import PAGES, Page
from longmind.console.sessions import COOKIE, Sessions
from longmind.console.sign_in import SignIn
from longmind.console.view import Views
from longmind.errors import LongmindError, Unauthenticated

if TYPE_CHECKING:
    from fastapi import FastAPI

    from longmind.console.view import View

_STATIC = Path(__file__).parent / "static"
_OWN = ("/_nicegui/", "/_nicegui_ws/", "/console/")
_HEAD = '<link rel="stylesheet" href="/console/console.css"><script defer src="/console/console.js"></script>'
_PAGE_SECONDS = 30.0
_COMPRESSION = 4
"""Half the CPU time of level 9 for scripts that become a twentieth larger; they are compressed for each new browser."""
NO_AGENT = """\
pip install longmind
longmind remember "I moved to Lisbon in May." --agent assistant --user alice"""


class ConsoleRoute(BaseRoute):
    """The paths of the console. All others stay the server's, with its own answers to what does not exist."""

    name = "console"

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._paths = {page.path for page in PAGES} | {SIGN_IN, "/sign-out", "/favicon.ico"}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope.get("path", "")
        own = scope["type"] in ("http", "websocket") and (path in self._paths or path.startswith(_OWN))
        return (Match.FULL, {}) if own else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def mount_console(app: FastAPI) -> None:
    """Add the console's pages to a server."""
    from nicegui import app as nicegui_app
    from nicegui import core, ui

    from longmind.console.parts.messages import say_problem

    state = app.state.server
    sessions = Sessions()
    views = Views(app)
    nicegui_app.add_static_files("/console", _STATIC)
    SignIn(state, sessions).add(nicegui_app)
    ui.add_head_html(_HEAD, shared=True)
    for page in PAGES:
        build = _builder(page, views, say_problem)
        title = f"{page.title} · Longmind"
        ui.page(page.path, title=title, response_timeout=_PAGE_SECONDS, language="en-US")(build)
    nicegui_app.config.socket_io_js_transports = ["websocket"]  # the guard knows a websocket's origin
    core.sio.eio.transports = ["websocket"]
    ui.run_with(
        app,
        title="Longmind",
        favicon=_STATIC / "mark.svg",
        dark=None,
        tailwind=False,
        gzip_middleware_factory=None,
        show_welcome_message=False,
        reconnect_timeout=10.0,
    )
    app.router.routes.pop()  # NiceGUI's mount would take every path
    compressed = GZipMiddleware(Guard(core.app, state, sessions), minimum_size=1_000, compresslevel=_COMPRESSION)
    app.router.routes.append(ConsoleRoute(compressed))
    logging.getLogger("nicegui").addFilter(_is_fault)


def _is_fault(record: logging.LogRecord) -> bool:
    """Return whether a log record tells of a fault, not of an error that the page said in words."""
    return not isinstance(record.msg, LongmindError)


def _builder(page: Page, views: Views, say_problem: Callable[[Exception], None]) -> Callable[..., Awaitable[Any]]:
    async def build(request: Request) -> Response | None:
        from nicegui import ui

        try:
            view = await views.open(request, request.scope[SESSION])
        except Unauthenticated:
            response = RedirectResponse(f"{SIGN_IN}?again=1", 303)
            response.delete_cookie(COOKIE, httponly=True, samesite="strict")
            return response
        ui.on_exception(say_problem)
        await _content(page, view, request.cookies.get("longmind_theme"))
        return None

    return build


async def _content(page: Page, view: View, theme: str | None) -> None:
    from longmind.console.parts.frame import frame
    from longmind.console.parts.messages import empty, problem

    with frame(view, page, theme):
        try:
            view.principal.require(page.permission, view.agent)
            if view.problem is not None:
                raise view.problem
            if page.needs_agent and view.agent is None:
                empty(
                    "Nothing is remembered yet",
                    "Store a first memory and reload this page: from a program, over REST, or with the command line.",
                    NO_AGENT,
                )
                return
            await page.build(view)
        except LongmindError as error:
            problem(error)
