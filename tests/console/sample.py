"""Sample data for the console's tests: what ``longmind demo --load`` stores, and procedures whose functions run."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.console.work_sample import fill_work

from longmind.cli.example import load_example
from longmind.config import Settings
from longmind.sync import Longmind

AGENT = "assistant"


def fill(store: Path) -> None:
    """Fill a new store."""
    asyncio.run(load_example(Settings.load({}, url=str(store)), AGENT, embedder="none"))
    with Longmind.open(str(store), settings=Settings.load({}), embedder="none") as longmind:
        fill_work(longmind, AGENT)
