"""What the start of a server loads: nothing that it may never need."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from longmind.server.starting import without_garbage_collection


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("longmind.server.serve", "mcp mcp_types jwt cryptography httpx2 nicegui"),
        ("longmind.server.workers, longmind.server.listening", "fastapi uvicorn mcp jwt numpy longmind.operations"),
    ],
)
def test_what_only_some_requests_need_is_not_loaded(module: str, unneeded: str) -> None:
    program = f"import sys, {module}; print([name for name in {unneeded!r}.split() if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_garbage_is_collected_once_a_server_has_started() -> None:
    try:
        with without_garbage_collection() as started:
            assert not gc.isenabled()
            started()
            assert gc.isenabled()
        with without_garbage_collection():
            pass
        assert gc.isenabled()
        gc.disable()
        with without_garbage_collection() as started:
            started()
        assert not gc.isenabled(), "who turned it off wants it so"
    finally:
        gc.enable()
