"""The contract of the place where a server keeps keys and audit, one for all tenants."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Protocol

from longmind.security.audit import AuditEvent, AuditHead, StoredLine
from longmind.security.keys import ApiKey


class AccessStore(Protocol):
    """Keeps keys and the audit. It connects when it is first used."""

    async def add_key(self, key: ApiKey, digest: str) -> None:
        """Store a new key."""
        ...

    async def find_key(self, id: str) -> tuple[ApiKey, str] | None:
        """Return a key of any tenant, and what is stored of its text."""
        ...

    async def list_keys(self, tenant: str) -> list[ApiKey]:
        """Return the keys of a tenant, the newest first."""
        ...

    async def key_tenants(self) -> list[str]:
        """Return the names of the tenants that have keys. For the owner of the store."""
        ...

    async def any_key(self) -> bool:
        """Return whether any tenant has a key."""
        ...

    async def revoke_key(self, tenant: str, id: str, at: datetime) -> ApiKey | None:
        """Mark a key as revoked, unless it is; None if the tenant has no such key."""
        ...

    async def touch_key(self, tenant: str, id: str, at: datetime) -> None:
        """Note when a key was used."""
        ...

    async def append(self, events: Sequence[AuditEvent]) -> AuditHead:
        """Add events to the end of the chain, durably; return its new end."""
        ...

    async def head(self) -> AuditHead:
        """Return where the chain begins and ends."""
        ...

    async def recent(self, tenant: str, before: int, limit: int, filters: dict[str, str]) -> list[StoredLine]:
        """Return lines of a tenant below a number, the newest first; ``filters`` are fields and their values."""
        ...

    def lines(self, after: int) -> AsyncIterator[StoredLine]:
        """Yield the lines of all tenants above a number, in order. For the owner of the store."""
        ...

    async def rotate(self, head: AuditHead) -> None:
        """Delete the lines up to the base of ``head`` and keep that as the beginning of the chain."""
        ...

    async def close(self) -> None:
        """Close what was opened."""
        ...
