"""What people and programs see: lines, errors, and text that cannot play tricks on a terminal."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from longmind import LongmindError, NotFound
from taat.reports.words import plain as plain

USAGE, MISSING, INTERRUPTED = 2, 3, 130
"""The exit codes of what went wrong."""


def json_line(data: Any) -> str:
    """Return data as one line of JSON; escaped where the standard output cannot carry every character."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    return json.dumps(data, ensure_ascii=ascii_only) + "\n"


@contextmanager
def problems_told(*, as_json: bool) -> Iterator[None]:
    """Tell an error of ours on the standard error and exit; end quietly when nobody reads the output any more."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more when it ends, which would fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except LongmindError as error:
        if as_json:
            sys.stderr.write(json.dumps(error.as_dict()) + "\n")
        else:
            sys.stderr.write(f"error: {plain(error.message)}\n" + (f"  try: {error.hint}\n" if error.hint else ""))
        raise typer.Exit(MISSING if isinstance(error, NotFound) else USAGE) from None
