"""The contract of ``store.base`` as tests. Subclass ``BackendConformance``, give it a backend, run pytest.

    class TestMyBackend(BackendConformance):
        @pytest.fixture
        async def backend(self):
            backend = await MyBackend.open(...)     # empty, once for each test
            yield backend
            await backend.close()

        @pytest.fixture
        def reopen(self):                           # leave it out if nothing outlives a close
            async def again(backend):
                await backend.close()
                return await MyBackend.open(...)    # the same store once more
            return again

Each module holds one subject; the docstring of a class says the rules its tests check. The optional protocols
(``ReembedBackend``, ``ExclusiveReembedBackend``, ``ErasureBackend``, ``Checkable``) are tested if the backend has them
and skipped if not. This is the only part of the package that needs pytest (with pytest-asyncio).
"""

from pkgutil import iter_modules

import pytest

pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))

from longmind.store.conformance.suite import BackendConformance  # noqa: E402  (after asserts are made to explain)

__all__ = ["BackendConformance"]
