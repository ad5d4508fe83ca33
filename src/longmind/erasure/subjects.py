"""Erasing all that belongs to a user, an agent or a tenant.

Memories go in batches, what was derived before what it was derived from. An erasure that was cut short, by a crash or
an error, is finished by running it again: what is left is still found by its owner and its provenance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from secrets import token_hex

from longmind.erasure.models import ErasedAgent, ErasureReceipt, Subject, digest
from longmind.erasure.provenance import with_derived
from longmind.errors import NotFound
from longmind.store.base import ClearHistory, Delete, Write
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import reopening_writes
from longmind.systems.shared import AGENT as SHARED_AGENT
from longmind.systems.shared import SharedAdministration
from longmind.types import Scope

_BATCH = 500
_ROUNDS = 10
"""How often an agent is gone through while others go on writing."""


class Erasure:
    """One erasure within a tenant, and the receipt it leads to."""

    def __init__(self, scoped: ScopedStore, subject: Subject, name: str) -> None:
        self._scoped, self._store = scoped, scoped.store
        self._tenant = scoped.scope.tenant
        self._subject, self._name = subject, name
        self._salt = token_hex(16)
        self._operation = scoped.clock.new_id()
        self._agents: dict[str, ErasedAgent] = {}

    async def run(self) -> ErasureReceipt:
        """Erase, and return the receipt."""
        scopes = [scope for scope in await self._store.past_scopes() if scope.tenant == self._tenant]
        for scope in scopes:
            if self._is_concerned(scope):
                await self._erase_agent(scope)
        shared = (
            await self._withdraw_support()
            if Scope(tenant=self._tenant, agent=SHARED_AGENT, all_users=True) in scopes
            else 0
        )
        return ErasureReceipt(
            id=self._operation,
            at=self._scoped.now(),
            subject=self._subject,
            name=digest(self._salt, self._subject, self._name),
            salt=self._salt,
            agents=tuple(agent for agent in self._agents.values() if agent.memories),
            shared=shared,
            pending=tuple(await self._store.uncleared()),
        )

    def _is_concerned(self, scope: Scope) -> bool:
        """Return whether an agent may hold something of the subject. Shared memory belongs to the tenant only."""
        if self._subject == "agent":
            return scope.agent == self._name
        return self._subject == "tenant" or scope.agent != SHARED_AGENT

    async def _withdraw_support(self) -> int:
        """Take the subject out of who supports shared knowledge, also in the journal. Return of how many statements."""
        if self._subject == "tenant":
            return 0
        statements = await SharedAdministration(self._scoped).remove_supporter(**{self._subject: self._name})
        if statements:
            await self._apply(
                Scope(tenant=self._tenant, agent=SHARED_AGENT, all_users=True), [ClearHistory(tuple(statements))]
            )
        return len(statements)

    async def _erase_agent(self, scope: Scope) -> None:
        """Erase what one agent holds of the subject, until nothing is found that others stored meanwhile."""
        users: tuple[str, ...] = ()
        owner = scope
        if self._subject == "user":
            users, owner = (self._name,), scope.of_user(self._name)
        for _ in range(_ROUNDS):
            ids = await self._store.past_ids(owner)
            if not ids:
                break
            try:
                await self._remove(scope, await with_derived(self._store, scope, ids))
            except NotFound:  # another writer removed one of them meanwhile
                continue
        await self._apply(scope, [ClearHistory(users=users, everything=not users)])

    async def _remove(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove memories, the derived ones first, and clear what the journal tells of them."""
        if reopened := await reopening_writes(self._store, scope, ids):
            await self._apply(scope, reopened)
        derived_first = list(reversed(ids))
        for start in range(0, len(ids), _BATCH):
            part = derived_first[start : start + _BATCH]
            live = await self._store.get_all(scope, part)
            gone = tuple(id for id in part if id not in {memory.id for memory in live})
            writes: list[Write] = [Delete(memory.id, erase=True) for memory in live]
            if gone:
                writes.append(ClearHistory(gone))
            await self._apply(scope, writes)
            self._note(scope, Counter(memory.kind for memory in live), gone, part)

    async def _apply(self, scope: Scope, writes: Sequence[Write]) -> None:
        await self._store.apply(scope, writes, generated=self._operation, reason=f"erase {self._subject}")

    def _note(self, scope: Scope, kinds: Counter[str], gone: Sequence[str], ids: Sequence[str]) -> None:
        name = digest(self._salt, "agent", scope.agent)
        old = self._agents.get(scope.agent) or ErasedAgent(agent=name)
        hashes = dict.fromkeys([*old.memories, *(digest(self._salt, "memory", id) for id in ids)])
        self._agents[scope.agent] = ErasedAgent(
            agent=name,
            kinds=dict(Counter(old.kinds) + kinds),
            forgotten=old.forgotten + len(gone),
            memories=tuple(hashes),
        )
