"""The blocking classes are typed: mypy sees no Any, and the types are those of the asynchronous classes."""

import subprocess
import sys
from pathlib import Path

from tests.unit.sync import typed_sample

from longmind.sync import Longmind

ROOT = Path(__file__).parents[3]


def test_mypy_sees_the_types_of_the_asynchronous_classes() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", typed_sample.__file__]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_sample_runs(tmp_path: Path) -> None:
    with Longmind.open(str(tmp_path / "memory.db"), embedder="none") as longmind:
        typed_sample.run(longmind)
