"""The example with LangGraph prints what its docstring says."""

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

PROGRAM = Path(__file__).parents[3] / "examples" / "langgraph_persistence.py"


def test_the_example_prints_what_it_says() -> None:
    docstring = ast.get_docstring(ast.parse(PROGRAM.read_text(encoding="utf-8"))) or ""
    expected = textwrap.dedent(docstring.partition("Expected output:\n")[2]).strip()
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected
