"""What the reader of changes does to what is known, through remember and consolidate."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.consolidate.readers.scripted_readers import ScriptedReaders

from longmind import Longmind
from longmind.consolidate import changed_facts
from longmind.consolidate.rules.extraction import ReadText, SpokenText
from longmind.models.statements import TurnReading
from longmind.systems.semantic import Fact

pytestmark = pytest.mark.statement_reader
START = datetime(2026, 1, 5, 12, tzinfo=UTC)
DAY = timedelta(days=1)


async def say(longmind: Longmind, *texts: str, days: int = 60, user: str = "ann") -> None:
    mem = longmind.agent("a", user=user)
    for number, text in enumerate(texts):
        await mem.remember(text, session="s", occurred_at=START + number * days * DAY)
        await mem.consolidate()


async def facts_of(longmind: Longmind, user: str = "ann") -> list[Fact]:
    return list((await longmind.agent("a", user=user).semantic.facts(current=False)).items)


async def holding(longmind: Longmind, user: str = "ann") -> set[tuple[str, str]]:
    return {(fact.predicate, str(fact.object)) for fact in await facts_of(longmind, user) if fact.valid_to is None}


async def test_a_fact_that_a_text_names_ends_and_what_takes_its_place_is_learnt(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    first = script.states("lund is home", "lives_in", "lund")
    then = script.ends("handed back the keys in lund, first night in kalmar was cold", "lund", "kalmar")
    await say(longmind, first, then)
    old, new = sorted(await facts_of(longmind), key=lambda fact: str(fact.object), reverse=True)
    assert (str(old.object), old.valid_to) == ("lund", START + 60 * DAY)
    assert (str(new.object), new.valid_from, new.valid_to) == ("kalmar", START + 60 * DAY, None)
    (evidence,) = new.evidence
    assert evidence.span is not None
    assert then[slice(*evidence.span)] == "kalmar"


async def test_what_is_less_than_certain_changes_nothing(longmind: Longmind, script: ScriptedReaders) -> None:
    first = script.states("lund is home", "lives_in", "lund")
    then = script.ends("lund has fine pubs", "lund", "fine pubs", certain=False)
    await say(longmind, first, then)
    assert await holding(longmind) == {("lives in", "lund")}


async def test_a_name_in_a_text_that_tells_no_change_is_not_read(longmind: Longmind, script: ScriptedReaders) -> None:
    await say(longmind, script.states("lund is home", "lives_in", "lund"), "lund has fine pubs")
    assert script.asked == []


async def test_something_that_may_be_had_several_times_may_just_be_gone(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    first = script.states(script.states("the skoda and the bike are mine", "owns", "skoda"), "owns", "bike")
    await say(longmind, first, script.ends("the skoda found a new owner", "skoda"))
    assert await holding(longmind) == {("owns", "bike")}
    assert [fact.object for fact in script.asked] == ["skoda"]  # what the text does not name is not read


async def test_a_value_that_nobody_is_sure_of_is_read_beside_the_one_that_is_known(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    first = script.states("lund is home", "lives_in", "lund")
    then = script.states("boxes unpacked, kalmar it is", "lives_in", "kalmar", sure=False)
    await say(longmind, first, script.ends(then, "lund", "kalmar"))
    assert await holding(longmind) == {("lives in", "kalmar")}


async def test_what_a_memory_states_itself_is_not_doubted(longmind: Longmind, script: ScriptedReaders) -> None:
    text = script.ends(script.states("lund is home", "lives_in", "lund"), "lund", "home")
    await say(longmind, text)
    assert await holding(longmind) == {("lives in", "lund")}
    assert script.asked == []


async def test_a_value_that_the_claims_of_a_text_state_is_not_stated_twice(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    first = script.states("tidal is what we use", "uses", "tidal")
    then = script.states("tidal went, deezer it is, the yearly plan", "uses", "deezer")
    await say(longmind, first, script.ends(then, "tidal", "the yearly plan"))
    assert await holding(longmind) == {("uses", "deezer")}


async def test_what_has_taken_the_place_of_what_a_claim_ended_is_learnt(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    first = script.states("the Ravens have me as a member", "member_of", "Ravens")
    then = script.states("done with the Ravens, rowing across the water for Kestrel", "member_of", "Ravens")
    script.claims[then] = [replace(claim, status="ended") for claim in script.claims[then]]
    await say(longmind, first, script.ends(then, "Ravens", "Kestrel", certain=False, gone=0.6))
    assert await holding(longmind) == {("member of", "Kestrel")}
    (evidence,) = next(fact for fact in await facts_of(longmind) if fact.object == "Kestrel").evidence
    assert evidence.span == (then.index("Kestrel"), len(then))


@pytest.mark.parametrize(("gone", "home"), [(0.3, "lund"), (0.6, "kalmar")])
async def test_a_claim_replaces_only_what_may_be_gone_for_whoever_knows_it(
    longmind: Longmind, script: ScriptedReaders, gone: float, home: str
) -> None:
    first = script.states("lund is home", "lives_in", "lund")
    then = script.states("my novel begins: i live in kalmar now", "lives_in", "kalmar")
    await say(longmind, first, script.ends(then, "lund", certain=False, gone=gone))
    assert await holding(longmind) == {("lives in", home)}


@pytest.mark.parametrize(
    ("then", "learnt"),
    [
        ("my new home is kalmar", True),
        ("from now on home is kalmar", True),
        ("kalmar is home", False),
    ],
)
async def test_what_a_sentence_calls_new_needs_no_second_opinion(
    longmind: Longmind, script: ScriptedReaders, then: str, learnt: bool
) -> None:
    first = script.states("lund is home", "lives_in", "lund")
    await say(longmind, first, script.states(then, "lives_in", "kalmar"))
    assert await holding(longmind) == {("lives in", "kalmar" if learnt else "lund")}


@pytest.mark.parametrize(
    ("then", "learnt"),
    [
        ("it is kim@new.example, for the tickets", True),
        ("a second one is kim@new.example, for the tickets", False),
    ],
)
async def test_of_addresses_the_latest_is_meant_unless_it_is_a_second_one(
    longmind: Longmind, script: ScriptedReaders, then: str, learnt: bool
) -> None:
    first = script.states("my mail is kim@old.example", "contact", "kim@old.example")
    await say(longmind, first, script.states(then, "contact", "kim@new.example"))
    assert await holding(longmind) == {("email address", "kim@new.example" if learnt else "kim@old.example")}


@pytest.mark.parametrize(("gone", "left"), [(0.3, {("uses", "Outlook")}), (0.6, set())])
async def test_a_claim_ends_only_what_may_be_gone_for_whoever_knows_it(
    longmind: Longmind, script: ScriptedReaders, gone: float, left: set[tuple[str, str]]
) -> None:
    first = script.states("I use Outlook", "uses", "Outlook")
    then = script.states("so I stopped using Outlook and send pigeons, obviously", "uses", "Outlook", status="ended")
    await say(longmind, first, script.ends(then, "Outlook", certain=False, gone=gone))
    assert await holding(longmind) == left


async def test_what_is_stated_as_planned_or_for_some_time_takes_the_place_of_nothing(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    first = script.states("lund is home", "lives_in", "lund")
    then = script.states("from lund we moved to kalmar for two weeks", "lives_in", "kalmar", status="temporary")
    await say(longmind, first, script.ends(then, "lund", "kalmar"))
    assert ("lives in", "lund") in await holding(longmind)


async def test_a_thing_with_a_long_name_is_found_by_a_part_of_it(longmind: Longmind, script: ScriptedReaders) -> None:
    name = "my final report on the river project of Ghent"
    first = script.states(f"{name} is due on 31 August", "deadline", "31 August", subject=name)
    then = script.ends("reports are due on 14 September, what a relief", "31 August", "14 September")
    await say(longmind, first, "a day without news", script.may_change(then, "deadline"))
    assert {object for _, object in await holding(longmind)} == {"14 September"}


@pytest.mark.parametrize(("first", "then"), [("likes", "dislikes"), ("dislikes", "likes")])
async def test_nobody_likes_and_dislikes_the_same(
    longmind: Longmind, script: ScriptedReaders, first: str, then: str
) -> None:
    now = script.states("as for opera, i changed my mind", then, "opera")
    await say(
        longmind, script.states("about opera", first, "opera"), script.ends(now, "opera", certain=False, gone=0.6)
    )
    assert await holding(longmind) == {(then, "opera")}


async def test_a_claim_that_nobody_is_sure_of_names_what_has_taken_the_place_of_what_is_gone(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    first = script.states("camille and I are a couple", "partner", "camille")
    then = script.states("the ring is back in its box, and ines likes tulips", "partner", "ines", confidence=0.65)
    await say(longmind, first, script.ends(then, "camille"))
    assert {value for _, value in await holding(longmind)} == {"ines"}


async def test_a_fact_whose_own_value_is_named_as_the_new_one_does_not_end(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    first = script.states("lund is home", "lives_in", "lund")
    await say(longmind, first, script.ends("back from kalmar, and lund is grey", "lund", "lund"))
    assert await holding(longmind) == {("lives in", "lund")}


async def test_a_quotation_ends_nothing(longmind: Longmind, script: ScriptedReaders) -> None:
    first = script.states("lund is home", "lives_in", "lund")
    await say(longmind, first, script.ends('first line of my story: "so he left lund, and then', "lund"))
    assert len(script.asked) == 1
    assert await holding(longmind) == {("lives in", "lund")}


async def test_the_names_of_a_long_text_are_looked_up_in_its_beginning(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    text = "word " * 40_000
    names = set(changed_facts._names(ReadText(SpokenText(0, text, "ann", text), TurnReading())))
    assert names == {"ann", *(f"{whose}{' '.join(['word'] * n)}" for whose in ("", "ann's ") for n in (1, 2, 3))}
    many = " ".join(f"w{number}" for number in range(40_000))
    read = ReadText(SpokenText(0, many, "ann", None), TurnReading())
    assert len(set(changed_facts._names(read))) < 6_000


async def test_a_fact_is_about_whom_the_text_names(longmind: Longmind, script: ScriptedReaders) -> None:
    first = script.states("Noor works at Arup", "works_at", "Arup", subject="Noor")
    about_others = script.ends("the Arup building is ugly", "Arup")
    await say(longmind, first, "rain all day", about_others, script.ends("Noor had her last day at Arup", "Arup"))
    assert [fact.text for fact in script.asked] == ["Noor had her last day at Arup"]
    assert script.asked[0].subject == "Noor"
    assert await holding(longmind) == set()


async def test_a_fact_of_what_is_the_speakers_own_is_read_where_its_value_is_named(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    first = script.states("our team uses jenkins", "uses", "jenkins", subject="our team")
    await say(longmind, first, script.ends("the last jenkins box is off, it is buildkite now", "jenkins", "buildkite"))
    assert await holding(longmind) == {("uses", "buildkite")}


@pytest.mark.parametrize(("confidence", "learnt"), [(0.45, True), (0.35, False)])
async def test_what_is_unsure_takes_the_place_of_what_is_surely_gone(
    longmind: Longmind, script: ScriptedReaders, confidence: float, learnt: bool
) -> None:
    first = script.states("tidal is what we use", "uses", "tidal")
    then = script.states("tidal is history, deezer has it all", "uses", "deezer", confidence=confidence)
    await say(longmind, first, script.ends(then, "tidal"))
    assert await holding(longmind) == ({("uses", "deezer")} if learnt else set())


async def test_what_may_change_is_read_though_nothing_names_it(longmind: Longmind, script: ScriptedReaders) -> None:
    first = script.states("lund is home", "lives_in", "lund")
    then = script.may_change("bins in kalmar go out on tuesdays, I learnt", "lives_in")
    await say(longmind, first, script.ends(then, "lund", "kalmar"))
    assert [fact.object for fact in script.asked] == ["lund"]
    assert await holding(longmind) == {("lives in", "kalmar")}


async def test_what_may_change_of_somebody_is_read_where_the_text_mentions_them(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    first = script.states("the mail server stands in Graz", "located_in", "Graz", subject="mail server")
    other, then = (
        script.may_change(text, "located_in")
        for text in ("moving the printer was hell", "spf fails since the mail server went to Linz")
    )
    await say(longmind, first, "rain again", other, script.ends(then, "Graz", "Linz"))
    assert [(fact.subject, fact.text) for fact in script.asked] == [("mail server", then)]
    assert await holding(longmind) == {("located in", "Linz")}


async def test_a_new_job_may_be_told_of_a_post_or_of_an_employer(longmind: Longmind, script: ScriptedReaders) -> None:
    first = script.states("logistics is where they put me", "works_in", "logistics")
    then = script.may_change("week one as a buyer and no idea", "works_as")
    await say(longmind, first, script.ends(then, "logistics"))
    assert await holding(longmind) == set()


async def test_of_many_facts_of_a_kind_none_is_read_that_the_text_does_not_name(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    owned = ("skoda", "bike", "kayak", "drill")
    text = "mine: " + ", ".join(owned)
    for each in owned:
        script.states(text, "owns", each)
    await say(longmind, text, script.may_change("the garage is so empty since friday", "owns"))
    assert script.asked == []


async def test_a_text_of_before_a_fact_says_nothing_of_it(longmind: Longmind, script: ScriptedReaders) -> None:
    script.ends("that was it with lund", "lund")
    await say(longmind, script.states("lund is home", "lives_in", "lund"))
    mem = longmind.agent("a", user="ann")
    await mem.remember("that was it with lund", session="s", occurred_at=START - 300 * DAY)
    await mem.consolidate()
    assert await holding(longmind) == {("lives in", "lund")}


async def test_texts_of_one_run_count_in_the_order_of_their_time(longmind: Longmind, script: ScriptedReaders) -> None:
    mem = longmind.agent("a", user="ann")
    home, gone = script.states("lund is home", "lives_in", "lund"), script.ends("goodbye lund", "lund")
    back = script.states("lund again, home at last", "lives_in", "lund")
    for number, text in enumerate((home, gone, back)):
        await mem.remember(text, session="s", occurred_at=START + number * 60 * DAY)
    await mem.consolidate()
    spans = sorted((fact.valid_from, fact.valid_to) for fact in await facts_of(longmind))
    assert spans == [(START, START + 60 * DAY), (START + 120 * DAY, None)]


async def test_another_user_changes_nothing(longmind: Longmind, script: ScriptedReaders) -> None:
    await say(longmind, script.states("lund is home", "lives_in", "lund"))
    await say(longmind, script.ends("goodbye lund", "lund"), user="bob")
    assert await holding(longmind) == {("lives in", "lund")}
    assert script.asked == []


async def test_a_fact_holds_again_when_the_text_that_ended_it_is_erased(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    await say(longmind, script.states("lund is home", "lives_in", "lund"))
    mem = longmind.agent("a", user="ann")
    stored = await mem.remember(script.ends("goodbye lund", "lund"), session="s", occurred_at=START + 60 * DAY)
    await mem.consolidate()
    assert await holding(longmind) == set()
    await mem.forget(stored.id, erase=True)
    assert await holding(longmind) == {("lives in", "lund")}


async def test_a_text_is_read_once_however_often_memory_is_consolidated(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    first = script.states("lund is home", "lives_in", "lund")
    await say(longmind, first, script.ends("lund has fine pubs", "lund", certain=False))
    await longmind.agent("a", user="ann").consolidate()
    assert len(script.asked) == 1


async def test_turns_that_wait_for_their_answer_are_read_once_unless_they_are_edited(
    longmind: Longmind, script: ScriptedReaders
) -> None:
    mem = longmind.agent("a", user="ann")
    drinks = ["tea", "cocoa", "cider"]
    for drink in drinks:
        last = await mem.remember(script.states(f"{drink} is fine", "likes", drink), session="s")
        await mem.consolidate()
    assert script.turns == [f"{drink} is fine" for drink in drinks]
    await mem.update(last.id, content=script.states("milk is fine", "likes", "milk"))
    await mem.consolidate()
    assert set(script.turns[3:]) == {"milk is fine"}
    assert {str(fact.object) for fact in await facts_of(longmind) if fact.state == "active"} == {"tea", "cocoa", "milk"}
