"""What things are called in memory. Every id is derived from what it stands for, so work done again finds its own."""

import re
from datetime import date
from functools import lru_cache
from hashlib import sha256

from taat.models import Post

_PLAIN = re.compile(r"[A-Za-z0-9_.-]{1,40}")


@lru_cache(10_000)
def announcer_name(author: str) -> str:
    """Return the name under which an author is known: without ``@``, in small letters, and printable."""
    name = "".join(letter for letter in author.strip().lstrip("@").casefold() if letter.isprintable()).strip()
    return name if name and len(name) <= 60 else _digest(author, 20)


def post_key(post: Post) -> str:
    """Return what identifies a post: its feed and its id, whatever characters they have."""
    id = post.id if _PLAIN.fullmatch(post.id) else _digest(post.id, 20)
    return f"{_digest(post.feed, 6)}-{id}"


def edit_key(post: Post) -> str:
    """Return what identifies one version of an edited post."""
    return f"{post_key(post)}-{_digest(post.text, 8)}"


def signal_id(post: Post, number: int) -> str:
    """Return the id of a post's signal by its place in the post, counted from 1."""
    return f"{post_key(post)}-{number}"


def client_id(signal: str, purpose: str) -> str:
    """Return the client id of an order: the signal it is placed for, and what for."""
    return f"{signal}-{purpose}"


def day_key(announcer: str, day: date) -> str:
    """Return the key of the episode of an announcer's trading day."""
    return f"taat:day:{day.isoformat()}:{announcer}"


def conversation_key(day: date) -> str:
    """Return the key of the episode of what was said with the user on a day."""
    return f"taat:conversation:{day.isoformat()}"


def trade_key(trade: str) -> str:
    """Return the key of the episode of a trade."""
    return f"taat:trade:{trade}"


def announcer_key(announcer: str) -> str:
    """Return the key of the log that is kept of an announcer."""
    return f"taat:announcer:{announcer}"


def feed_key(feed: str) -> str:
    """Return the key of the log that is kept of a feed."""
    return f"taat:feed:{_digest(feed, 20)}"


def account_key(broker: str) -> str:
    """Return the key of the log that is kept of a broker's account."""
    return f"taat:account:{broker}"


def goal_key() -> str:
    """Return the key of the log of how the account stands to its goal."""
    return "taat:goal:account"


def signal_tag(signal: str) -> str:
    """Return the tag of the events that belong to a signal."""
    return f"signal:{signal}"


@lru_cache(1_000)
def _digest(text: str, length: int) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
