"""Naming a feed: ``file:posts.jsonl``, ``x:ann,bob``, ``x-poll:ann,bob``, ``webhook:8080``, or ``-``."""

import os
from pathlib import Path

from longmind import InvalidInput
from taat.feeds.base import Feed
from taat.feeds.file import FileFeed
from taat.feeds.stdin import StandardInput

_ADDRESSES = (
    "Say file:PATH, - for the standard input, x:ACCOUNT,ACCOUNT for the stream of accounts on X, "
    "x-poll:ACCOUNT,ACCOUNT for their timelines only, or webhook:PORT."
)
_MINUTE, _FIVE_MINUTES = 60.0, 300.0


def open_feed(address: str) -> Feed:
    """Return the feed that an address names."""
    if address == "-":
        return StandardInput()
    kind, colon, rest = address.partition(":")
    if colon and rest:
        if kind == "file":
            return FileFeed(Path(rest))
        if kind in ("x", "x-poll"):
            return _x_feed(rest.split(","), streamed=kind == "x")
    raise InvalidInput(f"There is no feed {address!r}.", hint=_ADDRESSES)


def _x_feed(accounts: list[str], *, streamed: bool) -> Feed:
    try:
        from taat.feeds.x import XFeed
        from taat.feeds.x.connection import API
    except ImportError as error:
        raise InvalidInput(
            f"The X feed needs a package that is not installed ({error.name}).", hint="pip install 'longmind[taat]'"
        ) from error
    every = _FIVE_MINUTES if streamed else _MINUTE
    return XFeed(accounts, streamed=streamed, every=every, address=os.environ.get("X_API_URL") or API)
