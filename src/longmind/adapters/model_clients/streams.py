"""Watch a provider's stream: what it yields is received, and when it ends, in whatever way, that is remembered.

A stream ends when it is read to its end, when it breaks, when it is closed, and when it is dropped. The clients close
the HTTP response in all these cases but the last, also behind helpers such as ``client.messages.stream()``.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from longmind.adapters.model_clients.call import Exchange


def watch_stream(stream: Any, exchange: Exchange, remember: Callable[[], None]) -> None:
    """Watch a blocking stream. What was received of one that is dropped is remembered in a thread."""
    iterator, response = stream._iterator, weakref.ref(stream.response)
    close = type(stream.response).close

    def items() -> Iterator[Any]:
        for item in iterator:
            exchange.receive(item)
            yield item
        finish()

    def finish() -> None:
        if exchange.finish():
            remember()

    def finish_dropped() -> None:
        # The garbage collector may call this in any thread, also in that of the memory: it must not wait there.
        if exchange.finish():
            threading.Thread(target=remember, name="longmind-dropped-stream").start()

    def closing() -> None:
        if (open := response()) is not None:
            close(open)
        finish()

    stream._iterator = items()
    stream.response.close = closing
    weakref.finalize(stream, finish_dropped).atexit = False


def watch_async_stream(stream: Any, exchange: Exchange, remember: Callable[[], Awaitable[None]]) -> None:
    """Watch an asynchronous stream. One that is dropped is closed by the event loop."""
    iterator, response = stream._iterator, weakref.ref(stream.response)
    close = type(stream.response).aclose

    async def items() -> AsyncIterator[Any]:
        try:
            async for item in iterator:
                exchange.receive(item)
                yield item
        finally:
            await iterator.aclose()
            await finish()

    async def finish() -> None:
        if exchange.finish():
            await remember()

    async def closing() -> None:
        if (open := response()) is not None:
            await close(open)
        await finish()

    stream._iterator = items()
    stream.response.aclose = closing
