"""Sample data for the console's tests: the example of ``longmind demo --load``."""

from __future__ import annotations

import asyncio
from pathlib import Path

from longmind.cli.example import load_example
from longmind.config import Settings

AGENT = "assistant"


def fill(store: Path) -> None:
    """Fill a new store."""
    asyncio.run(load_example(Settings.load({}, url=str(store)), AGENT, embedder="none"))
