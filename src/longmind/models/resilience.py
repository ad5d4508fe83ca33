"""Calls to a server with retries and backoff, a deadline, a limit on concurrent calls, and a circuit breaker.

A provider raises ``Transient`` for a failure that a retry may solve. Every other error ends the call.
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
    """A failure that a retry may solve, and how long the server asked to wait.

    ``outage`` is False when the server works and only asks for fewer requests.
    """

    def __init__(self, what: str, wait: float | None = None, *, outage: bool = True) -> None:
        super().__init__(what)
        self.wait = wait
        self.outage = outage


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of a call: attempts, timeouts and concurrency."""

    attempts: int = 4
    timeout: float = 60.0
    """Seconds for one attempt."""
    deadline: float = 180.0
    """Seconds for the whole call: attempts, delays, and the wait for a free slot."""
    longest_wait: float = 60.0
    """The call fails at once if the server asks for a longer wait."""
    concurrency: int = 4
    """Concurrent calls; others wait for a free slot."""

    def delay(self, attempt: int, asked: float | None) -> float:
        """Return the seconds before the next attempt: what the server asked for, or exponential backoff.

        The jitter keeps callers that failed together from retrying together.
        """
        grown: float = min(2.0 ** (attempt - 1), 30.0) * random.uniform(0.5, 1.0)
        return grown if asked is None else asked + random.uniform(0.0, 0.25)


@dataclass(slots=True)
class CircuitBreaker:
    """A circuit breaker: calls to a server that keeps failing fail at once instead of adding to its load.

    It opens after ``failures`` in a row. After ``cooldown`` seconds one call is let through as a probe; if it succeeds,
    the breaker closes.
    """

    clock: Clock
    failures: int = 5
    cooldown: float = 30.0
    _failures_in_a_row: int = 0
    _opened: datetime | None = None
    _probing: bool = False

    def seconds_left(self) -> float:
        """Return the seconds until calls may pass; 0 if they may now."""
        if self._opened is None:
            return 0.0
        passed = (self.clock.now() - self._opened).total_seconds()
        return self.cooldown - passed if 0.0 <= passed < self.cooldown else 0.0  # a clock that was set back closes it

    @contextmanager
    def guard(self, name: str) -> Iterator[None]:
        """Run one attempt and record how it ends; raise ``ModelUnavailable`` while the breaker is open."""
        seconds_left = self.seconds_left()
        if seconds_left or self._probing:
            raise ModelUnavailable(
                f"{name} failed {self._failures_in_a_row} times in a row and is given a rest.",
                hint="Check that the server runs. It is tried again by itself after the rest.",
                retry_after=round(seconds_left or 1.0, 1),
            )
        probe = self._probing = self._opened is not None
        try:
            yield
        except Transient as error:
            if error.outage:
                self._record_failure()
            raise
        except LongmindError:
            self._record_success()  # the server answered, if only to refuse
            raise
        else:
            self._record_success()
        finally:
            if probe:
                self._probing = False

    def _record_failure(self) -> None:
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= self.failures:
            self._opened = self.clock.now()

    def _record_success(self) -> None:
        self._failures_in_a_row, self._opened = 0, None


@dataclass(slots=True)
class RetryingCaller:
    """Makes all calls of a model to one server, with retries, deadline, concurrency limit and circuit breaker."""

    name: str
    retry_policy: RetryPolicy = RetryPolicy()
    clock: Clock = field(default_factory=SystemClock)
    sleep: Sleep = asyncio.sleep
    breaker: CircuitBreaker | None = None
    retries: int = 0
    _slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.breaker = self.breaker or CircuitBreaker(self.clock)
        self._slots = asyncio.Semaphore(self.retry_policy.concurrency)

    async def call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Retry until an attempt succeeds, fails for good, or the deadline passes."""
        async with self._deadline(None), self._slots:
            return await self._with_retries(attempt)

    async def stream(self, start: Callable[[], AsyncIterator[T]]) -> AsyncGenerator[T, None]:
        """Yield the items of a stream. Only its start is retried: the caller has already used the first items."""
        end = asyncio.get_running_loop().time() + self.retry_policy.deadline
        async with self._deadline(end):
            await self._slots.acquire()
        opened: AsyncIterator[T] | None = None
        try:
            async with self._deadline(end):
                source, item = await self._with_retries(lambda: _first(start))
            opened = source
            while item is not None:
                yield item
                try:
                    async with self._deadline(end):
                        item = await anext(source, None)
                except Transient as error:
                    raise ModelUnavailable(
                        f"The answer of {self.name} broke off: {error}.", hint="Ask again."
                    ) from None
        finally:
            self._slots.release()
            if opened is not None:
                await _close(opened)

    async def _with_retries(self, attempt: Callable[[], Awaitable[T]]) -> T:
        assert self.breaker is not None
        number = 0
        while True:
            number += 1
            try:
                with self.breaker.guard(self.name):
                    return await self._attempt_once(attempt)
            except Transient as error:
                delay = self.retry_policy.delay(number, error.wait)
                if number == self.retry_policy.attempts or delay > self.retry_policy.longest_wait:
                    raise ModelUnavailable(
                        f"{self.name} did not answer after {number} of {self.retry_policy.attempts} attempts: {error}.",
                        hint="Check that the server runs and is not overloaded, then try again.",
                        **({} if error.wait is None else {"retry_after": error.wait}),
                    ) from None
            self.retries += 1
            await self.sleep(delay)

    async def _attempt_once(self, attempt: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self.retry_policy.timeout) as limit:
                return await attempt()
        except TimeoutError:
            if limit.expired():
                raise Transient(f"no answer within {self.retry_policy.timeout:g} s") from None
            raise

    @asynccontextmanager
    async def _deadline(self, end: float | None) -> AsyncIterator[None]:
        """Enforce the deadline of the whole call."""
        end = asyncio.get_running_loop().time() + self.retry_policy.deadline if end is None else end
        try:
            async with asyncio.timeout_at(end) as limit:
                yield
        except TimeoutError:
            if limit.expired():
                raise ModelUnavailable(
                    f"{self.name} gave no whole answer within {self.retry_policy.deadline:g} s.",
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
    """Return the seconds of a ``Retry-After`` header, which is a number or a date; None if it is neither."""
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
