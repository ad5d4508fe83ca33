"""Documentation that runs: every Python block, and every line with longmind, taat or curl, of README and docs.

The blocks of a page run in order, in one namespace and on one fresh SQLite store (``LONGMIND_URL``), in an empty
folder. ``$ longmind serve`` starts a server for the page. ``python no-run`` and ``console no-run`` mark what is only to
be read. In console lines ``ID`` stands for the newest memory and ``OPERATION`` for the last change of the memory that
was named last.
"""

import ast
import asyncio
import inspect
import json
import os
import re
import shlex
import textwrap
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.docs.http_examples import HttpExamples, is_request
from typer import Typer
from typer.testing import CliRunner

from longmind.cli import app
from taat.cli import app as taat_app

ROOT = Path(__file__).parents[2]
ADAPTERS = ROOT / "docs/howto/adapters"
"""These pages need a framework each; tests/adapters/test_pages.py runs them in an environment that has it."""
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent != ADAPTERS)]
FENCE = re.compile(
    r"^(?P<indent>[ \t]*)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```[ \t]*$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    language: str
    runs: bool
    text: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    for found in FENCE.finditer(text):
        language, *marks = found["info"].split() or [""]
        yield Block(
            language, "no-run" not in marks, textwrap.dedent(found["text"]), text.count("\n", 0, found.start()) + 2
        )


def commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """The lines a reader would type, without the prompt, and what is shown below each; a backslash joins two."""
    lines = block.text.replace("\\\n", " ").splitlines()
    typed = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for number, following in zip(typed, [*typed[1:], len(lines)], strict=True):
        line = lines[number].removeprefix("$ ")
        if line.startswith(("longmind ", "taat ")) or is_request(line):
            yield line, lines[number + 1 : following]


class Reader:
    """Follows a page."""

    def __init__(self, page: Path, runner: asyncio.Runner) -> None:
        self.page = page
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self._runner = runner
        self._http = HttpExamples()
        self._id = ""

    def close(self) -> None:
        self._http.stop()

    def follow(self, block: Block) -> None:
        if block.language == "python":
            self._python(block)
        elif block.language == "console":
            for command, shown in commands(block):
                if is_request(command):
                    self._http.request(command, shown, self.page)
                else:
                    self._console(command)

    def _python(self, block: Block) -> None:
        source = "\n" * (block.line - 1) + self._http.led(block.text)
        code = compile(source, str(self.page), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        done = eval(code, self.names)  # noqa: S307  # our own documentation
        if code.co_flags & inspect.CO_COROUTINE:
            self._runner.run(done)

    def _console(self, command: str) -> None:
        program, *words = shlex.split(command)
        if program == "taat":
            self._run(taat_app, "taat", *words)
        elif words[0] == "serve":
            self._http.serve(words[1:])
        else:
            self._longmind(*[self._meant(word) for word in words])

    def _meant(self, word: str) -> str:
        if word == "ID":
            items = json.loads(self._longmind("list", "--state", "any", "--limit", "1", "--json"))["items"]
            self._id = items[0]["id"] if items else self._id
            return self._id
        if word == "OPERATION":
            return str(json.loads(self._longmind("history", self._id, "--json"))["changes"][-1]["operation"])
        return word

    def _longmind(self, *words: str) -> str:
        return self._run(app, "longmind", *words)

    def _run(self, program: Typer, name: str, *words: str) -> str:
        result = CliRunner().invoke(program, words, catch_exceptions=False, prog_name=name)
        assert result.exit_code == 0, f"{self.page.name}: {name} {shlex.join(words)}\n{result.output}"
        return result.stdout


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_the_examples_of_a_page_work(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("LONGMIND_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LONGMIND_URL", str(tmp_path / "memory.db"))
    monkeypatch.chdir(tmp_path)
    with asyncio.Runner() as runner:
        reader = Reader(page, runner)
        with closing(reader):
            for block in blocks(page.read_text(encoding="utf-8")):
                if block.runs:
                    reader.follow(block)


def test_the_readme_and_the_tutorial_have_examples_of_both_kinds() -> None:
    for page in (ROOT / "README.md", ROOT / "docs" / "tutorial.md"):
        found = [block for block in blocks(page.read_text(encoding="utf-8")) if block.runs]
        assert any(block.language == "python" for block in found)
        assert any(list(commands(block)) for block in found if block.language == "console")


@pytest.mark.parametrize(
    "page",
    [
        "```python\nassert False\n```",
        "1. x\n\n   ```python\n   await no_such_name()\n   ```",
        "```console\n$ longmind nonsense\n```",
        "```console\n$ taat signals --feed file:absent.jsonl\n```",
        "```console\n$ curl -s http://127.0.0.1:9/v1/agents\n```",
        "```console\n$ curl -s file:///dev/null\nsomething\n```",
    ],
)
def test_a_wrong_example_is_noticed(page: str, tmp_path: Path) -> None:
    (block,) = blocks(page)
    with asyncio.Runner() as runner, pytest.raises((AssertionError, NameError)):
        Reader(tmp_path, runner).follow(block)


def test_what_is_only_to_be_read_is_not_run() -> None:
    (block,) = blocks("```python no-run\nraise SystemExit\n```\n")
    assert not block.runs
