"""``erase_user``, ``erase_agent`` and ``erase_tenant``, their receipts and the verification of these."""

from collections.abc import Awaitable, Callable

import pytest

from longmind import Longmind
from longmind.erasure import ErasureReceipt
from longmind.errors import InvalidInput
from longmind.store.base import Put
from longmind.types import Filter, Scope

Everything = Callable[[Scope], Awaitable[str]]


async def fill(longmind: Longmind, agent: str, user: str | None, word: str) -> None:
    mem = longmind.agent(agent, user=user)
    await mem.remember(f"I live in {word}.", session=f"{word} session", tags=[word], operation=f"{word} operation")
    gone = await mem.remember(f"My dog is called {word}.", session="s")
    await mem.remember(f"We walk in {word} park.", session="s")
    await mem.working.put("note", f"{word} note")
    await mem.conversation("talk").add(f"Tell me of {word}.")
    await mem.goals.create(f"Visit {word}", criteria=[f"In {word}"])
    async with mem.episodic.episode(f"A trip to {word}") as trip:
        await trip.record(f"Saw {word}.")
    await mem.persona.observe("home", word)
    report = await mem.consolidate()
    await mem.undo(report.id)
    await mem.consolidate()
    await mem.forget(gone.id)


async def test_erase_user_goes_through_all_agents_and_leaves_the_others(
    longmind: Longmind, everything: Everything
) -> None:
    for agent in ("a", "b"):
        await fill(longmind, agent, "alice", "Xanadu")
        await fill(longmind, agent, "bob", "Lisbon")
        await longmind.agent(agent).remember("The office opens at nine.")
    other = longmind.agent("a", user="alice", tenant="elsewhere")
    await other.remember("I live in Porto.")
    before = {agent: await longmind.agent(agent, user="bob").stats() for agent in ("a", "b")}
    receipt = await longmind.erase_user("alice")
    for agent in ("a", "b"):
        text = await everything(Scope(agent=agent))
        assert "xanadu" not in text
        assert "alice" not in text
        assert "lisbon" in text
        assert "nine" in text
        after = await longmind.agent(agent, user="bob").stats()
        assert after.by_kind == before[agent].by_kind
        assert await longmind.store.past_ids(Scope(agent=agent, user="alice")) == []
    assert [m.content for m in (await other.list()).items] == ["I live in Porto."]
    assert len(receipt.agents) == 2
    assert all(erased.kinds["message"] >= 2 and erased.forgotten >= 1 for erased in receipt.agents)
    assert receipt.memories == sum(sum(e.kinds.values()) + e.forgotten for e in receipt.agents)
    check = await longmind.verify_erasure(receipt)
    assert check.ok, check


async def test_a_receipt_holds_no_words_and_tells_what_came_back(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice@example.com")
    told = await mem.remember("I live in Xanadu.")
    receipt = await longmind.erase_user("alice@example.com")
    text = receipt.model_dump_json()
    assert ErasureReceipt.model_validate_json(text) == receipt
    for word in ("alice", "xanadu", told.id, "Xanadu"):
        assert word not in text
    assert (await longmind.verify_erasure(receipt)).ok
    await longmind.store.apply(mem.scope, [Put(told)])
    check = await longmind.verify_erasure(receipt)
    assert (check.ok, check.memories) == (False, 1)
    await mem.forget(told.id)
    check = await longmind.verify_erasure(receipt)
    assert (check.ok, check.memories, check.changes) == (False, 0, 1)
    again = await longmind.erase_user("alice@example.com")
    assert again.agents[0].forgotten == 1
    assert (await longmind.verify_erasure(receipt)).ok


async def test_an_erasure_can_be_repeated_and_finds_nothing(longmind: Longmind) -> None:
    await fill(longmind, "a", "alice", "Xanadu")
    assert (await longmind.erase_user("alice")).memories > 0
    again = await longmind.erase_user("alice")
    assert (again.memories, again.agents) == (0, ())
    assert (await longmind.erase_user("nobody")).memories == 0
    assert (await longmind.erase_agent("nobody")).memories == 0
    assert [s.agent for s in await longmind.agents()] in ([], ["a"]), "no agent was made by it"


async def test_a_user_is_taken_out_of_shared_memory_and_its_journal(longmind: Longmind, everything: Everything) -> None:
    await longmind.shared().configure(authenticated_users=True)
    for user in ("ann", "bob", "cid"):
        await longmind.agent("a", user=user).shared.propose("deploying is avoided on weekends")
    lone = longmind.agent("a", user="cid")
    await lone.shared.propose("xanadu doors are closed")
    await lone.shared.propose("trains run late in winter")
    await lone.shared.withdraw("trains run late in winter")
    receipt = await longmind.erase_user("cid")
    shared = await longmind.shared().list(None)
    assert [(s.text, s.support, s.status) for s in shared] == [("deploying is avoided on weekends", 2, "pending")]
    assert receipt.shared >= 1
    assert "xanadu" not in await everything(Scope(agent="@shared"))
    receipt = await longmind.erase_agent("a")
    assert await longmind.shared().list(None) == ()


async def test_erase_agent_leaves_only_its_name_and_numbers(longmind: Longmind, everything: Everything) -> None:
    await fill(longmind, "a", "alice", "Xanadu")
    await fill(longmind, "a", None, "Lisbon")
    await fill(longmind, "b", "alice", "Porto")
    receipt = await longmind.erase_agent("a")
    text = await everything(Scope(agent="a"))
    for word in ("xanadu", "lisbon", "alice"):
        assert word not in text
    assert (await longmind.agent("a", all_users=True).stats()).memories == 0
    assert "porto" in await everything(Scope(agent="b"))
    assert (await longmind.verify_erasure(receipt)).ok
    await longmind.agent("a").remember("A new beginning.")
    assert [hit.memory.content for hit in await longmind.agent("a").recall("beginning")] == ["A new beginning."]
    assert (await longmind.verify_erasure(receipt)).ok
    assert await longmind.check() == []


async def test_erase_tenant_takes_shared_memory_too(longmind: Longmind, everything: Everything) -> None:
    await fill(longmind, "a", "alice", "Xanadu")
    await longmind.agent("b", user="bob").shared.propose("xanadu doors are closed")
    await longmind.agent("a", tenant="elsewhere").remember("I live in Porto.")
    receipt = await longmind.erase_tenant()
    for scope in await longmind.store.past_scopes():
        assert "xanadu" not in await everything(scope)
    assert (await longmind.store.stats(Scope(agent="@shared"))).memories == 0
    assert (await longmind.agent("a", tenant="elsewhere").stats()).memories == 1
    assert (await longmind.verify_erasure(receipt)).ok


async def test_another_view_hears_of_it(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    await mem.remember("I live in Xanadu.")
    assert await mem.recall("Xanadu")
    await longmind.erase_user("alice")
    assert await mem.recall("Xanadu") == []
    assert await longmind.store.search_text(Scope(agent="a", all_users=True), "Xanadu", where=Filter(states=None)) == []


async def test_names_are_checked(longmind: Longmind) -> None:
    with pytest.raises(InvalidInput):
        await longmind.erase_user("")
    with pytest.raises(InvalidInput):
        await longmind.erase_agent("@shared")
