"""The command line as a whole: help, usage errors, exit codes, colours, and the real program."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from longmind.cli import app

GROUP: Any = get_command(app)
COMMANDS = (
    "remember recall context forget list show history undo stats export import reembed doctor consolidate agents demo "
    "version"
).split()


def run(*words: str, input: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    """The real program."""
    return subprocess.run(
        [sys.executable, "-m", "longmind.cli", *words], input=input, capture_output=True, env={**os.environ, **env}
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps(cli: Any, name: str) -> None:
    told = cli(name, "--help").stdout
    assert "Usage: longmind" in told
    assert "--json" in told


def test_no_words_print_the_help(cli: Any) -> None:
    assert all(name in cli(code=2).output for name in COMMANDS)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("version", "demo")])
def test_every_command_says_where_the_store_is(name: str) -> None:
    options = {option for parameter in GROUP.commands[name].params for option in parameter.opts}
    assert {"--url", "--json"} <= options


def test_an_unknown_command(cli: Any) -> None:
    assert "No such command" in cli("recal", code=2).stderr
    assert cli.error("recal", code=2)["error"] == "usage"


@pytest.mark.parametrize("words", [["list", "--nonsense"], ["recall"], ["list", "--limit", "0"]])
def test_usage_errors_as_json(cli: Any, words: list[str]) -> None:
    assert cli.error(*words, code=2)["error"] == "usage"


def test_help_with_json_is_still_help(cli: Any) -> None:
    assert "Usage: longmind" in cli("list", "--json", "--help").stdout


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["list", "--url", "mysql://host/db"], "invalid_setting"),
        (["list", "--url", " "], "invalid_setting"),
        (["list", "--agent", " spaces "], "invalid_setting"),
        (["list", "--user", ""], "invalid_input"),
    ],
)
def test_settings_that_cannot_be(cli: Any, words: list[str], error: str) -> None:
    cli.remember("so that there is a store")
    assert cli.error(*words)["error"] == error
    result = cli(*words, code=1)
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output


def test_a_folder_is_not_a_store(cli: Any, tmp_path: Path) -> None:
    told = cli.error("list", "--url", str(tmp_path))
    assert told["error"] == "store_unavailable"
    assert told["hint"]


def test_the_environment_says_the_agent_and_tenant(cli: Any) -> None:
    cli("remember", "One.", LONGMIND_AGENT="a", LONGMIND_TENANT="t")
    assert cli.json("stats", "--agent", "a", "--tenant", "t")["memories"] == 1


def test_the_real_program(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    done = run("remember", "-", "--json", input="Grüße 東京".encode(), LONGMIND_URL=url)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["memories"][0]["content"] == "Grüße 東京"
    done = run("show", "ffffffff", LONGMIND_URL=url)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.startswith(b"error: ")


def test_a_terminal_that_cannot_show_a_character(tmp_path: Path) -> None:
    env = {"LONGMIND_URL": str(tmp_path / "memory.db"), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = run("remember", "-", "--json", input="Grüße 東京".encode(), **env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["memories"][0]["content"] == "Grüße 東京"
    assert run("list", **env).returncode == 0


def test_colours_only_where_wanted(tmp_path: Path) -> None:
    env = {"LONGMIND_URL": str(tmp_path / "memory.db")}
    assert run("remember", "One thing.", **env).returncode == 0
    assert b"\x1b[" not in run("recall", "thing", **env).stdout
    assert b"\x1b[32m" in run("recall", "thing", FORCE_COLOR="1", TERM="xterm-256color", **env).stdout
    uncoloured = run("recall", "thing", FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color", **env).stdout
    assert b"\x1b[32m" not in uncoloured


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    env = {**os.environ, "LONGMIND_URL": str(tmp_path / "memory.db")}
    turns = "\n".join(json.dumps({"role": "user", "content": f"Note {n} " + "x" * 500}) for n in range(500))
    (tmp_path / "talk.jsonl").write_text(turns)
    assert run("remember", "--messages", str(tmp_path / "talk.jsonl"), LONGMIND_URL=env["LONGMIND_URL"]).returncode == 0
    export = [sys.executable, "-m", "longmind.cli", "export", "-"]
    with subprocess.Popen(export, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    words = {"bash": {"COMP_WORDS": "longmind re", "COMP_CWORD": "1"}, "zsh": {"_TYPER_COMPLETE_ARGS": "longmind re"}}
    env = words.get(shell, {"_TYPER_COMPLETE_ARGS": "longmind re", "_TYPER_COMPLETE_FISH_ACTION": "get-args"})
    done = run(_LONGMIND_COMPLETE=f"complete_{shell}", **env)
    assert all(name in done.stdout for name in (b"remember", b"recall", b"reembed"))
