"""``View``: what a page gets: who looks at it, the agent and the user that were chosen, and their memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, urlencode

from longmind.client import RemoteLongmind
from longmind.client.connection import Connection
from longmind.client.faces import Remote, remote_class
from longmind.clock import SystemClock
from longmind.config import Settings
from longmind.console.pages import PAGES
from longmind.console.sessions import Session
from longmind.console.transport import InProcessTransport
from longmind.errors import LongmindError, Unauthenticated
from longmind.operations import faces
from longmind.security import AuditLog, Credentials, KeyAdministration, Principal

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request

    from longmind.agent_memory import AgentMemory
    from longmind.memory import Longmind
    from longmind.server.rest.state import ServerState

_BASE = "http://localhost"
EVERYONE = "*"
"""The choice of all users of an agent, for administrators."""


@dataclass(kw_only=True, eq=False)
class View:
    """A page that somebody looks at.

    ``longmind`` and ``memory`` are the remote faces of the server that serves the page: each call is a request with the
    key of who looks, and raises the errors that any client gets.
    """

    principal: Principal
    longmind: Longmind
    connection: Connection
    """For faces that neither ``longmind`` nor ``memory`` has."""
    path: str
    query: Mapping[str, str]
    """The parameters of the page's address: of every page ``agent`` and ``user``, and those of its own."""
    signed_in: bool
    """Whether there is a key to sign out with."""
    agents: tuple[str, ...] = ()
    agent: str | None = None
    """The agent that was chosen, or the first; None where there is none yet."""
    users: tuple[str, ...] = ()
    user: str | None = None
    """The user that was chosen; None for everyone, or for what belongs to no user."""
    everyone: bool = False
    """Whether what belongs to any user is shown."""
    episode_types: frozenset[str] = frozenset()
    """Of the types of episodes that pages need to be shown, those that the agent has."""
    problem: LongmindError | None = field(default=None)
    """Why agents and users could not be listed."""

    @property
    def memory(self) -> AgentMemory:
        """What the chosen agent knows with the chosen user. A page with ``needs_agent`` always has one."""
        assert self.agent is not None
        return self.longmind.agent(self.agent, self.user, all_users=self.everyone)

    @property
    def may_write(self) -> bool:
        """Whether who looks may change memories."""
        return self.principal.allows("write")

    @property
    def may_administer(self) -> bool:
        """Whether who looks may do what only an administrator may."""
        return self.principal.allows("admin")

    @cached_property
    def keys(self) -> KeyAdministration:
        """The API keys of the tenant."""
        return cast(KeyAdministration, self.face(faces.KEYS))

    @cached_property
    def audit(self) -> AuditLog:
        """Who accessed the memories of the tenant."""
        return cast(AuditLog, self.face(faces.AUDIT))

    def face(self, face: faces.Face, **binding: str) -> Remote:
        """Return the object of a face that the binding locates."""
        return remote_class(face)(self.connection, binding)

    def link(self, path: str, **query: str | None) -> str:
        """Return the address of a page with the agent and the user that are chosen. Names are encoded."""
        chosen = {"agent": self.agent, "user": EVERYONE if self.everyone else self.user} | query
        encoded = urlencode({name: value for name, value in chosen.items() if value is not None}, quote_via=quote)
        return f"{path}?{encoded}" if encoded else path


class Views:
    """Makes the views of a server's pages."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    async def open(self, request: Request, session: Session) -> View:
        """Return the view of a page request. ``Unauthenticated`` if its key is not valid any more."""
        if session.signed_out:
            raise Unauthenticated("You are signed out.")
        state: ServerState = self._app.state.server
        address = request.client.host if request.client else None
        credentials = Credentials.model_construct(
            authorization=f"Bearer {session.key}" if session.key is not None else None,
            address=address,
            host="localhost",  # the browser's own was looked at when the request came in
            origin=None,
        )
        principal = await state.authenticator.authenticate(credentials)
        settings = Settings.load({}).model_copy(update={"tenant": principal.tenant})
        transport = InProcessTransport(self._app, session, address)
        view = View(
            principal=principal,
            longmind=cast("Longmind", RemoteLongmind(_BASE, None, settings, SystemClock(), transport=transport)),
            connection=Connection(_BASE, None, transport),
            path=request.url.path,
            query=dict(request.query_params),
            signed_in=session.key is not None,
        )
        try:
            await _choose(view)
            view.episode_types = await _episode_types(view)
        except LongmindError as error:
            view.problem = error
        return view


async def _episode_types(view: View) -> frozenset[str]:
    needed = {page.episode for page in PAGES if page.episode is not None}
    if view.agent is None or not view.principal.allows("read"):
        return frozenset()
    return frozenset([type for type in needed if (await view.memory.episodic.list(type=type, limit=1)).items])


async def _choose(view: View) -> None:
    """Set the agents that can be reached, and the agent and the user that the address names."""
    principal = view.principal
    reachable = principal.agents
    view.agents = (
        tuple(sorted(reachable))
        if reachable is not None
        else tuple(sorted({scope.agent for scope in await view.longmind.agents()}))
    )
    named = view.query.get("agent")
    view.agent = named if named and (named in view.agents or reachable is None) else next(iter(view.agents), None)
    if view.agent is None:
        return
    user = view.query.get("user") or None
    if principal.allows("admin") and principal.user is None:
        view.users = tuple(await view.longmind.agent(view.agent, all_users=True).users())
        view.everyone = user in (None, EVERYONE)
        view.user = None if view.everyone else user
    else:
        view.user = principal.user if principal.user is not None else None if user == EVERYONE else user
        view.users = (view.user,) if view.user else ()
