"""What every feed does: it delivers posts, each with the position from which the feed goes on after it.

    feed = open_feed("file:posts.jsonl")
    position = ...  # what was stored at the last run for feed.name; None at the first
    async with aclosing(feed.deliveries(after=position)) as deliveries:
        async for post, position in deliveries:
            ...  # everything the post leads to is done and stored first
            ...  # then store ``position`` for feed.name

- A position is opaque text of the feed that gave it: it is stored as it is, never read, compared or shortened (it can
  have some thousands of characters). It covers its own post and all that were delivered before.
- With ``after=position`` the feed goes on with the first post that the position does not cover: no gap and no repeat.
  Who stops between a post and the storing of its position gets that post once more.
- A file ends, and so does the iteration. A live feed (``feed.live``) waits for the next post without end, reconnects by
  itself, and stops when the generator is closed or its task is cancelled. ``aclosing`` (from ``contextlib``) makes sure
  that connections and ports are given back at once.
- The standard input cannot be resumed: it ignores ``after``, and a post that comes again is known by its id.
- A post is identified by ``post.feed`` (always ``feed.name``) and ``post.id``. An edited post has the same id, and
  ``edited`` is true.
- One feed is read by one ``deliveries`` at a time.
- What cannot be read raises ``InvalidInput`` (with its place), ``InvalidSetting``, ``NotFound`` or ``Forbidden``, with
  a hint what to do.
"""

from collections.abc import AsyncGenerator
from typing import NamedTuple, Protocol

from taat.models import Post


class Delivery(NamedTuple):
    """A post, and the position to store when it is done."""

    post: Post
    position: str


class Feed(Protocol):
    """A source of posts, delivered one by one in the order of the source."""

    @property
    def name(self) -> str:
        """What the posts of this feed have as their ``feed``, and under which its position is stored."""

    @property
    def live(self) -> bool:
        """Whether posts come as they are written, so that whoever reads should not wait for more of them."""

    def deliveries(self, after: str | None = None) -> AsyncGenerator[Delivery, None]:
        """Yield the posts that come after a position, or all that the feed has, as the module says."""
