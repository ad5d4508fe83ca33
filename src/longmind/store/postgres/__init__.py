"""The store in PostgreSQL, for a fleet. It needs the extra ``longmind[postgres]``."""

from longmind.store.postgres import driver  # first, so that a missing driver is told in plain words
from longmind.store.postgres.backend import PostgresBackend

__all__ = ["PostgresBackend", "driver"]
