"""``AgentListing``: the memories of an agent, their changes, users and conversations, one by one and page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from longmind.arguments import checked_arguments
from longmind.clock import as_utc
from longmind.errors import InvalidInput, NotFound
from longmind.kinds import ON_REQUEST
from longmind.recall.filters import filter_of
from longmind.types import Change, ConversationSummary, Filter, Growth, Memory, Order, Page, Scope, Stats

if TYPE_CHECKING:
    from longmind.memory import Longmind
    from longmind.store.store import Store

MAX_GROWTH_DAYS = 3_660
Names = list[str]
Conversations = list[ConversationSummary]
Changes = list[Change]


@checked_arguments
class AgentListing:
    """Reads what an agent knows as it is stored, without ranking."""

    def __init__(self, longmind: Longmind, scope: Scope) -> None:
        self._longmind = longmind
        self.scope = scope

    @property
    def store(self) -> Store:
        return self._longmind.store

    async def get(
        self,
        id: str | None = None,
        *,
        key: str | None = None,
        as_of: datetime | None = None,
        include_expired: bool = False,
    ) -> Memory | None:
        """Return a memory by its id or its key, or None; with ``as_of`` as it was recorded at that moment.

        One that has expired is returned only with ``include_expired``.
        """
        if (id is None) == (key is None):
            raise InvalidInput("Say which memory: its id, or its key.")
        memory = await (self.store.by_key(self.scope, key or "") if id is None else self.store.get(self.scope, id))
        if memory is not None and not include_expired and memory.has_expired(self.store.clock.now()):
            return None
        if as_of is None or (id is None and memory is None):
            return memory
        return await self.store.get_at(self.scope, id or (memory.id if memory else ""), as_utc(as_of))

    async def list(
        self,
        *,
        kinds: Sequence[str] | None = None,
        where: Filter | Mapping[str, Any] | None = None,
        order: Order = "recorded",
        descending: bool = True,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """Return a page of memories, by default the newest first.

        Bookkeeping (settings, pages of dialogues, events of episodes, runs and their steps) is left out, unless it is
        asked for by kind, id or key.
        """
        asked = filter_of(where, kinds=kinds)
        if asked.kinds is None and asked.ids is None and asked.keys is None and asked.without_kinds is None:
            asked = asked.model_copy(update={"without_kinds": ON_REQUEST})
        return await self.store.scan(self.scope, asked, order=order, descending=descending, limit=limit, cursor=cursor)

    async def history(self, id: str) -> Changes:
        """Return the changes of a memory: who, when, why, before and after. Forgotten memories have a history too."""
        changes = await self.store.history(self.scope, id)
        if not changes:
            raise NotFound(f"There never was a memory {id} here.")
        return changes

    async def users(self) -> Names:
        """Return the users with whom this agent has memories, sorted by name. Open it with ``all_users`` to see all."""
        from longmind.store.search import listing

        return listing.users(await self.store.view(self.scope))

    async def conversations(self) -> Conversations:
        """Return the conversations of this agent, the one with the latest message first."""
        from longmind.store.search import listing

        return listing.conversations(await self.store.view(self.scope))

    def watch(self, *, after: int | None = None, poll_seconds: float = 1.0) -> AsyncIterator[Change]:
        """Yield the changes of these memories as they are made, in this process and in others, until it is closed.

        It begins with the next change, or after a sequence number: keep the ``seq`` of the last change that you
        handled, and go on from there after a restart. Other processes are heard by polling.
        """
        from longmind.store.watching import watch

        if not poll_seconds > 0:
            raise InvalidInput("poll_seconds must be more than 0.")
        return watch(self.store, self.scope, after, poll_seconds)

    async def growth(self, days: int = 90, *, by: Literal["recorded", "occurred"] = "recorded") -> Growth:
        """Return how many memories are of each of the last days (UTC), by kind: recorded then, or happened then.

        Counted is what the agent holds now. Bookkeeping is left out.
        """
        from longmind.store.search import listing

        if not 1 <= days <= MAX_GROWTH_DAYS:
            raise InvalidInput(f"days must be from 1 to {MAX_GROWTH_DAYS}.", field="days")
        return listing.growth(await self.store.view(self.scope), self.store.clock.now(), days, by)

    async def stats(self) -> Stats:
        """Return how many memories this agent has, by kind and state."""
        return await self.store.stats(self.scope)
