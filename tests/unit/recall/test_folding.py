"""What was made of others is told with them: consolidation must not change how what was said is found."""

from __future__ import annotations

from typing import Any

import pytest

from longmind import AgentMemory, Longmind
from longmind.recall.folding import evidence_ids
from longmind.types import Memory

TALK = [
    ("s1", "Ann", "Hi Bob! I moved to Lisbon last week, the flat is small but bright."),
    ("s1", "Bob", "Great news! How is the neighbourhood?"),
    ("s1", "Ann", "Lively. There is a bakery below and a tram stop at the corner."),
    ("s1", "Bob", "I still live in Hamburg. I work as a nurse now."),
    ("s2", "Ann", "I adopted a cat called Miro from the shelter."),
    ("s2", "Bob", "Lovely! My sister Eva has two dogs."),
    ("s2", "Ann", "Miro sleeps all day and hunts socks at night."),
    ("s2", "Bob", "Eva's dogs are afraid of cats, imagine that."),
    ("s3", "Ann", "I signed up for a pottery class on Tuesdays."),
    ("s3", "Bob", "I prefer running. I did a half marathon in spring."),
    ("s3", "Ann", "The first bowl I made broke in the kiln."),
    ("s3", "Bob", "The second will be better. I love green tea, bring me a cup!"),
]
ASKED = [
    ("Where did Ann move to?", "moved to Lisbon"),
    ("What is the name of Ann's cat?", "cat called Miro"),
    ("What does Bob do for a living?", "work as a nurse"),
    ("Who has two dogs?", "Eva has two dogs"),
    ("What broke in the kiln?", "broke in the kiln"),
    ("What does Bob like to drink?", "love green tea"),
    ("When is the pottery class?", "pottery class"),
    ("Where does Bob live?", "live in Hamburg"),
]


async def told(longmind: Longmind) -> AgentMemory:
    mem = longmind.agent("assistant")
    for session in ("s1", "s2", "s3"):
        said = [{"role": "user", "name": who, "content": text} for s, who, text in TALK if s == session]
        await mem.remember(said, session=session)
    return mem


async def places(mem: AgentMemory) -> dict[str, int]:
    """At which place each question finds its answer."""
    found = {}
    for question, answer in ASKED:
        hits = await mem.recall(question, k=5)
        found[question] = next((n for n, hit in enumerate(hits) if answer in hit.memory.content), 99)
    return found


async def test_consolidation_does_not_lower_recall() -> None:
    async with Longmind.open("memory:") as longmind:
        mem = await told(longmind)
        (await longmind.recaller()).counts_reads = False
        before = await places(mem)
        report = await mem.consolidate()
        assert sum(stage.added for stage in report.stages) > 5, "there must be something that could be in the way"
        after = await places(mem)
        assert max(before.values()) < 5
        assert all(after[question] <= place for question, place in before.items()), (before, after)


async def test_what_only_gathers_is_recalled_when_it_is_asked_for_by_name() -> None:
    async with Longmind.open("memory:") as longmind:
        mem = await told(longmind)
        await mem.consolidate()
        hits = await mem.recall("Where did Ann move to?", k=50)
        assert {"page", "segment", "summary", "alias"}.isdisjoint(hit.memory.kind for hit in hits)
        assert [hit.memory.kind for hit in await mem.recall("Ann moved to Lisbon", k=1, kinds=["page"])] == ["page"]


def evidence(memory: Memory, span: tuple[int, int] | None = (0, 5)) -> dict[str, Any]:
    return {"evidence": [{"memory": memory.id, "span": span}]}


async def test_a_fact_is_told_with_what_it_was_drawn_from(world: Any) -> None:
    said = await world.add("I play the cello in an orchestra, and chess on Sundays")
    await world.add("The weather is fine")
    await world.add("Alice plays the cello", kind="fact", body=evidence(said))
    hits = await world.recaller.recall(world.scope, "who plays the cello?")
    assert [hit.memory.id for hit in hits][:1] == [said.id]
    assert "fact" not in [hit.memory.kind for hit in hits]
    assert "known from it: Alice plays the cello" in hits[0].why


