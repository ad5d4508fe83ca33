"""The public door: what it shows, and how little it costs to open."""

import subprocess
import sys
from types import ModuleType

import pytest

import longmind
import longmind.agent
import longmind.conversation
import longmind.errors
import longmind.sync


def test_all_is_every_public_name_in_order() -> None:
    imported = [name for name in vars(longmind) if not isinstance(vars(longmind)[name], ModuleType)]
    public = [name for name in {*imported, *longmind._LAZY} if not name.startswith("_") and name != "TYPE_CHECKING"]
    assert longmind.__all__ == sorted(public)
    assert set(longmind.__all__) <= set(dir(longmind))


def test_every_error_can_be_imported_from_the_door() -> None:
    tree = [value for value in vars(longmind.errors).values() if isinstance(value, type)]
    errors = {error.__name__ for error in tree if issubclass(error, longmind.LongmindError)}
    assert errors <= set(longmind.__all__)


def test_names_imported_on_first_use_are_the_real_ones() -> None:
    assert longmind.Agent is longmind.agent.Agent
    assert longmind.Conversation is longmind.conversation.Conversation
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        longmind.Nothing  # noqa: B018


def test_every_public_thing_says_what_it_is() -> None:
    assert all(getattr(longmind, name).__doc__ for name in longmind.__all__)


def test_importing_is_cheap() -> None:
    """What takes long to import, or may not be installed, is left for when it is needed."""
    heavy = ["numpy", "apsw", "psycopg", "typer", "rich", "yoyo", "onnxruntime", "tokenizers", "httpx2"]
    heavy += ["longmind.agent", "longmind.conversation", "longmind.manager", "longmind.recall.engine"]
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
