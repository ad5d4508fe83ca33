"""Embedders for measuring: one that caches vectors, and one whose vectors cost next to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from longmind.models.embed import unit_rows

if TYPE_CHECKING:
    from longmind.models.embed import Embedder, Vectors


class CachingEmbedder:
    """An embedder that caches the vectors of the embedder it wraps, so that everything else can be measured alone."""

    def __init__(self, wrapped: Embedder) -> None:
        self.name = wrapped.name
        self.wrapped = wrapped
        self._cache: dict[str, Vectors] = {}
        self.enabled = True
        """Whether the cache is used; without it every text is embedded again."""

    @property
    def dimensions(self) -> int:
        return self.wrapped.dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if not self.enabled:
            return await self.wrapped.embed(texts)
        missing = list(dict.fromkeys([text for text in texts if text not in self._cache]))
        if missing:
            self._cache.update(zip(missing, await self.wrapped.embed(missing), strict=True))
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        if len(texts) == 1:  # stacking would cost more than the look-up and be counted as the cost of an add
            return self._cache[texts[0]][None]
        return np.stack([self._cache[text] for text in texts])

    def clear(self) -> None:
        """Forget the vectors, so that they are not counted as memory that a store takes."""
        self._cache.clear()

    async def close(self) -> None:
        await self.wrapped.close()


class WordHashEmbedder:
    """An embedder that adds up a fixed random vector for each word, so that texts that share words are near.

    For measuring size, not quality: with a million texts the cost of a real embedder would hide all others.
    """

    name = "made-up"
    dimensions = 256

    def __init__(self) -> None:
        self._words: dict[str, Vectors] = {}

    async def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for number, text in enumerate(texts):
            for word in text.split():
                rows[number] += self._word(word)
        return unit_rows(rows)

    def _word(self, word: str) -> Vectors:
        vector = self._words.get(word)
        if vector is None:
            generator = np.random.default_rng(crc32(word.encode("utf-8", "surrogatepass")))
            vector = generator.standard_normal(self.dimensions).astype(np.float32)
            self._words[word] = vector
        return vector

    async def close(self) -> None:
        self._words.clear()
