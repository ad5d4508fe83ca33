"""The small records of consolidation: each scope has its own, however many there are."""

from __future__ import annotations

import asyncio

from longmind import Longmind
from longmind.consolidate.waiting import Waiting, Waits
from longmind.consolidate.watermark import Ledger, Mark
from longmind.types import Scope

MANY = 101
"""More than what a read by key looks at."""


async def test_an_agent_finds_its_own_among_those_of_many_users(rc: Longmind) -> None:
    store, clock = rc.store, rc.clock
    scopes = [*(Scope(agent="a", user=f"user {n}") for n in range(MANY)), Scope(agent="a")]
    for number, scope in enumerate(scopes):
        waits = Waits(store, scope, clock).write(Waiting(after=number))
        assert waits is not None
        await store.apply(scope, [Ledger(store, scope, clock).write(Mark(through=number)), waits])
    for number, scope in ((0, scopes[0]), (MANY, scopes[-1])):
        assert (await Ledger(store, scope, clock).read()).through == number
        assert (await Waits(store, scope, clock).read()).after == number


async def test_what_several_runs_use_at_once_is_added_up(rc: Longmind) -> None:
    scope = Scope(agent="a")
    await asyncio.gather(*(Ledger(rc.store, scope, rc.clock).spend(1.5, 2) for _ in range(4)))
    spent = await Ledger(rc.store, scope, rc.clock).spent()
    assert (spent.seconds, spent.calls) == (6.0, 8)
