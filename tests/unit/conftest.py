"""The public face on every backend."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from longmind import Longmind, Settings
from longmind.testing import FakeClock


@pytest.fixture
def face_clock() -> FakeClock:
    """A clock that moves a second each time it is asked, so that before and after can be told apart."""
    return FakeClock(tick=timedelta(seconds=1))


@pytest.fixture(params=["inmem", "sqlite", "postgres"])
def face_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the store under test is."""
    if request.param == "inmem":
        return "memory:"
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'memory.db'}"
    return str(request.getfixturevalue("postgres_store_url"))


@pytest.fixture
async def longmind(face_url: str, face_clock: FakeClock) -> AsyncIterator[Longmind]:
    async with Longmind.open(face_url, clock=face_clock, settings=Settings.load({})) as opened:
        yield opened
