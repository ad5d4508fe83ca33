"""What the parts of a server share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from longmind.errors import Forbidden, Unauthenticated
from longmind.security import (
    AccessStore,
    AuditLog,
    AuditWriter,
    Authenticator,
    Credentials,
    KeyAdministration,
    Principal,
)
from longmind.security.limits import RateLimits
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
    access: AccessStore
    """Where keys and audit are."""
    limits: RateLimits
    audit: AuditWriter | None = None
    """Notes every access; None if callers are not known."""
    observers: list[Observer] = field(default_factory=list)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server begins to stop: streams end."""

    async def authenticate(self, credentials: Credentials, access: Access) -> Principal:
        """Return who makes a request, unless there were too many. ``Unauthenticated`` is counted for its address."""
        self.limits.before(credentials)
        try:
            principal = access.principal = await self.authenticator.authenticate(credentials)
        except Unauthenticated:
            self.limits.failed(credentials)
            raise
        if self.settings.single_tenant and principal.tenant != self.tenants.default:
            raise Forbidden("This server serves another tenant only.")
        self.limits.count(principal)
        return principal

    def administration(self, cls: type, principal: Principal) -> KeyAdministration | AuditLog:
        """Return an object of the server itself, for who asks."""
        if cls is KeyAdministration:
            return KeyAdministration(self.access, principal.tenant, principal)
        return AuditLog(self.access, principal.tenant)
