"""Choosing the place of keys and audit by the URL of the store."""

from __future__ import annotations

from longmind.config import Settings
from longmind.security import AccessStore
from longmind.store.open import IN_MEMORY, sqlite_path


def access_store(url: str, settings: Settings) -> AccessStore:
    """Return the keys and the audit of a store: in its database, or in the file ``NAME.server.db`` beside its own."""
    if url.partition("://")[0].lower() in ("postgresql", "postgres"):
        from longmind.store.access.postgres import PostgresAccessStore

        return PostgresAccessStore(url, timeout=settings.connect_seconds, busy_timeout=settings.busy_seconds)
    from longmind.store.access.sqlite import SqliteAccessStore

    if url in IN_MEMORY:
        return SqliteAccessStore(":memory:")
    path = sqlite_path(url)
    return SqliteAccessStore(str(path.with_name(f"{path.stem}.server.db")), busy_seconds=settings.busy_seconds)
