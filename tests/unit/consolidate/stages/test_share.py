"""From what agents know to what all of them know: support that is counted, refused, withdrawn and erased."""

from __future__ import annotations

from longmind import Longmind
from longmind.consolidate.stages.share import withdraw
from longmind.memory import AgentMemory
from longmind.store.base import Delete
from longmind.systems.shared import AGENT
from longmind.types import ConsolidationReport, Filter, Memory, Scope


async def knows(rc: Longmind, agent: str, user: str | None, *, confidence: float = 0.9) -> AgentMemory:
    mem = rc.agent(agent, user=user)
    await mem.semantic.learn("deploy", "needs", "a green build", confidence=confidence)
    return mem


def promoted(report: ConsolidationReport) -> list[str]:
    return [p.why for p in report.proposed if p.kind == "knowledge" and p.why.startswith("shared")]


async def stored(rc: Longmind) -> list[Memory]:
    return [m async for m in rc.store.scan_all(Scope(agent=AGENT), Filter(kinds=("knowledge",), states=None))]


async def test_what_enough_independent_scopes_know_is_shared(rc: Longmind) -> None:
    told = []
    for agent, user in (("a", "ann"), ("b", "ben"), ("c", "cleo")):
        mem = await knows(rc, agent, user)
        assert promoted(await mem.consolidate(dry_run=True)) != []
        told += promoted(await mem.consolidate())
        assert promoted(await mem.consolidate()) == []
    assert told == [
        "shared memory: pending, known to 1 of 3",
        "shared memory: pending, known to 2 of 3",
        "shared memory: approved, known to 3 of 3",
    ]
    (shared,) = await rc.agent("c").shared.list()
    assert (shared.text, shared.support, shared.users) == ("deploy needs a green build", 3, 3)
    assert [hit.knowledge.id for hit in await rc.agent("c").shared.search("what does a deploy need?")] == [shared.id]
    assert "ann" not in str((await stored(rc))[0].model_dump())


async def test_the_same_authenticated_user_again_is_no_further_support(rc: Longmind) -> None:
    await rc.shared().configure(authenticated_users=True)
    for agent in ("a", "b", "c"):
        await (await knows(rc, agent, "ann")).consolidate()
    (one,) = await rc.shared().list(None)
    assert (one.status, one.support) == ("pending", 1)


async def test_where_a_person_has_to_approve_support_is_not_enough(rc: Longmind) -> None:
    await rc.shared().configure(approval=True, support=1)
    await (await knows(rc, "a", "ann")).consolidate()
    assert await rc.agent("a").shared.list() == ()
    (waiting,) = await rc.shared().list("pending")
    await rc.shared().approve(waiting.id)
    assert len(await rc.agent("b").shared.list()) == 1


async def test_what_is_personal_unsure_or_unwanted_is_not_proposed(rc: Longmind) -> None:
    mem = rc.agent("a", user="ann")
    await mem.remember("I live in Lisbon. My sister Ines likes tea.")
    await mem.semantic.learn("Bob", "likes", "green tea")
    await mem.semantic.learn("deploy", "needs", "luck", confidence=0.2)
    report = await mem.consolidate()
    assert promoted(report) == []
    assert report.of("distill").rejected["personal"] >= 2
    await rc.shared().configure(automatic=False)
    assert promoted(await (await knows(rc, "a", "ben")).consolidate()) == []
    assert await stored(rc) == []


async def test_what_somebody_without_a_name_says_of_themselves_is_personal_too(rc: Longmind) -> None:
    mem = rc.agent("a")
    await mem.remember("I love the ocean. I adopted a puppy.")
    report = await mem.consolidate()
    assert report.of("extract").added >= 2
    assert (promoted(report), await stored(rc)) == ([], [])


async def test_a_fact_that_holds_no_longer_takes_its_support_back(rc: Longmind) -> None:
    await rc.shared().configure(support=2)
    ann, ben = await knows(rc, "a", "ann"), await knows(rc, "b", "ben")
    await ann.consolidate()
    await ben.consolidate()
    assert len(await ann.shared.list()) == 1
    (fact,) = await ben.semantic.know("deploy", "needs")
    await ben.semantic.retract(fact, "no longer")
    await ben.consolidate()
    assert await ann.shared.list() == ()
    (pending,) = await rc.shared().list("pending")
    assert pending.support == 1
    (other,) = await ann.semantic.know("deploy", "needs")
    await ann.forget(other.id)
    await ann.consolidate()
    assert await stored(rc) == []


async def test_what_is_erased_leaves_nothing_behind_in_shared_memory(rc: Longmind) -> None:
    ann = await knows(rc, "a", "ann")
    await ann.consolidate()
    assert len(await stored(rc)) == 1
    facts = [m async for m in rc.store.scan_all(ann.scope, Filter(kinds=("fact",)))]
    await withdraw(ann.scoped, facts)
    assert await stored(rc) == []
    shared = Scope(agent=AGENT)
    assert all("green build" not in str(change.before) for change in await rc.store.journal(shared))


async def test_erasing_what_a_user_told_withdraws_the_support_it_gave(rc: Longmind) -> None:
    ann = await knows(rc, "a", "ann")
    await ann.consolidate()
    assert len(await stored(rc)) == 1
    await ann.forget(where={"states": None}, erase=True)
    assert await stored(rc) == []


async def test_what_is_forgotten_among_much_else_takes_its_support_back(rc: Longmind) -> None:
    ann = rc.agent("a", user="ann")
    for number in range(3):
        await ann.semantic.learn(f"deploy {number}", "needs", "a green build")
    await ann.consolidate()
    assert len(await stored(rc)) == 3
    await ann.remember([f"Something small happened at hour {n}." for n in range(400)])
    await ann.consolidate()
    gone = [m.id async for m in rc.store.scan_all(ann.scope, Filter(kinds=("message", "fact"), states=None))]
    await rc.store.apply(ann.scope, [Delete(id) for id in gone])
    assert len(await stored(rc)) == 3
    await ann.consolidate()
    assert await stored(rc) == []


async def test_what_is_forgotten_or_undone_takes_its_support_with_it_at_once(rc: Longmind) -> None:
    ann = await knows(rc, "a", "ann")
    (fact,) = [m async for m in rc.store.scan_all(ann.scope, Filter(kinds=("fact",)))]
    await ann.consolidate()
    assert len(await stored(rc)) == 1
    await ann.undo((await ann.history(fact.id))[0].operation)
    assert await stored(rc) == []

    ben = await knows(rc, "b", "ben")
    await ben.consolidate()
    assert len(await stored(rc)) == 1
    await ben.forget(where={"states": None})
    assert await stored(rc) == []
    last = [change for change in await ben.store.journal(ben.scope, limit=1_000) if change.action == "delete"][-1]
    await ben.undo(last.operation)
    await ben.consolidate()
    assert [m.content for m in await stored(rc)] == ["deploy needs a green build"]
