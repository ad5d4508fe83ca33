"""Naming a feed: ``file:posts.jsonl``, ``x:ann,bob``, ``x-poll:ann,bob``, ``webhook:8080``, or ``-``."""

import os
import re
from pathlib import Path

from longmind import InvalidInput
from taat.feeds.base import Feed
from taat.feeds.file import FileFeed
from taat.feeds.stdin import StandardInput

_ADDRESSES = (
    "Say file:PATH, - for the standard input, x:ACCOUNT,ACCOUNT for the stream of accounts on X, "
    "x-poll:ACCOUNT,ACCOUNT for their timelines only, or webhook:PORT or webhook:HOST:PORT."
)
_MINUTE, _FIVE_MINUTES = 60.0, 300.0


def open_feed(address: str, folder: Path | None = None) -> Feed:
    """Return the feed that an address names.

    ``folder`` is where a webhook keeps what it received, if not in the user's data.
    """
    if address == "-":
        return StandardInput()
    kind, colon, rest = address.partition(":")
    if colon and rest:
        if kind == "file":
            return FileFeed(Path(rest))
        if kind in ("x", "x-poll"):
            return _x_feed(rest.split(","), streamed=kind == "x")
        if kind == "webhook":
            return _webhook(rest, folder)
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


def _webhook(place: str, folder: Path | None) -> Feed:
    from taat.feeds.webhook import WebhookFeed

    parts = re.fullmatch(r"(?:(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^:\[\]]+)):)?(?P<port>\d{1,5})", place)
    if parts is None:
        raise InvalidInput(f"Nothing can listen at {place!r}.", hint="Say webhook:PORT, or webhook:HOST:PORT.")
    return WebhookFeed(int(parts["port"]), parts["six"] or parts["host"] or "127.0.0.1", folder=folder)
