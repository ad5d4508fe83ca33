"""The posts that another program writes to the standard input."""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from io import RawIOBase

from taat.feeds.base import Delivery
from taat.feeds.lines import Lines, read_posts

_AHEAD = 256
"""How many posts are read before the first of them was taken."""


class StandardInput:
    """The posts of the standard input, as they come. A pipe cannot be read again, so a position says nothing."""

    live = True
    name = "-"

    async def deliveries(self, after: str | None = None) -> AsyncGenerator[Delivery, None]:
        """Yield the posts as they come; ``after`` is ignored."""
        loop = asyncio.get_running_loop()
        arrived: asyncio.Queue[Delivery | BaseException | None] = asyncio.Queue()
        room, left = threading.Semaphore(_AHEAD), threading.Event()

        def hand_over(item: Delivery | BaseException | None) -> None:
            if not left.is_set():
                loop.call_soon_threadsafe(arrived.put_nowait, item)

        def read() -> None:
            try:
                for delivery in self.read():
                    room.acquire()
                    if left.is_set():
                        return
                    hand_over(delivery)
                hand_over(None)
            except BaseException as error:  # raised where the posts are taken
                hand_over(error)

        # a daemon: nobody can end a read that waits for a line which never comes
        threading.Thread(target=read, name="taat-stdin", daemon=True).start()
        try:
            while (item := await arrived.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                room.release()
                yield item
        finally:
            left.set()
            room.release()

    def read(self) -> Iterator[Delivery]:
        """Yield the same for who is not asynchronous."""
        for post, mark in read_posts(_standard_input(), "the standard input", self.name):
            yield Delivery(post, str(mark.line))


def _standard_input() -> Lines:
    stream = sys.stdin.buffer
    # a buffered stream is locked while it waits, which would break off the end of the program
    return _UnlockedLines(stream.raw) if hasattr(stream, "raw") else stream


class _UnlockedLines:
    """The lines of an unbuffered stream."""

    def __init__(self, raw: RawIOBase) -> None:
        self._raw = raw
        self._kept = bytearray()
        self._ended = False

    def readline(self, size: int, /) -> bytes:
        searched = 0
        while (end := self._kept.find(b"\n", searched, size)) < 0 and len(self._kept) < size and not self._ended:
            searched = len(self._kept)
            more = self._raw.read(65536)
            self._kept += more or b""
            self._ended = not more
        length = min(size, len(self._kept)) if end < 0 else end + 1
        line = bytes(self._kept[:length])
        del self._kept[:length]
        return line
