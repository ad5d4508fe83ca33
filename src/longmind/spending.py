"""What an agent's use of a language model came to, day by day, kept in the store.

So all processes of an agent share one budget, and a restart forgets nothing. A day is one small record with a key; what
is added is checked against the version that was read, and done again when another process was faster.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from longmind.models.chat import Usage
from longmind.store.base import Put, Update
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.types import Memory, Source

_KIND = "configuration"


class StoreLedger:
    """The ledger of one agent, whoever the user is."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = replace(scoped, scope=scoped.scope.model_copy(update={"user": None}))

    async def spent(self, day: date) -> Usage:
        record = await self._record(day)
        return Usage() if record is None else Usage.model_validate(record.body)

    async def add(self, day: date, usage: Usage) -> None:
        async def once() -> None:
            record = await self._record(day)
            if record is None:
                body = usage.model_dump(mode="json")
                new = self._scoped.new(_KIND, "", key=_key(day), body=body, source=Source(role="system"), trust=1.0)
                await self._scoped.write([Put(new, existing="fail")], reason="model use")
                return
            body = (Usage.model_validate(record.body) + usage).model_dump(mode="json")
            await self._scoped.write([Update(record.id, {"body": body}, record.version)], reason="model use")

        await retry_on_conflict(once)

    async def _record(self, day: date) -> Memory | None:
        return await self._scoped.store.by_key(self._scoped.scope, _key(day))


def _key(day: date) -> str:
    return f"spent:{day.isoformat()}"
