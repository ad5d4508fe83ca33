"""Sample data for the tests: what ``longmind demo --load`` stores, procedures whose functions run, and trades."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.console.work_sample import fill_work

from longmind.cli.example import load_example
from longmind.config import Settings
from longmind.sync import Longmind
from taat.cli.run import run

AGENT = "assistant"
TRADER = "taat"
_POSTS = 40


def fill(store: Path) -> None:
    """Fill a new store, ``memory.db`` in a folder of its own."""
    asyncio.run(load_example(Settings.load({}, url=str(store)), AGENT, embedder="none"))
    with Longmind.open(str(store), settings=Settings.load({}), embedder="none") as longmind:
        fill_work(longmind, AGENT)
    run(store=store.parent, posts=_POSTS)
