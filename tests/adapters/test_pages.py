"""The page of each adapter: its example is pasted by readers, so it runs, in the environment of the adapter."""

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.conftest import missing_package

from tools.adapters import ROOT, adapters, page_of

PYTHON = re.compile(r"^```python(?P<marks>[^\n]*)\n(?P<text>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("adapter", adapters())
def test_the_page_of_an_adapter_runs(adapter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run in order, in one namespace, on one event loop and one fresh store."""
    if (missing := missing_package(adapter)) is not None:
        pytest.skip(f"{missing} is not installed here; `make test-adapters` runs the page")
    monkeypatch.setenv("LONGMIND_URL", str(tmp_path / "memory.db"))
    monkeypatch.chdir(tmp_path)
    text = page_of(adapter).read_text("utf-8")
    blocks = [match for match in PYTHON.finditer(text) if "no-run" not in match["marks"]]
    assert blocks, f"{page_of(adapter).name} has no example"
    names: dict[str, Any] = {"__name__": "__main__"}
    with asyncio.Runner() as runner:
        for block in blocks:
            line = text.count("\n", 0, block.start("text"))
            code = compile("\n" * line + block["text"], str(page_of(adapter)), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            result = eval(code, names)  # noqa: S307
            if inspect.iscoroutine(result):
                runner.run(result)


@pytest.mark.parametrize("adapter", adapters())
def test_every_adapter_has_a_page_in_the_navigation(adapter: str) -> None:
    assert page_of(adapter).exists()
    assert page_of(adapter).relative_to(ROOT / "docs").as_posix() in (ROOT / "mkdocs.yml").read_text("utf-8")
