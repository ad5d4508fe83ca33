"""Rows of the table of keys as records."""

from __future__ import annotations

import json
from typing import Any

from longmind.security.keys import ApiKey

FILTERS = ("key", "agent", "operation")
"""The fields of a line of the audit that can be asked for."""


def key_of(row: tuple[Any, ...]) -> tuple[ApiKey, str]:
    """Return a key and the digest of its text."""
    id, tenant, digest, name, permissions, agents, created_at, created_by, expires_at, revoked_at, last_used_at = row
    key = ApiKey(
        id=id,
        tenant=tenant,
        name=name,
        permissions=frozenset(json.loads(permissions)),
        agents=None if agents is None else frozenset(json.loads(agents)),
        created_at=created_at,
        created_by=created_by,
        expires_at=expires_at,
        revoked_at=revoked_at,
        last_used_at=last_used_at,
    )
    return key, digest
