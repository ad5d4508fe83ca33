"""The posts of accounts on X, by its API v2 through ``tweepy``."""

from taat.feeds.x.feed import XFeed

__all__ = ["XFeed"]
