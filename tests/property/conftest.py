"""What the properties of the memory systems share: a store on every backend that serves all examples of a test.

``HYPOTHESIS_PROFILE=thorough`` runs many more examples; with ``CI`` set the examples are the same every time.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from longmind import Longmind, Settings
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
_numbers = itertools.count(1)


@dataclass
class Host:
    """An open store and the loop it lives on; every example gets an agent of its own."""

    runner: asyncio.Runner
    longmind: Longmind
    clock: FakeClock

    def scoped(self) -> ScopedStore:
        return self.longmind.agent(f"agent-{next(_numbers)}").scoped


@pytest.fixture(params=["inmem", "sqlite", "postgres"])
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    urls = {"inmem": "memory:", "sqlite": str(tmp_path / "memory.db")}
    url = urls.get(request.param) or request.getfixturevalue("postgres_store_url")
    clock = FakeClock()
    with asyncio.Runner() as runner:
        longmind = runner.run(_opened(url, clock))
        yield Host(runner, longmind, clock)
        runner.run(longmind.close())


async def _opened(url: str, clock: FakeClock) -> Longmind:
    return await Longmind.open(url, embedder="none", clock=clock, settings=Settings.load({}))


def few(examples: int) -> settings:
    """How many examples, with a fixture that serves all of them."""
    return settings(
        max_examples=examples * (20 if THOROUGH else 1),
        deadline=None,
        derandomize=bool(os.environ.get("CI")),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
