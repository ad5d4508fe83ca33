"""What the console's tests share: a server process, and a watch over what the browser does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.console.sample import AGENT, TRADER

from longmind.console.pages import PAGES
from longmind.sync import Longmind

PATHS = {page.name: page.path for page in PAGES}
AGENTS = {"trading": TRADER}
"""Whose memories a page is opened with, where it is not the agent of most pages."""
WIDTHS = {"wide": (1440, 900), "phone": (390, 844)}
SCREENSHOTS = os.environ.get("LONGMIND_SCREENSHOTS")
PATIENCE_MS = 30_000
"""How long the browser waits for anything; a machine may be busy."""


@dataclass
class Server:
    """A server process, and the file of its store."""

    address: str
    store: Path
    pid: int
    longmind: Any = None

    def memory(self, agent: str = AGENT, user: str | None = None) -> Any:
        """Return what the server's store holds, as any client sees it."""
        if self.longmind is None:
            self.longmind = Longmind.open(self.address)
        return self.longmind.agent(agent, user, all_users=user is None)

    def close(self) -> None:
        """Close the connection of ``memory``."""
        if self.longmind is not None:
            self.longmind.close()


@contextmanager
def serving(store: Path, *options: str) -> Iterator[Server]:
    """Run a server process on a store."""
    command = [sys.executable, "-m", "longmind.cli", "serve", "--port", "0", "--json", "--no-consolidation", *options]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    with store.with_suffix(".log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--url", str(store)], stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        )
    output: Any = process.stdout
    try:
        address = re.search(r"http://[0-9.:]+", next(line for line in output if "http" in line))
        assert address is not None
        server = Server(address[0], store, process.pid)
        yield server
        server.close()
    finally:
        process.terminate()
        process.communicate()


@dataclass
class Watch:
    """What a browser reported of its pages."""

    host: str
    problems: list[str] = field(default_factory=list)

    def follow(self, page: Any) -> None:
        """Note errors, requests to other places and dialogs of a page."""
        page.on("console", lambda line: line.type in ("error", "warning") and self.problems.append(line.text))
        page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        page.on("request", lambda request: self._requested(request.url))
        page.on("dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def _requested(self, url: str) -> None:
        if not url.startswith((f"http://{self.host}/", f"ws://{self.host}/", "data:")):
            self.problems.append(f"a request left: {url}")


Open = Callable[..., Any]
ELEMENTS = "Object.keys(document.querySelector('#app')._vnode.component.proxy.elements).length"
"""How many elements NiceGUI keeps of a page, those that are not shown included."""
