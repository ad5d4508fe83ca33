"""A progress bar on stderr, for long work in a terminal; elsewhere nothing is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from longmind.cli.command import Invocation


@contextmanager
def bar(call: Invocation, text: str, total: float | None) -> Iterator[Callable[..., None]]:
    """A function to tell how much is done and, if that was not known before, of how much."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from longmind.cli.screen import console

    out = console(error=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True, disable=call.json or not out.is_terminal) as progress:
        task = progress.add_task(text, total=total)

        def advance(done: float, whole: float | None = None) -> None:
            progress.update(task, completed=done, total=whole or total)

        yield advance
