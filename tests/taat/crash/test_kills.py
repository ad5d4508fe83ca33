"""A trader that is killed on the way leaves what one leaves that was not; the long versions are in ``make soak``."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.taat.crash.kill_program import MEMORY, PREFIX


def program(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.taat.crash.kill_program", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def folders(process: subprocess.Popen[str]) -> list[Path]:
    """The folders of a program that are still there."""
    return list(MEMORY.glob(f"{PREFIX}{process.pid}-*"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("points", "--points", "5", "--posts", "20", "--seed", "3"),
        ("replay", "--posts", "250", "--kills", "3"),
    ],
)
def test_a_killed_run_comes_to_the_same_money_and_memory(arguments: tuple[str, ...]) -> None:
    with program(*arguments) as process:
        try:
            output, _ = process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            process.terminate()  # it removes its folder
            raise
    assert process.returncode == 0, output
    assert "equal to the cent" in output
    assert folders(process) == []


def test_a_program_that_is_ended_on_the_way_leaves_no_files() -> None:
    with program("points", "--points", "200", "--posts", "5") as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert "points in 5 posts" in said
        assert folders(process) != []
        process.terminate()
        assert process.wait() == 128 + signal.SIGTERM
    assert folders(process) == []
