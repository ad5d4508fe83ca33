"""``SharedAdministration``: the rules of a tenant's shared memory, and the review of what waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from longmind.arguments import checked_arguments
from longmind.errors import InvalidInput
from longmind.store import journal
from longmind.store.base import Update, Write
from longmind.systems import configuration
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.systems.shared.entries import NAME, as_shared, decided, fields, shared_store, with_supporters
from longmind.systems.shared.models import KNOWLEDGE, STATUSES, SharedBody, SharedKnowledge, SharedSettings, Status
from longmind.systems.shared.support import is_supported, is_supporter
from longmind.types import Filter, Memory

_BATCH = 500
Names = list[str]


@checked_arguments
class SharedAdministration:
    """The shared memory of a tenant as its administrator sees it: all candidates, reviews, and the rules.

    It is reached by ``Longmind.shared(...)``, never from an agent: an agent reads and proposes (``SharedMemory``).
    """

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = shared_store(scoped)

    async def configuration(self) -> SharedSettings:
        """Return the tenant's current settings."""
        return await configuration.configuration(self._scoped, NAME, SharedSettings())

    async def configure(self, /, **changes: Any) -> SharedSettings:
        """Change settings of the tenant permanently. What was decided by support is decided again by the new ones."""
        settings = await configuration.configure(self._scoped, NAME, SharedSettings(), changes)
        await self._decide_again(settings)
        return settings

    async def list(self, status: Status | None = "approved") -> tuple[SharedKnowledge, ...]:
        """Return the knowledge with a status, the best supported first; with None all of it."""
        if status is not None and status not in STATUSES:
            raise InvalidInput(f"There is no status {status!r}.", hint=f"There are: {', '.join(STATUSES)}.")
        metadata = None if status is None else {"status": status}
        where = Filter(kinds=(KNOWLEDGE,), states=None, metadata=metadata)
        entries = [as_shared(record) async for record in self._scoped.store.scan_all(self._scoped.scope, where)]
        return tuple(sorted(entries, key=lambda entry: (-entry.support, entry.id)))

    async def get(self, id: str) -> SharedKnowledge:
        """Return a piece of shared knowledge or a candidate."""
        return as_shared(await self._scoped.need(id, KNOWLEDGE))

    async def approve(self, id: str, note: str = "") -> SharedKnowledge:
        """Share a candidate after a review, whatever its support."""
        return await self._review(id, "approved", note)

    async def reject(self, id: str, note: str = "") -> SharedKnowledge:
        """Keep a candidate out, whatever its support, until it is approved."""
        return await self._review(id, "rejected", note)

    async def remove_supporter(self, *, user: str | None = None, agent: str | None = None) -> Names:
        """Take a user, or an agent with all its users, out of who supports what is shared, for an erasure.

        Return the ids of the statements that count it as a supporter, or did before. What then has too little support
        is no longer shared; a statement that nobody supports any more, and that nobody reviewed, is erased.
        """
        settings = await self.configuration()
        supported: dict[str, None] = {}
        async for change in journal.changes(self._scoped.store.backend, self._scoped.scope):
            if change.before and is_supported(change.before.get("body"), user=user, agent=agent):
                supported[change.memory_id] = None
        async for record in self._scoped.store.scan_all(self._scoped.scope, Filter(kinds=(KNOWLEDGE,), states=None)):
            if is_supported(record.body, user=user, agent=agent):
                supported[record.id] = None

        def without(record: Memory) -> Write | None:
            body = SharedBody.read(record)
            left = tuple(s for s in body.supporters if not is_supporter(s, body.salt, user=user, agent=agent))
            return with_supporters(record, body, left, settings) if len(left) < len(body.supporters) else None

        for id in supported:
            await retry_on_conflict(self._changing([id], without, "shared: a supporter is erased"))
        return list(supported)

    async def _decide_again(self, settings: SharedSettings) -> None:
        """Let the settings decide on what is stored."""

        def by_settings(record: Memory) -> Write | None:
            changes = fields(decided(SharedBody.read(record), settings), settings)
            same = all(getattr(record, name) == value for name, value in changes.items())
            return None if same else Update(record.id, changes, expected_version=record.version)

        where = Filter(kinds=(KNOWLEDGE,), states=None)
        ids = [record.id async for record in self._scoped.store.scan_all(self._scoped.scope, where)]
        for start in range(0, len(ids), _BATCH):
            await retry_on_conflict(self._changing(ids[start : start + _BATCH], by_settings, "shared: new settings"))

    def _changing(
        self, ids: Names, change: Callable[[Memory], Write | None], reason: str
    ) -> Callable[[], Awaitable[None]]:
        """Return a function that reads these records and makes the writes that a change of each asks for."""

        async def run() -> None:
            records = await self._scoped.store.get_all(self._scoped.scope, ids)
            changes = [change(record) for record in records if record.kind == KNOWLEDGE]
            writes = [write for write in changes if write is not None]
            if writes:
                await self._scoped.rewrite(writes, reason)

        return run

    async def _review(self, id: str, status: Status, note: str) -> SharedKnowledge:
        settings = await self.configuration()

        async def review() -> SharedKnowledge:
            record = await self._scoped.need(id, KNOWLEDGE)
            body = SharedBody.read(record).model_copy(update={"status": status, "by": "review", "note": note})
            write = Update(record.id, fields(body, settings), expected_version=record.version)
            return as_shared((await self._scoped.rewrite([write], f"shared: {status}")).memories[0])

        return await retry_on_conflict(review)
