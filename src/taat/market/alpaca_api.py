"""Calling Alpaca: keys, time-outs, rate limits, and errors without secrets."""

import asyncio
import os
import re
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from email.utils import parsedate_to_datetime
from typing import Any, Literal, TypeVar

from longmind import InvalidInput, InvalidSetting, LongmindError

Answer = TypeVar("Answer")
Sleep = Callable[[float], Awaitable[object]]

KEY_VARIABLE = "APCA_API_KEY_ID"
SECRET_VARIABLE = "APCA_API_SECRET_KEY"
TIMEOUT_SECONDS = 30.0
ATTEMPTS = 6
LONGEST_WAIT_SECONDS = 60.0
_TOO_MANY = 429
_SERVER_FAULT = 500


class ServiceUnavailable(LongmindError):
    """A service gave no answer: not reachable, overloaded or too slow; a later call may work."""

    code, status = "service_unavailable", 503


class ServiceRefused(LongmindError):
    """A service refused what it was asked."""

    code, status = "service_refused", 502


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of an account. They are not part of any text that is made of this."""

    key: str
    secret: str

    def __repr__(self) -> str:
        return "Keys(***)"

    def hide(self, text: str) -> str:
        """Return a text without the keys."""
        return text.replace(self.secret, "***").replace(self.key, "***")


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with a call.

    ``limited``: refused for now, nothing was done. ``lost``: no answer, so it may have been done. ``refused``: an
    answer that says no.
    """

    kind: Literal["limited", "lost", "refused"]
    reason: str
    status: int | None = None
    wait: float | None = None
    """How many seconds the service asked to wait."""


def keys_from_environment() -> Keys:
    """Return the keys of the environment."""
    key, secret = os.environ.get(KEY_VARIABLE, ""), os.environ.get(SECRET_VARIABLE, "")
    if not key or not secret:
        raise InvalidSetting("Alpaca needs keys.", hint=f"Set {KEY_VARIABLE} and {SECRET_VARIABLE} in the environment.")
    return Keys(key, secret)


def import_alpaca() -> None:
    """Import alpaca-py, which takes a second, or say how to install it."""
    with warnings.catch_warnings():
        # it uses a part of websockets that is deprecated; it is not ours to mend
        warnings.simplefilter("ignore")
        try:
            import alpaca.data.historical
            import alpaca.trading.client  # noqa: F401
        except ImportError as error:
            raise InvalidInput("Alpaca needs the package alpaca-py.", hint="pip install longmind[taat]") from error


def prepare(client: Any, timeout: float) -> Any:
    """Give a client of alpaca-py a time-out, and take its retries away.

    It has no time-out, and repeats a call without looking at ``Retry-After``; both are done here.
    """
    from requests.adapters import HTTPAdapter

    class WithTimeout(HTTPAdapter):
        def send(self, request: Any, **options: Any) -> Any:  # type: ignore[override]
            return super().send(request, **{**options, "timeout": options.get("timeout") or timeout})

    for scheme in ("https://", "http://"):
        client._session.mount(scheme, WithTimeout())
    client._retry = 0
    return client


class Caller:
    """Runs blocking calls in threads, and repeats those that may be repeated."""

    def __init__(self, keys: Keys, *, attempts: int = ATTEMPTS, sleep: Sleep = asyncio.sleep) -> None:
        self._keys = keys
        self.attempts = attempts
        self._sleep = sleep

    async def once(self, function: Callable[..., Answer], *values: Any) -> Answer | Failure:
        """Call once and return the answer, or what went wrong."""
        from alpaca.common.exceptions import APIError
        from requests import RequestException

        try:
            return await asyncio.to_thread(function, *values)
        except APIError as error:
            return self._failure(error)
        except RequestException as error:
            # the text of these errors has the address, but no headers
            return Failure("lost", self._keys.hide(f"no answer ({type(error).__name__})"))

    async def repeat(self, function: Callable[..., Answer], *values: Any) -> Answer:
        """Call until there is an answer; only for what may be done twice."""
        answer = await self.attempt(function, *values)
        if isinstance(answer, Failure):
            raise refused(answer)
        return answer

    async def attempt(self, function: Callable[..., Answer], *values: Any) -> Answer | Failure:
        """Call until there is an answer, and return it also when it says no."""
        failure: Failure | None = None
        for number in range(self.attempts):
            answer = await self.once(function, *values)
            if not isinstance(answer, Failure) or answer.kind == "refused":
                return answer
            failure = answer
            if number + 1 < self.attempts:
                await self.pause(answer, number)
        raise unavailable(failure)

    async def pause(self, failure: Failure, number: int) -> None:
        """Wait as long as the service asks, or twice as long each time."""
        await self._sleep(min(failure.wait if failure.wait is not None else 2.0**number, LONGEST_WAIT_SECONDS))

    def _failure(self, error: Any) -> Failure:
        status = error.status_code
        response = error.response
        reason = self._keys.hide(_message(error))
        if status == _TOO_MANY:
            return Failure("limited", reason, status, _asked_wait(response))
        if status is None or status >= _SERVER_FAULT:
            return Failure("lost", f"error {status}", status, _asked_wait(response))
        return Failure("refused", reason, status)


def refused(failure: Failure) -> ServiceRefused:
    """Return the error of an answer that says no."""
    hint = "Check the keys of the account." if failure.status in (401, 403) else ""
    return ServiceRefused(f"Alpaca refused: {failure.reason}.", hint=hint, status=failure.status)


def unavailable(failure: Failure | None, what: str = "") -> ServiceUnavailable:
    """Return the error of an answer that never came."""
    reason = failure.reason if failure else "no answer"
    return ServiceUnavailable(f"Alpaca does not answer: {reason}.{what}", hint="Try again later.")


def unreadable() -> ServiceUnavailable:
    """Return the error of an answer that is not what Alpaca documents."""
    return ServiceUnavailable("Alpaca gave an answer that cannot be read.")


def amount(value: Any) -> Decimal:
    """Return a number of an answer, exactly as it was written."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise ValueError("no number") from None
    if not number.is_finite():
        raise ValueError("no number")
    return number


def moment(text: str) -> datetime:
    """Return a moment of an answer; its nanoseconds are cut."""
    return datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text)).astimezone(UTC)


def _message(error: Any) -> str:
    try:
        return str(error.message).strip().rstrip(".") or f"error {error.status_code}"
    except (ValueError, KeyError, TypeError):
        # not the JSON that Alpaca documents, perhaps a page of a proxy
        return f"error {error.status_code}"


def _asked_wait(response: Any) -> float | None:
    text = response.headers.get("Retry-After") if response is not None else None
    if not text:
        return None
    try:
        return max(float(text), 0.0)
    except ValueError:
        pass
    try:
        sent = parsedate_to_datetime(response.headers["Date"])
        return max((parsedate_to_datetime(text) - sent).total_seconds(), 0.0)
    except (KeyError, ValueError, TypeError):
        return None
