"""One connection to the filtered stream of X: what comes until it ends, and why it ended."""

import asyncio
import logging
from contextlib import suppress
from typing import Any, NamedTuple

import tweepy

from taat.feeds.x.connection import PLACEHOLDER, Session
from taat.feeds.x.posts import FIELDS

log = logging.getLogger(__name__)


class Ended(NamedTuple):
    """The end of a connection: the HTTP status of a refusal, or 200 when it was cut."""

    status: int
    reset: int | None = None
    """When the limit ends that the connection fell under."""
    after: float = 0.0
    """The seconds it lasted."""


class StreamConnection:
    """A connection that is made once. Who wants another one after its end makes it."""

    def __init__(self, session: Session) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[dict[str, Any] | Ended] = asyncio.Queue()
        self._opened: asyncio.Future[bool] = self._loop.create_future()
        self._began = self._loop.time()
        self._session = session
        self.closed = False
        self._client = _Client(self, session)

    async def connected(self) -> bool:
        """Begin, and return whether X accepted; if not, ``next`` tells why."""
        self._client.filter(tweet_fields=FIELDS, threaded=True)
        return await self._opened

    async def next(self, seconds: float) -> dict[str, Any] | Ended | None:
        """Return the next post, the end, or ``None`` if nothing comes in so many seconds."""
        if not self._events.empty():
            return self._events.get_nowait()
        try:
            return await asyncio.wait_for(self._events.get(), max(seconds, 0))
        except TimeoutError:
            return None

    def close(self) -> None:
        """End the connection at once, also while it waits for the next line."""
        self.closed = True
        self._client.disconnect()
        answer = self._session.adapter.answer
        with suppress(ValueError, RuntimeError, OSError):  # it has ended by itself
            if answer is not None:
                answer.raw.shutdown()

    def tell(self, event: dict[str, Any] | Ended | None) -> None:
        """Hand over from the thread of the connection; nothing means that X accepted."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._took, event)

    def _took(self, event: dict[str, Any] | Ended | None) -> None:
        if not self._opened.done():
            self._opened.set_result(event is None)
        if isinstance(event, Ended):
            event = event._replace(after=self._loop.time() - self._began)
        if event is not None:
            self._events.put_nowait(event)


class _Client(tweepy.StreamingClient):  # type: ignore[misc]
    """Connects once: waiting and connecting again is the feed's, which has to fill the gap then."""

    def __init__(self, connection: StreamConnection, session: Session) -> None:
        super().__init__(PLACEHOLDER, daemon=True)
        self.session = session
        self._connection = connection
        self._status = 200

    def on_connect(self) -> None:
        self.running = not self._connection.closed
        self._connection.tell(None)

    def on_tweet(self, tweet: tweepy.Tweet) -> None:
        self._connection.tell(tweet.data)

    def on_errors(self, errors: list[dict[str, Any]]) -> None:
        for error in errors:
            log.warning("The stream of X: %s", error.get("detail") or error.get("title"))

    def on_request_error(self, status_code: int) -> None:
        self._status = status_code
        self.running = False

    def on_connection_error(self) -> None:
        self.running = False

    def on_closed(self, response: object) -> None:
        self.running = False

    def on_exception(self, exception: Exception) -> None:
        log.warning("The stream of X broke off (%s).", type(exception).__name__)

    def on_disconnect(self) -> None:
        self._connection.tell(Ended(self._status, self.session.adapter.reset))
