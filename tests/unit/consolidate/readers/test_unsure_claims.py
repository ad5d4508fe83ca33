"""What is read too unsurely for a fact is kept, and becomes one when more is said of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.consolidate.readers.scripted_readers import ScriptedReaders
from tests.unit.consolidate.readers.test_changed_facts import START

from longmind import Longmind
from longmind.memory import AgentMemory
from longmind.testing import FakeClock
from longmind.types import Filter, Memory

pytestmark = pytest.mark.statement_reader
WEEK = timedelta(days=7)
PHONE = "my phone is a nokia, what can i delete?"
AGAIN = "the nokia is slow again"


@pytest.fixture
def mem(longmind: Longmind) -> AgentMemory:
    return longmind.agent("a", user="ann")


async def say(mem: AgentMemory, *texts: str, session: str | None = None) -> list[Memory]:
    """Say one text a week, each in a session of its own if none is given."""
    said = []
    for text in texts:
        week = (await mem.stats()).by_kind.get("message", 0)
        moment = START + week * WEEK
        said.append(await mem.remember(text, session=session or f"week {week}", occurred_at=moment))
        await mem.consolidate()
    return said


async def facts(mem: AgentMemory) -> set[tuple[str, str]]:
    return {(fact.predicate, str(fact.object)) for fact in (await mem.semantic.facts()).items}


async def claims(mem: AgentMemory) -> list[Memory]:
    return [claim async for claim in mem.store.scan_all(mem.scope, Filter(kinds=("claim",), states=None))]


async def test_an_unsure_claim_is_kept_and_seen_by_nobody_who_does_not_ask_for_it(
    mem: AgentMemory, script: ScriptedReaders
) -> None:
    (said,) = await say(mem, script.states(PHONE, "owns", "nokia", confidence=0.5))
    (claim,) = (await mem.list(kinds=["claim"])).items
    assert claim.content == "ann owns nokia"
    assert claim.body["evidence"][0]["memory"] == said.id
    assert await facts(mem) == set()
    assert {hit.memory.kind for hit in await mem.recall("Which phone does ann own? nokia")} == {"message"}
    assert "ann owns" not in await mem.context("the nokia")
    assert "claim" not in {memory.kind for memory in (await mem.list()).items}


@pytest.mark.parametrize(("confidence", "status"), [(0.3, "current"), (0.5, "planned")])
async def test_what_is_less_likely_or_does_not_hold_now_is_not_kept(
    mem: AgentMemory, script: ScriptedReaders, confidence: float, status: str
) -> None:
    script.states(PHONE, "owns", "nokia", confidence=confidence, status=status)  # type: ignore[arg-type]
    await say(mem, PHONE)
    assert await claims(mem) == []


async def test_told_again_in_another_session_it_becomes_a_fact_that_rests_on_both(
    mem: AgentMemory, script: ScriptedReaders
) -> None:
    script.states(PHONE, "owns", "nokia", confidence=0.7)
    first, second = await say(mem, PHONE, script.states(AGAIN, "owns", "nokia", confidence=0.7))
    (fact,) = (await mem.semantic.facts()).items
    assert (fact.predicate, fact.object, fact.valid_from) == ("owns", "nokia", START)
    assert {evidence.memory for evidence in fact.evidence} == {first.id, second.id}
    assert await claims(mem) == []


async def test_told_again_at_once_it_is_no_likelier(mem: AgentMemory, script: ScriptedReaders) -> None:
    script.states(PHONE, "owns", "nokia", confidence=0.7)
    await say(mem, PHONE, script.states(AGAIN, "owns", "nokia", confidence=0.7), session="one")
    assert await facts(mem) == set()


async def test_often_told_at_once_it_is_no_likelier_later(mem: AgentMemory, script: ScriptedReaders) -> None:
    texts = [script.states(f"{PHONE} {number}", "owns", "nokia", confidence=0.5) for number in range(4)]
    await say(mem, *texts, session="one")
    await say(mem, script.states(AGAIN, "owns", "nokia", confidence=0.6))
    assert await facts(mem) == set()
    (claim,) = await claims(mem)
    assert claim.body["confidence"] == pytest.approx(0.8)


async def test_what_is_doubtful_twice_is_told_a_third_time(mem: AgentMemory, script: ScriptedReaders) -> None:
    script.states(PHONE, "owns", "nokia", confidence=0.5)
    await say(mem, PHONE, script.states(AGAIN, "owns", "nokia", confidence=0.5))
    assert await facts(mem) == set()
    (claim,) = await claims(mem)
    assert claim.body["confidence"] == pytest.approx(0.75)
    await say(mem, script.states("nokia charged", "owns", "nokia", confidence=0.61))
    assert await facts(mem) == {("owns", "nokia")}


async def test_what_takes_the_place_of_what_was_unsure_is_learnt(mem: AgentMemory, script: ScriptedReaders) -> None:
    script.states(PHONE, "owns", "nokia", confidence=0.5)
    await say(mem, PHONE, script.ends("traded the nokia in for a fairphone", "nokia", "fairphone"))
    assert await facts(mem) == {("owns", "fairphone")}
    assert await claims(mem) == []
    (fact,) = (await mem.semantic.facts(current=False)).items
    assert fact.valid_from == START + WEEK


async def test_what_plain_words_end_needs_no_certainty_about_what_takes_its_place(
    mem: AgentMemory, script: ScriptedReaders
) -> None:
    script.states(PHONE, "owns", "nokia", confidence=0.5)
    then = script.states("sold the nokia, the fairphone is better", "owns", "nokia", status="ended")
    await say(mem, PHONE, script.ends(then, "nokia", "fairphone", certain=False, gone=0.7))
    assert await facts(mem) == {("owns", "fairphone")}
    assert await claims(mem) == []


async def test_an_unsure_claim_that_a_text_does_not_name_is_not_asked_about(
    mem: AgentMemory, script: ScriptedReaders
) -> None:
    script.states(PHONE, "owns", "nokia", confidence=0.5)
    await say(mem, PHONE, script.may_change("the new screen is bright", "owns"))
    assert script.asked == []


@pytest.mark.parametrize("sure", [True, False])
async def test_of_what_has_one_value_the_other_value_speaks_for_a_claim_that_may_replace_one(
    mem: AgentMemory, script: ScriptedReaders, sure: bool
) -> None:
    script.states("a cut is 22 euros, too cheap?", "property", "22 euros", confidence=0.7, subject="cut")
    then = "a cut is 26 euros, make a sign"
    script.states(then, "property", "26 euros", confidence=0.7, subject="cut")
    script.claims[then] = [replace(claim, certain=sure) for claim in script.claims[then]]
    await say(mem, "a cut is 22 euros, too cheap?", then)
    assert await facts(mem) == ({("amounts to", "26 euros")} if sure else set())


async def test_what_is_known_already_is_not_kept_and_what_becomes_known_no_longer(
    mem: AgentMemory, script: ScriptedReaders
) -> None:
    script.states(PHONE, "owns", "nokia", confidence=0.5)
    await say(mem, PHONE, script.states(AGAIN, "owns", "nokia"))
    assert await facts(mem) == {("owns", "nokia")}
    assert await claims(mem) == []
    await say(mem, script.states("nokia charged", "owns", "nokia", confidence=0.5))
    assert await claims(mem) == []


async def test_another_user_knows_nothing_of_it(longmind: Longmind, script: ScriptedReaders) -> None:
    ann, bob = (longmind.agent("a", user=user) for user in ("ann", "bob"))
    script.states(PHONE, "owns", "nokia", confidence=0.7)
    await say(ann, PHONE)
    await say(bob, script.states(AGAIN, "owns", "nokia", confidence=0.7))
    assert await facts(ann) == await facts(bob) == set()
    assert len(await claims(bob)) == 1


async def test_erasing_the_message_erases_what_was_unsure(mem: AgentMemory, script: ScriptedReaders) -> None:
    (said,) = await say(mem, script.states(PHONE, "owns", "nokia", confidence=0.5))
    await mem.forget(said.id, erase=True)
    assert await claims(mem) == []


async def test_what_an_edited_message_no_longer_says_is_dropped(mem: AgentMemory, script: ScriptedReaders) -> None:
    (said,) = await say(mem, script.states(PHONE, "owns", "nokia", confidence=0.5))
    await mem.update(said.id, content="what can i delete?")
    await mem.consolidate()
    assert await claims(mem) == []


async def test_undo_takes_it_back(mem: AgentMemory, script: ScriptedReaders) -> None:
    await mem.remember(script.states(PHONE, "owns", "nokia", confidence=0.5), session="s", occurred_at=START)
    report = await mem.consolidate()
    assert [(change.action, change.kind) for change in report.proposed] == [("add", "claim")]
    await mem.undo(report.id)
    assert await claims(mem) == []


async def test_it_is_there_after_a_restart_and_gone_after_a_year(tmp_path: Path, script: ScriptedReaders) -> None:
    clock, url = FakeClock(), str(tmp_path / "memory.db")
    async with Longmind.open(url, embedder="none", clock=clock) as longmind:
        await say(longmind.agent("a", user="ann"), script.states(PHONE, "owns", "nokia", confidence=0.7))
    async with Longmind.open(url, embedder="none", clock=clock) as longmind:
        mem = longmind.agent("a", user="ann")
        assert len((await mem.list(kinds=["claim"])).items) == 1
        clock.advance(timedelta(days=366))
        await say(mem, script.states(AGAIN, "owns", "nokia", confidence=0.7))
        assert await facts(mem) == set()
