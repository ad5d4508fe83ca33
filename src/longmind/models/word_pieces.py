"""Split a text into the word pieces of the static vectors (byte-pair encoding with the vocabulary of Llama 2).

Pairs of neighbouring pieces are merged until no two form a piece of the vocabulary; the pair whose result has the
lowest rank goes first. A space is written as ``▁``, and no piece has one after another character. Words are therefore
independent of each other: each is split once and kept, which makes most texts a look-up for each word. A test
compares the pieces with those of the ``tokenizers`` package.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence

_SPACE = "▁"
_CONTROL = re.compile("(<unk>|<s>|</s>)")
_WORD = re.compile(f"{_SPACE}*[^{_SPACE}\n\t]+|{_SPACE}+|[\n\t]+")
_KEPT_WORDS = 32_768
_KEPT_LENGTH = 32
"""Longer words are rare and not kept."""


class WordPieces:
    """The pieces of a vocabulary, in the order of their ids."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces
        self._ids = {piece: id for id, piece in enumerate(pieces)}
        self._bytes = [self._ids[f"<0x{byte:02X}>"] for byte in range(256)]
        self._kept: dict[str, tuple[int, ...]] = {}

    def ids(self, text: str) -> list[int]:
        """Return the ids of the pieces of a text."""
        ids: list[int] = []
        for part in _CONTROL.split(text) if "<" in text else (text,):
            if part and _CONTROL.fullmatch(part):
                ids.append(self._ids[part])
            elif part:
                self._add(_SPACE + part.replace(" ", _SPACE), ids)
        return ids

    def _add(self, text: str, ids: list[int]) -> None:
        kept = self._kept
        for word in _WORD.findall(text):
            word_ids = kept.get(word)
            if word_ids is None:
                word_ids = tuple(self._split(word))
                if len(word) <= _KEPT_LENGTH:
                    if len(kept) >= _KEPT_WORDS:
                        kept.clear()
                    kept[word] = word_ids
            ids.extend(word_ids)

    def _split(self, word: str) -> list[int]:
        """Merge the characters of a word; a character that is no piece becomes the pieces of its bytes."""
        known, pieces = self._ids, self._pieces
        symbols: list[int] = []
        for character in word:
            id = known.get(character)
            symbols += [id] if id is not None else [self._bytes[byte] for byte in character.encode()]
        end = len(symbols)
        following, preceding = list(range(1, end + 1)), list(range(-1, end - 1))
        heap: list[tuple[int, int, int, int]] = []

        def offer(left: int) -> None:
            right = following[left]
            merged = known.get(pieces[symbols[left]] + pieces[symbols[right]])
            if merged is not None:
                heapq.heappush(heap, (self._rank(merged), symbols[left], left, symbols[right]))

        for at in range(end - 1):
            offer(at)
        while heap:
            _, left_id, left, right_id = heapq.heappop(heap)
            right = following[left]
            if symbols[left] != left_id or right == end or symbols[right] != right_id:
                continue  # one of the two has been merged since
            symbols[left] = known[pieces[left_id] + pieces[right_id]]
            symbols[right] = -1
            following[left] = after = following[right]
            if after < end:
                preceding[after] = left
                offer(left)
            if (before := preceding[left]) >= 0:
                offer(before)
        return [id for id in symbols if id >= 0]

    def _rank(self, merged: int) -> int:
        """Return the rank of a merge: the order of the vocabulary, with runs of spaces after everything else."""
        return merged + len(self._pieces) if not self._pieces[merged].strip(_SPACE) else merged
