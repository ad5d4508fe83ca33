"""Repeated attempts at a call, each with a timeout."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from longmind.errors import InvalidInput, NotFound
from longmind.systems.procedural.models import Retry
from longmind.systems.procedural.run_log import Halt
from longmind.systems.procedural.runs import RunFailure
from longmind.systems.procedural.values import error_message

Sleep = Callable[[float], Awaitable[object]]
_NOT_RETRYABLE = (InvalidInput, NotFound)
"""Errors that a retry cannot fix: arguments of the wrong type, a function that is not registered."""


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of the last attempt, or its failure."""

    attempts: int
    result: Any = None
    failure: RunFailure | None = None


class CallFailed(Exception):
    """The callee reported a failure of its own, such as a child run that failed."""

    def __init__(self, failure: RunFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


async def attempt(call: Callable[[int], Awaitable[Any]], retry: Retry, seconds: float, sleep: Sleep) -> AttemptResult:
    """Call until it succeeds or the attempts are used up. ``call`` receives the number of the attempt, from 1.

    A failure is returned with its type and message. ``Halt`` (a pause, a cancellation) is raised.
    """
    for number in range(1, retry.attempts + 1):
        failure, final = None, False
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return AttemptResult(number, result=await call(number))
        except Halt:
            raise
        except CallFailed as refused:
            failure = refused.failure
        except TimeoutError as error:
            failure = _timed_out(seconds) if limit.expired() else failure_of(error)
        except Exception as error:
            failure, final = failure_of(error), isinstance(error, _NOT_RETRYABLE)
        if final or number == retry.attempts:
            break
        await sleep(retry.wait(number))
    return AttemptResult(number, failure=failure)


def failure_of(error: Exception) -> RunFailure:
    """Return an exception as a failure."""
    return RunFailure(type=type(error).__name__, message=error_message(error))


def _timed_out(seconds: float) -> RunFailure:
    return RunFailure(type="Timeout", message=f"It did not finish within {seconds:g} seconds.")
