"""Traits: what observations do to them, and what stays of what they were, on every backend."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import InvalidInput, NotFound
from longmind.store.base import Put
from longmind.systems.persona import PersonaMemory
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock


async def said(scoped: ScopedStore, text: str) -> str:
    memory = scoped.new("message", text)
    await scoped.write([Put(memory)])
    return memory.id


async def test_an_observation_is_a_trait(persona: PersonaMemory, scoped: ScopedStore, clock: FakeClock) -> None:
    source = await said(scoped, "I never eat meat.")
    made = await persona.observe("Diet", "vegetarian", score=0.9, confidence=0.6, evidence=[source])
    assert (made.about, made.dimension, made.value, made.score, made.confidence) == (
        "user",
        "Diet",
        "vegetarian",
        0.9,
        pytest.approx(0.6 / 1.6),
    )
    assert not made.established, "one remark is not a trait"
    assert (made.observations, made.against, made.evidence, made.since, made.until) == (
        1,
        0,
        (source,),
        clock.now(),
        None,
    )
    assert await persona.trait("diet") == made
    assert await persona.traits() == (made,)
    links = await scoped.store.links(scoped.scope, [made.id], relation="derived_from")
    assert [link.target for link in links] == [source]
    assert [hit.memory.id for hit in await scoped.search("vegetarian", kinds=["trait"])] == [made.id]


async def test_agreement_makes_surer(persona: PersonaMemory) -> None:
    await persona.observe("diet", "vegetarian", confidence=0.6, score=0.5)
    again = await persona.observe("diet", "Vegetarian", confidence=0.5, score=1.0)
    assert again.confidence == pytest.approx(1.1 / 2.1)
    assert again.established
    assert again.score == pytest.approx((0.5 * 0.6 + 1.0 * 0.5) / 1.1)
    assert again.observations == 2
    assert [reading.confidence for reading in again.readings] == [
        pytest.approx(0.6 / 1.6),
        pytest.approx(1.1 / 2.1),
    ]
    again = await persona.observe("diet", "vegetarian", confidence=0.9, count=20)
    assert again.observations == 22
    assert again.confidence == pytest.approx(19.1 / 20.1)
    again = await persona.observe("diet", "vegetarian", confidence=1.0, count=10_000)
    assert again.confidence == 0.99, "nothing that is only observed is certain"


async def test_a_trait_is_as_sure_as_its_evidence_is_much(persona: PersonaMemory) -> None:
    once = await persona.observe("tone", "calm", confidence=1.0)
    often = await persona.observe("pace", "slow", confidence=0.4, count=10)
    assert once.confidence <= 0.5 < often.confidence
    for _ in range(9):
        later = await persona.observe("pace", "slow", confidence=0.4)
    assert often.confidence < later.confidence < 1.0


async def test_what_is_from_one_conversation_counts_once(persona: PersonaMemory, scoped: ScopedStore) -> None:
    turns = [scoped.new("message", f"calm words {n}", session="one") for n in range(4)]
    more = [scoped.new("message", f"calm words {n}", session=f"s{n}") for n in range(3)]
    await scoped.write([Put(memory) for memory in (*turns, *more)])
    one = await persona.observe("tone", "calm", evidence=[memory.id for memory in turns])
    assert one.observations == 1
    four = await persona.observe("tone", "calm", evidence=[memory.id for memory in (*turns, *more)])
    assert four.observations == 1 + 3, "only what is new counts, each conversation once"


async def test_evidence_fades(persona: PersonaMemory, clock: FakeClock) -> None:
    before = await persona.observe("tone", "calm", confidence=0.5, count=6)
    clock.advance(timedelta(days=180))
    faded = await persona.trait("tone")
    assert faded is not None
    assert faded.support == pytest.approx(before.support / 2)
    assert faded.confidence == pytest.approx(1.5 / 2.5)
    clock.advance(timedelta(days=720))
    gone = await persona.trait("tone")
    assert gone is not None
    assert not gone.established
    fresh = await persona.observe("tone", "lively", confidence=0.5, count=2)
    assert fresh.value == "lively", "what is recent outweighs what is old"


async def test_beyond_the_limit_the_least_sure_trait_is_archived(persona: PersonaMemory, scoped: ScopedStore) -> None:
    await persona.configure(traits=2)
    await persona.observe("tone", "calm", count=3)
    weak = await persona.observe("pace", "slow")
    await persona.observe("mood", "merry", count=2)
    assert sorted(trait.dimension for trait in await persona.traits()) == ["mood", "tone"]
    stored = await scoped.store.get(scoped.scope, weak.id)
    assert stored is not None
    assert stored.state == "archived"


async def test_contradiction_lowers_confidence_and_does_not_overwrite(persona: PersonaMemory) -> None:
    await persona.observe("diet", "vegetarian", confidence=0.8)
    after = await persona.observe("diet", "vegan", confidence=1.0)
    assert (after.value, after.against) == ("vegetarian", 1)
    assert after.confidence == pytest.approx(0.8 / 2.8)
    assert [(rival.value, rival.confidence) for rival in after.rivals] == [("vegan", pytest.approx(1.0 / 2.8))]
    assert await persona.history("diet") == (after,)


async def test_a_value_that_is_observed_again_and_again_takes_over(
    persona: PersonaMemory, scoped: ScopedStore, clock: FakeClock
) -> None:
    first = await persona.observe("diet", "vegetarian", confidence=0.8)
    clock.advance(60)
    await persona.observe("diet", "vegan", confidence=0.7)
    clock.advance(60)
    now = await persona.observe("diet", "vegan", confidence=0.7)
    assert (now.value, now.observations) == ("vegan", 2)
    old, new = await persona.history("diet")
    assert (old.id, old.value, old.until) == (first.id, "vegetarian", clock.now())
    assert (new, new.until) == (now, None)
    assert old.confidence < first.confidence, "it went down before it lost"
    stored = await scoped.store.get(scoped.scope, old.id)
    assert stored is not None
    assert stored.state == "superseded"
    links = await scoped.store.links(scoped.scope, [now.id], relation="supersedes")
    assert [link.target for link in links] == [old.id]
    assert await persona.traits() == (now,)
    assert [rival.value for rival in now.rivals] == ["vegetarian"], "it may come back"


async def test_a_correction_counts_at_once(persona: PersonaMemory) -> None:
    for _ in range(3):
        await persona.observe("home", "Lisbon", confidence=0.9)
    now = await persona.observe("home", "Porto", confidence=0.8, correction=True)
    assert (now.value, now.confidence) == ("Porto", pytest.approx(0.8))
    assert now.established
    first = await persona.observe("name", "Ana", confidence=0.9, correction=True)
    assert first.confidence == pytest.approx(0.9), "what somebody says explicitly needs no second time"
    assert [trait.value for trait in await persona.history("home")] == ["Lisbon", "Porto"]


async def test_the_same_evidence_counts_once(persona: PersonaMemory, scoped: ScopedStore) -> None:
    source, other = await said(scoped, "no meat"), await said(scoped, "a steak, please")
    made = await persona.observe("diet", "vegetarian", confidence=0.6, evidence=[source])
    assert await persona.observe("diet", "vegetarian", confidence=0.6, evidence=[source]) == made
    against = await persona.observe("diet", "omnivore", confidence=0.6, evidence=[other])
    assert await persona.observe("diet", "omnivore", confidence=0.6, evidence=[other]) == against
    corrected = await persona.observe("diet", "omnivore", confidence=0.6, evidence=[other], correction=True)
    assert await persona.observe("diet", "omnivore", confidence=0.6, evidence=[other], correction=True) == corrected


async def test_what_cannot_be_observed(persona: PersonaMemory, scoped: ScopedStore) -> None:
    with pytest.raises(NotFound, match="evidence"):
        await persona.observe("diet", "vegan", evidence=[scoped.clock.new_id()])
    with pytest.raises(InvalidInput, match="confidence"):
        await persona.observe("diet", "vegan", confidence=0.0)
    with pytest.raises(InvalidInput, match="score"):
        await persona.observe("diet", "vegan", score=2.0)
    with pytest.raises(InvalidInput, match="value"):
        await persona.observe("diet", " ")
    with pytest.raises(InvalidInput, match="dimension"):
        await persona.observe("", "vegan")
    with pytest.raises(InvalidInput, match="about must be one of"):
        await persona.observe("diet", "vegan", about="cat")  # type: ignore[arg-type]
    assert await persona.traits() == ()


async def test_observers_at_once_lose_nothing(persona: PersonaMemory) -> None:
    values = ["tea", "coffee", "tea", "tea", "coffee", "tea"]
    await asyncio.gather(*(persona.observe("drink", value, confidence=0.3) for value in values))
    now = await persona.trait("drink")
    assert now is not None
    counted = {now.value: now.observations} | {rival.value: rival.observations for rival in now.rivals}
    assert counted == {"tea": 4, "coffee": 2}


async def test_users_have_profiles_of_their_own_and_the_agent_has_one(scoped_stores: Any) -> None:
    alice, bob = [PersonaMemory(await scoped_stores.open(user=name)) for name in ("alice", "bob")]
    nobody = PersonaMemory(await scoped_stores.open())
    await alice.observe("diet", "vegan")
    await bob.observe("diet", "omnivore")
    await alice.observe("tone", "dry", about="agent")
    assert [t.value for t in await alice.traits()] == ["vegan"]
    assert [t.value for t in await bob.traits()] == ["omnivore"]
    assert await nobody.traits() == ()
    for one in (alice, bob, nobody):
        assert [t.value for t in await one.traits("agent")] == ["dry"], "the agent is the same with everybody"
    await bob.observe("tone", "dry", confidence=0.5, about="agent")
    tone = await nobody.trait("tone", "agent")
    assert tone is not None
    assert tone.observations == 2


async def test_a_trait_of_the_agent_says_whose_it_is_wherever_it_is_found(
    persona: PersonaMemory, scoped: ScopedStore
) -> None:
    await persona.observe("tone", "dry", about="agent")
    (hit,) = await scoped.search("dry tone", kinds=["trait"])
    assert hit.memory.content == "The agent itself, tone: dry"


async def test_traits_are_there_after_a_restart(scoped_stores: Any, persona: PersonaMemory) -> None:
    await persona.observe("diet", "vegan", score=0.3)
    before = await persona.profile()
    assert await PersonaMemory(await scoped_stores.restart()).profile() == before
