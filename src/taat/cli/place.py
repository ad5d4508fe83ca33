"""Where the commands keep things: a folder with the memory, the paper account and the prices that were announced."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer

from longmind import NotFound
from taat.memory import TraderMemory, open_memory

StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FOLDER",
        envvar="TAAT_STORE",
        help="The folder with the memory, the paper account and the announced prices. "
        "By default taat in the user's data folder.",
        show_default=False,
    ),
]


class Place:
    """The folder and the files in it."""

    def __init__(self, folder: Path | None = None) -> None:
        data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
        self.folder = folder or data / "taat"

    @property
    def memory(self) -> Path:
        return self.folder / "memory.db"

    @property
    def announced_prices(self) -> Path:
        return self.folder / "announced_prices.jsonl"

    def prepare(self) -> None:
        """Make the folder, for nobody else to read."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)


@asynccontextmanager
async def existing_memory(folder: Path | None) -> AsyncIterator[TraderMemory]:
    """Open the memory that an earlier ``taat run`` made."""
    place = Place(folder)
    if not place.memory.exists():
        raise NotFound(f"There is no memory in {place.folder}.", hint="`taat run` makes one.")
    async with open_memory(place.memory) as memory:
        yield memory
