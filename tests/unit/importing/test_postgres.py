"""A store of LangGraph in PostgreSQL."""

from datetime import UTC, datetime

import psycopg
import pytest

from longmind import Longmind
from longmind.errors import InvalidInput
from longmind.importing import import_memories, preview

TABLES = """
CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value jsonb NOT NULL,
  created_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamp with time zone, ttl_minutes int, PRIMARY KEY (prefix, key));
INSERT INTO store (prefix, key, value, updated_at)
SELECT 'users.ada', n::text, jsonb_build_object('n', n), '2024-05-02T08:00:00Z' FROM generate_series(1, 1200) n;
"""


async def test_a_store_in_postgresql_is_imported_once(fresh_postgres_url: str) -> None:
    with pytest.raises(InvalidInput, match="no store of LangGraph"):
        preview("langgraph", fresh_postgres_url)
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        connection.execute(TABLES)
    async with Longmind.open("memory:") as longmind:
        first = await import_memories(longmind, "langgraph", fresh_postgres_url, agent="a")
        again = await import_memories(longmind, "langgraph", fresh_postgres_url, agent="a")
        value = await longmind.agent("a").values.get(("users", "ada"), "7")
    assert (first.counts, first.already_there, again.already_there) == ({"values": 1200}, 0, 1200)
    assert value is not None
    assert (value.value, value.updated_at) == ({"n": 7}, datetime(2024, 5, 2, 8, tzinfo=UTC))
