"""Answers that were given before, by the content of the question. Used only when asked for."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from longmind.models.chat import Answer


class AnswerCache(Protocol):
    """Where answers are kept, by the fingerprint of the request and the model."""

    async def get(self, key: str) -> Answer | None: ...

    async def put(self, key: str, answer: Answer) -> None: ...


class MemoryCache:
    """The last answers, in memory; the one not asked for longest leaves first."""

    def __init__(self, entries: int = 1000) -> None:
        self._entries = entries
        self._kept: OrderedDict[str, Answer] = OrderedDict()

    async def get(self, key: str) -> Answer | None:
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    async def put(self, key: str, answer: Answer) -> None:
        self._kept[key] = answer
        self._kept.move_to_end(key)
        while len(self._kept) > self._entries:
            self._kept.popitem(last=False)
