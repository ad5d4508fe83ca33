"""A trader that is killed on the way leaves what one leaves that was not; the long versions are in ``make soak``."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "arguments",
    [
        ("points", "--points", "5", "--posts", "20", "--seed", "3"),
        ("replay", "--posts", "250", "--kills", "3"),
    ],
)
def test_a_killed_run_comes_to_the_same_money_and_memory(arguments: tuple[str, ...]) -> None:
    program = [sys.executable, "-m", "tests.taat.crash.kill_program", *arguments]
    done = subprocess.run(program, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "equal to the cent" in done.stdout
