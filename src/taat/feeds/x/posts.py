"""A post of X as a post of ours."""

import html
from typing import Any, NamedTuple

from taat.feeds.fields import post_of_fields
from taat.models import Post

FIELDS = ["author_id", "created_at", "edit_history_tweet_ids", "note_tweet", "referenced_tweets"]
"""What is asked of X for each post, besides id and text."""


class Version(NamedTuple):
    """One version of a post: X gives each edit an id of its own."""

    account: str
    """The id of its author."""
    number: int
    """The id of this version."""
    versions: list[int]
    """The ids of this version and those before it."""
    post: Post


def version_of(fields: dict[str, Any], authors: dict[str, str], feed: str) -> Version:
    """Return what X delivered; ``authors`` has the names of the accounts by their ids.

    Raises ``ValueError`` that says what is wrong with it.
    """
    number = int(fields.get("id") or 0)
    if number <= 0:
        raise ValueError("has no id")
    history = sorted({number, *(int(version) for version in fields.get("edit_history_tweet_ids") or ())})
    text = (fields.get("note_tweet") or {}).get("text") or fields.get("text")
    replied = [post["id"] for post in fields.get("referenced_tweets") or () if post.get("type") == "replied_to"]
    account = str(fields.get("author_id"))
    post = post_of_fields(
        {
            "id": str(history[0]),
            "author": authors[account],
            "text": html.unescape(text) if isinstance(text, str) else text,  # X writes &amp; for &
            "created_at": fields.get("created_at"),
        },
        feed,
        edited=number != history[0],
        reply_to=str(replied[0]) if replied else None,
    )
    return Version(account, number, [version for version in history if version <= number], post)
