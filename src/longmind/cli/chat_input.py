"""Where the lines of a chat come from, a person or a pipe, and what Ctrl-C does meanwhile."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PROMPT = "you> "


def lines(person: bool) -> Iterator[str]:
    """What is typed or piped in, line by line, without empty ones.

    The event loop stands still meanwhile: between two answers there is nothing to do, and a thread that reads could
    not be stopped.
    """
    if person:
        _with_history()
    while (line := _typed() if person else _piped()) is not None:
        if line.strip():
            yield line.strip()


def confirmed(question: str) -> bool:
    """Whether a person says yes."""
    with on_interrupt(None):
        try:
            return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
        except (KeyboardInterrupt, EOFError):
            sys.stdout.write("\n")
            return False


@contextmanager
def on_interrupt(act: Callable[[], object] | None) -> Iterator[None]:
    """What Ctrl-C does meanwhile: this, or with None raise ``KeyboardInterrupt`` where the program is."""
    loop = asyncio.get_running_loop()

    def handle(*_: Any) -> None:
        if act is not None:
            loop.call_soon_threadsafe(act)

    try:
        before = signal.signal(signal.SIGINT, signal.default_int_handler if act is None else handle)
    except ValueError:  # signals are the main thread's
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _typed() -> str | None:
    """A line from a person. Ctrl-C at the prompt gives up the line, Ctrl-D the chat."""
    with on_interrupt(None):
        while True:
            try:
                return input(_PROMPT)
            except KeyboardInterrupt:
                sys.stdout.write("\n")
            except EOFError:
                sys.stdout.write("\n")
                return None


def _piped() -> str | None:
    line = sys.stdin.buffer.readline()
    return line.decode("utf-8", "replace") if line else None


def _with_history() -> None:
    """Editing, and the lines of this chat by the arrow keys, where Python has them. Nothing is written to a file."""
    try:
        import readline
    except ImportError:  # not on every system
        return
    readline.set_auto_history(True)
