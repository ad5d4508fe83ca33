"""Strands Agents: a ``MemoryStore`` over an agent's memory.

from longmind.adapters.strands import LongmindMemoryStore

store = LongmindMemoryStore(longmind, agent="assistant", user="alice")
agent = Agent(model=model, memory_manager=MemoryManager(stores=[store]))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longmind import AgentMemory, Hit, InvalidInput, Longmind
from longmind.adapters.access import MemoryAccess
from longmind.adapters.packages import framework
from longmind.adapters.scope import name_of
from longmind.sync import Longmind as BlockingLongmind

with framework("strands"):
    from strands.memory.types import AddMessagesContext, MemoryEntry, MemoryStore, SearchOptions

_DEFAULT_RESULTS = 10


class LongmindMemoryStore(MemoryStore):  # type: ignore[misc, unused-ignore]
    """What the agent knows with a user, for a ``MemoryManager`` of Strands.

    ``search`` recalls; ``add`` and ``add_messages`` remember. With a ``session`` every turn is stored in its place, and
    a batch that is delivered again is stored once; without one the same text is. ``extraction`` is as Strands defines
    it: True hands over the raw messages every few turns, without a call of a model; consolidation learns from them.
    """

    def __init__(
        self,
        longmind: Longmind | BlockingLongmind,
        *,
        agent: str | None = None,
        user: str | None = None,
        session: str | None = None,
        name: str = "longmind",
        description: str | None = "Long-term memory: what was said, decided and learnt earlier.",
        max_search_results: int | None = None,
        writable: bool = True,
        extraction: Any = None,
    ) -> None:
        if max_search_results is not None and max_search_results < 1:
            raise InvalidInput("max_search_results must be at least 1.", field="max_search_results")
        self._access = MemoryAccess(longmind, agent=agent, user=user)
        self._session = None if session is None else name_of(session, "session")
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        self.extraction = extraction

    @property
    def _mem(self) -> AgentMemory:
        return self._access.memory()

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Return the memories that fit a query best, each with its id, score, date and source."""
        asked = (options or {}).get("max_search_results")
        if asked is not None and asked < 1:
            raise InvalidInput("max_search_results must be at least 1.", field="max_search_results")
        if not query.strip():
            return []
        limit = asked or self.max_search_results or _DEFAULT_RESULTS
        hits = await self._access.run(self._mem.recall(query, limit))
        return [_entry(hit) for hit in hits]

    async def add(self, content: str, metadata: Mapping[str, Any] | None = None) -> dict[str, str]:
        """Remember a text, once, and return the id of its memory."""
        self._require_writable()
        stored = await self._access.run(self._mem.remember(content, metadata=metadata))
        return {"id": stored.id}

    async def add_messages(
        self, messages: Sequence[Mapping[str, Any]], context: AddMessagesContext | None = None
    ) -> dict[str, list[str]]:
        """Remember what was said in messages, and return the ids. Calls of tools and their results are not stored."""
        self._require_writable()
        said = [{"role": message["role"], "content": text} for message in messages if (text := _text(message))]
        if not said:
            return {"ids": []}
        stored = await self._access.run(self._mem.remember(said, session=self._session))
        return {"ids": [memory.id for memory in stored]}

    def _require_writable(self) -> None:
        if not self.writable:
            raise InvalidInput("This store is not writable.", hint="Make it with writable=True.")


def _entry(hit: Hit) -> MemoryEntry:
    memory = hit.memory
    about = {
        "id": memory.id,
        "score": hit.score,
        "kind": memory.kind,
        "occurred_at": memory.occurred_at.isoformat(),
        "source": memory.source.name or memory.source.role,
    }
    return MemoryEntry(content=memory.content, metadata={**memory.metadata, **about})


def _text(message: Mapping[str, Any]) -> str:
    """Return the text of a message."""
    blocks = message.get("content") or ()
    return "\n".join(block["text"] for block in blocks if block.get("text", "").strip())
