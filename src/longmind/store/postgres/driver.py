"""Whether psycopg, which comes with an extra, is installed. Imported before anything else of this package."""

from __future__ import annotations

from longmind.errors import InvalidSetting

try:
    import psycopg
    import psycopg_pool
except ImportError as error:
    raise InvalidSetting(
        f"A PostgreSQL store was asked for, but its driver cannot be imported ({error}).",
        hint='Install it with: pip install "longmind[postgres]"',
    ) from error

__all__ = ["psycopg", "psycopg_pool"]
