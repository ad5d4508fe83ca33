"""What an adapter says when its framework is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from longmind.errors import PackageMissing


@contextmanager
def framework(extra: str) -> Iterator[None]:
    """Import a framework within this; if it is not installed, ``PackageMissing`` names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise PackageMissing(
            f"The adapter for {extra} needs the package {(error.name or extra).partition('.')[0]}.",
            hint=f'pip install "longmind[{extra}]"',
            extra=extra,
        ) from error
