"""Shared memory: what moves up, who sees it, and what is never told, on every backend."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from longmind.errors import InvalidInput, NotFound
from longmind.store.base import Put
from longmind.systems.shared import AGENT, SharedKnowledge, SharedMemory, SharedSettings
from longmind.types import Filter, Scope, Source

SUN = "Tomatoes need six hours of sun."


async def proposed(shared: SharedMemory, text: str = SUN) -> SharedKnowledge:
    proposal = await shared.propose(text)
    assert proposal.knowledge is not None, proposal.refused
    return proposal.knowledge


async def test_three_authenticated_users_move_it_up(tenant: Any) -> None:
    administration = await tenant.administration()
    await administration.configure(authenticated_users=True)
    first = await proposed(await tenant("a", "ann"))
    assert (first.status, first.support, first.about) == ("pending", 1, "world")
    assert (await proposed(await tenant("a", "ben"))).support == 2
    reader = await tenant("z")
    assert await reader.search("tomatoes") == ()
    assert await reader.list() == ()
    assert [one.text for one in await administration.list("pending")] == [SUN]
    third = await proposed(await tenant("b", "cleo"))
    assert (third.id, third.status, third.by, third.support) == (first.id, "approved", "support", 3)
    assert (third.agents, third.users) == (2, 3)
    (hit,) = await reader.search("how much sun do tomatoes need?")
    assert hit.knowledge.text == SUN
    assert 0 < hit.score <= 1


async def test_three_agents_move_it_up(tenant: Any) -> None:
    for agent in ("a", "b"):
        assert (await proposed(await tenant(agent))).status == "pending"
    assert (await proposed(await tenant("c"))).status == "approved"


async def test_the_same_scope_counts_once(tenant: Any) -> None:
    shared = await tenant("a", "ann")
    for text in (SUN, SUN, "tomatoes need  six hours of the sun"):
        assert (await proposed(shared, text)).support == 1, "articles, case and spaces make no other statement"


async def test_one_authenticated_user_with_three_agents_is_one(tenant: Any) -> None:
    await (await tenant.administration()).configure(authenticated_users=True)
    for agent in ("a", "b", "c"):
        last = await proposed(await tenant(agent, "ann"))
    assert (last.support, last.agents, last.users, last.status) == (1, 3, 1, "pending")


async def test_an_agent_is_not_independent_of_its_users(tenant: Any) -> None:
    await proposed(await tenant("a", "ann"))
    assert (await proposed(await tenant("a"))).support == 1


async def test_not_is_another_statement(tenant: Any) -> None:
    one, other = (
        await proposed(await tenant(), "Ice is slippery."),
        await proposed(await tenant(), "Ice is not slippery."),
    )
    assert one.id != other.id


async def test_what_is_personal_is_refused_and_not_kept(tenant: Any) -> None:
    scoped = await tenant.scoped("a", "ann")
    shared = SharedMemory(scoped)
    for text in ("Ann likes tea.", "ann likes tea", "Write to x@example.org.", "I like tea."):
        proposal = await shared.propose(text)
        assert proposal.knowledge is None
        assert proposal.refused is not None
    message = scoped.new("message", "Tea at four, says grandpa.", source=Source(role="user", name="Willow"))
    await scoped.write([Put(message)])
    assert (await shared.propose("Tea is good for willow trees.", evidence=[message.id])).refused is not None
    assert (await shared.propose("Tea is good for willow trees.", names=["Tea"])).refused is not None
    assert (await shared.propose("Tea is good for willow trees.")).refused is None
    texts = [
        m.content async for m in scoped.store.scan_all(Scope(tenant=tenant.name, agent=AGENT), Filter(states=None))
    ]
    assert texts == ["Tea is good for willow trees."]
    with pytest.raises(NotFound, match="evidence"):
        await shared.propose(SUN, evidence=[scoped.clock.new_id()])


async def test_nobody_is_named_in_what_is_stored(tenant: Any) -> None:
    for user in ("annabel", "benedikt", "cleopatra"):
        await proposed(await tenant("secretive-agent", user))
    scoped = await tenant.scoped()
    scope = Scope(tenant=tenant.name, agent=AGENT)
    stored = [m.model_dump(mode="json") async for m in scoped.store.scan_all(scope, Filter(states=None))]
    journal = [change.model_dump(mode="json") for change in await scoped.store.journal(scope, limit=100)]
    told = json.dumps([stored, journal])
    assert SUN in told
    for name in ("annabel", "benedikt", "cleopatra", "secretive-agent"):
        assert name not in told


async def test_approval_can_be_required(tenant: Any) -> None:
    shared, administration = await tenant("z"), await tenant.administration()
    await administration.configure(approval=True, support=2)
    for agent in ("a", "b", "c"):
        one = await proposed(await tenant(agent))
    assert (one.status, one.support) == ("pending", 3)
    approved = await administration.approve(one.id, "checked")
    assert (approved.status, approved.by, approved.note) == ("approved", "review", "checked")
    assert [hit.knowledge.id for hit in await shared.search("sun")] == [one.id]


async def test_a_review_goes_before_support(tenant: Any) -> None:
    shared, administration = await tenant("z"), await tenant.administration()
    one = await proposed(await tenant("a", "ann"))
    assert (await administration.approve(one.id)).status == "approved"
    rejected = await administration.reject(one.id, "wrong")
    assert (rejected.status, rejected.note) == ("rejected", "wrong")
    for agent in ("b", "c", "d"):
        assert (await proposed(await tenant(agent))).status == "rejected"
    assert await shared.search("sun") == ()
    assert [o.support for o in await administration.list("rejected")] == [4]
    assert (await administration.approve(one.id)).status == "approved"
    assert (await administration.get(one.id)).status == (await shared.get(one.id)).status == "approved"
    with pytest.raises(NotFound):
        await administration.approve(one.id.replace(one.id[-4:], "0000"))
    with pytest.raises(InvalidInput, match="must be one of"):
        await administration.list("new")
    assert len(await administration.list(None)) == 1


async def test_support_can_be_withdrawn(tenant: Any) -> None:
    for agent in ("a", "b", "c"):
        await proposed(await tenant(agent, "ann"))
    ann = await tenant("a", "ann")
    left = await ann.withdraw(SUN)
    assert left is not None
    assert (left.status, left.support) == ("pending", 2)
    assert await ann.search("sun") == ()
    again = await ann.withdraw(SUN)
    assert again is not None
    assert again.support == 2
    assert await ann.withdraw("Something nobody said.") is None


async def test_supporters_at_once_are_all_counted(tenant: Any) -> None:
    scopes = [await tenant(f"agent-{n}", f"user-{n}") for n in range(6)]
    await asyncio.gather(*(shared.propose(SUN) for shared in scopes))
    (one,) = await scopes[0].list()
    assert one.support == 6


async def test_tenants_share_nothing(tenant: Any, scoped_stores: Any) -> None:
    for agent in ("a", "b", "c"):
        await proposed(await tenant(agent))
    other = type(tenant)(scoped_stores)
    assert await (await other.administration()).list(None) == ()
    assert await (await other()).search("sun") == ()


async def test_recall_of_an_agent_does_not_find_candidates(tenant: Any, scoped_stores: Any) -> None:
    await proposed(await tenant("a", "ann"))
    longmind = await scoped_stores.longmind()
    assert await longmind.agent("a", "ann", tenant=tenant.name).recall("tomatoes") == []
    scope = Scope(tenant=tenant.name, agent=AGENT)
    (one,) = [m async for m in longmind.store.scan_all(scope, Filter(kinds=("knowledge",), states=None))]
    assert one.state == "quarantined"


async def test_search_uses_meaning_where_there_is_an_embedder(tenant: Any) -> None:
    shared = await tenant("z", embedder="static")
    for text in ("Puppies and kittens are lovely pets.", "Share prices fall when interest rates rise."):
        one = await proposed(await tenant("a", "ann", embedder="static"), text)
        await (await tenant.administration(embedder="static")).approve(one.id)
    hits = await shared.search("dogs and cats", k=1)
    assert [hit.knowledge.text for hit in hits] == ["Puppies and kittens are lovely pets."]
    with pytest.raises(InvalidInput, match="k must be"):
        await shared.search("dogs", k=0)
    assert await shared.search(" ") == ()


async def test_settings_are_the_tenants(tenant: Any) -> None:
    await (await tenant.administration()).configure(support=1, allowed=["Bluefin"])
    assert await (await tenant("b", "ben")).configuration() == SharedSettings(support=1, allowed=("Bluefin",))
    assert (await proposed(await tenant("b", "ben"), "Parcels of Bluefin are late.")).status == "approved"
