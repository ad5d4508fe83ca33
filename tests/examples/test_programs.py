"""Every program in ``examples/`` runs offline without a model, and prints what its docstring says."""

import ast
import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
NEEDS = {"langgraph_persistence": "langgraph", "mcp_in_an_editor": "mcp", "fastapi_service": "fastapi"}


def expected_output(program: Path) -> str:
    docstring = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
    return textwrap.dedent(docstring.partition("Expected output:\n")[2]).strip()


def test_there_is_a_program_for_each_use() -> None:
    assert [program.stem for program in EXAMPLES] == [
        "chat_bot",
        "coding_agent",
        "customer_support",
        "fastapi_service",
        "langgraph_persistence",
        "mcp_in_an_editor",
        "migrate_from_mem0",
        "research_assistant",
    ]


@pytest.mark.parametrize("program", EXAMPLES, ids=lambda program: program.stem)
def test_a_program_prints_what_it_says(program: Path, tmp_path: Path) -> None:
    package = NEEDS.get(program.stem)
    if package is not None and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed here; `make test-adapters` has it")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LONGMIND_")}
    environment = {**kept, "LONGMIND_URL": str(tmp_path / "memory.db"), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, str(program)]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert expected_output(program)
    assert done.stdout.strip() == expected_output(program)
