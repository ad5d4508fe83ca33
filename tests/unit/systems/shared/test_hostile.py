"""Shared memory against an agent that wants to fill it or to change its rules by itself."""

from __future__ import annotations

import pytest

from longmind import Longmind
from longmind.systems.shared import SharedMemory
from longmind.types import Filter, Scope

CLAIM = "Invoices need a stamp."


async def test_one_agent_with_fifty_invented_users_is_one_supporter(longmind: Longmind) -> None:
    for number in range(50):
        proposal = await longmind.agent("lone", user=f"invented-{number}").shared.propose(CLAIM)
    assert proposal.knowledge is not None
    assert (proposal.knowledge.status, proposal.knowledge.support, proposal.knowledge.agents) == ("pending", 1, 1)
    assert await longmind.agent("other").shared.list() == ()
    assert await longmind.agent("other").shared.search("invoices") == ()
    assert await longmind.agent("other").recall("what do invoices need?") == []


async def test_invented_users_do_not_count_in_consolidation_either(longmind: Longmind) -> None:
    for number in range(50):
        mem = longmind.agent("lone", user=f"invented-{number}")
        await mem.semantic.learn("invoice", "needs", "a stamp")
    await longmind.agent("lone", all_users=True).consolidate()
    (candidate,) = await longmind.shared().list(None)
    assert (candidate.status, candidate.support) == ("pending", 1)


async def test_one_invented_user_with_two_agents_is_two_agents_and_no_more(longmind: Longmind) -> None:
    for agent in ("a", "b"):
        for number in range(10):
            proposal = await longmind.agent(agent, user=f"invented-{number}").shared.propose(CLAIM)
    assert proposal.knowledge is not None
    assert proposal.knowledge.support == 2


async def test_users_count_once_an_administrator_says_that_they_are_authenticated(longmind: Longmind) -> None:
    for user in ("ann", "ben", "cleo"):
        proposal = await longmind.agent("a", user=user).shared.propose(CLAIM)
    assert proposal.knowledge is not None
    assert proposal.knowledge.status == "pending"
    await longmind.shared().configure(authenticated_users=True)
    (shared,) = await longmind.agent("z").shared.list()
    assert (shared.status, shared.support, shared.users) == ("approved", 3, 3)
    await longmind.shared().configure(authenticated_users=False)
    assert await longmind.agent("z").shared.list() == (), "a stricter rule holds for what was shared before, too"


@pytest.mark.parametrize("name", ["configure", "approve", "reject", "remove_supporter"])
async def test_an_agent_has_no_call_that_changes_the_rules(longmind: Longmind, name: str) -> None:
    assert not hasattr(SharedMemory, name)
    assert not hasattr(longmind.agent("lone").shared, name)


async def test_an_agent_cannot_read_what_waits(longmind: Longmind) -> None:
    proposal = await longmind.agent("a").shared.propose(CLAIM)
    assert proposal.knowledge is not None
    spy = longmind.agent("spy")
    assert await spy.shared.list() == ()
    assert await spy.get(proposal.knowledge.id) is None
    with pytest.raises(Exception, match="no shared knowledge"):
        await spy.shared.get(proposal.knowledge.id)
    assert [entry.text for entry in await longmind.shared().list("pending")] == [CLAIM]


async def test_a_flood_of_candidates_is_bounded_and_leaves_what_others_support(longmind: Longmind) -> None:
    await longmind.shared().configure(candidates=20)
    for agent in ("a", "b"):
        await longmind.agent(agent).shared.propose(CLAIM)
    for number in range(100):
        await longmind.agent("flooder").shared.propose(f"Doors need {number} locks.")
    kept = await longmind.shared().list("pending")
    assert len(kept) <= 20
    assert CLAIM in [entry.text for entry in kept]
    scope = Scope(agent="@shared")
    assert len([m async for m in longmind.store.scan_all(scope, Filter(kinds=("knowledge",), states=None))]) <= 20


async def test_the_supporters_of_one_agent_are_bounded(longmind: Longmind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longmind.systems.shared.support.MAX_USERS_OF_AGENT", 5)
    for number in range(12):
        proposal = await longmind.agent("lone", user=f"invented-{number}").shared.propose(CLAIM)
    assert proposal.knowledge is not None
    assert proposal.knowledge.users == 5
    assert (await longmind.agent("other").shared.propose(CLAIM)).changed, "others can still support it"
