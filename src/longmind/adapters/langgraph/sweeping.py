"""A thread that sweeps expired items at an interval."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from threading import Event, Thread

_log = logging.getLogger(__name__)


class Sweeper:
    """Calls a function at an interval in a thread of its own, until it is stopped."""

    def __init__(self, sweep: Callable[[], int]) -> None:
        self._sweep = sweep
        self._stop = Event()
        self._thread: Thread | None = None
        self._running: Future[None] | None = None

    def start(self, seconds: float) -> Future[None]:
        """Start, unless it runs already, and return what is done when it has ended. Cancelling that stops it."""
        if self._running is not None and self._thread is not None and self._thread.is_alive():
            return self._running
        stop, future = Event(), Future[None]()
        future.add_done_callback(lambda _: stop.set())
        self._stop, self._running = stop, future
        self._thread = Thread(target=self._run, args=(seconds, stop, future), daemon=True, name="longmind ttl sweeper")
        self._thread.start()
        return future

    def stop(self, timeout: float | None = None) -> bool:
        """Stop, and return whether the thread has ended within the timeout."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def _run(self, seconds: float, stop: Event, future: Future[None]) -> None:
        while not stop.wait(seconds):
            try:
                self._sweep()
            except Exception:  # a store that is busy or away for a while is swept next time
                _log.exception("A sweep of expired items failed")
        with suppress(InvalidStateError):  # it was cancelled
            future.set_result(None)
