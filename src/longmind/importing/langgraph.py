"""Stores of LangGraph: the table ``store`` of a SQLite file or of a PostgreSQL database.

The values go where ``LongmindStore`` keeps them, under the same namespaces and keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from longmind.errors import InvalidInput, NotFound
from longmind.importing.databases import PostgresSource, SqliteSource, is_postgres, is_sqlite
from longmind.importing.items import ImportedValue, Read, Unmapped, item_of, moment_of

_HINT = "It is the database of a SqliteStore or a PostgresStore, with a table named store."


def read(path: Path | str) -> Iterator[Read]:
    """Yield the values of a store: a SQLite file, or a URL of PostgreSQL."""
    if is_postgres(str(path)):
        database: SqliteSource | PostgresSource = PostgresSource(str(path))
    elif is_sqlite(Path(path)):
        database = SqliteSource(Path(path))
    elif Path(path).is_file():
        raise InvalidInput(f"{Path(path).name}: this is no SQLite database.", hint=_HINT)
    else:
        raise NotFound(f"There is no file {path}.", hint=_HINT)
    if not {"prefix", "key", "value"} <= database.columns("store"):
        raise InvalidInput(f"{database.name}: there is no store of LangGraph in it.", hint=_HINT)
    now = datetime.now(UTC)
    for row in database.rows("langgraph_store"):
        yield _value(row, f"{database.name}, {row['prefix']} {row['key']}", now)
    if database.columns("checkpoints"):
        (count,) = (row["checkpoints"] for row in database.rows("checkpoint_count"))
        if count:
            reason = f"{count} checkpoints: the state of graphs, not of a store"
            yield Unmapped(place=f"{database.name}, checkpoints", reason=reason)


def _value(row: dict[str, Any], place: str, now: datetime) -> Read:
    value, expires = row["value"], moment_of(row.get("expires_at"))
    if isinstance(value, str | bytes):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return Unmapped(place=place, reason="the value is not JSON")
    if expires is not None and expires <= now:
        return Unmapped(place=place, reason="it has expired")
    return item_of(
        ImportedValue,
        place,
        namespace=str(row["prefix"]).split(".") if row["prefix"] else [],
        key=row["key"],
        value=value,
        occurred_at=moment_of(row.get("updated_at")) or moment_of(row.get("created_at")),
        expires_at=expires,
        ttl=_lifetime(row.get("ttl_minutes")),
    )


def _lifetime(minutes: object) -> timedelta | None:
    return timedelta(minutes=minutes) if isinstance(minutes, int | float) and minutes > 0 else None
