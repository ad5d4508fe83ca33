"""The runner of the blocking classes: an event loop in a thread, and wrappers for asynchronous methods.

A blocking class is declared from the asynchronous one, method by method. The wrappers keep signature, documentation and
types, so there is one implementation and an editor sees real types:

    class WorkingMemory(Blocking[asynchronous.WorkingMemory]):
        put = blocking(asynchronous.WorkingMemory.put)
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

from longmind.errors import InvalidInput, StoreUnavailable
from longmind.store.owner import forked_store

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class _Call(Generic[R]):
    """A coroutine that another thread waits for.

    ``asyncio.run_coroutine_threadsafe`` does the same with two futures and a condition, which cost as much again as
    the way to the other thread and back.
    """

    __slots__ = ("_done", "_loop", "_task", "_work")

    def __init__(self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, R]) -> None:
        self._loop, self._work = loop, work
        self._done = threading.Lock()
        self._done.acquire()
        self._task: asyncio.Task[R] | None = None

    def start(self) -> None:
        self._task = self._loop.create_task(self._work)
        self._task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[R]) -> None:
        self._done.release()

    def result(self) -> R:
        """Wait for the end; return the result, or raise the error."""
        self._done.acquire()
        assert self._task is not None
        return self._task.result()


class EventLoopThread:
    """An event loop that runs in a daemon thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._process = os.getpid()
        self._closing: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="longmind", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine in the event loop and wait for its result."""
        self._require_running(work)
        if threading.current_thread() is self._thread:
            work.close()
            raise InvalidInput(
                "A blocking call was made from within the work that it would wait for.",
                hint="There, use the asynchronous face: `from longmind import Longmind`.",
            )
        call = _Call(self._loop, work)
        self._loop.call_soon_threadsafe(call.start)
        return call.result()

    def submit(self, work: Coroutine[Any, Any, R]) -> Future[R]:
        """Start a coroutine in the event loop and return its future, for those who do not block."""
        if not self.running:
            work.close()
            raise (
                forked_store(self._process)
                if os.getpid() != self._process
                else StoreUnavailable("The store is closed.")
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _require_running(self, work: Coroutine[Any, Any, Any]) -> None:
        if not self.running:
            work.close()
            if os.getpid() != self._process:
                raise forked_store(self._process)
            raise StoreUnavailable("The store is closed.")

    def iterate(self, items: AsyncIterator[R]) -> Iterator[R]:
        """Yield the items of an asynchronous iterator. Leaving early closes it."""

        async def following() -> R:
            return await anext(items)

        try:
            while True:
                try:
                    item = self.run(following())
                except StopAsyncIteration:
                    return
                yield item
        finally:
            if inspect.isasyncgen(items):
                self.close(items)

    @contextmanager
    def enter(self, manager: AbstractAsyncContextManager[R]) -> Iterator[R]:
        """Enter and leave an asynchronous context manager."""

        async def enter() -> R:
            return await manager.__aenter__()

        async def leave(
            kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> bool | None:
            return await manager.__aexit__(kind, error, trace)

        entered = self.run(enter())
        try:
            yield entered
        except BaseException as error:
            if not self.run(leave(type(error), error, error.__traceback__)):
                raise
        else:
            self.run(leave(None, None, None))

    def close(self, items: AsyncGenerator[Any, Any]) -> None:
        """Close a generator that was left early. Garbage collection may call this in any thread, also the loop's."""

        async def close() -> None:
            await items.aclose()

        if threading.current_thread() is self._thread:
            self._closing.add(task := self._loop.create_task(close()))
            task.add_done_callback(self._closing.discard)
        elif self.running:
            self.run(close())

    def stop(self) -> None:
        """Stop the loop and wait for its thread to end."""
        if self.running:
            self.run(self._loop.shutdown_asyncgens())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class Blocking(Generic[T]):
    """The base of the blocking classes: an asynchronous object, and the event loop that runs its methods."""

    def __init__(self, loop: EventLoopThread, target: T) -> None:
        self._loop = loop
        self._target = target

    def __repr__(self) -> str:
        return f"<blocking {self._target!r}>"


def underlying(face: Blocking[T]) -> tuple[T, EventLoopThread]:
    """Return the asynchronous object of a blocking one, and the event loop on which its coroutines have to run."""
    return face._target, face._loop


B = TypeVar("B", bound=Blocking[Any])


def blocking(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> Callable[Concatenate[Any, P], R]:
    """Wrap an asynchronous method as one that waits for the result."""

    name = method.__name__  # looked up when it is called: the object may be of a class that stands for this one

    @functools.wraps(method)
    def call(self: Blocking[Any], /, *args: P.args, **kwargs: P.kwargs) -> R:
        work: Coroutine[Any, Any, R] = getattr(self._target, name)(*args, **kwargs)
        return self._loop.run(work)

    return call


def direct(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Wrap a method that does not wait; it is called as it is."""

    name = method.__name__  # looked up when it is called: the object may be of a class that stands for this one

    @functools.wraps(method)
    def call(self: Blocking[Any], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return cast(R, getattr(self._target, name)(*args, **kwargs))

    return call


def iterating(method: Callable[Concatenate[Any, P], AsyncIterator[R]]) -> Callable[Concatenate[Any, P], Iterator[R]]:
    """Wrap a method for ``async for`` as one for ``for``."""

    name = method.__name__  # looked up when it is called: the object may be of a class that stands for this one

    @functools.wraps(method)
    def call(self: Blocking[Any], /, *args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        return self._loop.iterate(getattr(self._target, name)(*args, **kwargs))

    return call


def entering(
    method: Callable[Concatenate[Any, P], AbstractAsyncContextManager[Any]], entered: type[B]
) -> Callable[Concatenate[Any, P], AbstractContextManager[B]]:
    """Wrap a method for ``async with`` as one for ``with``; ``entered`` is the blocking class of what it yields."""

    name = method.__name__

    @functools.wraps(method)
    @contextmanager
    def call(self: Blocking[Any], /, *args: P.args, **kwargs: P.kwargs) -> Iterator[B]:
        with self._loop.enter(getattr(self._target, name)(*args, **kwargs)) as target:
            yield entered(self._loop, target)

    return call
