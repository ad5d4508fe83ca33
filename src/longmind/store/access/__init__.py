"""Where a server keeps its keys and its audit: one place for all tenants of a store."""

from longmind.store.access.open import access_store

__all__ = ["access_store"]
