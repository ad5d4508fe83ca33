"""Naming a feed: ``file:posts.jsonl``, or ``-`` for the standard input."""

from pathlib import Path

from longmind import InvalidInput
from taat.feeds.base import Feed
from taat.feeds.file import FileFeed
from taat.feeds.stdin import StandardInput


def open_feed(address: str) -> Feed:
    """Return the feed that an address names."""
    if address == "-":
        return StandardInput()
    scheme, colon, path = address.partition(":")
    if scheme == "file" and colon and path:
        return FileFeed(Path(path))
    raise InvalidInput(f"There is no feed {address!r}.", hint="Say file:PATH, or - for the standard input.")
