"""The benchmark of the server, for a few seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.serve.measure import measure


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
async def test_32_clients_see_no_error_and_a_kill_loses_nothing(
    backend: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = str(tmp_path / "bench.db") if backend == "sqlite" else request.getfixturevalue("postgres_store_url")
    figures = {what: value for what, value, _ in await measure(url, tmp_path, 5.0, lambda done: None, memories=50)}
    assert figures["errors"] == 0
    assert figures["acknowledged writes lost"] == 0
    assert figures["writes acknowledged, the last of them until kill -9"] > 32
    assert figures["requests a second"] > 0
    assert figures["recall, 32 clients, p50"] <= figures["recall, 32 clients, p99"]
