"""The settings of a server."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

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
    consolidation: bool = True
    """Whether agents are consolidated in this process."""
