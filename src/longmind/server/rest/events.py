"""Streams as server-sent events, or as lines of JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from longmind.errors import LongmindError
from longmind.operations import Operation
from longmind.server.rest.problems import problem
from longmind.server.rest.state import ServerState

MEDIA_TYPE = "text/event-stream"
LINES = "application/x-ndjson"
PENDING = object()
"""No item was read yet."""
_END = object()


@dataclass(frozen=True, slots=True)
class Progress:
    """What a method told while it works."""

    values: dict[str, Any]


async def with_progress(
    operation: Operation, call: Callable[[Callable[..., None]], Awaitable[Any]]
) -> AsyncGenerator[Any, None]:
    """Yield what a method tells while it works, then its result. One that is no longer read is cancelled."""
    queue: asyncio.Queue[Progress | None] = asyncio.Queue()

    def tell(*values: Any) -> None:
        queue.put_nowait(Progress(dict(zip(operation.progress, values, strict=True))))

    task = asyncio.ensure_future(call(tell))
    task.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (item := await queue.get()) is not None:
            yield item
        yield await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


async def lines(
    operation: Operation, items: AsyncIterator[Any], first: Any, held: AsyncExitStack
) -> AsyncIterator[bytes]:
    """Yield the items of a stream as lines. A text is a line already. An error breaks the connection off."""
    async with held:
        item = first
        try:
            while item is not _END:
                yield (item.encode() if isinstance(item, str) else operation.response.dump(item)) + b"\n"
                item = await first_of(items)
        finally:
            close = getattr(items, "aclose", None)
            if close is not None:
                await close()


async def first_of(items: AsyncIterator[Any]) -> Any:
    """Return the first item of a stream, so that an error comes before the response begins."""
    return await anext(items, _END)


async def write(
    operation: Operation, state: ServerState, items: AsyncIterator[Any], first: Any, held: AsyncExitStack
) -> AsyncIterator[bytes]:
    """Yield the events of a stream, and a comment when it is silent, until it ends or the server stops.

    ``end`` is the event after the last item; without it the connection was lost, and the client resumes.
    """
    stopping = asyncio.ensure_future(state.stopping.wait())
    following: asyncio.Future[Any] | None = None
    item = first
    async with held:
        try:
            yield b": stream\n\n"
            while item is not _END:
                if item is not PENDING:
                    yield _event(operation, item)
                following = asyncio.ensure_future(first_of(items))
                waiting = {following, stopping}
                while not following.done():
                    await asyncio.wait(
                        waiting, timeout=state.settings.heartbeat_seconds, return_when=asyncio.FIRST_COMPLETED
                    )
                    if stopping.done():
                        return
                    if not following.done():
                        yield b": still here\n\n"
                item = following.result()
            yield b"event: end\ndata: {}\n\n"
        except LongmindError as error:
            yield f"event: problem\ndata: {json.dumps(problem(error), default=str)}\n\n".encode()
        finally:
            for task in (stopping, following):
                if task is not None and not task.done():
                    task.cancel()
                    await asyncio.wait({task})
            close = getattr(items, "aclose", None)
            if close is not None:
                await close()


def _event(operation: Operation, item: Any) -> bytes:
    if isinstance(item, Progress):
        return b"event: progress\ndata: " + json.dumps(item.values, ensure_ascii=False).encode() + b"\n\n"
    data = operation.response.dump(item)
    if operation.event_id is None:
        return b"data: " + data + b"\n\n"
    return b"id: %d\ndata: %s\n\n" % (getattr(item, operation.event_id), data)
