"""What every feed does."""

from collections.abc import Iterator
from typing import Protocol

from taat.models import Post


class Feed(Protocol):
    """A source of posts, delivered one by one in the order of the source."""

    @property
    def name(self) -> str:
        """What the posts of this feed have as their ``feed``."""

    def posts(self) -> Iterator[Post]:
        """Yield the posts. What cannot be read raises ``InvalidInput`` with its place."""
