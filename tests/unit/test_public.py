"""The public door: what it shows, and how little it costs to open."""

import subprocess
import sys
from types import ModuleType

import longmind
import longmind.sync


def test_all_is_every_public_name_in_order() -> None:
    public = [
        name for name in vars(longmind) if not name.startswith("_") and not isinstance(vars(longmind)[name], ModuleType)
    ]
    assert longmind.__all__ == sorted(public)


def test_every_public_thing_says_what_it_is() -> None:
    assert all(getattr(longmind, name).__doc__ for name in longmind.__all__)


def test_importing_is_cheap() -> None:
    """What takes long to import, or may not be installed, is left for when it is needed."""
    heavy = ["numpy", "apsw", "psycopg", "typer", "rich", "yoyo", "onnxruntime", "tokenizers", "httpx2"]
    code = f"import sys, longmind; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_lines_help_is_cheap_too() -> None:
    heavy = ["numpy", "apsw", "psycopg", "yoyo", "onnxruntime", "tokenizers", "httpx2"]
    code = (
        "import sys\nfrom longmind.cli import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage" in done.stdout
    assert done.stderr.strip() == "[]"
