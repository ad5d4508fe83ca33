"""What the tests of all adapters share.

Each folder is the tests of one adapter, and runs in an environment with its framework: ``make test-adapters``. Where
that is not installed, as in ``make test``, the folder is skipped with a reason. This file and all below it need only
what every adapter's environment has (adapters/tests/tests.in).
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from longmind import Longmind
from tools.adapters import ROOT, adapters, packages_of

HERE = Path(__file__).parent
_CALLS = 200
"""How many calls a cost is the mean of."""


def missing_package(adapter: str) -> str | None:
    """Return the package that an adapter needs and that is not installed here; None if all are."""
    for package in packages_of(adapter):
        try:
            version(package)
        except PackageNotFoundError:
            return package
    return None


class AbsentFramework(pytest.Module):
    """A test module whose framework is not installed."""

    def collect(self) -> Iterator[Any]:
        adapter = self.path.relative_to(HERE).parts[0]
        raise pytest.skip.Exception(
            f"{missing_package(adapter)} is not installed here; `make test-adapters` runs it", allow_module_level=True
        )


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> pytest.Module | None:
    folder = module_path.relative_to(HERE).parts[0]
    if folder in adapters() and missing_package(folder) is not None:
        module: pytest.Module = AbsentFramework.from_parent(parent, path=module_path)
        return module
    return None


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[Longmind]:
    """A store in a file, open on this event loop."""
    async with Longmind.open(str(tmp_path / "memory.db")) as opened:
        yield opened


BOTH = pytest.mark.parametrize("longmind", ["embedded", "remote"], indirect=True)
"""Runs a test on a store of its own in a file, and over HTTP on a store that the tests of a session share."""


@pytest.fixture
def longmind(request: pytest.FixtureRequest) -> Longmind:
    """A store in a file; with ``BOTH`` the same face over HTTP too."""
    opened: Longmind = request.getfixturevalue(getattr(request, "param", "embedded"))
    return opened


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a real server on a store in memory. It runs in the development environment, not in this one."""
    python = os.environ.get("LONGMIND_SERVER_PYTHON")
    if python is None:
        pytest.skip("no Python with the server is named: `make test-adapters` does")
    words = ["-m", "longmind.cli", "serve", "--json", "--url", "memory:", "--port", "0", "--no-consolidation"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    started = subprocess.Popen(
        [python, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    try:
        assert started.stdout is not None
        text = ""
        while True:  # the answer is one JSON document, on one line or several
            line = started.stdout.readline()
            assert line, "the server did not start"
            text += line
            try:
                address: str = json.loads(text)["address"]
            except json.JSONDecodeError:
                continue
            break
        yield address
    finally:
        started.terminate()
        started.communicate()


@pytest.fixture
async def remote(server: str) -> AsyncIterator[Longmind]:
    """The same face over HTTP."""
    async with Longmind.open(server) as opened:
        yield opened


@pytest.fixture
def measure_cost(record_property: Callable[[str, object], None]) -> Callable[..., Awaitable[None]]:
    """Measure the CPU time of a call through an adapter, and of the same without it, for the table of costs.

    Both are functions of the number of the call. They take turns, so that what grows with the store is the same.
    """

    async def measure(
        call: str, through_adapter: Callable[[int], Awaitable[Any]], direct: Callable[[int], Awaitable[Any]]
    ) -> None:
        spent = {"adapter_ms": 0.0, "direct_ms": 0.0}
        for number in range(-10, _CALLS):
            for name, function in (("adapter_ms", through_adapter), ("direct_ms", direct)):
                started = time.process_time()
                await function(number)
                if number >= 0:  # the first calls load modules and open connections
                    spent[name] += (time.process_time() - started) * 1000 / _CALLS
        record_property("cost", json.dumps({"call": call, **spent}))

    return measure
