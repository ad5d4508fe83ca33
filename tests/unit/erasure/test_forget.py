"""``forget(..., erase=True)`` follows what came from a memory, through the journal, and leaves nothing of it."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from longmind import Longmind
from longmind.agent_memory import AgentMemory
from longmind.errors import InvalidInput
from longmind.store.base import Delete
from longmind.types import Filter, Memory, Scope

Everything = Callable[[Scope], Awaitable[str]]


async def concepts(longmind: Longmind, mem: AgentMemory) -> AsyncIterator[Memory]:
    async for memory in longmind.store.scan_all(mem.scope, Filter(kinds=("concept",), states=None)):
        yield memory


async def test_a_concept_without_support_goes(longmind: Longmind, everything: Everything) -> None:
    mem = longmind.agent("a", user="alice")
    told = await mem.remember("I live in Xanadu.")
    await mem.remember("My brother lives in Lisbon.")
    await mem.consolidate()
    assert "xanadu" in await everything(mem.scope)
    await mem.forget(told.id, erase=True)
    assert "xanadu" not in await everything(mem.scope)


async def test_a_concept_that_others_support_or_that_was_defined_stays(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    first = await mem.remember("The library is in Lisbon.")
    one = await mem.semantic.learn("library", "located in", "Lisbon", evidence=first)
    second = await mem.remember("The museum is in Lisbon.")
    await mem.semantic.learn("museum", "located in", "Lisbon", evidence=second)
    await mem.semantic.define("library", definition="A house of books.")
    await mem.forget(first.id, erase=True)
    assert await mem.get(one.fact.id) is None
    names = {memory.body["name"] for memory in [m async for m in concepts(longmind, mem)]}
    assert names == {"Lisbon", "museum", "library"}
    await mem.forget(second.id, erase=True)
    names = {memory.body["name"] for memory in [m async for m in concepts(longmind, mem)]}
    assert names == {"library"}


async def test_forgetting_first_and_erasing_after_takes_the_facts(longmind: Longmind, everything: Everything) -> None:
    mem = longmind.agent("a", user="alice")
    told = await mem.remember("I live in Xanadu.")
    await mem.consolidate()
    await mem.forget(told.id)
    await mem.forget(told.id, erase=True)
    assert "xanadu" not in await everything(mem.scope)


async def test_facts_that_were_undone_are_not_left_in_the_journal(longmind: Longmind, everything: Everything) -> None:
    mem = longmind.agent("a", user="alice")
    told = await mem.remember("I live in Xanadu.")
    report = await mem.consolidate()
    await mem.undo(report.id)
    assert "xanadu" in await everything(mem.scope)
    await mem.forget(told.id, erase=True)
    assert "xanadu" not in await everything(mem.scope)


async def test_predicates_that_only_erased_facts_used_go(longmind: Longmind, everything: Everything) -> None:
    mem = longmind.agent("a", user="alice")
    told = await mem.remember("She is the xanaduist of the house.")
    await mem.semantic.learn("she", "is xanaduist of", "house", evidence=told)
    other = await mem.remember("She is the gardener of the house.")
    await mem.semantic.learn("she", "is gardener of", "house", evidence=other)
    await mem.forget(told.id, erase=True)
    assert "xanadu" not in await everything(mem.scope)
    assert [p.name for p in await mem.semantic.predicates()] == ["is gardener of"]


async def test_an_operation_id_of_the_caller_goes_with_what_it_wrote(
    longmind: Longmind, everything: Everything
) -> None:
    mem = longmind.agent("a", user="alice")
    kept, gone = await mem.remember(["One.", "Two."], operation="both for Xanadu")
    again = await mem.remember("Two.", operation="once more for Xanadu")
    assert again.id == gone.id
    await mem.forget(gone.id, erase=True)
    assert "xanadu" not in await everything(mem.scope)
    assert await mem.get(kept.id) == kept
    operation = (await mem.history(kept.id))[0].operation
    changes = await longmind.store.journal(mem.scope, operation=operation)
    assert [change.memory_id for change in changes] == [kept.id, gone.id]
    stored = await mem.remember("Two.", operation="both for Xanadu")
    assert stored.id not in (kept.id, gone.id), "what was erased is not answered with"


async def test_what_another_user_has_from_it_goes_too(longmind: Longmind, everything: Everything) -> None:
    said = await longmind.agent("a").remember("The door code is Xanadu.")
    bob = longmind.agent("a", user="bob")
    await bob.semantic.learn("door code", "is", "Xanadu", evidence=said)
    await longmind.agent("a", user="alice").forget(said.id, erase=True)
    assert "xanadu" not in await everything(bob.scope)


async def test_support_in_shared_memory_goes_also_after_forgetting(longmind: Longmind) -> None:
    words = "On weekends nothing is deployed."
    for agent, user in (("a", "ann"), ("b", "bob"), ("c", "cid")):
        mem = longmind.agent(agent, user=user)
        told = await mem.remember(words)
        fact = (await mem.semantic.learn("deploying", "avoided on", "weekends", evidence=told)).fact
        await mem.shared.propose("deploying is avoided on weekends", evidence=[fact.id])
    shared = await longmind.shared().list(None)
    assert [statement.support for statement in shared] == [3]
    await mem.forget(told.id)
    await mem.forget(told.id, erase=True)
    assert [statement.support for statement in await longmind.shared().list(None)] == [2]


async def test_nothing_to_forget_says_how_everything_is_erased(longmind: Longmind) -> None:
    with pytest.raises(InvalidInput) as caught:
        await longmind.agent("a", user="alice").forget()
    assert "erase_user" in caught.value.hint
    assert "'users': [user]" in caught.value.hint, "what belongs to nobody in particular is not to go with it"


async def test_provenance_is_found_after_deletion(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="alice")
    told = await mem.remember("I live in Xanadu.")
    fact = (await mem.semantic.learn("alice", "lives in", "Xanadu", evidence=told)).fact
    await longmind.store.apply(mem.scope, [Delete(fact.id), Delete(told.id)])
    links = await longmind.store.past_links(mem.scope, [told.id], direction="in")
    assert [(link.source, link.relation, link.target) for link in links] == [(fact.id, "derived_from", told.id)]
    assert {link.relation for link in await longmind.store.past_links(mem.scope, [fact.id], direction="out")} == {
        "about",
        "lives in",
        "derived_from",
    }
    assert {told.id, fact.id} <= set(await longmind.store.past_ids(mem.scope))
    assert await longmind.store.past_ids(mem.scope.of_user("bob")) == []
