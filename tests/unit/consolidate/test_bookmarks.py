"""The small records of consolidation: each scope has its own, however many there are."""

from __future__ import annotations

import asyncio

from longmind import Longmind
from longmind.consolidate.bookmarks import Bookmarks, ModelBookmark, RunBookmark
from longmind.types import Scope

MANY = 101
"""More than what a read by key looks at."""


async def test_an_agent_finds_its_own_among_those_of_many_users(longmind: Longmind) -> None:
    store, clock = longmind.store, longmind.clock
    scopes = [*(Scope(agent="a", user=f"user {n}") for n in range(MANY)), Scope(agent="a")]
    for number, scope in enumerate(scopes):
        bookmarks = Bookmarks(store, scope, clock)
        run, model = RunBookmark(through=number), ModelBookmark(after=number)
        await store.apply(scope, [bookmarks.run.overwrite(run), bookmarks.model.overwrite(model)])
    for number, scope in ((0, scopes[0]), (MANY, scopes[-1])):
        bookmarks = Bookmarks(store, scope, clock)
        assert (await bookmarks.run.read()).through == number
        assert (await bookmarks.model.read()).after == number


async def test_what_several_runs_use_at_once_is_added_up(longmind: Longmind) -> None:
    scope = Scope(agent="a")
    await asyncio.gather(*(Bookmarks(longmind.store, scope, longmind.clock).add_use(1.5, 2) for _ in range(4)))
    use = await Bookmarks(longmind.store, scope, longmind.clock).use_today()
    assert (use.seconds, use.calls) == (6.0, 8)
