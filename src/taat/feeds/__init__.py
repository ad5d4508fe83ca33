"""Where posts come from. How a feed is read and resumed is said in ``taat.feeds.base``."""

from taat.feeds.base import Delivery, Feed
from taat.feeds.file import FileFeed, sample_feed
from taat.feeds.opening import open_feed
from taat.feeds.stdin import StandardInput

__all__ = ["Delivery", "Feed", "FileFeed", "StandardInput", "open_feed", "sample_feed"]
