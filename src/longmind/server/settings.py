"""The settings of a server."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from longmind.security.tokens import TokenSettings
from longmind.types import Model


class ServerSettings(Model):
    """How a server works, whatever it serves."""

    body_bytes: Annotated[int, Field(ge=1_000)] = 32_000_000
    """The largest body of a request."""
    request_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """How long a request may take; a stream has no limit."""
    retry_after_seconds: Annotated[int, Field(ge=1, le=3600)] = 2
    """When a client that was answered 503 may try again."""
    heartbeat_seconds: Annotated[float, Field(gt=0, le=3600)] = 15.0
    """How often a silent stream sends a comment, so that nothing between takes it for dead."""
    tenants_open: Annotated[int, Field(ge=1, le=10_000)] = 64
    """How many stores of tenants are open at the same time, where each tenant has a store of its own."""
    auth: Literal["none", "keys", "oidc"] = "none"
    """How callers are known: not at all, on this machine only; by API keys; or by API keys and tokens of a provider."""
    tokens: TokenSettings | None = None
    """The provider of tokens, with ``auth="oidc"``."""
    single_tenant: bool = False
    """Whether only the tenant of the settings is served. Then the database need not keep tenants apart."""
    key_cache_seconds: Annotated[float, Field(ge=0, le=60)] = 2.0
    """How long what was read of a key is trusted; a revoked key may work so long."""
    rate_per_second: Annotated[float, Field(gt=0, le=1_000_000)] = 100.0
    """How many requests a second a key may make, in each process."""
    rate_burst: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    """How many requests a key may make at once."""
    failures_per_minute: Annotated[float, Field(gt=0, le=1_000_000)] = 60.0
    """How many requests without a valid key an address may make in a minute."""
    mem0: bool = False
    """Whether the routes of mem0's server are offered too: ``/memories``, ``/search`` and ``/reset``."""
    consolidation: bool = True
    """Whether agents are consolidated in this process."""
