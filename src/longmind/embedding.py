"""The embedder of a store, and how to change it.

A store records the name of the embedder that made its vectors (its space). If it is opened with another embedder, it
logs a warning and keeps its own, because vectors of two models cannot be compared. ``reembed`` builds the vectors of a
new model beside the old ones while the store is in use, and switches when all are there. Other processes notice the
switch on their next call and follow.
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
    from longmind.store.store import Embed

log = logging.getLogger("longmind")
DEFAULT = "static"
_PART = 256
"""Texts in one batch."""
_LEAST, _HELD_S, _BETWEEN_S = 16, 1.0, 0.02
"""The smallest batch with writers blocked, its target duration, and the pause for writers between two batches."""
_ROUNDS = 8
"""If the rest would need more such batches than this at the current pace, the batch is doubled."""


class Embedding:
    """The embedder of an open store."""

    def __init__(self, store: Store, asked: Embedder | str | None, settings: Settings) -> None:
        self._store = store
        self._asked = asked
        self._settings = settings
        self._off = isinstance(asked, str) and asked == "none"
        self.embedder: Embedder | None = None
        self._coming: Embedder | None = None
        """The embedder that ``reembed`` switches to; a caller may need it after the switch, before reembed ends."""
        self.notice: str | None = None
        """A warning about the choice of embedder, if there is one."""

    async def current(self) -> Embedder | None:
        """Return the embedder of the store's space, which another process may have changed.

        A new store gets the embedder that was asked for.
        """
        if self._off:
            return None
        space = await self._store.backend.space()
        if self.embedder is not None and space is not None and self.embedder.name == space.name:
            return self.embedder
        if space is None:
            self.embedder = self._open(self._asked or DEFAULT)
            await self.embedder.embed([])  # some learn their dimensions only from a first call
            await self._declare(self.embedder)
        else:
            await self._follow(space)
        return self.embedder

    async def embed(self, texts: Sequence[str]) -> tuple[list[Vector | None], str | None]:
        """Return a vector for each text and the name of their space; without an embedder, None for each."""
        embedder = await self.current()
        if embedder is None:
            return [None] * len(texts), None
        return list(await embedder.embed(texts)), embedder.name

    def embed_new(self) -> Embed:
        """Return the function that makes the vectors of one batch of new memories.

        It does not ask the store beforehand which embedder is in use now, since another process may have changed that
        at any moment: the store refuses vectors of a space that it no longer reads. Asked again, after a refusal, it
        looks.
        """
        refused = False

        async def embed(texts: Sequence[str]) -> tuple[Sequence[Vector | None], str | None]:
            nonlocal refused
            known = None if refused else self.embedder
            refused = True
            return await self.embed(texts) if known is None else (list(await known.embed(texts)), known.name)

        return embed

    async def reembed(
        self, spec: Embedder | str, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> int:
        """Change the store's embedder while it is in use; return how many memories got new vectors.

        ``progress`` is called with the number done and the total. The work can be interrupted and run again at any
        time: finished vectors are kept, and until the switch all reads use the old ones.
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
        """Make every vector of a space and switch to it; return how many were made.

        Concurrent writers store vectors of the old space, so each memory they write must be embedded too. If they
        write faster than the embedder works, this would never end. So only the memories there at the beginning are
        embedded beside them; the rest is embedded while writers are blocked, if the backend supports that.
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
        """Make the last vectors in batches with writers blocked; they may write between two batches.

        The batch is doubled if they write so much that many more batches would be needed at this pace.
        """
        before: int | None = None
        while True:
            finished, left = await backend.finish_space(space, new.embed, part)
            done += finished
            progress(done, done + left)
            if not left:
                return done
            if before is not None and left > _ROUNDS * (before - left):
                part *= 2
            before = left
            await asyncio.sleep(_BETWEEN_S)

    async def _activated(self, space: Space) -> bool:
        """Switch to a space; return False if a memory written meanwhile still needs its vector."""
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
