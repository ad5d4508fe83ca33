"""Patience with a server: attempts with growing waits, a deadline, a limit on calls at once, a rest when it is down.

A provider says ``Transient`` for what may work later. Everything else it raises ends the call.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TypeVar

from longmind.clock import Clock, SystemClock
from longmind.errors import LongmindError, ModelUnavailable

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]


class Transient(Exception):
    """It did not work now and may work later: what happened, and how long the server asked to wait.

    ``outage`` is False for a server that is well and only asks for fewer requests.
    """

    def __init__(self, what: str, wait: float | None = None, *, outage: bool = True) -> None:
        super().__init__(what)
        self.wait = wait
        self.outage = outage


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call may take and how often it is tried."""

    attempts: int = 4
    timeout: float = 60.0
    """Seconds for one attempt."""
    deadline: float = 180.0
    """Seconds for the whole call: attempts, waits, and waiting for its turn."""
    longest_wait: float = 60.0
    """A server that asks to wait longer is not waited for: the caller is told."""
    concurrency: int = 4
    """Calls at once; others wait for their turn."""

    def pause(self, attempt: int, asked: float | None) -> float:
        """Seconds before the next attempt: what the server asked, or twice as long each time.

        The chance in it keeps callers that failed together from coming back together.
        """
        grown: float = min(2.0 ** (attempt - 1), 30.0) * random.uniform(0.5, 1.0)
        return grown if asked is None else asked + random.uniform(0.0, 0.25)


@dataclass(slots=True)
class Breaker:
    """Gives a server that keeps failing a rest: calls fail at once instead of adding to its load.

    After ``failures`` in a row it opens; after ``rest`` seconds one call is let through, and its luck decides.
    """

    clock: Clock
    failures: int = 5
    rest: float = 30.0
    _row: int = 0
    _opened: datetime | None = None
    _probing: bool = False

    def left(self) -> float:
        """Seconds of rest left; nothing when calls may pass."""
        if self._opened is None:
            return 0.0
        passed = (self.clock.now() - self._opened).total_seconds()
        return self.rest - passed if 0.0 <= passed < self.rest else 0.0  # a clock that was set back ends the rest

    @contextmanager
    def trial(self, name: str) -> Iterator[None]:
        """One attempt, if attempts are let through; how it ends is remembered."""
        left = self.left()
        if left or self._probing:
            raise ModelUnavailable(
                f"{name} failed {self._row} times in a row and is given a rest.",
                hint="Check that the server runs. It is tried again by itself after the rest.",
                retry_after=round(left or 1.0, 1),
            )
        probe = self._probing = self._opened is not None
        try:
            yield
        except Transient as error:
            if error.outage:
                self._failed()
            raise
        except LongmindError:
            self._well()  # the server answered, if only to refuse
            raise
        else:
            self._well()
        finally:
            if probe:
                self._probing = False

    def _failed(self) -> None:
        self._row += 1
        if self._row >= self.failures:
            self._opened = self.clock.now()

    def _well(self) -> None:
        self._row, self._opened = 0, None


@dataclass(slots=True)
class Line:
    """The way to one server: all calls of a model go through it."""

    name: str
    patience: Patience = Patience()
    clock: Clock = field(default_factory=SystemClock)
    sleep: Sleep = asyncio.sleep
    breaker: Breaker | None = None
    retries: int = 0
    _turns: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.breaker = self.breaker or Breaker(self.clock)
        self._turns = asyncio.Semaphore(self.patience.concurrency)

    async def call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try until it works, may not work, or time is up."""
        async with self._within(None), self._turns:
            return await self._tried(attempt)

    async def stream(self, start: Callable[[], AsyncIterator[T]]) -> AsyncGenerator[T, None]:
        """The same for what comes in pieces. Once the first is there, nothing is tried again: it cannot be unsaid."""
        end = asyncio.get_running_loop().time() + self.patience.deadline
        async with self._within(end):
            await self._turns.acquire()
        opened: AsyncIterator[T] | None = None
        try:
            async with self._within(end):
                source, item = await self._tried(lambda: _first(start))
            opened = source
            while item is not None:
                yield item
                try:
                    async with self._within(end):
                        item = await anext(source, None)
                except Transient as error:
                    raise ModelUnavailable(
                        f"The answer of {self.name} broke off: {error}.", hint="Ask again."
                    ) from None
        finally:
            self._turns.release()
            if opened is not None:
                await _close(opened)

    async def _tried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        assert self.breaker is not None
        number = 0
        while True:
            number += 1
            try:
                with self.breaker.trial(self.name):
                    return await self._once(attempt)
            except Transient as error:
                pause = self.patience.pause(number, error.wait)
                if number == self.patience.attempts or pause > self.patience.longest_wait:
                    raise ModelUnavailable(
                        f"{self.name} did not answer after {number} of {self.patience.attempts} attempts: {error}.",
                        hint="Check that the server runs and is not overloaded, then try again.",
                        **({} if error.wait is None else {"retry_after": error.wait}),
                    ) from None
            self.retries += 1
            await self.sleep(pause)

    async def _once(self, attempt: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self.patience.timeout) as limit:
                return await attempt()
        except TimeoutError:
            if limit.expired():
                raise Transient(f"no answer within {self.patience.timeout:g} s") from None
            raise

    @asynccontextmanager
    async def _within(self, end: float | None) -> AsyncIterator[None]:
        """The deadline of the whole call."""
        end = asyncio.get_running_loop().time() + self.patience.deadline if end is None else end
        try:
            async with asyncio.timeout_at(end) as limit:
                yield
        except TimeoutError:
            if limit.expired():
                raise ModelUnavailable(
                    f"{self.name} gave no whole answer within {self.patience.deadline:g} s.",
                    hint="Ask for a shorter answer, or allow more time with ?timeout= in the model's URL.",
                ) from None
            raise


async def _first(start: Callable[[], AsyncIterator[T]]) -> tuple[AsyncIterator[T], T | None]:
    source = start()
    try:
        return source, await anext(source, None)
    except BaseException:
        await _close(source)
        raise


async def _close(source: AsyncIterator[object]) -> None:
    close = getattr(source, "aclose", None)
    if close is not None:
        await close()


def retry_after(header: str | None, clock: Clock) -> float | None:
    """Seconds to wait as a server said it: a number or a date. What is neither is as if nothing was said."""
    if header is None:
        return None
    try:
        return max(0.0, float(header)) if header.strip()[:1].isdigit() else _until(header, clock)
    except (ValueError, OverflowError):
        return None


def _until(header: str, clock: Clock) -> float:
    moment = parsedate_to_datetime(header)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - clock.now()) / timedelta(seconds=1))