async def test_a_fact_that_was_replaced_says_so_where_it_is_told(world: Any) -> None:
    said = await world.add("I live in Porto")
    await world.add("Alice lives in Porto", kind="fact", state="superseded", body=evidence(said))
    (hit,) = await world.recaller.recall(world.scope, "does Alice live in Porto?")
    assert "known from it, superseded since: Alice lives in Porto" in hit.why


async def test_a_fact_that_stands_on_its_own_is_a_hit_of_its_own(world: Any) -> None:
    episode = await world.add("A concert with cello", kind="episode")
    await world.add("Alice plays the cello", kind="fact", body=evidence(episode, None))
    await world.add("Bob plays the cello", kind="fact")
    assert set(await world.ask("who plays the cello?")) == {
        "A concert with cello",
        "Alice plays the cello",
        "Bob plays the cello",
    }


async def test_kinds_that_are_asked_for_by_name_stand_by_themselves(world: Any) -> None:
    said = await world.add("I play the cello")
    fact = await world.add("Alice plays the cello", kind="fact", body=evidence(said))
    hits = await world.recaller.recall(world.scope, "who plays the cello?", kinds=["fact", "message"])
    assert {hit.memory.id for hit in hits} == {said.id, fact.id}


async def test_a_text_for_a_prompt_has_the_fact_beside_what_was_said(world: Any) -> None:
    said = await world.add("I play the cello")
    await world.add("Alice plays the cello", kind="fact", body=evidence(said))
    text = await world.recaller.context(world.scope, "who plays the cello?", tokens=500)
    assert text.index("## Knowledge") < text.index("Alice plays the cello") < text.index("I play the cello")


async def test_links_do_not_bring_what_is_made_of_others(world: Any) -> None:
    told = await world.add("We met at the harbour", kind="episode")
    made = await world.add("Sailors are friendly", kind="reflection")
    other = await world.add("The lighthouse was closed", kind="plan")
    await world.link(made, "derived_from", told)
    await world.link(other, "part_of", told)
    hits = await world.recaller.recall(world.scope, "harbour")
    linked = {hit.memory.id for hit in hits if "linked to another hit" in hit.why}
    assert linked - {told.id} == {other.id}
    hits = await world.recaller.recall(world.scope, "harbour", kinds=["episode", "plan", "reflection"])
    linked = {hit.memory.id for hit in hits if "linked to another hit" in hit.why}
    assert linked - {told.id} == {other.id, made.id}


async def test_enough_hits_are_left_when_facts_are_folded(world: Any) -> None:
    for number in range(12):
        said = await world.add(f"cello lesson number {number} with Alice")
        for other in range(3):
            await world.add(f"Alice cello lesson {number} {other}", kind="fact", body=evidence(said))
    hits = await world.recaller.recall(world.scope, "Alice cello lesson", k=10)
    assert [hit.memory.kind for hit in hits] == ["message"] * 10


async def test_a_concept_that_is_only_a_name_comes_after_what_says_something(world: Any) -> None:
    name = await world.add("Lisbon", kind="concept", body={"name": "Lisbon"})
    known = await world.add("Lisbon: a city by the sea", kind="concept", body={"definition": "a city by the sea"})
    said = await world.add("We spent a rainy week of our holidays in Lisbon")
    hits = await world.recaller.recall(world.scope, "Lisbon")
    assert hits[-1].memory.id == name.id
    assert {hit.memory.id for hit in hits[:2]} == {known.id, said.id}


@pytest.mark.parametrize(
    ("kind", "body", "ids"),
    [
        ("fact", {"evidence": [{"memory": "a", "span": [0, 3]}, {"memory": "b", "span": None}]}, ["a"]),
        ("knowledge", {"evidence": ["a", "b"]}, ["a", "b"]),
        ("trait", {"evidence": ["a"]}, []),
        ("fact", {}, []),
    ],
)
async def test_what_a_memory_was_drawn_from(world: Any, kind: str, body: dict[str, Any], ids: list[str]) -> None:
    assert list(evidence_ids(await world.add("x", kind=kind, body=body))) == ids
