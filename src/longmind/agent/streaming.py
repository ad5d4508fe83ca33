"""A run whose answer is streamed."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable, Callable
from types import TracebackType

from longmind.agent.deciding import Emit
from longmind.agent.models import Outcome

Start = Callable[[Emit], Awaitable[Outcome]]


class Stream:
    """The pieces of an answer, and afterwards the ``outcome``.

    The run continues in the background while its pieces are read. It is cancelled, and recorded as such, by ``aclose``,
    at the end of ``async with``, or when the stream is garbage-collected.
    """

    def __init__(self, start: Start) -> None:
        self._start = start
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()
        self._task: asyncio.Task[Outcome] | None = None

    @property
    def outcome(self) -> Outcome | None:
        """How the run ended; None while it goes on, or if it was cancelled or refused."""
        task = self._task
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result()

    async def result(self) -> Outcome:
        """Wait for the end and return the outcome; pieces can still be read afterwards."""
        return await asyncio.shield(self._running())

    def __aiter__(self) -> Stream:
        self._running()
        return self

    async def __anext__(self) -> str:
        task = self._running()
        piece = None if self._ended() else await self._pieces.get()
        if piece is None:
            await asyncio.wait({task})
            if not task.cancelled():
                task.result()  # raises what kept the run from beginning
            raise StopAsyncIteration
        return piece

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancel the run unless it has ended, and wait until that is recorded."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    def _ended(self) -> bool:
        return self._task is not None and self._task.done() and self._pieces.empty()

    def _running(self) -> asyncio.Task[Outcome]:
        if self._task is None:
            self._task = asyncio.create_task(_run(self._start, self._pieces), name="agent stream")
            self._task.add_done_callback(_retrieve_exception)
            weakref.finalize(self, _cancel_run, self._task, asyncio.get_running_loop()).atexit = False
        return self._task


async def _run(start: Start, pieces: asyncio.Queue[str | None]) -> Outcome:
    """Run without a reference to the stream, so that the stream can be garbage-collected."""
    try:
        return await start(pieces.put)
    finally:
        pieces.put_nowait(None)


def _cancel_run(task: asyncio.Task[Outcome], loop: asyncio.AbstractEventLoop) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(task.cancel)


def _retrieve_exception(task: asyncio.Task[Outcome]) -> None:
    """Retrieve the exception, so that asyncio does not report it; a reader still gets it."""
    if not task.cancelled():
        task.exception()
