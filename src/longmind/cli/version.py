"""``longmind version``: which Longmind this is."""

from __future__ import annotations

import platform
from typing import Annotated

import typer

from longmind.cli import screen


def version(
    json: Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")] = False,
) -> None:
    """Tell the version of Longmind and of Python."""
    from longmind import __version__

    if json:
        screen.print_json({"longmind": __version__, "python": platform.python_version()})
    else:
        screen.console().print(f"Longmind {__version__} on Python {platform.python_version()}")
