"""All that a store still tells."""

from collections.abc import Awaitable, Callable

import pytest

from longmind import Longmind
from longmind.types import Filter, Scope


@pytest.fixture
def everything(longmind: Longmind) -> Callable[[Scope], Awaitable[str]]:
    """All text that an agent holds, in its records, links and journal, in small letters."""

    async def read(scope: Scope) -> str:
        whole = scope.of_all_users()
        memories = [memory async for memory in longmind.store.scan_all(whole, Filter(states=None))]
        links = await longmind.store.all_links(whole, [memory.id for memory in memories])
        changes = await longmind.store.journal(whole, limit=100_000)
        return "\n".join(item.model_dump_json() for item in (*memories, *links, *changes)).casefold()

    return read
