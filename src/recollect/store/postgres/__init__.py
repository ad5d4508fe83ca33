"""The store in PostgreSQL, for a fleet. It needs the extra ``recollect[postgres]``."""

from recollect.store.postgres import driver  # first, so that a missing driver is told in plain words
from recollect.store.postgres.backend import PostgresBackend

__all__ = ["PostgresBackend", "driver"]
