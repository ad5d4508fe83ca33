"""What ``check`` finds after somebody has changed the tables behind our back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import psycopg
import pytest

from longmind.store.base import AddLink, Batch, Put, Space
from longmind.store.postgres import PostgresBackend
from longmind.testing import memory
from longmind.types import Link, Scope

SCOPE = Scope(tenant="acme", agent="assistant")

DAMAGE = {
    "links_without_ends": ("DELETE FROM memories WHERE content = 'target'", "1 links lead"),
    "vectors_without_memory": ("DELETE FROM memories WHERE content = 'source'", "1 vectors belong to no memory"),
    "vectors_misfit": ("UPDATE vectors SET vector = '[1,2]'", "1 vectors do not fit"),
    "vectors_of_no_space": ("UPDATE vectors SET space = 'unheard of'", "1 vectors do not fit"),
    "gap": ("DELETE FROM journal WHERE seq = 2", "not numbered without gaps"),
    "no_beginning": ("DELETE FROM journal WHERE seq = 1", "not numbered without gaps"),
    "head_behind": ("UPDATE scopes SET head = 2", "not numbered without gaps"),
    "no_head": ("DELETE FROM scopes", "not numbered without gaps"),
    "no_put": ("UPDATE memories SET seq = 77 WHERE content = 'source'", "1 memories have no put"),
    "no_terms": ("UPDATE memories SET terms = '' WHERE content = 'source'", "1 memories have no terms"),
    "old_terms": ("UPDATE memories SET terms = '\\x0000000000' WHERE content = 'source'", "1 memories have no terms"),
}


@pytest.mark.parametrize("name", DAMAGE)
async def test_damage_is_found(
    backend: PostgresBackend, store_url: str, batch: Callable[..., Batch], name: str
) -> None:
    source, target = memory("source", scope=SCOPE), memory("target", scope=SCOPE)
    await backend.declare_space(Space("small", 4))
    link = AddLink(Link(source=source.id, relation="next", target=target.id))
    await backend.apply(batch(SCOPE, Put(source, np.full(4, 0.5, np.float32)), Put(target), link))
    assert await backend.check() == []
    statement, said = DAMAGE[name]
    with psycopg.connect(store_url, autocommit=True) as connection:
        connection.execute("SET search_path = longmind, public")
        connection.execute(statement.encode())
    found = [line for line in await backend.check() if said in line]
    assert len(found) == 1
    assert found[0].startswith("acme/assistant: ")
