"""The power to end a re-embedding however fast others write.

Those who write while a second space is built give vectors of the first, so each of their memories is one more to embed.
If they are faster than the embedder that never ends: the last vectors have to be made while nobody writes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from longmind.store.base import Space

if TYPE_CHECKING:
    from longmind.store.base import Vector

    Embed = Callable[[Sequence[str]], Awaitable[Iterable[Vector]]]
    """A vector of the new space for each text."""


@runtime_checkable
class HoldsWriters(Protocol):
    """The power to hold off all writers of a store, in every process, while the last vectors of a space are made."""

    async def finish_space(self, space: Space, embed: Embed, limit: int) -> tuple[int, int]:
        """Embed what is missing, at most so many, while nobody else writes; activate the space if that was all.

        Says how many got a vector and how many are left. Writers wait and then go on, readers do not. If
        ``embed`` fails nothing has happened. It must not write to this store: it would wait for itself.
        """
        ...
