"""The page Trading: the feed with its signals, and why each; it is there for agents that followed a feed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.console.harness import PATIENCE_MS, Server, Watch, serving


@pytest.fixture(scope="module")
def trading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on what TAAT remembers of the feed that comes with it."""
    folder: Path = tmp_path_factory.mktemp("trading")
    command = [sys.executable, "-m", "taat", "run", "--store", str(folder), "--posts", "40"]
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    with serving(folder / "memory.db") as running:
        yield running


@pytest.fixture
def page(trading: Server, browser: Any) -> Iterator[Any]:
    """The page, watched for errors."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    opened = context.new_page()
    watch = Watch(trading.address.removeprefix("http://"))
    watch.follow(opened)
    opened.goto(f"{trading.address}/trading?agent=taat")
    opened.wait_for_function("window.did_handshake === true")
    yield opened
    context.close()
    assert watch.problems == []


def test_signals_are_marked_and_explained(page: Any, trading: Server) -> None:
    from tests.console.test_pages import barriers

    assert page.get_by_role("navigation", name="Pages").get_by_role("link", name="Trading").count() == 1
    assert page.locator(".lm-error").count() == 0
    marked = page.locator("mark.lm-mark").all_text_contents()
    signals = trading.memory("taat").episodic.events(type="signal", descending=True, limit=200).items
    records = [signal.data["record"] for signal in signals]
    quotes = {
        record["post"]["text"][record["signal"]["span"]["start"] : record["signal"]["span"]["end"]]
        for record in records
    }
    assert marked
    assert set(marked) <= quotes
    assert barriers(page) == []
    page.get_by_role("button", name="Why").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("heading", name="The decision").wait_for()


def test_other_agents_have_no_such_page(open_page: Any) -> None:
    page = open_page("overview")
    assert page.get_by_role("navigation", name="Pages").get_by_role("link", name="Trading").count() == 0
