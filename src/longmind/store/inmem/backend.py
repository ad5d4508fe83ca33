"""``InmemBackend``: the contract of ``store.base`` over plain dictionaries.

Nothing here is clever or fast; it is what the words of the contract say, so that another backend can be compared
with it operation by operation. No method awaits anything between its first read and its last write, so on one
event loop every call is a transaction; ``finish_space`` alone awaits the embedder, and holds off all who write.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Literal

from longmind.errors import StoreUnavailable
from longmind.store.base import Batch, Feed, Head, Receipt, Scrubbed, Space
from longmind.store.inmem import checks, reads, spaces, writes
from longmind.store.inmem.state import Row, State, owned_copy
from longmind.store.plan import JournalLine
from longmind.store.reads import link_key
from longmind.types import Change, Direction, Filter, Link, Memory, Order, Page, Scope, Stats

if TYPE_CHECKING:
    from longmind.store.base import EmbedTexts, Vector

CHUNK = 5_000


class InmemBackend:
    """A store that lives as long as the process, or as long as its ``State`` is kept."""

    def __init__(self, state: State | None = None) -> None:
        self._state: State | None = State() if state is None else state.copy()
        self._turn = asyncio.Lock()

    @classmethod
    async def open(cls, state: State | None = None) -> InmemBackend:
        """Open a store with the state of another (``snapshot``), or an empty one."""
        return cls(state)

    def snapshot(self) -> State:
        """Return a copy of all the store holds, to open another with."""
        return self._open.copy()

    @property
    def _open(self) -> State:
        if self._state is None:
            raise StoreUnavailable("The store is closed.", hint="Open it again.")
        return self._state

    # -- writing -------------------------------------------------------------------------------------------------

    async def apply(self, batch: Batch) -> Receipt:
        async with self._turn:
            return writes.apply(self._open, batch)

    # -- reading -------------------------------------------------------------------------------------------------

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        agent = self._open.agent(scope)
        visible = (agent.visible(scope, id) for id in dict.fromkeys(ids))
        return [owned_copy(memory) for memory in visible if memory is not None]

    async def scan(
        self,
        scope: Scope,
        where: Filter,
        *,
        order: Order = "recorded",
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Memory]:
        rows = [row for row in self._rows(scope) if reads.matches(row.memory, where)]
        page = reads.page(rows, order, descending, limit, cursor)
        return Page(items=tuple(owned_copy(memory) for memory in page.items), cursor=page.cursor)

    async def links(
        self, scope: Scope, ids: Sequence[str], *, relation: str | None, direction: Direction, limit: int
    ) -> list[Link]:
        wanted = set(ids)
        links = [
            link.model_copy(deep=True)
            for link in self._links(scope)
            if (relation is None or link.relation == relation)
            and ((direction != "in" and link.source in wanted) or (direction != "out" and link.target in wanted))
        ]
        return sorted(links, key=lambda link: (-link.weight, *link_key(link)))[: max(limit, 0)]

    async def journal(
        self,
        scope: Scope,
        *,
        after: int = 0,
        limit: int = 100,
        memory_id: str | None = None,
        operation: str | None = None,
    ) -> list[Change]:
        agent = self._open.agent(scope)
        lines = [
            line
            for line in self._lines(scope)
            if line.seq > after
            and (memory_id is None or line.memory_id == memory_id)
            and (operation is None or line.operation == operation)
        ]
        shown = lines[: max(limit, 0)]
        changes = [reads.change_of(line, agent.journal, agent.rows.get(line.memory_id)) for line in shown]
        return [change.model_copy(deep=True) for change in changes]

    async def stats(self, scope: Scope) -> Stats:
        memories = [row.memory for row in self._rows(scope)]
        state = self._open
        space = state.active.name if state.active else ""
        return Stats(
            memories=len(memories),
            links=len(self._links(scope)),
            changes=len(self._lines(scope)),
            by_kind=Counter(memory.kind for memory in memories),
            by_state=Counter(memory.state for memory in memories),
            vectors=sum((space, memory.id) in state.agent(scope).vectors for memory in memories),
        )

    async def head(self, scope: Scope) -> Head:
        return Head(self._open.agent(scope).head, self._open.epoch)

    async def feed(self, scope: Scope, after: int) -> AsyncIterator[Feed]:
        state = self._open
        agent = state.agent(scope)
        head = Head(agent.head, state.epoch)
        visible = {row.memory.id: row for row in self._rows(scope)}
        if after > 0:
            changed = {line.memory_id for line in self._lines(scope) if line.seq > after and not line.is_about_link}
        else:
            changed = set(visible)
        kept = sorted((visible[id] for id in changed if id in visible), key=lambda row: row.seq)
        rows = [reads.index_row(row, agent, state.active) for row in kept]
        gone = sorted(changed - set(visible))
        yield Feed(head, rows[:CHUNK], gone)
        for start in range(CHUNK, len(rows), CHUNK):
            yield Feed(head, rows[start : start + CHUNK])

    async def matching(self, scope: Scope, where: Filter) -> set[str]:
        return {row.memory.id for row in self._rows(scope) if reads.matches(row.memory, where)}

    async def scopes(self) -> list[Scope]:
        return [Scope(tenant=t, agent=a, all_users=True) for (t, a), agent in self._open.agents.items() if agent.rows]

    async def space(self) -> Space | None:
        return self._open.active

    async def close(self) -> None:
        self._state = None

    # -- vector spaces and self-examination ------------------------------------------------------------------------

    async def declare_space(self, space: Space) -> None:
        async with self._turn:
            spaces.declare(self._open, space)

    async def begin_space(self, space: Space) -> None:
        async with self._turn:
            spaces.begin(self._open, space)

    async def missing_vectors(self, space: Space, limit: int) -> list[tuple[Scope, str, str]]:
        return spaces.missing(self._open, space)[:limit]

    async def put_vectors(self, space: Space, rows: Sequence[tuple[Scope, str, str, Vector]]) -> int:
        async with self._turn:
            return spaces.put(self._open, space, rows)

    async def activate_space(self, space: Space) -> None:
        async with self._turn:
            spaces.activate(self._open, space)

    async def finish_space(self, space: Space, embed: EmbedTexts, limit: int) -> tuple[int, int]:
        async with self._turn:
            return await spaces.finish(self._open, space, embed, limit)

    async def check(self) -> list[str]:
        return checks.find_faults(self._open)

    # -- erasure -----------------------------------------------------------------------------------------------------

    async def past_links(self, scope: Scope, ids: Sequence[str], *, direction: Literal["out", "in"]) -> list[Link]:
        wanted = set(ids)
        links = [line.link for line in self._lines(scope) if line.link is not None]
        return list(
            {link_key(e): e for e in links if (e.source if direction == "out" else e.target) in wanted}.values()
        )

    async def past_ids(self, scope: Scope) -> list[str]:
        own = [line for line in self._lines(scope) if scope.all_users or line.user == scope.user]
        newest = {line.memory_id: line for line in own if not line.is_about_link}
        return sorted(id for id, line in newest.items() if line.action in ("put", "update") or line.before is not None)

    async def past_scopes(self) -> list[Scope]:
        agents = self._open.agents.items()
        return [Scope(tenant=tenant, agent=name, all_users=True) for (tenant, name), agent in agents if agent.journal]

    async def uncleared(self) -> list[str]:
        return []

    async def scrub(self) -> Scrubbed:
        return Scrubbed(("Nothing is stored outside this process.",), ())

    # -- what a scope may see ----------------------------------------------------------------------------------------

    def _rows(self, scope: Scope) -> list[Row]:
        return [row for row in self._open.agent(scope).rows.values() if scope.sees(row.memory)]

    def _links(self, scope: Scope) -> list[Link]:
        """Return the links of which the scope sees both ends."""
        agent = self._open.agent(scope)
        return [
            link
            for link in agent.links.values()
            if agent.visible(scope, link.source) and agent.visible(scope, link.target)
        ]

    def _lines(self, scope: Scope) -> list[JournalLine]:
        lines = self._open.agent(scope).journal
        return [line for line in lines if scope.sees_user(line.user)]
