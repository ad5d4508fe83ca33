"""What the parts of a server share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from longmind.security import Authenticator, Principal
from longmind.server.rest.metrics import Metrics
from longmind.server.settings import ServerSettings
from longmind.server.tenants import Tenants


@dataclass(slots=True)
class Access:
    """A request and what became of it, for logs, metrics and audit. It holds no text of the request."""

    request_id: str
    http: str
    address: str | None
    operation: str = ""
    """The name of the operation; empty if the request reached none."""
    principal: Principal | None = None
    agent: str | None = None
    user: str | None = None
    status: int = 0
    error: str = ""
    """The code of the error, if it was one."""
    seconds: float = 0.0


Observer = Callable[[Access], Awaitable[None]]
"""Called after each request, before its connection is used for the next."""


@dataclass(slots=True)
class ServerState:
    """A server: its tenants, who may use it, and who watches."""

    settings: ServerSettings
    tenants: Tenants
    authenticator: Authenticator
    metrics: Metrics
    observers: list[Observer] = field(default_factory=list)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server begins to stop: streams end."""
