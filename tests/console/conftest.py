"""One server and one browser for all tests of the console.

The browser is Debian's chromium, driven by playwright. Without it the tests skip and say so; ``make test`` installs it
first if it can. Every page that ``open_page`` opens fails its test if the browser reported an error, or asked anybody
but the server for anything. ``LONGMIND_SCREENSHOTS=folder`` writes a picture of every page.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import sync_playwright
from tests.console.harness import AGENTS, PATHS, PATIENCE_MS, WIDTHS, Open, Server, Watch, serving
from tests.console.sample import AGENT, fill
from tests.console.small_sample import SMALL, fill_small


def _filled_once(folder: Path) -> Path:
    """Return a store with the sample. The processes of a test run have folders beside each other and fill one store."""
    parallel = "PYTEST_XDIST_WORKER" in os.environ
    store = (folder.parent if parallel else folder) / "console-sample" / "memory.db"
    store.parent.mkdir(exist_ok=True)
    filled = store.with_suffix(".filled")
    with store.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not filled.exists():
            fill(store)
            filled.touch()
    return store


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on a store with sample data, without keys."""
    store = tmp_path_factory.mktemp("console") / "memory.db"
    shutil.copy(_filled_once(tmp_path_factory.getbasetemp()), store)
    with serving(store, "--tools", "tests.console.work_sample:tools") as running:
        yield running


@pytest.fixture(scope="session")
def small(server: Server) -> str:
    """The name of an agent with a few memories whose words are known."""
    fill_small(server)
    return SMALL


@pytest.fixture(scope="session")
def started_browser() -> Iterator[tuple[Any, asyncio.AbstractEventLoop]]:
    """The browser, and the event loop on which playwright drives it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium; on Debian: apt-get install chromium")
    quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=quiet, timeout=6 * PATIENCE_MS)
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield started, loop
        asyncio._set_running_loop(loop)
        started.close()


@pytest.fixture
def browser(started_browser: tuple[Any, asyncio.AbstractEventLoop]) -> Iterator[Any]:
    """The browser, for one test.

    Between its calls playwright leaves its event loop marked as running in this thread. So it is marked only while a
    test uses the browser, and asynchronous tests can run between.
    """
    started, loop = started_browser
    asyncio._set_running_loop(loop)
    yield started
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def profiles() -> dict[tuple[str, str], Any]:
    """The contexts of the browser by theme and width. They are kept: the scripts of the pages are in their caches."""
    return {}


@pytest.fixture
def open_page(server: Server, browser: Any, profiles: dict[tuple[str, str], Any]) -> Iterator[Open]:
    """A function that opens a page of the console by its name, and returns playwright's page."""
    opened: list[Any] = []
    watch = Watch(server.address.removeprefix("http://"))

    def open_page(name: str, *, theme: str = "light", width: str = "wide", **query: str) -> Any:
        if (theme, width) not in profiles:
            wide, high = WIDTHS[width]
            context = browser.new_context(viewport={"width": wide, "height": high}, color_scheme=theme)
            context.set_default_timeout(PATIENCE_MS)
            profiles[theme, width] = context
        page = profiles[theme, width].new_page()
        opened.append(page)
        watch.follow(page)
        encoded = urlencode({"agent": AGENTS.get(name, AGENT), **query})
        page.goto(f"{server.address}{PATHS[name]}?{encoded}")
        page.wait_for_selector("main.lm > *", state="attached")
        page.wait_for_function("window.did_handshake === true")
        return page

    yield open_page
    for page in opened:
        page.context.clear_cookies()
        page.close()
    assert watch.problems == []
