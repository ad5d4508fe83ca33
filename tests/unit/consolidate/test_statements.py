"""What claims of the reader do to what is known, through remember and consolidate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from longmind import Longmind
from longmind.consolidate import cycle
from longmind.errors import ModelError
from longmind.models.statements import StatedClaim, Status, Turn, TurnReading, open_statement_reader
from longmind.systems.semantic import Fact

pytestmark = pytest.mark.statement_reader
START = datetime(2026, 1, 5, 12, tzinfo=UTC)


class ScriptedReader:
    """Reads in each text what a test says is in it."""

    name = "scripted"

    def __init__(self) -> None:
        self.claims: dict[str, list[StatedClaim]] = {}
        self.turns: list[Turn] = []

    def says(
        self,
        text: str,
        relation: str,
        object: str,
        status: Status = "current",
        *,
        certain: bool = True,
        kept: bool = True,
        confidence: float = 0.9,
        time: str | None = None,
        subject: str | None = None,
    ) -> str:
        start = text.index(object)
        when = None if time is None else (text.index(time), text.index(time) + len(time))
        whom = None if subject is None else (text.index(subject), text.index(subject) + len(subject))
        claim = StatedClaim(relation, status, (start, start + len(object)), confidence, kept, certain, whom, when)
        self.claims.setdefault(text, []).append(claim)
        return text

    def read(self, turns: Sequence[Turn]) -> list[TurnReading]:
        self.turns += turns
        return [TurnReading(self.claims.get(turn.text, [])) for turn in turns]


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> ScriptedReader:
    scripted = ScriptedReader()
    monkeypatch.setattr(cycle, "open_statement_reader", lambda: scripted)
    monkeypatch.setattr(cycle, "open_change_reader", lambda: None)
    return scripted


@pytest.fixture
async def longmind() -> AsyncIterator[Longmind]:
    async with Longmind.open("memory:", embedder="none") as opened:
        yield opened


async def facts_of(longmind: Longmind) -> list[Fact]:
    return list((await longmind.agent("a", user="ann").semantic.facts(current=False)).items)


async def know(longmind: Longmind, *texts: str) -> set[tuple[str, str]]:
    """Say these texts, 60 days apart, and return what is known of the speaker and has no end."""
    mem = longmind.agent("a", user="ann")
    for number, text in enumerate(texts):
        await mem.remember(text, session="s", occurred_at=START + number * timedelta(days=60))
        await mem.consolidate()
    return {(fact.predicate, str(fact.object)) for fact in await facts_of(longmind) if fact.valid_to is None}


async def test_what_holds_now_replaces_what_was_known(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("lisbon is home", "lives_in", "lisbon")
    then = reader.says("porto is home now", "lives_in", "porto")
    assert await know(longmind, first, then) == {("lives in", "porto")}


async def test_a_second_value_beside_the_known_one_replaces_nothing(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("maple is my job", "works_at", "maple")
    both = "anchor on saturdays beside my week at maple"
    reader.says(both, "works_at", "anchor")
    reader.says(both, "works_at", "maple", certain=False)
    assert await know(longmind, first, both) == {("works at", "maple")}
    then = reader.says("anchor is my job now", "works_at", "anchor")
    assert await know(longmind, then) == {("works at", "anchor")}


async def test_what_is_less_than_certain_replaces_nothing(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("lisbon is home", "lives_in", "lisbon", certain=False)
    then = reader.says("porto is home now", "lives_in", "porto", certain=False)
    assert await know(longmind, first, then) == {("lives in", "lisbon")}


async def test_what_has_ended_is_ended(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("lisbon is home", "lives_in", "lisbon")
    over = reader.says("no more lisbon for me", "lives_in", "lisbon", "ended")
    assert await know(longmind, first, over) == set()


async def test_an_ending_ends_only_what_it_names(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("the skoda and the bike are mine", "owns", "skoda")
    reader.says(first, "owns", "bike")
    over = reader.says("the skoda is sold", "owns", "skoda", "ended")
    assert await know(longmind, first, over) == {("owns", "bike")}


@pytest.mark.parametrize(
    ("status", "beside"),
    [
        ("past", {("lived in", "brno")}),
        ("planned", {("plans to", "live in brno")}),
        ("negated", {("does not live in", "brno")}),
        ("temporary", set()),
        ("hypothetical", set()),
        ("reported", set()),
        ("asked", set()),
    ],
)
async def test_no_other_status_changes_what_is_known(
    longmind: Longmind, reader: ScriptedReader, status: Status, beside: set[tuple[str, str]]
) -> None:
    first = reader.says("lisbon is home", "lives_in", "lisbon")
    then = reader.says("something with brno", "lives_in", "brno", status)
    assert await know(longmind, first, then) == {("lives in", "lisbon"), *beside}


async def test_what_is_denied_ends_if_it_was_known(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("peanuts and soy make me ill", "allergy", "peanuts")
    reader.says(first, "allergy", "soy")
    unsure = reader.says("soy is fine i think", "allergy", "soy", "negated", certain=False)
    then = reader.says("no trouble with peanuts after all", "allergy", "peanuts", "negated")
    assert await know(longmind, first, unsure, then) == {("allergic to", "soy"), ("not allergic to", "peanuts")}


@pytest.mark.parametrize(
    ("relation", "denied", "holds"),
    [("uses", "facebook", "facebook"), ("diet", "cheese", "cheese"), ("pet", "dog", "Rex"), ("child", "kids", "Mia")],
)
async def test_what_was_denied_ends_when_it_holds(
    longmind: Longmind, reader: ScriptedReader, relation: str, denied: str, holds: str
) -> None:
    never = reader.says(f"without {denied}, and without a car", relation, denied, "negated")
    reader.says(never, "owns", "car", "negated")
    known = await know(longmind, never, reader.says(f"{holds} is with us now", relation, holds))
    assert len(known) == 2
    assert ("does not own", "car") in known
    assert denied not in {object for predicate, object in known if "no" in predicate.split()[:2] or "not" in predicate}


@pytest.mark.parametrize(
    ("text", "ends"), [("we bought a car, a Jogger", True), ("since we have no car we bought a Jogger", False)]
)
async def test_a_denial_ends_when_the_words_name_what_was_denied(
    longmind: Longmind, reader: ScriptedReader, text: str, ends: bool
) -> None:
    never = reader.says("we have no car", "owns", "car", "negated")
    known = await know(longmind, never, reader.says(text, "owns", "Jogger"))
    assert (("does not own", "car") not in known) is ends
    assert ("owns", "Jogger") in known


async def test_a_wife_without_a_name_is_a_wife_until_somebody_is_single(
    longmind: Longmind, reader: ScriptedReader
) -> None:
    first = reader.says("my wife says hello", "partner", "wife")
    assert await know(longmind, first) == {("has", "wife")}
    then = reader.says("i am single again", "partner", "single")
    assert await know(longmind, first, then) == {("relationship", "single")}


@pytest.mark.parametrize(
    ("ended", "certain", "confidence", "expected"),
    [
        ("uses", True, 0.7, {("uses", "Tidal")}),
        ("uses", True, 0.5, set()),
        ("uses", False, 0.7, set()),
        ("hobby", True, 0.7, {("uses", "Spotify")}),
    ],
)
async def test_what_takes_the_place_of_something_needs_less_certainty(
    longmind: Longmind,
    reader: ScriptedReader,
    ended: str,
    certain: bool,
    confidence: float,
    expected: set[tuple[str, str]],
) -> None:
    first = reader.says("we have Spotify", "uses", "Spotify")
    then = reader.says("cancelled Spotify, we are on Tidal", ended, "Spotify", "ended", certain=certain)
    reader.says(then, "uses", "Tidal", certain=False, kept=False, confidence=confidence)
    assert await know(longmind, first, then) == expected


@pytest.mark.parametrize(
    ("text", "confidence", "expected"),
    [
        ("my letters still go to narva, from tartu it is two hours", 0.35, "tartu"),
        ("my letters still go to narva, from tartu it is two hours", 0.25, "narva"),
        ("from tartu it is two hours", 0.7, "narva"),
    ],
)
async def test_a_value_beside_the_one_that_was_known_needs_less_certainty(
    longmind: Longmind, reader: ScriptedReader, text: str, confidence: float, expected: str
) -> None:
    first = reader.says("narva is home", "lives_in", "narva")
    then = reader.says(text, "lives_in", "tartu", certain=False, kept=False, confidence=confidence)
    assert await know(longmind, first, then) == {("lives in", expected)}


async def test_what_the_text_holds_for_true_still_is_not_replaced_by_what_is_unsure(
    longmind: Longmind, reader: ScriptedReader
) -> None:
    first = reader.says("maple is my job", "works_at", "maple")
    both = "anchor on saturdays beside my week at maple"
    reader.says(both, "works_at", "anchor", certain=False, kept=False, confidence=0.7)
    reader.says(both, "works_at", "maple", certain=False, kept=False, confidence=0.5)
    assert await know(longmind, first, both) == {("works at", "maple")}


async def test_what_is_unsure_is_not_learnt_where_nothing_was_known(longmind: Longmind, reader: ScriptedReader) -> None:
    text = reader.says("from tartu to narva it is two hours", "lives_in", "tartu", kept=False, confidence=0.7)
    assert await know(longmind, text) == set()


async def test_an_unsure_ending_ends_what_it_names_under_its_own_relation(
    longmind: Longmind, reader: ScriptedReader
) -> None:
    first = reader.says("finnish and welsh, with an app", "studies", "finnish and welsh, with an app")
    reader.says(first, "likes", "app")
    over = reader.says("given up on finnish", "studies", "finnish", "ended", certain=False)
    assert await know(longmind, first, over) == {("likes", "app")}


async def test_whoever_is_married_is_engaged_no_more(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("we are engaged", "partner", "engaged")
    assert await know(longmind, first, reader.says("we are married", "partner", "married")) == {
        ("relationship", "married")
    }


@pytest.mark.parametrize("text", ["Since May my address is in Tralee.", "Our home is now in Tralee."])
async def test_an_address_is_a_home(longmind: Longmind, reader: ScriptedReader, text: str) -> None:
    reader.says(text, "lives_in", "Tralee", certain=False, kept=False, confidence=0.5)
    assert await know(longmind, reader.says("athlone", "lives_in", "athlone"), text) == {("lives in", "Tralee")}


async def test_what_one_message_states_does_not_end_in_it(longmind: Longmind, reader: ScriptedReader) -> None:
    text = reader.says("my wife is great, and single is what i was", "partner", "wife")
    reader.says(text, "partner", "single")
    assert await know(longmind, text) == {("has", "wife"), ("relationship", "single")}


async def test_a_partner_takes_the_place_of_another_by_whatever_name(
    longmind: Longmind, reader: ScriptedReader
) -> None:
    first = reader.says("my wife Jo", "partner", "Jo")
    then = reader.says("my boyfriend Tim", "partner", "Tim")
    assert await know(longmind, first, then) == {("has boyfriend", "Tim")}


@pytest.mark.parametrize(
    ("relation", "status", "words", "object"),
    [
        ("partner", "current", "i am single again", "single"),
        ("partner", "ended", "my wife and i are through", "wife"),
    ],
)
async def test_whoever_is_single_has_no_partner(
    longmind: Longmind, reader: ScriptedReader, relation: str, status: Status, words: str, object: str
) -> None:
    first = reader.says("my wife Jo", "partner", "Jo")
    then = reader.says(words, relation, object, status)
    assert ("has wife", "Jo") not in await know(longmind, first, then)


async def test_an_animal_that_is_not_named_is_the_only_one(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("our dog Rex", "pet", "Rex")
    second = reader.says("our cat Mia and our cat Tom", "pet", "Mia")
    reader.says(second, "pet", "Tom")
    over = reader.says("our dog died", "pet", "dog", "ended")
    unclear = reader.says("our cat died", "pet", "cat", "ended")
    assert await know(longmind, first, second, over, unclear) == {("has cat", "Mia"), ("has cat", "Tom")}


async def test_words_that_name_nothing_end_nothing(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("the skoda and the bike are mine", "owns", "skoda")
    reader.says(first, "owns", "bike")
    assert await know(longmind, first, reader.says("i sold the one of before", "owns", "of", "ended")) == {
        ("owns", "skoda"),
        ("owns", "bike"),
    }


async def test_a_job_that_is_not_named_is_the_one_that_is_known(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("nurse at mercy", "works_as", "nurse")
    reader.says(first, "works_at", "mercy")
    assert await know(longmind, first, reader.says("quit my job", "works_at", "job", "ended")) == set()


async def test_the_latest_number_and_mail_address_hold(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("call 555 01 99 22 or write to a@b.org", "contact", "555 01 99 22")
    reader.says(first, "contact", "a@b.org")
    then = reader.says("new number: 555 77 88 11", "contact", "555 77 88 11")
    assert await know(longmind, first, then) == {("phone number", "555 77 88 11"), ("email address", "a@b.org")}


async def test_a_stay_ends_by_itself(longmind: Longmind, reader: ScriptedReader) -> None:
    stay = reader.says("berlin for two weeks", "lives_in", "berlin", "temporary", time="for two weeks")
    assert await know(longmind, stay) == set()
    (fact,) = await facts_of(longmind)
    assert str(fact) == "ann stays in berlin"
    assert fact.valid_to == START + timedelta(days=14)


async def test_a_home_since_long_ago_still_replaces_what_was_said_later(
    longmind: Longmind, reader: ScriptedReader
) -> None:
    first = reader.says("lisbon is home", "lives_in", "lisbon")
    then = reader.says("it has been porto since 2009", "lives_in", "porto", time="since 2009")
    assert await know(longmind, first, then) == {("lives in", "porto")}


async def test_the_words_are_the_evidence(longmind: Longmind, reader: ScriptedReader) -> None:
    await know(longmind, reader.says("well, porto is home", "lives_in", "porto"))
    (fact,) = await facts_of(longmind)
    assert fact.evidence[0].span == (6, 11)


async def test_a_turn_is_read_with_the_one_before_it(longmind: Longmind, reader: ScriptedReader) -> None:
    mem = longmind.agent("a", user="ann")
    await mem.remember({"role": "assistant", "content": "Where do you live?"}, session="s", occurred_at=START)
    await mem.remember("Porto.", session="s", occurred_at=START + timedelta(minutes=1))
    await mem.consolidate()
    await mem.remember("And you?", session="s", occurred_at=START + timedelta(minutes=2))
    await mem.remember("In Rome.", session="other", occurred_at=START + timedelta(minutes=3))
    await mem.consolidate()
    assert reader.turns == [
        Turn("Porto.", "Where do you live?"),
        Turn("And you?", "Porto."),
        Turn("In Rome.", None),
    ]


async def test_what_is_not_english_is_left_to_a_language_model(longmind: Longmind, reader: ScriptedReader) -> None:
    text = "Ich wohne seit drei Jahren in Leipzig und arbeite als Krankenpfleger."
    mem = longmind.agent("a", user="ann")
    await mem.remember(reader.says(text, "lives_in", "Leipzig"), occurred_at=START)
    report = await mem.consolidate()
    assert reader.turns == []
    assert report.of("extract").rejected["language"] == 1


async def test_an_agent_may_do_without_the_reader(longmind: Longmind, reader: ScriptedReader) -> None:
    await longmind.agent("a", user="ann").configure(statement_reader=False)
    assert await know(longmind, reader.says("lisbon is home", "lives_in", "lisbon")) == set()
    assert reader.turns == []


async def test_a_reader_that_cannot_be_loaded_leaves_the_patterns(
    longmind: Longmind, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def damaged() -> None:
        raise ModelError("The file is damaged.", hint="Install it again.")

    monkeypatch.setattr(cycle, "open_statement_reader", damaged)
    assert await know(longmind, "I live in Porto.") == {("lives in", "Porto")}
    assert "The file is damaged. Install it again." in caplog.text


# -- statements that did harm once: with patterns alone, and with the trained reader where it is installed -------------


@pytest.fixture(params=["patterns", "reader"])
async def speaker(longmind: Longmind, request: pytest.FixtureRequest) -> Longmind:
    if request.param == "reader" and open_statement_reader() is None:
        pytest.skip("the reader of statements is not installed")
    await longmind.agent("a", user="ann").configure(statement_reader=request.param == "reader")
    return longmind


@pytest.mark.parametrize(
    "text",
    [
        "We moved to Slack last year.",
        "I moved to Germany for two weeks.",
        "In 2015 I moved to Brno.",
        "I'd move to Rome if I could.",
        "Tom says I live in Rome.",
    ],
)
async def test_a_home_is_not_changed_by_what_is_no_home(speaker: Longmind, text: str) -> None:
    facts = await know(speaker, "I live in Lisbon.", text)
    assert {object for predicate, object in facts if predicate == "lives in"} == {"Lisbon"}


async def test_a_home_is_ended_and_changed_by_what_says_so(speaker: Longmind) -> None:
    assert ("lives in", "Porto") not in await know(speaker, "I live in Porto.", "I no longer live in Porto.")


async def test_a_diet_is_no_occupation(speaker: Longmind) -> None:
    facts = await know(speaker, "I'm a vegetarian.")
    assert ("diet", "vegetarian") in facts
    assert not any(predicate == "works as" for predicate, _ in facts)


async def test_an_ending_that_is_less_than_certain_ends_what_it_names_if_that_is_known(
    longmind: Longmind, reader: ScriptedReader
) -> None:
    joined = reader.says("I go to Ironworks.", "member_of", "Ironworks")
    left = reader.says("Quit Ironworks.", "works_at", "Ironworks", "ended", certain=False)
    assert await know(longmind, joined, left) == set()


async def test_an_ending_that_is_less_than_certain_ends_nothing_else(
    longmind: Longmind, reader: ScriptedReader
) -> None:
    joined = reader.says("I go to Ironworks.", "member_of", "Ironworks")
    left = reader.says("Quit Fitbarn.", "works_at", "Fitbarn", "ended", certain=False)
    assert await know(longmind, joined, left) == {("member of", "Ironworks")}


async def test_that_somebody_has_left_a_town_ends_no_membership_of_the_same_name(
    longmind: Longmind, reader: ScriptedReader
) -> None:
    joined = reader.says("I row for Lisbon.", "member_of", "Lisbon")
    left = reader.says("I left Lisbon.", "lives_in", "Lisbon", "ended", certain=False)
    assert await know(longmind, joined, left) == {("member of", "Lisbon")}


async def test_a_favourite_of_these_days_replaces_the_one_before(longmind: Longmind, reader: ScriptedReader) -> None:
    first, then = "My favourite café is Ottone.", "My favourite café these days is Kolibri."
    reader.says(first, "likes", "Ottone")
    reader.says(then, "likes", "Kolibri")
    assert await know(longmind, first, then) == {("favorite café", "Kolibri")}


@pytest.mark.parametrize(("relation", "status"), [("other", "current"), ("event", "past"), ("works_as", "current")])
async def test_whoever_has_retired_has_no_work(
    longmind: Longmind, reader: ScriptedReader, relation: str, status: Status
) -> None:
    job = reader.says("I'm a surveyor at Brandvik.", "works_as", "surveyor")
    reader.says(job, "works_at", "Brandvik")
    known = await know(longmind, job, reader.says("I retired in May.", relation, "retired", status))
    assert not {"surveyor", "Brandvik"} & {object for _, object in known}


async def test_whoever_is_tired_keeps_the_job(longmind: Longmind, reader: ScriptedReader) -> None:
    job = reader.says("I'm a surveyor.", "works_as", "surveyor")
    known = await know(longmind, job, reader.says("I'm tired of it.", "other", "tired"))
    assert ("works as", "surveyor") in known


# -- one subject under several names -----------------------------------------------------------------------------------


async def about(longmind: Longmind, *texts: str, user: str = "ann") -> set[tuple[str, str]]:
    """Say these texts, 60 days apart, and return whom what holds is about, with its values."""
    mem = longmind.agent("a", user=user)
    for number, text in enumerate(texts):
        await mem.remember(text, session="s", occurred_at=START + number * timedelta(days=60))
        await mem.consolidate()
    facts = (await mem.semantic.facts(current=False)).items
    return {(fact.subject, str(fact.object)) for fact in facts if fact.valid_to is None}


OUR_14 = "our company has 14 people"
THE_22 = "so the company has 22 people"
HIS_30 = "tim's company has 30 people"


def says_sizes(reader: ScriptedReader) -> None:
    reader.says(OUR_14, "property", "14 people", subject="our company")
    reader.says(THE_22, "property", "22 people", subject="company")
    reader.says(HIS_30, "property", "30 people", subject="tim's company")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([OUR_14, THE_22], {("ann's company", "22 people")}),
        ([THE_22, OUR_14], {("company", "14 people")}),
        ([OUR_14, THE_22, OUR_14], {("ann's company", "14 people")}),
        ([HIS_30, OUR_14, THE_22], {("tim's company", "30 people"), ("ann's company", "22 people")}),
        ([HIS_30, THE_22], {("tim's company", "30 people"), ("company", "22 people")}),
    ],
)
async def test_what_is_the_speakers_is_the_same_without_their_name(
    longmind: Longmind, reader: ScriptedReader, texts: list[str], expected: set[tuple[str, str]]
) -> None:
    says_sizes(reader)
    assert await about(longmind, *texts) == expected


async def test_what_another_user_has_is_another_thing(longmind: Longmind, reader: ScriptedReader) -> None:
    says_sizes(reader)
    assert await about(longmind, OUR_14) == {("ann's company", "14 people")}
    assert await about(longmind, THE_22, user="bob") == {("company", "22 people")}
    assert await about(longmind) == {("ann's company", "14 people")}


async def test_a_retracted_fact_does_not_come_back_under_another_name(
    longmind: Longmind, reader: ScriptedReader
) -> None:
    says_sizes(reader)
    await about(longmind, OUR_14, THE_22)
    mem = longmind.agent("a", user="ann")
    fact = next(f for f in (await mem.semantic.facts()).items if f.object == "22 people")
    await mem.semantic.retract(fact, "a joke")
    await mem.update(fact.evidence[0].memory, tags=("home",))  # the message is read again
    await mem.consolidate()
    assert "22 people" not in {str(fact.object) for fact in (await mem.semantic.facts()).items}


# -- what takes the place of something ---------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["part_of", "made_by"])
async def test_a_thing_is_part_of_one_and_made_by_one_at_a_time(
    longmind: Longmind, reader: ScriptedReader, relation: str
) -> None:
    first = reader.says("the lamp is by verlan", relation, "verlan", subject="lamp")
    both = reader.says("the lamp is by halm and orne", relation, "halm", subject="lamp")
    reader.says(both, relation, "orne", subject="lamp")
    unsure = reader.says("the lamp is perhaps by sool", relation, "sool", subject="lamp", certain=False)
    assert await about(longmind, first, both, unsure) == {("lamp", "halm"), ("lamp", "orne"), ("lamp", "sool")}


async def test_a_weight_replaces_a_weight_and_no_height(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("94 kg and 1.82 m", "measure", "94 kg")
    reader.says(first, "measure", "1.82 m")
    then = reader.says("now 86 kg", "measure", "86 kg")
    assert await know(longmind, first, then) == {("measures", "86 kg"), ("measures", "1.82 m")}


async def test_answers_have_one_language(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("answer me in English, and use metric units", "instruction", "answer me in English")
    reader.says(first, "instruction", "use metric units")
    then = reader.says("answer in Portuguese now", "instruction", "answer in Portuguese")
    known = await know(longmind, first, then)
    assert known == {("instruction", "answer in Portuguese"), ("instruction", "use metric units")}


@pytest.mark.parametrize(("state", "stays"), [("single", False), ("divorced", False), ("engaged", True)])
async def test_whoever_has_a_partner_now_is_not_single(
    longmind: Longmind, reader: ScriptedReader, state: str, stays: bool
) -> None:
    first = reader.says(f"i am {state}", "partner", state)
    unsure = reader.says("perhaps my girlfriend Una", "partner", "Una", certain=False)
    then = reader.says("this is my girlfriend Noemi", "partner", "Noemi")
    assert (("relationship", state) in await know(longmind, first, then)) is stays
    assert ("relationship", state) in await know(longmind, first, unsure) or not stays


async def test_an_appointment_that_is_moved_has_one_date(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("dentist and vet on 10 August", "event", "dentist", "planned", time="10 August")
    reader.says(first, "event", "vet", "planned", time="10 August")
    then = reader.says("the dentist moved it to 20 August", "event", "dentist", "planned", time="20 August")
    also = reader.says("the vet on 21 August, too", "event", "vet", "planned", time="21 August")
    assert await know(longmind, first, then, also) == {
        ("plans", "dentist (20 August 2026)"),
        ("plans", "vet (10 August 2026)"),
        ("plans", "vet (21 August 2026)"),
    }


async def test_what_held_of_whoever_has_died_is_history(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("my uncle Reg is in derby, with tea", "relative", "Reg")
    reader.says(first, "lives_in", "derby", subject="Reg")
    reader.says(first, "likes", "tea", subject="Reg")
    reader.says(first, "from", "derby", subject="Reg")
    over = reader.says("Reg died on sunday", "relative", "Reg", "ended")
    assert await about(longmind, first, over) == {("Reg", "derby")}
    facts = await facts_of(longmind)
    assert {fact.predicate for fact in facts if fact.valid_to is None} == {"comes from"}
    assert {"lives in", "likes"} <= {fact.predicate for fact in facts}


async def test_an_uncle_who_has_retired_has_no_work(longmind: Longmind, reader: ScriptedReader) -> None:
    first = reader.says("my uncle Reg drives, bus driver", "works_as", "bus driver", subject="uncle Reg")
    then = reader.says("Uncle Reg retired last week", "event", "retired", "past", subject="Uncle Reg")
    assert ("Reg", "bus driver") not in await about(longmind, first, then)
