"""The posts of a file.

A position is the number of bytes and lines that were read, and a digest of the bytes that the file begins with. A file
may grow between two runs; one that begins otherwise, or is shorter, is another file and is refused.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import IO

from longmind import InvalidInput, NotFound
from taat.feeds.base import Delivery
from taat.feeds.lines import BEGINNING, Mark, first_line, read_posts

SAMPLE = Path(__file__).parents[1] / "data" / "sample_feed.jsonl"
_FIRST_BYTES = 1024
"""How many bytes of its beginning tell one file from another."""
_TURN = 16
"""After so many posts the event loop gets a turn."""


class FileFeed:
    """The posts of a file."""

    live = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = f"file:{path.resolve()}"
        """The same for every way to write the path, because posts are known by their feed."""

    async def deliveries(self, after: str | None = None) -> AsyncGenerator[Delivery, None]:
        """Yield the posts of the file that come after a position."""
        for number, delivery in enumerate(self.read(after)):
            yield delivery
            if number % _TURN == 0:
                await asyncio.sleep(0)

    def read(self, after: str | None = None) -> Iterator[Delivery]:
        """Yield the same for who is not asynchronous."""
        if not self.path.exists():
            raise NotFound(f"There is no file {self.path}.")
        try:
            with self.path.open("rb") as stream, self.path.open("rb") as beginning:
                start = self._found_again(stream, after) if after is not None else BEGINNING
                head = first_line(beginning, str(self.path)) if start.offset else None
                digest, whole = "", False
                for post, mark in read_posts(stream, str(self.path), self.name, start, head):
                    if not whole:
                        beginning.seek(0)
                        digest = _digest(beginning.read(min(mark.offset, _FIRST_BYTES)))
                        whole = mark.offset >= _FIRST_BYTES
                    yield Delivery(post, f"{mark.offset}:{mark.line}:{digest}")
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be read: {error.strerror or error}.") from error

    def _found_again(self, stream: IO[bytes], position: str) -> Mark:
        """Move the stream to where a position stands; it must be the file that the position was told of."""
        parts = re.fullmatch(r"(\d{1,18}):(\d{1,18}):([0-9a-f]{16})", position)
        if parts is None:
            raise InvalidInput(f"{position!r:.80} is not a position in a file.", hint="Give it as the feed told it.")
        offset, line = int(parts[1]), int(parts[2])
        if _digest(stream.read(min(offset, _FIRST_BYTES))) != parts[3] or stream.seek(0, 2) < offset:
            raise InvalidInput(
                f"{self.path} is not the file that was read before: its beginning changed, or it is shorter.",
                hint="Put the old file back and append to it, or give the new posts a file of another name.",
            )
        stream.seek(max(offset - 1, 0))
        # the last line had no end yet: what was written since goes on with that line
        unfinished = offset > 0 and stream.read(1) != b"\n"
        stream.seek(offset)
        return Mark(offset, line - unfinished)


def sample_feed() -> FileFeed:
    """Return the invented feed that comes with the package."""
    return FileFeed(SAMPLE)


def _digest(beginning: bytes) -> str:
    return hashlib.sha256(beginning).hexdigest()[:16]
