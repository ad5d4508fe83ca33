"""Where posts come from."""

from taat.feeds.base import Feed
from taat.feeds.file import FileFeed, StandardInput, sample_feed
from taat.feeds.opening import open_feed

__all__ = ["Feed", "FileFeed", "StandardInput", "open_feed", "sample_feed"]
