"""The way to X: one HTTP session that alone knows the bearer token.

``tweepy`` writes the headers of each request into its log, and the errors of ``requests`` carry them. So neither gets
the token: it is put on a copy of each request at the moment it is sent.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from longmind import InvalidSetting

TOKEN = "X_BEARER_TOKEN"
API = "https://api.twitter.com"
"""The address that ``tweepy`` asks."""
PLACEHOLDER = "set-when-sent"
_PATIENCE = (10, 30)
"""Seconds to connect, and to wait for more of an answer; ``tweepy`` would wait for ever."""
_Answer = TypeVar("_Answer")


def bearer_token() -> str:
    """Return the token from the environment."""
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise InvalidSetting(
            f"The X feed needs a bearer token, and {TOKEN} is not set.",
            hint=f"Make an app at developer.x.com, and put its bearer token into the environment variable {TOKEN}.",
        )
    if not token.isascii() or any(character.isspace() for character in token):
        raise InvalidSetting(f"What {TOKEN} holds is no bearer token.", hint="Copy it again, without quotes or breaks.")
    return token


def checked_address(address: str) -> str:
    """Return the address of an API without a slash at its end; only loopback may do without TLS."""
    parts = urlsplit(address)
    loopback = parts.hostname in ("127.0.0.1", "::1", "localhost")
    if parts.scheme != "https" and not (parts.scheme == "http" and loopback):
        raise InvalidSetting(f"{address!r} cannot be asked for posts.", hint="Give an https:// address.")
    return address.rstrip("/")


class Session(requests.Session):
    """An HTTP session whose requests to the API of X go to an address, with the token."""

    def __init__(self, address: str, token: str) -> None:
        super().__init__()
        self.adapter = _Sender(address, token)
        self.mount(API, self.adapter)


class _Sender(HTTPAdapter):
    """Sends requests for X; after each, ``reset`` is when the limit that it fell under ends (Unix time)."""

    def __init__(self, address: str, token: str) -> None:
        super().__init__()
        self._address = address
        self._authorization = f"Bearer {token}"
        self.reset: int | None = None
        self.answer: requests.Response | None = None

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        sent = request.copy()
        sent.url = self._address + (request.url or "").removeprefix(API)
        sent.headers["Authorization"] = self._authorization
        options["timeout"] = options.get("timeout") or _PATIENCE
        try:
            answer = super().send(sent, *args, **options)
        except requests.RequestException as error:
            error.request = request
            raise
        answer.request = request
        reset = answer.headers.get("x-rate-limit-reset", "")
        self.reset = int(reset) if reset.isdecimal() else None
        self.answer = answer
        return answer


async def in_thread(function: Callable[[], _Answer]) -> _Answer:
    """Return what a blocking function returns; if nobody waits any more, its thread does not hold up the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_Answer] = loop.create_future()

    def settle(answer: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(answer)

    def run() -> None:
        answer, problem = None, None
        try:
            answer = function()
        except BaseException as error:  # raised where the answer is awaited
            problem = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, answer, problem)

    threading.Thread(target=run, name="taat-x", daemon=True).start()
    return await done
