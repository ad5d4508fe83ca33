"""``python -m tests.console.first_paint``: how long the pages of the console take to show, and what that costs.

It fills a store with the sample, serves it, and opens every page: once in a browser that never saw the console (cold),
and then with the console's scripts in its cache (warm). CPU times hold on a busy machine, too; times on the clock need
a quiet one, so the load is printed beside them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from tests.console.harness import AGENTS, PATHS, PATIENCE_MS, WIDTHS, Server, serving
from tests.console.sample import AGENT, fill

_TICKS = os.sysconf("SC_CLK_TCK")
_PAINT = """() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    requests: performance.getEntriesByType("resource").length + 1,
    bytes: [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")]
        .reduce((sum, entry) => sum + entry.transferSize, 0),
})"""


@dataclass(frozen=True, slots=True)
class Load:
    """One load of a page: milliseconds, and what was requested."""

    paint: float
    """Until the first text is painted, on the clock."""
    server: float
    """CPU of the server."""
    browser: float
    """CPU of the browser."""
    requests: int
    kilobytes: float


def cpu_ms(pids: set[int]) -> float:
    """Return the CPU time that processes have used."""
    used = 0
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            used += int(fields[11]) + int(fields[12])
    return 1000 * used / _TICKS


def descendants(root: int) -> set[int]:
    """Return the processes that a process started, and those that they started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    family = {root}
    while grown := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= grown
    return family - {root}


def open_once(context: Any, server: Server, name: str) -> Load:
    """Open a page and measure until it is there and answers."""
    page = context.new_page()
    browser = descendants(os.getpid()) - {server.pid}
    before = cpu_ms({server.pid}), cpu_ms(browser)
    page.goto(f"{server.address}{PATHS[name]}?agent={AGENTS.get(name, AGENT)}")
    page.wait_for_selector("main h1")
    page.wait_for_function("window.did_handshake === true")
    seen = page.evaluate(_PAINT)
    browser = descendants(os.getpid()) - {server.pid}
    after = cpu_ms({server.pid}), cpu_ms(browser)
    page.close()
    return Load(
        seen["paint"], after[0] - before[0], after[1] - before[1], int(seen["requests"]), float(seen["bytes"]) / 1000
    )


def measure(server: Server, runs: int) -> Iterator[tuple[str, str, Load]]:
    """Yield the loads of every page, the first one cold."""
    chromium = shutil.which("chromium")
    assert chromium is not None, "there is no chromium; on Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in PATHS:
            wide, high = WIDTHS["wide"]
            context = browser.new_context(viewport={"width": wide, "height": high})
            context.set_default_timeout(PATIENCE_MS)
            yield name, "cold", open_once(context, server, name)
            warm = [open_once(context, server, name) for _ in range(runs)]
            yield name, "warm", sorted(warm, key=lambda load: load.paint)[len(warm) // 2]
            context.close()
        browser.close()


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="warm loads of each page; the middle one is printed")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "memory.db"
        with contextlib.redirect_stdout(io.StringIO()):
            fill(store)
        with serving(store) as server:
            tell(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
            tell(f"{'page':16}{'cache':6}{'paint ms':>9}{'server CPU':>11}{'browser CPU':>12}{'requests':>9}{'KB':>7}")
            paints: dict[str, list[float]] = {"cold": [], "warm": []}
            for name, cache, load in measure(server, runs):
                paints[cache].append(load.paint)
                tell(
                    f"{name:16}{cache:6}{load.paint:9.0f}{load.server:11.0f}{load.browser:12.0f}"
                    f"{load.requests:9}{load.kilobytes:7.0f}"
                )
            for cache, values in paints.items():
                tell(f"{cache}: median {statistics.median(values):.0f} ms, longest {max(values):.0f} ms")
            tell(f"load of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
