"""Loading much at once, as a server does when it starts."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage_collection() -> Iterator[Callable[[], None]]:
    """Collect no garbage until the function that is yielded is called, or until the end.

    What is loaded stays for as long as the process does. To look for garbage in it again and again is a fifth of the
    start of a server; once the function was called, it is never looked at again.
    """
    enabled = gc.isenabled()

    def started() -> None:
        gc.freeze()
        if enabled:
            gc.enable()

    gc.disable()
    try:
        yield started
    finally:
        if enabled:
            gc.enable()
