"""No embedder reaches for the network, in Python or in native code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import socket

def refused(*arguments, **options):
    raise RuntimeError(f"the network was used: {arguments!r}")

socket.socket.connect = socket.socket.connect_ex = refused
socket.getaddrinfo = socket.gethostbyname = socket.create_connection = refused

import asyncio, sys
import longmind.models.embed, longmind.models.embed_static, longmind.models.embed_minilm
import longmind.models.embed_http, longmind.models.measure
from longmind.models.embed_open import open_embedder

async def main():
    for spec in sys.argv[1:]:
        rows = await open_embedder(spec).embed(["A man is eating food.", "A man is eating a piece of bread."])
        print(spec, round(float(rows[0] @ rows[1]), 2))

asyncio.run(main())
"""


def _run(home: Path, *specs: str) -> tuple[list[str], list[str]]:
    """What was printed, and every file left in what is this process's home, cache and temporary folder."""
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    folders = {name: str(home) for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR", "LOCALAPPDATA", "USERPROFILE")}
    done = subprocess.run(
        [sys.executable, "-c", CODE, *specs], env=environment | folders, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    files = [path.relative_to(home) for path in home.rglob("*") if path.is_file()]
    return done.stdout.splitlines(), sorted(path.parts[0] + path.suffix for path in files)


def test_static_needs_no_network_and_writes_nothing(tmp_path: Path) -> None:
    printed, files = _run(tmp_path, "static")
    assert printed[0].startswith("static 0.")
    assert files == []


@pytest.mark.parametrize("spec", ["minilm", "minilm-int8"])
def test_minilm_needs_no_network_and_leaves_only_its_own_file(tmp_path: Path, spec: str) -> None:
    """ONNX Runtime's telemetry is native code that no patch of ``socket`` sees, but it writes a device id at import."""
    printed, files = _run(tmp_path, spec)
    assert printed[0].startswith(f"{spec} 0.7")
    assert files == ["longmind.onnx"]
