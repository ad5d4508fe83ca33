"""The conformance suite on the in-memory backend."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from longmind.store.base import Backend
from longmind.store.conformance import BackendConformance
from longmind.store.conformance.steps import Reopen
from longmind.store.inmem import InmemBackend


class TestInmem(BackendConformance):
    @pytest.fixture
    async def backend(self) -> AsyncIterator[Backend]:
        backend = await InmemBackend.open()
        yield backend
        await backend.close()

    @pytest.fixture
    def reopen(self) -> Reopen:
        async def again(backend: Backend) -> Backend:
            assert isinstance(backend, InmemBackend)
            state = backend.snapshot()
            await backend.close()
            return await InmemBackend.open(state)

        return again
