"""Which embedder a store uses, and changing it.

A store records the name of the embedder that made its vectors (its space). Opening it with another is not an error:
the store says so and keeps its own, because vectors of two models cannot be compared. ``reembed`` builds the vectors of
a new model beside the old ones while the store is in use and switches when all are there; other processes notice the
switch at their next call and follow.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from longmind.config import Settings
from longmind.errors import InvalidSetting, ModelMismatch
from longmind.store.base import ExclusiveReembedBackend, ReembedBackend, Space
from longmind.store.store import Store

if TYPE_CHECKING:
    from longmind.models.embed import Embedder
    from longmind.store.base import Vector

log = logging.getLogger("longmind")
DEFAULT = "static"
_PART = 256
"""Texts that are embedded at once."""
_LEAST, _HELD_S, _BETWEEN_S = 16, 1.0, 0.02
"""Writers are held off for so many texts at least, about so long at a time, and have so long between two times."""
_ROUNDS = 8
"""How often they are held off at most, at the pace seen last; else it is for longer."""


class Embedding:
    """The embedder of an open store."""

    def __init__(self, store: Store, asked: Embedder | str | None, settings: Settings) -> None:
        self._store = store
        self._asked = asked
        self._settings = settings
        self._off = isinstance(asked, str) and asked == "none"
        self.embedder: Embedder | None = None
        self._coming: Embedder | None = None
        """The one that ``reembed`` is changing to: who asks just after the switch needs it before reembed goes on."""
        self.notice: str | None = None
        """What the user should know about the choice of embedder, if anything."""

    async def settle(self) -> Embedder | None:
        """The embedder of the store's space, which another process may have changed; a new store gets the one asked."""
        if self._off:
            return None
        space = await self._store.backend.space()
        if self.embedder is not None and space is not None and self.embedder.name == space.name:
            return self.embedder
        if space is None:
            self.embedder = self._open(self._asked or DEFAULT)
            await self.embedder.embed([])  # some know how long their vectors are only when they have been asked once
            await self._declare(self.embedder)
        else:
            await self._follow(space)
        return self.embedder

    async def embed(self, texts: Sequence[str]) -> tuple[list[Vector | None], str | None]:
        """A vector for each text and the name of their space; None for each when there is no embedder."""
        embedder = await self.settle()
        if embedder is None:
            return [None] * len(texts), None
        return list(await embedder.embed(texts)), embedder.name

    async def reembed(
        self, spec: Embedder | str, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> int:
        """Change the store's embedder while it is in use. Says how many memories got new vectors.

        ``progress`` is told how many are done, and of how many. It can be broken off and run again at any time: what
        is done stays done, and until the switch all reads use the old vectors.
        """
        new = self._open(spec)
        await new.embed([])
        space, backend = Space(new.name, new.dimensions), self._backend()
        active = await self._store.backend.space()
        if active is None:
            await backend.declare_space(space)
        else:
            await backend.begin_space(space)
        self._coming = new
        try:
            done = await self._build(space, new, backend, progress)
            await self._change_to(new)
        finally:
            self._coming = None
        return done

    async def _build(
        self, space: Space, new: Embedder, backend: ReembedBackend, progress: Callable[[int, int], None]
    ) -> int:
        """Make every vector of a space and switch to it; says how many were made.

        Those who write meanwhile give vectors of the old space, so each of their memories is one more to embed. If
        they are faster than the embedder that would never end: what was there at the beginning is embedded beside
        them, the rest while they are held off, if the backend can do that.
        """
        total = sum([(await self._store.stats(scope)).memories for scope in await self._store.backend.scopes()])
        done, now = 0, asyncio.get_running_loop().time
        began = now()
        while True:
            missing = await backend.missing_vectors(space, _PART)
            near = not missing or (done > 0 and (done >= total or len(missing) < _PART))
            if near and isinstance(backend, ExclusiveReembedBackend):
                in_time = int(_HELD_S * done / max(now() - began, 0.001))
                part = max(_LEAST, min(_PART, in_time))
                return await self._finish(space, new, backend, part, done, progress)
            if missing:
                vectors = await new.embed([content for _, _, content in missing])
                rows = [(s, id, text, v) for (s, id, text), v in zip(missing, vectors, strict=True)]
                done += await backend.put_vectors(space, rows)
                progress(done, max(total, done))
            elif await self._activated(space):
                return done

    async def _finish(
        self,
        space: Space,
        new: Embedder,
        backend: ExclusiveReembedBackend,
        part: int,
        done: int,
        progress: Callable[[int, int], None],
    ) -> int:
        """Make the last vectors a part at a time, with writers held off; they get their turn between the parts.

        Should they write so much between two parts that many more would be needed at this pace, the part is doubled.
        """
        before: int | None = None
        while True:
            made, left = await backend.finish_space(space, new.embed, part)
            done += made
            progress(done, done + left)
            if not left:
                return done
            if before is not None and left > _ROUNDS * (before - left):
                part *= 2
            before = left
            await asyncio.sleep(_BETWEEN_S)

    async def _activated(self, space: Space) -> bool:
        """Switch to a space; False if a memory was written meanwhile whose vector must be made first."""
        try:
            await self._backend().activate_space(space)
        except ModelMismatch:
            if not await self._backend().missing_vectors(space, 1):
                raise
            return False
        return True

    async def close(self) -> None:
        embedder, self.embedder = self.embedder, None
        if embedder is not None:
            await self._let_go(embedder)

    async def _change_to(self, new: Embedder) -> None:
        before, self.embedder = self.embedder, new
        if before is not None and before is not new:
            await self._let_go(before)

    async def _let_go(self, embedder: Embedder) -> None:
        """Close an embedder, unless it is the caller's own."""
        if embedder is not self._asked:
            await embedder.close()

    async def _follow(self, space: Space) -> None:
        from longmind.models.embed_open import embedder_for

        if self._coming is not None and self._coming.name == space.name:
            await self._change_to(self._coming)
            return
        if self.embedder is not None:
            await self._let_go(self.embedder)
        if self._asked is not None:
            asked = self._open(self._asked)
            if asked.name == space.name:
                self.embedder = asked
                return
            self.notice = (
                f"This store was built with the embedder {space.name} and keeps it; {asked.name} was asked for. "
                "`longmind reembed` changes it."
            )
            log.warning(self.notice)
        self.embedder = self._open(embedder_for(space.name))
        if self.embedder.dimensions != space.dimensions:
            raise ModelMismatch(
                f"The store's vectors have {space.dimensions} numbers, those of {space.name} as installed here "
                f"{self.embedder.dimensions}.",
                hint="Install the release of the model that the store was built with, or run `longmind reembed`.",
            )

    async def _declare(self, embedder: Embedder) -> None:
        try:
            await self._backend().declare_space(Space(embedder.name, embedder.dimensions))
        except ModelMismatch:
            space = await self._store.backend.space()
            if space is None:
                raise
            await self._follow(space)

    def _open(self, asked: Embedder | str) -> Embedder:
        if not isinstance(asked, str):
            return asked
        if asked == "none":
            raise InvalidSetting(
                "A store cannot be changed to no embedder.", hint="Open it with embedder='none' instead."
            )
        from longmind.models.embed_open import open_embedder

        key = self._settings.embedder_key
        return open_embedder(asked, api_key=key.get_secret_value() if key else None)

    def _backend(self) -> ReembedBackend:
        backend = self._store.backend
        if not isinstance(backend, ReembedBackend):
            raise InvalidSetting("This backend keeps no vectors.", hint="Open the store with embedder='none'.")
        return backend
