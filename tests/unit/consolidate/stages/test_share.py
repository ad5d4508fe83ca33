"""From what agents know to what all of them know: support that is counted, refused, withdrawn and erased."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from longmind import Longmind
from longmind.consolidate.stages.share import withdraw
from longmind.memory import AgentMemory
from longmind.store.base import Delete
from longmind.systems.shared import AGENT, SharedKnowledge
from longmind.types import ConsolidationReport, Filter, Memory, Scope


async def knows(longmind: Longmind, agent: str, user: str | None, *, confidence: float = 0.9) -> AgentMemory:
    mem = longmind.agent(agent, user=user)
    await mem.semantic.learn("deploy", "needs", "a green build", confidence=confidence)
    return mem


def promoted(report: ConsolidationReport) -> list[str]:
    return [p.why for p in report.proposed if p.kind == "knowledge" and p.why.startswith("shared")]


async def stored(longmind: Longmind) -> list[Memory]:
    return [m async for m in longmind.store.scan_all(Scope(agent=AGENT), Filter(kinds=("knowledge",), states=None))]


async def test_what_enough_independent_scopes_know_is_shared(longmind: Longmind) -> None:
    told = []
    for agent, user in (("a", "ann"), ("b", "ben"), ("c", "cleo")):
        mem = await knows(longmind, agent, user)
        assert promoted(await mem.consolidate(dry_run=True)) != []
        told += promoted(await mem.consolidate())
        assert promoted(await mem.consolidate()) == []
    assert told == [
        "shared memory: pending, known to 1 of 3",
        "shared memory: pending, known to 2 of 3",
        "shared memory: approved, known to 3 of 3",
    ]
    (shared,) = await longmind.agent("c").shared.list()
    assert (shared.text, shared.support, shared.users) == ("deploy needs a green build", 3, 3)
    assert [hit.knowledge.id for hit in await longmind.agent("c").shared.search("what does a deploy need?")] == [
        shared.id
    ]
    assert "ann" not in str((await stored(longmind))[0].model_dump())


async def test_the_same_authenticated_user_again_is_no_further_support(longmind: Longmind) -> None:
    await longmind.shared().configure(authenticated_users=True)
    for agent in ("a", "b", "c"):
        await (await knows(longmind, agent, "ann")).consolidate()
    (one,) = await longmind.shared().list(None)
    assert (one.status, one.support) == ("pending", 1)


async def test_where_a_person_has_to_approve_support_is_not_enough(longmind: Longmind) -> None:
    await longmind.shared().configure(approval=True, support=1)
    await (await knows(longmind, "a", "ann")).consolidate()
    assert await longmind.agent("a").shared.list() == ()
    (waiting,) = await longmind.shared().list("pending")
    await longmind.shared().approve(waiting.id)
    assert len(await longmind.agent("b").shared.list()) == 1


async def test_what_is_personal_unsure_or_unwanted_is_not_proposed(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    await mem.remember("I live in Lisbon. My sister Ines likes tea.")
    await mem.semantic.learn("Bob", "likes", "green tea")
    await mem.semantic.learn("deploy", "needs", "luck", confidence=0.2)
    report = await mem.consolidate()
    assert promoted(report) == []
    assert report.of("distill").rejected["personal"] >= 2
    await longmind.shared().configure(automatic=False)
    assert promoted(await (await knows(longmind, "a", "ben")).consolidate()) == []
    assert await stored(longmind) == []


async def test_what_somebody_without_a_name_says_of_themselves_is_personal_too(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.remember("I love the ocean. I adopted a puppy.")
    report = await mem.consolidate()
    assert report.of("extract").added >= 2
    assert (promoted(report), await stored(longmind)) == ([], [])


async def test_a_fact_that_holds_no_longer_takes_its_support_back(longmind: Longmind) -> None:
    await longmind.shared().configure(support=2)
    ann, ben = await knows(longmind, "a", "ann"), await knows(longmind, "b", "ben")
    await ann.consolidate()
    await ben.consolidate()
    assert len(await ann.shared.list()) == 1
    (fact,) = await ben.semantic.know("deploy", "needs")
    await ben.semantic.retract(fact, "no longer")
    await ben.consolidate()
    assert await ann.shared.list() == ()
    (pending,) = await longmind.shared().list("pending")
    assert pending.support == 1
    (other,) = await ann.semantic.know("deploy", "needs")
    await ann.forget(other.id)
    await ann.consolidate()
    assert await stored(longmind) == []


async def test_what_is_erased_leaves_nothing_behind_in_shared_memory(longmind: Longmind) -> None:
    ann = await knows(longmind, "a", "ann")
    await ann.consolidate()
    assert len(await stored(longmind)) == 1
    facts = [m async for m in longmind.store.scan_all(ann.scope, Filter(kinds=("fact",)))]
    await withdraw(ann.scoped, facts)
    assert await stored(longmind) == []
    shared = Scope(agent=AGENT)
    assert all("green build" not in str(change.before) for change in await longmind.store.journal(shared))


async def test_erasing_what_a_user_told_withdraws_the_support_it_gave(longmind: Longmind) -> None:
    ann = await knows(longmind, "a", "ann")
    await ann.consolidate()
    assert len(await stored(longmind)) == 1
    await ann.forget(where={"states": None}, erase=True)
    assert await stored(longmind) == []


async def test_what_is_forgotten_among_much_else_takes_its_support_back(longmind: Longmind) -> None:
    ann = longmind.agent("a", user="ann")
    for number in range(3):
        await ann.semantic.learn(f"deploy {number}", "needs", "a green build")
    await ann.consolidate()
    assert len(await stored(longmind)) == 3
    await ann.remember([f"Something small happened at hour {n}." for n in range(400)])
    await ann.consolidate()
    gone = [m.id async for m in longmind.store.scan_all(ann.scope, Filter(kinds=("message", "fact"), states=None))]
    await longmind.store.apply(ann.scope, [Delete(id) for id in gone])
    assert len(await stored(longmind)) == 3
    await ann.consolidate()
    assert await stored(longmind) == []


async def test_what_is_forgotten_or_undone_takes_its_support_with_it_at_once(longmind: Longmind) -> None:
    ann = await knows(longmind, "a", "ann")
    (fact,) = [m async for m in longmind.store.scan_all(ann.scope, Filter(kinds=("fact",)))]
    await ann.consolidate()
    assert len(await stored(longmind)) == 1
    await ann.undo((await ann.history(fact.id))[0].operation)
    assert await stored(longmind) == []

    ben = await knows(longmind, "b", "ben")
    await ben.consolidate()
    assert len(await stored(longmind)) == 1
    await ben.forget(where={"states": None})
    assert await stored(longmind) == []
    last = [change for change in await ben.store.journal(ben.scope, limit=1_000) if change.action == "delete"][-1]
    await ben.undo(last.operation)
    await ben.consolidate()
    assert [m.content for m in await stored(longmind)] == ["deploy needs a green build"]


# -- what is offered ---------------------------------------------------------------------------------------------------


async def fleet(longmind: Longmind, live: Callable[[AgentMemory], Awaitable[object]]) -> list[SharedKnowledge]:
    """Let three agents, each with a user, live through the same and consolidate; return what waits and is shared."""
    for agent, user in (("a", "ann"), ("b", "ben"), ("c", "cleo")):
        mem = longmind.agent(agent, user=user)
        await live(mem)
        await mem.consolidate()
    return list(await longmind.shared().list(None))


async def test_general_statements_of_conversations_are_shared_and_talk_is_not(longmind: Longmind) -> None:
    told = [
        "Hi! I'm Robin and I live in Lisbon. Refunds take five business days.",
        "Keep up the good work. Have a great time. Take care of yourself. Hang in there.",
        "Look at this photo. The colours are so bright. It was a long day. Life is hard.",
        "My sister Ines likes tea. Before a release, run the tests. Wambui needs a visa.",
        "Does water boil at 90 degrees? Ask Priya. He said that trains are late.",
    ]
    entries = await fleet(longmind, lambda mem: mem.remember([{"role": "user", "content": text} for text in told]))
    shared = {entry.text: (entry.status, entry.about) for entry in entries}
    assert shared == {
        "Refunds take five business days.": ("approved", "world"),
        "Before a release, run the tests.": ("approved", "how-to"),
    }


async def test_the_same_claim_in_other_words_is_one(longmind: Longmind) -> None:
    told = iter(
        ["Run the tests before a release.", "Before the release, run tests", "please run the tests before a release"]
    )
    (entry,) = await fleet(longmind, lambda mem: mem.remember(next(told)))
    assert (entry.status, entry.support) == ("approved", 3)


async def test_a_fact_and_the_sentence_that_says_it_are_one_claim(longmind: Longmind) -> None:
    told = iter(
        [
            "The capital of Palau is Ngerulmud.",
            "the capital of Palau is Ngerulmud.",
            "The capital of Palau is Ngerulmud",
        ]
    )
    (entry,) = await fleet(longmind, lambda mem: mem.remember(next(told)))
    assert (entry.status, entry.support) == ("approved", 3)


async def test_entries_of_profiles_are_offered(longmind: Longmind) -> None:
    async def learn(mem: AgentMemory) -> None:
        await mem.persona.learn("Likes jazz.", confidence=0.9)
        await mem.persona.learn("Invoices need a stamp.", confidence=0.9)
        await mem.persona.learn("Doors need locks.", confidence=0.1)

    entries = await fleet(longmind, learn)
    assert [(entry.text, entry.status) for entry in entries] == [("Invoices need a stamp.", "approved")]


async def test_procedures_that_make_the_same_calls_are_shared_without_their_arguments(longmind: Longmind) -> None:
    async def book(mem: AgentMemory) -> None:
        for city in ("Porto", "Braga", "Faro"):
            begun = await mem.episodic.start(f"Book a ticket to {city} for Imogen")
            for tool, args in (("find_train", {"to": city, "who": "Imogen"}), ("book_seat", {"who": "Imogen"})):
                await mem.episodic.record(
                    begun.id, tool, type="call", data={"tool": tool, "args": args, "result": "ok"}
                )
            await mem.episodic.finish(begun.id, "succeeded")

    entries = await fleet(longmind, book)
    (procedure,) = [entry for entry in entries if "find_train" in entry.text]
    assert procedure.text == "Calls that worked one after the other: find_train, then book_seat."
    assert (procedure.status, procedure.about) == ("approved", "how-to")
    assert not any("Imogen" in str(m.model_dump()) for m in await stored(longmind))


async def test_lessons_of_several_agents_come_together(longmind: Longmind) -> None:
    async def deploy(mem: AgentMemory) -> None:
        for number in range(8):
            begun = await mem.episodic.start(f"Deploy the service number {number}")
            if number % 2:
                await mem.episodic.record(begun.id, "ran the tests", type="tests")
            await mem.episodic.record(begun.id, "rolled out", type="rollout")
            await mem.episodic.finish(begun.id, "succeeded" if number % 2 else "failed")

    entries = await fleet(longmind, deploy)
    lessons = [entry for entry in entries if "tests" in entry.text and entry.about == "how-to"]
    assert [entry.status for entry in lessons] == ["approved"]
    hits = await longmind.agent("newcomer").recall("deploy the service: tests first?")
    assert lessons[0].id in [hit.memory.id for hit in hits if hit.shared]


async def test_what_had_to_be_done_first_is_offered(longmind: Longmind) -> None:
    async def reflect(mem: AgentMemory) -> None:
        needs = [{"do": 'login({"user": "imogen"})', "before": 'refund({"order": 7})'}]
        body = {"task": "Refund Imogen", "needs": needs, "worked": [], "failed": [], "success": True}
        await mem.store.put(mem.scope, mem.scoped.new("reflection", "Task: Refund Imogen", body=body, trust=0.7))

    (entry,) = await fleet(longmind, reflect)
    assert (entry.text, entry.status) == ("Call login before refund.", "approved")


async def test_what_is_forgotten_erased_or_erased_with_its_user_no_longer_supports(longmind: Longmind) -> None:
    text = "Refunds take five business days."
    (entry,) = await fleet(longmind, lambda mem: mem.remember(text))
    assert entry.support == 3
    mem = longmind.agent("a", user="ann")
    (told,) = (await mem.list(kinds=["message"])).items
    await mem.forget(told.id)
    assert [e.support for e in await longmind.shared().list(None)] == [2]
    await longmind.erase_user("ben")
    assert [(e.support, e.status) for e in await longmind.shared().list(None)] == [(1, "pending")]
    mem = longmind.agent("c", user="cleo")
    (told,) = (await mem.list(kinds=["message"])).items
    await mem.forget(told.id, erase=True)
    assert await stored(longmind) == []


REFUNDS = "Refunds take five business days."


async def said(longmind: Longmind) -> tuple[AgentMemory, Memory, ConsolidationReport]:
    """Let one agent hear a general statement and consolidate."""
    mem = longmind.agent("a", user="ann")
    message = await mem.remember(REFUNDS)
    report = await mem.consolidate()
    assert [m.content for m in await stored(longmind)] == [REFUNDS]
    return mem, message, report


async def test_a_message_that_is_edited_supports_what_it_says_now(longmind: Longmind) -> None:
    mem, message, _ = await said(longmind)
    await mem.update(message.id, content="Refunds take nine business days.")
    await mem.consolidate()
    assert [m.content for m in await stored(longmind)] == ["Refunds take nine business days."]


async def test_a_message_that_is_edited_keeps_the_support_of_what_it_still_says(longmind: Longmind) -> None:
    mem, message, _ = await said(longmind)
    await mem.update(message.id, content=f"Hello there. {REFUNDS}")
    await mem.consolidate()
    assert [(m.content, len(m.body["supporters"])) for m in await stored(longmind)] == [(REFUNDS, 1)]


async def test_undoing_an_edit_takes_the_support_of_the_edited_words_back_at_once(longmind: Longmind) -> None:
    mem, message, _ = await said(longmind)
    await mem.update(message.id, content="Refunds take nine business days.")
    await mem.consolidate()
    edit = next(c for c in await mem.history(message.id) if c.action == "update")
    await mem.undo(edit.operation)
    assert await stored(longmind) == []
    await mem.consolidate()
    assert [m.content for m in await stored(longmind)] == [REFUNDS]


async def test_undoing_what_was_said_takes_its_support_back(longmind: Longmind) -> None:
    mem, _, report = await said(longmind)
    await mem.undo(report.id)
    assert await stored(longmind) == [], "the run that offered it is undone"
    await mem.consolidate()
    assert [m.content for m in await stored(longmind)] == [REFUNDS]


async def test_undoing_the_operation_that_stored_a_message_takes_its_support_back(longmind: Longmind) -> None:
    mem, message, _ = await said(longmind)
    await mem.undo((await mem.history(message.id))[0].operation)
    assert await stored(longmind) == []
