"""A prepared PostgreSQL store for each test: a copy of one that was installed once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from longmind.clock import SystemClock
from longmind.store.base import Batch, Write
from longmind.store.postgres import PostgresBackend
from longmind.types import Scope

_clock = SystemClock()


@pytest.fixture
def store_url(postgres_store_url: str) -> str:
    """The URL of a database with an empty store."""
    return postgres_store_url


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[PostgresBackend]:
    backend = await PostgresBackend.open(store_url, clock=_clock)
    yield backend
    await backend.close()


@pytest.fixture
def batch() -> Callable[..., Batch]:
    """A function that makes a batch of writes for a scope."""

    def make(scope: Scope, *writes: Write, operation: str | None = None, idempotent: bool = False) -> Batch:
        return Batch(scope, operation or _clock.new_id(), _clock.now(), tuple(writes), idempotent=idempotent)

    return make
