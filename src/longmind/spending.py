"""The daily use of a language model by an agent, stored so that all processes of the agent share one budget."""

from __future__ import annotations

from datetime import date

from longmind.models.chat import Usage
from longmind.systems.records import KeyedRecord
from longmind.systems.scoped_store import ScopedStore


class StoreLedger:
    """The ledger of one agent, whoever the user is: one record for each day."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def spent(self, day: date) -> Usage:
        """Return what was used on a day."""
        return await self._record(day).read()

    async def add(self, day: date, usage: Usage) -> None:
        """Add to what was used on a day; retries when another process was faster."""
        await self._record(day).change(lambda spent: spent + usage, "model use")

    def _record(self, day: date) -> KeyedRecord[Usage]:
        return KeyedRecord.of_agent(self._scoped, f"spent:{day.isoformat()}", Usage())
