"""The principal of a request, and the protocol of those that find out who it is."""

from __future__ import annotations

import ipaddress
from datetime import datetime
from typing import Literal, Protocol

from longmind.errors import Forbidden, Unauthenticated
from longmind.types import Model, Name

Permission = Literal["read", "write", "admin"]
_INCLUDED: dict[Permission, frozenset[Permission]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "admin": frozenset({"read", "write", "admin"}),
}


class Principal(Model):
    """Who makes a request: the tenant, the key, and what it allows."""

    tenant: Name
    permissions: frozenset[Permission]
    agents: frozenset[str] | None = None
    """The agents that it may reach; None for all of the tenant."""
    key_id: str | None = None
    """The id of the key, for logs and audit; never the key."""
    expires_at: datetime | None = None
    """When it ends; what it makes ends no later."""
    subject: str | None = None
    """The subject of the token, where there is one instead of a key."""
    user: str | None = None
    """The only user whose memories it may reach, and those of no user; None for every user."""

    def allows(self, permission: Permission) -> bool:
        """Return whether it has a permission; ``admin`` includes ``write``, and ``write`` includes ``read``."""
        return any(permission in _INCLUDED[own] for own in self.permissions)

    def require(self, permission: Permission, agent: str | None = None) -> None:
        """Raise ``Forbidden`` unless it has a permission, and may reach an agent if one is named."""
        if not self.allows(permission):
            raise Forbidden(f"This key does not allow to {permission}.", hint="Use a key with more permissions.")
        if self.agents is not None and agent not in self.agents:
            raise Forbidden("This key does not reach this agent." if agent else "This key reaches single agents only.")

    def reachable_user(self, user: str | None) -> str | None:
        """Return the user of a request: its own where it stands for one user, and then no other can be named."""
        if self.user is None or user in (None, self.user):
            return user if self.user is None else self.user
        raise Forbidden("This token reaches the memories of one user only.")


class Credentials(Model):
    """What a request says of who makes it."""

    authorization: str | None = None
    """The header ``Authorization``."""
    address: str | None = None
    """The address of the peer; None on a Unix socket."""
    host: str | None = None
    """The header ``Host``."""
    origin: str | None = None
    """The header ``Origin``: the site of the web page that makes the request."""


class Authenticator(Protocol):
    """Finds out who makes a request."""

    async def authenticate(self, credentials: Credentials) -> Principal:
        """Return the principal; ``Unauthenticated`` if there is none."""
        ...


class Anonymous:
    """Accepts everyone on this machine, without a key, as the administrator of one tenant.

    ``Host`` and ``Origin`` must be loopback names too: a web page may have a name that resolves to 127.0.0.1, and any
    page can send requests there.
    """

    def __init__(self, tenant: str) -> None:
        self._principal = Principal(tenant=tenant, permissions=frozenset({"admin"}))

    async def authenticate(self, credentials: Credentials) -> Principal:
        if is_local(credentials):
            return self._principal
        raise Unauthenticated(
            "Without a key this server answers on its own machine only.", hint="Use http://127.0.0.1 or localhost."
        )


def is_local(credentials: Credentials) -> bool:
    """Return whether a request is of a program on this machine, and not of a web page or passed on by a proxy."""
    names = (_name_of(credentials.host), _name_of((credentials.origin or "").partition("://")[2] or None))
    foreign_page = credentials.origin == "null"
    return is_loopback(credentials.address) and all(map(is_loopback, names)) and not foreign_page


def is_loopback(host: str | None) -> bool:
    """Return whether a host is this machine's own."""
    if host is None or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name_of(host: str | None) -> str | None:
    """Return the name in a ``Host`` header, without the port."""
    if host is None:
        return None
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
