"""Facts: learning, knowing as of a moment, evidence, ending and retracting."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest

from longmind.errors import InvalidInput, NotFound
from longmind.store.base import Delete, Put
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import Evidence, SemanticMemory
from longmind.testing import FakeClock
from longmind.types import Source

Year = Callable[[int], datetime]


async def values(semantic: SemanticMemory, subject: str, predicate: str, **when: datetime) -> list[object]:
    return [fact.object for fact in await semantic.know(subject, predicate, **when)]


async def test_a_new_value_ends_the_old_one_and_keeps_it(
    semantic: SemanticMemory, year: Year, scoped: ScopedStore
) -> None:
    old = (await semantic.learn("Alice", "lives in", "Porto", valid_from=year(2010))).fact
    change = await semantic.learn("alice", "Lives_In", "Lisbon", valid_from=year(2020))
    assert change.outcome == "changed"
    assert [(f.id, f.state, f.valid_to) for f in change.superseded] == [(old.id, "superseded", year(2020))]
    assert await values(semantic, "Alice", "lives in") == ["Lisbon"]
    assert await values(semantic, "Alice", "lives in", as_of=year(2015)) == ["Porto"]
    assert await values(semantic, "Alice", "lives in", as_of=year(2020)) == ["Lisbon"], "the end is exclusive"
    assert await values(semantic, "Alice", "lives in", as_of=year(2009)) == []
    links = await scoped.store.links(scoped.scope, [change.fact.id], relation="supersedes")
    assert [link.target for link in links] == [old.id]
    stored = await scoped.store.get(scoped.scope, old.id)
    assert stored is not None
    assert stored.key is None, "the key is the present value's"


async def test_a_late_fact_about_the_past_does_not_touch_the_present(semantic: SemanticMemory, year: Year) -> None:
    now = (await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))).fact
    late = (await semantic.learn("Alice", "lives in", "Porto", valid_from=year(2010))).fact
    assert (late.valid_from, late.valid_to, late.state) == (year(2010), year(2020), "superseded")
    (present,) = await semantic.know("Alice", "lives in")
    assert (present.id, present.valid_from, present.valid_to) == (now.id, year(2020), None)
    between = (await semantic.learn("Alice", "lives in", "Faro", valid_from=year(2015))).fact
    assert between.valid_to == year(2020)
    told = [(f.object, f.valid_from, f.valid_to) for f in await semantic.history("Alice", "lives in")]
    assert told == [
        ("Porto", year(2010), year(2015)),
        ("Faro", year(2015), year(2020)),
        ("Lisbon", year(2020), None),
    ]


async def test_a_closed_period_inside_the_present_leaves_the_present(semantic: SemanticMemory, year: Year) -> None:
    now = (await semantic.learn("Alice", "works at", "Acme", valid_from=year(2010))).fact
    await semantic.learn("Alice", "works at", "Globex", valid_from=year(2015), valid_to=year(2017))
    answers = [await values(semantic, "Alice", "works at", as_of=year(y)) for y in (2012, 2016, 2018)]
    assert answers == [["Acme"], ["Globex"], ["Acme"]]
    (present,) = await semantic.know("Alice", "works at")
    assert (present.id, present.valid_from, present.valid_to) == (now.id, year(2017), None)


async def test_the_same_value_again_adds_evidence_not_a_duplicate(
    semantic: SemanticMemory, scoped: ScopedStore
) -> None:
    note, other = scoped.new("message", "I moved to Lisbon."), scoped.new("message", "Lisbon it is.")
    await scoped.write([Put(note), Put(other)])
    first = await semantic.learn("Alice", "lives in", "Lisbon", evidence=Evidence(memory=note.id, span=(11, 17)))
    again = await semantic.learn("Alice", "lives in", "LISBON", evidence=other)
    assert (again.outcome, again.fact.id) == ("confirmed", first.fact.id)
    assert again.fact.confidence == pytest.approx(1 - 0.2 * 0.2)
    assert [e.memory for e in again.fact.evidence] == [note.id, other.id]
    assert again.fact.evidence[0].span == (11, 17)
    third = await semantic.learn("Alice", "lives in", "Lisbon", evidence=other.id)
    assert (third.operation, third.fact) == (None, again.fact), "known evidence changes nothing"
    assert len(await semantic.history("Alice", "lives in")) == 1
    links = await scoped.store.links(scoped.scope, [first.fact.id], relation="derived_from")
    assert {link.target for link in links} == {note.id, other.id}


async def test_repetition_alone_never_makes_certain(semantic: SemanticMemory) -> None:
    for _ in range(20):
        learned = await semantic.learn("Alice", "age", 30)
    assert learned.fact.confidence == pytest.approx(0.99)
    assert (await semantic.learn("Alice", "age", 30, confidence=1.0)).fact.confidence == 1.0


async def test_evidence_must_exist_and_its_span_lie_inside(semantic: SemanticMemory, scoped: ScopedStore) -> None:
    note = scoped.new("message", "short")
    await scoped.write([Put(note)])
    with pytest.raises(InvalidInput, match="span ends at 6"):
        await semantic.learn("Alice", "age", 30, evidence=Evidence(memory=note.id, span=(0, 6)))
    with pytest.raises(NotFound, match="evidence"):
        await semantic.learn("Alice", "age", 30, evidence="0197f9a0-0000-7000-8000-000000000000")
    with pytest.raises(InvalidInput):
        await semantic.learn("Alice", "age", 30, evidence="no id")
    assert await semantic.concept("Alice") is None


async def test_as_the_agent_knew(semantic: SemanticMemory, clock: FakeClock, year: Year) -> None:
    before = clock.now()
    clock.advance(timedelta(days=1))
    await semantic.learn("Alice", "lives in", "Porto", valid_from=year(2010))
    first = clock.now()
    clock.advance(timedelta(days=1))
    await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))
    assert await values(semantic, "Alice", "lives in", known_at=before) == []
    assert await values(semantic, "Alice", "lives in", known_at=first) == ["Porto"], "then it did not know better"
    assert await values(semantic, "Alice", "lives in", as_of=year(2021), known_at=first) == ["Porto"]
    assert await values(semantic, "Alice", "lives in", as_of=year(2021)) == ["Lisbon"]
    told = await semantic.about("Alice", known_at=first)
    assert [f.object for f in told.facts] == ["Porto"]


async def test_retraction_is_kept_and_answers_nothing(semantic: SemanticMemory, clock: FakeClock) -> None:
    fact = (await semantic.learn("Alice", "age", 30)).fact
    known = clock.now()
    clock.advance(60)
    gone = await semantic.retract(fact, "a typo")
    assert (gone.retracted, gone.retracted_because, gone.state) == (True, "a typo", "archived")
    assert await semantic.know("Alice", "age") == []
    assert await values(semantic, "Alice", "age", known_at=known) == [30], "it was believed then"
    assert await semantic.retract(fact.id) == gone
    assert (await semantic.learn("Alice", "age", 31)).outcome == "new"
    assert [f.object for f in await semantic.history("Alice", "age")] == [30, 31]


async def test_retracting_the_past_leaves_the_present(semantic: SemanticMemory, year: Year) -> None:
    old = (await semantic.learn("Alice", "lives in", "Porto", valid_from=year(2010))).fact
    await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))
    await semantic.retract(old)
    assert await values(semantic, "Alice", "lives in", as_of=year(2015)) == []
    assert await values(semantic, "Alice", "lives in") == ["Lisbon"]


async def test_an_end_without_a_successor(semantic: SemanticMemory, year: Year) -> None:
    fact = (await semantic.learn("Alice", "works at", "Acme", valid_from=year(2010))).fact
    ended = await semantic.end(fact, year(2015))
    assert (ended.valid_to, ended.open) == (year(2015), False)
    assert await semantic.know("Alice", "works at") == []
    assert await values(semantic, "Alice", "works at", as_of=year(2012)) == ["Acme"]
    with pytest.raises(InvalidInput, match="already"):
        await semantic.end(fact, year(2016))
    with pytest.raises(InvalidInput, match="before that"):
        await semantic.end(fact, year(2009))
    back = await semantic.learn("Alice", "works at", "Acme", valid_from=year(2020))
    assert (back.outcome, back.fact.id == fact.id) == ("new", False)
    assert await values(semantic, "Alice", "works at", as_of=year(2017)) == []


async def test_a_plan_ends_the_present_when_it_comes_true(
    semantic: SemanticMemory, clock: FakeClock, year: Year
) -> None:
    await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))
    await semantic.learn("Alice", "lives in", "Berlin", valid_from=year(2030))
    assert await values(semantic, "Alice", "lives in") == ["Lisbon"]
    clock.set(year(2031))
    assert await values(semantic, "Alice", "lives in") == ["Berlin"]


async def test_qualifiers_describe_and_tell_apart(semantic: SemanticMemory, year: Year) -> None:
    first = await semantic.learn("Al", "works at", "Acme", qualifiers={"role": "engineer"}, valid_from=year(2010))
    plain = await semantic.learn("Al", "works at", "Acme", valid_from=year(2012))
    assert (plain.outcome, plain.fact.qualifiers) == ("confirmed", {"role": "engineer"})
    lead = await semantic.learn("Al", "works at", "Acme", qualifiers={"role": "lead"}, valid_from=year(2015))
    assert lead.outcome == "changed"
    (then,) = await semantic.know("Al", "works at", as_of=year(2014))
    assert then.id == first.fact.id
    assert then.qualifiers == {"role": "engineer"}


async def test_values_keep_their_types(semantic: SemanticMemory) -> None:
    for predicate, value in (("age", 30), ("height", 1.7), ("vegan", True), ("motto", "Yes.")):
        await semantic.learn("Alice", predicate, value)
        (fact,) = await semantic.know("Alice", predicate)
        assert fact.object == value
        assert type(fact.object) is type(value)
    assert (await semantic.learn("Alice", "vegan", 1)).outcome == "changed", "true is not 1"
    assert (await semantic.learn("Alice", "age", 30.0)).outcome == "confirmed", "30 is 30.0"


async def test_source_decides_how_sure(semantic: SemanticMemory) -> None:
    learned = await semantic.learn("Alice", "age", 30, source=Source(role="document", uri="cv.pdf", span=(3, 9)))
    assert (learned.fact.confidence, learned.fact.trust) == (0.4, 0.4)
    assert learned.fact.source.uri == "cv.pdf"


async def test_facts_of_other_subjects_and_predicates_never_meet(semantic: SemanticMemory) -> None:
    await semantic.learn("Alice", "age", 30)
    await semantic.learn("Bob", "age", 40)
    await semantic.learn("Alice", "shoe size", 38)
    assert [await values(semantic, *asked) for asked in (("Alice", "age"), ("Bob", "age"), ("Alice", "shoe size"))] == [
        [30],
        [40],
        [38],
    ]


async def test_wrong_statements_are_refused(semantic: SemanticMemory, year: Year) -> None:
    with pytest.raises(InvalidInput, match="never held"):
        await semantic.learn("Alice", "age", 30, valid_from=year(2020), valid_to=year(2020))
    with pytest.raises(InvalidInput, match="confidence"):
        await semantic.learn("Alice", "age", 30, confidence=1.5)
    with pytest.raises(InvalidInput, match="relates concepts"):
        await semantic.learn("Alice", "lives in", 7)
    with pytest.raises(InvalidInput, match="itself"):
        await semantic.relate("Alice", "knows", "ALICE")
    with pytest.raises(InvalidInput, match="records are linked"):
        await semantic.learn("Alice", "supersedes", "Bob")
    with pytest.raises(InvalidInput):
        await semantic.learn("Alice", "", "Bob")
    assert (await semantic.facts()).items == ()


async def test_what_has_ended_of_a_concept_comes_latest_first(semantic: SemanticMemory, year: Year) -> None:
    await semantic.learn("Alice", "lives in", "Porto", valid_from=year(2010))
    await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))
    club = (await semantic.learn("Alice", "member of", "chess club", valid_from=year(2012))).fact
    await semantic.end(club, year(2015))
    never = (await semantic.learn("Alice", "owns", "boat", valid_from=year(2012), valid_to=year(2013))).fact
    await semantic.retract(never, "a joke")
    await semantic.learn("Alice", "owns", "bike", valid_from=year(2012))
    await semantic.learn("Porto", "twinned with", "Alice", valid_from=year(2010), valid_to=year(2011))
    assert [str(fact.object) for fact in await semantic.ended("alice")] == ["Porto", "chess club"]
    with pytest.raises(NotFound):
        await semantic.ended("nobody")


async def test_about_tells_both_sides(semantic: SemanticMemory, year: Year) -> None:
    await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))
    await semantic.learn("Alice", "age", 30)
    await semantic.learn("Lisbon", "located in", "Portugal")
    told = await semantic.about("lisbon")
    assert told.concept.name == "Lisbon"
    assert [str(f) for f in told.facts] == ["Lisbon located in Portugal"]
    assert [str(f) for f in told.mentions] == ["Alice lives in Lisbon"]
    assert (await semantic.about("Alice", limit=1)).truncated
    assert (await semantic.about("Alice", as_of=year(2019))).facts == ()


async def test_pages_of_facts(semantic: SemanticMemory, year: Year) -> None:
    await semantic.learn("Alice", "lives in", "Porto", valid_from=year(2010))
    await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))
    await semantic.learn("Alice", "age", 30)
    assert {str(f) for f in (await semantic.facts()).items} == {"Alice lives in Lisbon", "Alice age 30"}
    everything = await semantic.facts(predicate="lives in", current=False)
    assert {f.object for f in everything.items} == {"Porto", "Lisbon"}


async def test_undo_takes_learning_back(semantic: SemanticMemory, scoped: ScopedStore, year: Year) -> None:
    await semantic.learn("Alice", "lives in", "Porto", valid_from=year(2010))
    change = await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))
    assert change.operation is not None
    await scoped.store.undo(scoped.scope, change.operation, scoped.embed)
    (fact,) = await semantic.know("Alice", "lives in")
    assert (fact.object, fact.valid_to, fact.state) == ("Porto", None, "active")
    assert (await semantic.learn("Alice", "lives in", "Faro")).outcome == "changed"


async def test_forgetting_the_present_leaves_a_timeline_that_works(
    semantic: SemanticMemory, scoped: ScopedStore, year: Year
) -> None:
    await semantic.learn("Alice", "lives in", "Porto", valid_from=year(2010))
    present = (await semantic.learn("Alice", "lives in", "Lisbon", valid_from=year(2020))).fact
    await scoped.write([Delete(present.id, erase=True)])
    assert await semantic.know("Alice", "lives in") == []
    await semantic.learn("Alice", "lives in", "Faro", valid_from=year(2005))
    assert await values(semantic, "Alice", "lives in", as_of=year(2007)) == ["Faro"]
    assert (await semantic.learn("Alice", "lives in", "Berlin", valid_from=year(2015))).outcome == "changed"
    told = [(f.object, f.valid_from, f.valid_to) for f in await semantic.history("Alice", "lives in")]
    assert told == [
        ("Faro", year(2005), year(2010)),
        ("Porto", year(2010), year(2015)),
        ("Berlin", year(2015), None),
    ]


async def test_a_moment_before_the_calendar_is_refused(semantic: SemanticMemory) -> None:
    fact = (await semantic.learn("Alice", "lives in", "Lisbon")).fact
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    with pytest.raises(InvalidInput, match="outside the years"):
        await semantic.end(fact, first)
    with pytest.raises(InvalidInput, match="outside the years"):
        await semantic.know("Alice", "lives in", as_of=first)
