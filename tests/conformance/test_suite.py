"""The suite itself: nothing in it hides anything else of it, and it can fail."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter

import pytest

from longmind.errors import StoreUnavailable
from longmind.store import conformance
from longmind.store.base import Backend, Batch, Receipt, Touch
from longmind.store.conformance import BackendConformance
from longmind.store.conformance.numbering import Numbering
from longmind.store.conformance.puts import Puts
from longmind.store.conformance.touches import Touches
from longmind.store.inmem import InmemBackend


def test_no_subject_hides_a_test_of_another() -> None:
    names = Counter(
        name for subject in BackendConformance.__mro__ for name in vars(subject) if name.startswith("test_")
    )
    assert [name for name, count in names.items() if count > 1] == []
    assert len(names) > 150


def test_every_subject_is_in_the_suite() -> None:
    listed = {subject.__name__ for subject in BackendConformance.__mro__}
    for module in pkgutil.iter_modules(conformance.__path__):
        loaded = importlib.import_module(f"{conformance.__name__}.{module.name}")
        subjects = {
            n for n, v in vars(loaded).items() if isinstance(v, type) and any(k.startswith("test_") for k in vars(v))
        }
        assert subjects <= listed


class Forgetful(InmemBackend):
    """A backend that drops touches, which the suite must notice."""

    async def apply(self, batch: Batch) -> Receipt:
        kept = tuple(write for write in batch.writes if not isinstance(write, Touch))
        return await super().apply(Batch(batch.scope, batch.operation, batch.at, kept))


class Torn(InmemBackend):
    """A backend that makes the writes of a batch one by one."""

    async def apply(self, batch: Batch) -> Receipt:
        parts = [
            await super(Torn, self).apply(Batch(batch.scope, batch.operation, batch.at, (w,))) for w in batch.writes
        ]
        memories = tuple(memory for part in parts for memory in part.memories)
        return Receipt(batch.operation, memories, tuple(created for part in parts for created in part.created))


async def test_a_backend_that_forgets_is_found_out() -> None:
    with pytest.raises(AssertionError):
        await Touches().test_reads_are_counted(await Forgetful.open())


async def test_a_backend_that_tears_batches_is_found_out() -> None:
    with pytest.raises(AssertionError):
        await Puts().test_a_batch_is_whole_or_nothing(await Torn.open())


async def test_a_backend_that_is_closed_is_found_out() -> None:
    backend: Backend = await InmemBackend.open()
    await backend.close()
    with pytest.raises(StoreUnavailable):
        await Numbering().test_each_change_takes_the_next_number(backend)
