"""Starting a process that serves for long."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage_collection() -> Iterator[Callable[[], None]]:
    """Collect no garbage until the function that is yielded is called, or until the end.

    What a start loads stays for as long as the process does. To look for garbage in it again and again is a fifth of
    the start; afterwards it would be looked at with every full collection.
    """

    def started() -> None:
        gc.freeze()
        gc.enable()

    gc.disable()
    try:
        yield started
    finally:
        gc.enable()
