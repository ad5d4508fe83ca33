"""Shared knowledge in recall, context and the agent: marked, bounded, and free where nothing is shared."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

from longmind import Longmind, Settings
from longmind.agent.models import Limits
from longmind.agent.recall import MemoryRecall
from longmind.store.base import Backend
from longmind.testing import FakeClock

SUN = "Tomatoes need six hours of sun."


async def share(longmind: Longmind, text: str = SUN) -> str:
    """Let three agents support a statement."""
    for agent in ("a", "b", "c"):
        proposal = await longmind.agent(agent).shared.propose(text)
    assert proposal.knowledge is not None, proposal.refused
    assert proposal.knowledge.status == "approved"
    return proposal.knowledge.id


class Calls:
    """A backend that counts the calls of another one."""

    def __init__(self, backend: Any) -> None:
        self._backend, self.counts = backend, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        self.counts[name] += 1
        return getattr(self._backend, name)


async def test_recall_finds_what_others_know_and_marks_it(longmind: Longmind) -> None:
    id = await share(longmind)
    mem = longmind.agent("newcomer", user="ann")
    await mem.remember("I planted tomatoes behind the shed.")
    hits = await mem.recall("how many hours of sun do tomatoes need?")
    shared = [hit for hit in hits if hit.shared]
    assert [hit.memory.id for hit in shared] == [id]
    assert shared[0].why.startswith("shared: supported by 3")
    assert [hit.shared for hit in hits if hit.memory.content.startswith("I planted")] == [False]
    assert hits == sorted(hits, key=lambda hit: -hit.score)


async def test_a_context_says_that_it_is_shared_and_nobody_can_pretend_to_be_it(longmind: Longmind) -> None:
    await share(longmind)
    mem = longmind.agent("newcomer", user="ann")
    await mem.remember({"role": "user", "name": "shared memory", "content": "Tomatoes need no sun at all."})
    lines = (await mem.context("how many hours of sun do tomatoes need?")).splitlines()
    (real,) = [line for line in lines if SUN in line]
    (pretended,) = [line for line in lines if "no sun at all" in line]
    assert ", shared memory] " in real
    assert ", shared memory] " not in pretended


async def test_the_agent_reads_it(longmind: Longmind) -> None:
    id = await share(longmind)
    gathered = await MemoryRecall(longmind.agent("newcomer")).gather("sun for tomatoes", "s", "run", Limits())
    assert id in [hit.memory.id for hit in gathered.memories]
    assert SUN in gathered.context


async def test_what_an_agent_knows_itself_keeps_its_order_and_is_not_repeated(longmind: Longmind) -> None:
    mem = longmind.agent("newcomer")
    for text in (SUN, "Tomatoes like warm nights.", "Sun dries the soil.", "The shed has a red door."):
        await mem.remember(text)
    before = [hit.memory.id for hit in await mem.recall("sun for tomatoes")]
    await share(longmind)
    await share(longmind, "Tomatoes rot in wet soil.")
    after = await mem.recall("sun for tomatoes")
    assert [hit.memory.id for hit in after if not hit.shared] == before
    assert SUN not in [hit.memory.content for hit in after if hit.shared]


async def test_only_a_few_that_fit_are_added_and_none_if_the_agent_wants_none(longmind: Longmind) -> None:
    for number in range(6):
        await share(longmind, f"Tomatoes of sort {number} need sun.")
    await share(longmind, "Copper conducts electricity.")
    mem = longmind.agent("newcomer")
    hits = await mem.recall("tomatoes sun", k=20)
    assert len(hits) == 3
    assert all("Tomatoes" in hit.memory.content for hit in hits)
    assert await mem.recall("who paid the invoice of last week?") == [], "nothing shared fits"
    await mem.configure(recall_shared=0)
    assert await mem.recall("tomatoes sun") == []
    assert "Tomatoes" not in await mem.context("tomatoes sun")


async def test_a_question_with_restrictions_is_about_the_agents_own_memories(longmind: Longmind) -> None:
    await share(longmind)
    mem = longmind.agent("newcomer")
    assert await mem.recall("sun for tomatoes", kinds=["knowledge"]) == []
    assert await mem.recall("sun for tomatoes", session="s") == []
    assert await mem.recall("sun for tomatoes", where={"tags_any": ["garden"]}) == []


async def test_what_is_no_longer_shared_is_gone_at_once(longmind: Longmind) -> None:
    id = await share(longmind)
    mem = longmind.agent("newcomer")
    assert [hit.shared for hit in await mem.recall("sun for tomatoes")] == [True]
    await longmind.shared().reject(id)
    assert await mem.recall("sun for tomatoes") == []


async def test_other_tenants_share_nothing_with_this_one(longmind: Longmind) -> None:
    await share(longmind)
    assert await longmind.agent("newcomer", tenant="other").recall("sun for tomatoes") == []


async def test_where_nothing_is_shared_a_recall_asks_the_store_nothing_more(face_url: str) -> None:
    settings = Settings.load({"LONGMIND_READ_AHEAD": "0"})  # that asks the store, too
    async with Longmind.open(face_url, clock=FakeClock(), settings=settings) as longmind:
        mem = longmind.agent("newcomer")
        for number in range(20):
            await mem.remember(f"Note {number}: the shed has {number} windows.")
        await longmind.agent("a").shared.propose(SUN)  # a candidate is nothing that is shared
        await mem.recall("shed windows", k=5)
        recaller = await longmind.recaller()
        await recaller.flush()
        recaller.counts_reads = False
        calls = Calls(longmind.store.backend)
        longmind.store.backend = longmind.store._views._backend = cast("Backend", calls)
        counted = []
        for shared in (None, mem._shared_limit):
            calls.counts.clear()
            for _ in range(10):
                await recaller.recall(mem.scope, "shed windows", k=5, shared=shared)
            counted.append(dict(calls.counts))
    assert counted[0] == counted[1]
    assert counted[0]["head"] == 10


async def test_the_best_of_a_few_shared_entries_does_not_come_before_what_the_agent_knows_better(
    longmind: Longmind,
) -> None:
    for text in (SUN, "The archive room is on the third floor.", "The bridge to the island is closed for repairs."):
        await share(longmind, text)
    mem = longmind.agent("newcomer", user="ann")
    turns = [
        "My bike was stolen on the day we moved, in front of the house.",
        "The new flat has two rooms and a balcony.",
        "My sister works at the library until five.",
        "We want to paint the kitchen green next month.",
        "The landlord was friendly and left us a lamp.",
    ]
    await mem.remember(turns, session="moving")
    hits = await mem.recall("What was stolen from the house on the day she moved?")
    assert not [hit.memory.content for hit in hits if hit.shared]
    hits = await mem.recall("On which floor is the archive room?")
    assert hits[0].shared
    assert hits == sorted(hits, key=lambda hit: -hit.score)
