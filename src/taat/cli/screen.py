"""What people and programs see: lines, errors, and text that cannot play tricks on a terminal."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from longmind import LongmindError, NotFound

USAGE, MISSING, INTERRUPTED = 2, 3, 130
"""The exit codes of what went wrong."""
_VISIBLE = {
    **{code: chr(0x2400 + code) for code in range(32)},
    127: "␡",
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{code: f"\\u{code:04x}" for code in (0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))},
}


def plain(text: str) -> str:
    """Return a text on one line, with its control characters made visible."""
    return " ".join(text.split()).translate(_VISIBLE)


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
