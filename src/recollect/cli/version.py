"""``recollect version``: which Recollect this is."""

from __future__ import annotations

import platform
from typing import Annotated

import typer

from recollect.cli import screen


def version(
    json: Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")] = False,
) -> None:
    """Tell the version of Recollect and of Python."""
    from recollect import __version__

    if json:
        screen.print_json({"recollect": __version__, "python": platform.python_version()})
    else:
        screen.console().print(f"Recollect {__version__} on Python {platform.python_version()}")
