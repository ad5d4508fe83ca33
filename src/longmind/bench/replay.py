"""Embedders for measuring: one that remembers what it has embedded, and one whose vectors cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from longmind.models.base import unit_rows

if TYPE_CHECKING:
    from longmind.models.base import Embedder, Vectors


class Replay:
    """An embedder in front of another: a text it has seen costs a look-up, so that the rest can be measured alone."""

    def __init__(self, behind: Embedder) -> None:
        self.name = behind.name
        self.behind = behind
        self._known: dict[str, Vectors] = {}
        self._open = False

    def open(self) -> None:
        """From now on every text goes to the embedder behind, known or not."""
        self._open = True

    def shut(self) -> None:
        """From now on only texts not seen before do."""
        self._open = False

    @property
    def dimensions(self) -> int:
        return self.behind.dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self._open:
            return await self.behind.embed(texts)
        missing = list(dict.fromkeys([text for text in texts if text not in self._known]))
        if missing:
            self._known.update(zip(missing, await self.behind.embed(missing), strict=True))
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        if len(texts) == 1:  # to stack costs more than the look-up, and would be counted as the cost of an add
            return self._known[texts[0]][None]
        return np.stack([self._known[text] for text in texts])

    async def close(self) -> None:
        await self.behind.close()


class MadeUp:
    """Vectors made from a text's words by a fixed rule: texts that share words are near. For measuring size, not
    quality: at a million texts a real embedder would be all that is measured."""

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
            made = np.random.default_rng(crc32(word.encode("utf-8", "surrogatepass"))).standard_normal(self.dimensions)
            vector = self._words[word] = made.astype(np.float32)
        return vector

    async def close(self) -> None:
        self._words.clear()
