"""What each status of a claim does, as the table in ``docs/concepts/semantic.md`` says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from longmind.consolidate.rules.claims import Claim, Refused
from longmind.consolidate.rules.extraction import ExtractedClaims, extract, merge_claims
from longmind.consolidate.rules.implied import implied_endings
from longmind.consolidate.rules.naming import named_person
from longmind.consolidate.rules.relations import OF_THE_LIVING, RELATIONS
from longmind.consolidate.rules.stated import apply_claim
from longmind.models import statements
from longmind.models.statements import StatedClaim, Status

DAY = datetime(2026, 6, 3, 15, tzinfo=UTC)


def stated(
    text: str,
    relation: str,
    object: str,
    status: Status = "current",
    subject: str | None = None,
    time: str | None = None,
) -> StatedClaim:
    def span(words: str) -> tuple[int, int]:
        start = text.index(words)
        return start, start + len(words)

    return StatedClaim(
        relation,
        status,
        span(object),
        0.95,
        certain=True,
        subject=None if subject is None else span(subject),
        time=None if time is None else span(time),
    )


def applied(text: str, relation: str, object: str, status: Status = "current", **more: str) -> Claim | Refused:
    return apply_claim(stated(text, relation, object, status, **more), text, "ann", DAY)


def kept(text: str, relation: str, object: str, status: Status = "current", **more: str) -> Claim:
    claim = applied(text, relation, object, status, **more)
    assert isinstance(claim, Claim), claim
    return claim


def test_every_relation_of_the_reader_has_a_predicate() -> None:
    assert set(RELATIONS) == set(statements.RELATIONS)


def test_what_holds_now_is_stored_under_its_predicate() -> None:
    claim = kept("I live in Porto.", "lives_in", "Porto")
    assert (claim.subject, claim.predicate, claim.object) == ("ann", "lives in", "Porto")
    assert (claim.many, claim.relates, claim.ended, claim.certain) == (False, True, False, True)
    assert claim.span == (10, 15)


def test_an_article_is_left_out_only_at_the_beginning() -> None:
    assert kept("I work at Ostrava Steel.", "works_at", "Ostrava Steel").object == "Ostrava Steel"
    assert kept("I work at the post office.", "works_at", "the post office").object == "post office"


def test_what_has_ended_ends_it() -> None:
    claim = kept("I no longer live in Porto.", "lives_in", "Porto", "ended")
    assert (claim.predicate, claim.object, claim.ended) == ("lives in", "Porto", True)


@pytest.mark.parametrize(
    ("text", "relation", "object", "status", "more", "expected"),
    [
        ("I used to live in Lisbon.", "lives_in", "Lisbon", "past", {}, ("lived in", "Lisbon")),
        ("I was at Ogilvy in 2015.", "works_at", "Ogilvy", "past", {"time": "in 2015"}, ("worked at", "Ogilvy (2015)")),
        ("We're moving to Ghent in May.", "lives_in", "Ghent", "planned", {}, ("plans to", "live in Ghent")),
        ("Vet on Monday.", "event", "Vet", "planned", {}, ("plans", "Vet")),
        ("The fair is in Ghent.", "located_in", "Ghent", "planned", {"subject": "fair"}, ("will be in", "Ghent")),
        ("The rent goes up to 260.", "property", "260", "planned", {"subject": "rent"}, ("will amount to", "260")),
        ("My leave starts in May.", "other", "leave", "planned", {"time": "in May"}, ("plans", "leave (May 2027)")),
        ("My wife says hello.", "partner", "wife", "current", {}, ("has", "wife")),
        ("It's ana@weir.eu now.", "contact", "@weir.eu", "current", {}, ("email address", "ana@weir.eu")),
        ("Ring me on 07700 900119.", "contact", "900119", "current", {}, ("phone number", "07700 900119")),
        ("Find me at Weir Street 4.", "contact", "Weir Street 4", "current", {}, ("contact", "Weir Street 4")),
        ("Our kids swim.", "child", "kids", "current", {}, ("has", "kids")),
        ("I eat a lot of rice.", "diet", "rice", "current", {}, ("eats", "rice")),
        ("I'm vegan.", "diet", "vegan", "current", {}, ("diet", "vegan")),
        ("My sister Ana called.", "sibling", "Ana", "current", {}, ("has sister", "Ana")),
        ("I have two sons.", "child", "two sons", "current", {}, ("has", "two sons")),
        ("I'm divorced.", "partner", "divorced", "current", {}, ("relationship", "divorced")),
        ("The limit is 100.", "property", "100", "current", {"subject": "limit"}, ("amounts to", "100")),
        ("The printer is broken.", "property", "broken", "current", {"subject": "printer"}, ("is", "broken")),
    ],
)  # fmt: skip
def test_the_rest_stands_beside_it(
    text: str, relation: str, object: str, status: Status, more: dict[str, str], expected: tuple[str, str]
) -> None:
    claim = kept(text, relation, object, status, **more)
    assert (claim.predicate, claim.object) == expected
    assert not claim.ended


@pytest.mark.parametrize(
    ("status", "reason"),
    [("hypothetical", "hypothetical"), ("reported", "reported"), ("asked", "question")],
)
def test_what_is_imagined_reported_or_asked_is_not_kept(status: Status, reason: str) -> None:
    claim = applied("I live in Porto.", "lives_in", "Porto", status)
    assert isinstance(claim, Refused)
    assert claim.reason == reason


@pytest.mark.parametrize(
    ("text", "relation", "object", "expected"),
    [
        ("I don't eat pork.", "diet", "pork", ("does not eat", "pork")),
        ("I don't have a dog.", "pet", "dog", ("has no pet", "dog")),
        ("I never learnt to swim.", "skill", "swim", ("cannot do", "swim")),
        ("I don't use Facebook.", "uses", "Facebook", ("does not use", "Facebook")),
        ("We have no car.", "owns", "car", ("does not own", "car")),
        ("I'm not vegan.", "diet", "vegan", ("not on the diet", "vegan")),
    ],
)
def test_what_is_surely_denied_is_kept_as_that(
    text: str, relation: str, object: str, expected: tuple[str, str]
) -> None:
    claim = kept(text, relation, object, "negated")
    assert (claim.predicate, claim.object, claim.ended) == (*expected, False)
    unsure = replace(stated(text, relation, object, "negated"), certain=False)
    refused = apply_claim(unsure, text, "ann", DAY)
    assert isinstance(refused, Refused)
    assert refused.reason == "negated"


def test_a_stay_has_an_end_and_is_no_home() -> None:
    claim = kept("I'm in Berlin for two weeks.", "lives_in", "Berlin", "temporary", time="for two weeks")
    assert (claim.predicate, claim.until) == ("stays in", datetime(2026, 6, 17, 15, tzinfo=UTC))


def test_a_stay_whose_end_no_date_tells_is_held_true_for_a_month() -> None:
    claim = kept("I'm in Berlin until it is done.", "lives_in", "Berlin", "temporary", time="until it is done")
    assert (claim.predicate, claim.until) == ("stays in", DAY + timedelta(days=31))


@pytest.mark.parametrize(
    ("text", "relation", "object"),
    [
        ("My mother took pictures.", "parent", "mother"),
        ("My uncle says hello.", "relative", "uncle"),
        ("I walked with the dog next door.", "pet", "dog"),
        ("Her sister was there.", "sibling", "sister"),
    ],
)
def test_who_is_only_mentioned_is_no_statement(text: str, relation: str, object: str) -> None:
    assert isinstance(applied(text, relation, object), Refused)


def test_what_holds_for_a_time_takes_no_single_place() -> None:
    claim = applied("Call me Kit until Friday.", "name", "Kit", "temporary", time="until Friday")
    assert isinstance(claim, Refused)


@pytest.mark.parametrize(
    ("text", "time", "status", "predicate", "year"),
    [
        ("In 2015 I moved to Brno.", "In 2015", "current", "lives in", 2015),
        ("I moved to Brno three years ago.", "three years ago", "current", "lives in", 2023),
        ("I moved to Brno last month.", "last month", "current", "lives in", None),
        ("I live in Brno since 2015.", "since 2015", "current", "lives in", None),
        ("I moved to Brno for two weeks.", "for two weeks", "current", "stays in", None),
        ("Last year we moved to Brno.", "Last year", "planned", "lives in", 2025),
        ("In May we move to Brno.", None, "planned", "plans to", None),
        ("In May we move to Brno.", "In May", "planned", "plans to", None),
    ],
)
def test_a_date_corrects_the_status_of_a_move(
    text: str, time: str | None, status: Status, predicate: str, year: int | None
) -> None:
    claim = kept(text, "lives_in", "Brno", status, **({} if time is None else {"time": time}))
    assert (claim.predicate, claim.start and claim.start.year) == (predicate, year)


def test_a_stay_may_be_told_in_another_sentence() -> None:
    assert kept("Hi from Bern! I'm here for six weeks.", "lives_in", "Bern").predicate == "stays in"
    assert kept("I live in Bern. I'm off for six weeks.", "lives_in", "Bern").predicate == "lives in"


def test_a_stay_without_a_date_is_no_home() -> None:
    assert kept("I temporarily moved to Bern.", "lives_in", "Bern").predicate == "stays in"


@pytest.mark.parametrize(
    ("text", "relation", "object", "subject", "expected"),
    [
        ("We use Slack.", "uses", "Slack", "We", "ann"),
        ("The four of us use Slack.", "uses", "Slack", "four of us", "ann"),
        ("My sister works at Arup.", "works_at", "Arup", "My sister", "ann's sister"),
        ("Tom works at Arup.", "works_at", "Arup", "Tom", "Tom"),
        ("Dad works at Arup.", "works_at", "Arup", "Dad", "ann's dad"),
        ("And grandma likes Arup.", "likes", "Arup", "grandma", "ann's grandma"),
        ("Uncle Reg works at Arup.", "works_at", "Arup", "Uncle Reg", "Reg"),
        ("My little sister Ana works at Arup.", "works_at", "Arup", "My little sister Ana", "Ana"),
        ("Our dog Rex uses Arup.", "uses", "Arup", "Our dog Rex", "Rex"),
        ("His dad works at Arup.", "works_at", "Arup", "dad", "dad"),
        ("Tim's old dad works at Arup.", "works_at", "Arup", "dad", "dad"),
        ("The dad of Tim works at Arup.", "works_at", "Arup", "dad", "dad"),
        ("Father Brown works at Arup.", "works_at", "Arup", "Father Brown", "Father Brown"),
        ("My sister Ana's husband works at Arup.", "works_at", "Arup", "Ana's husband", "Ana's husband"),
        ("The staging server is in Oslo.", "located_in", "Oslo", "staging server", "staging server"),
        ("We had to rename the app to Tally.", "name", "Tally", "We had to rename the app", "app"),
        ("I'm off to see my dad, he is at Arup.", "works_at", "Arup", "I'm off to see my dad", "ann's dad"),
        ("We both use Slack.", "uses", "Slack", "We both", "ann"),
    ],
)
def test_whom_a_claim_is_about(text: str, relation: str, object: str, subject: str, expected: str) -> None:
    assert kept(text, relation, object, subject=subject).subject == expected


@pytest.mark.parametrize(
    ("words", "predicate"),
    [
        ("every Tuesday at 10", "takes place"),
        ("Thursdays", "takes place"),
        ("Mon, Wed and Fri", "takes place"),
        ("at 9.30", "takes place"),
        ("450 rupees", "amounts to"),
        ("open on 2 Sundays", "amounts to"),
        ("every week", "is"),
    ],
)
def test_a_day_or_an_hour_is_when_something_takes_place(words: str, predicate: str) -> None:
    assert kept(f"Our choir is {words}.", "property", words, subject="choir").predicate == predicate


@pytest.mark.parametrize(
    ("who", "many"), [("boss", False), ("manager", False), ("landlord", False), ("neighbour", True)]
)
def test_of_some_whom_one_knows_there_is_one(who: str, many: bool) -> None:
    claim = kept(f"My {who} is called Gerrit.", "knows", "Gerrit")
    assert (claim.predicate, claim.many) == (f"has {who}", many)


@pytest.mark.parametrize(
    ("food", "ends"), [("meat", True), ("chicken again", True), ("tofu", False), ("vegan sausages", False)]
)
def test_whoever_eats_meat_is_no_vegetarian(food: str, ends: bool) -> None:
    text = f"I eat {food}."
    endings = list(implied_endings(stated(text, "diet", food), text, "ann", DAY))
    over = [(claim.predicate, claim.object) for claim in endings if claim.predicate == "diet"]
    assert over == ([("diet", "vegetarian"), ("diet", "vegan")] if ends else [])


@pytest.mark.parametrize("subject", ["She", "It", "they"])
def test_a_pronoun_names_nobody(subject: str) -> None:
    claim = applied(f"{subject} works at Arup.", "works_at", "Arup", subject=subject)
    assert isinstance(claim, Refused)
    assert claim.reason == "unclear"


def test_nobody_speaks_in_a_document() -> None:
    text = "I live in Porto."
    assert isinstance(apply_claim(stated(text, "lives_in", "Porto"), text, None, DAY), Refused)


# -- the reader and the patterns ---------------------------------------------------------------------------------------


def merged(text: str, *read: StatedClaim) -> ExtractedClaims:
    return merge_claims(extract(text, "ann", DAY), [(claim, apply_claim(claim, text, "ann", DAY)) for claim in read])


def test_where_both_read_the_same_words_the_reader_decides() -> None:
    text = "I live in Mars Colony Nine."
    assert [claim.predicate for claim in extract(text, "ann", DAY).claims] == ["lives in"]
    assert merged(text, stated(text, "lives_in", "Mars Colony Nine", "hypothetical")).claims == []
    assert [c.predicate for c in merged(text, stated(text, "lives_in", "Mars Colony Nine", "past")).claims] == [
        "lived in"
    ]


def test_where_both_agree_the_claim_is_certain() -> None:
    text = "I live in Porto."
    unsure = StatedClaim("lives_in", "current", (10, 15), 0.6)
    (claim,) = merged(text, unsure).claims
    assert (claim.object, claim.certain, claim.rule) == ("Porto", True, "read lives_in")


def test_what_only_patterns_find_is_added() -> None:
    text = "I bought a car."
    claims = merged(text, stated(text, "owns", "car")).claims
    assert [(claim.predicate, claim.object) for claim in claims] == [("owns", "car"), ("bought", "a car")]


def test_a_second_opinion_makes_a_pattern_certain_or_silent() -> None:
    text = "I live in Porto."
    agrees = StatedClaim("lives_in", "current", (10, 15), 0.3, kept=False)
    (claim,) = merged(text, agrees).claims
    assert (claim.predicate, claim.certain) == ("lives in", True)
    differs = StatedClaim("lives_in", "past", (10, 15), 0.3, kept=False)
    assert [claim.certain for claim in merged(text, differs).claims] == [False]
    jokes = StatedClaim("lives_in", "hypothetical", (10, 15), 0.3, kept=False)
    assert merged(text, jokes).claims == []


def test_what_the_reader_does_not_see_is_less_than_certain() -> None:
    (claim,) = merged("I live in Porto.").claims
    assert (claim.object, claim.certain) == ("Porto", False)
    (claim,) = merged("I bought a car.").claims
    assert claim.certain


@pytest.mark.parametrize("text", ["Tom says I live in Berlin.", "I moved to Berlin for half a year."])
def test_patterns_doubt_a_home(text: str) -> None:
    assert "lives in" not in {claim.predicate for claim in merged(text, stated(text, "lives_in", "Berlin")).claims}


def test_both_may_end_it_in_other_words() -> None:
    text = "I don't like coffee anymore."
    claims = merged(text, stated(text, "dislikes", "coffee", "ended")).claims
    assert [(claim.predicate, claim.ended, claim.certain) for claim in claims] == [("likes", True, True)]


@pytest.mark.parametrize(
    ("text", "relation", "object"),
    [
        ("With three kids I'm basically a taxi driver.", "works_as", "taxi driver"),
        ("I practically live at the office these days.", "lives_in", "office"),
        ("I'm pretty much in Porto every weekend.", "lives_in", "Porto"),
    ],
)
def test_a_home_or_a_job_as_it_were_is_a_figure_of_speech(text: str, relation: str, object: str) -> None:
    assert isinstance(applied(text, relation, object), Refused)


def test_the_same_words_elsewhere_change_nothing() -> None:
    claim = applied("I'm a taxi driver, basically since May.", "works_as", "taxi driver")
    assert isinstance(claim, Claim)
    assert claim.predicate == "works as"


def test_she_is_the_one_person_whom_the_turn_names() -> None:
    text = "My sister Ana moved. She is a nurse."
    sister, job = stated(text, "sibling", "Ana"), stated(text, "works_as", "nurse", subject="She")
    person = named_person([sister, job], text, "ann")
    claim = apply_claim(job, text, "ann", DAY, person)
    assert isinstance(claim, Claim)
    assert (claim.subject, claim.object) == ("Ana", "nurse")


def test_she_is_nobody_where_two_are_named() -> None:
    text = "My sister Ana met Eva. She is a nurse."
    claims = [stated(text, "sibling", "Ana"), stated(text, "knows", "Eva"), stated(text, "works_as", "nurse")]
    assert named_person(claims, text, "ann") is None


@pytest.mark.parametrize(
    ("text", "time", "ends"),
    [
        ("I'm off the metformin for 48 hours.", "for 48 hours", False),
        ("I'm off the metformin for two years.", "for two years", True),
        ("I'm off the metformin since May.", "since May", True),
    ],
)
def test_a_short_pause_ends_nothing(text: str, time: str, ends: bool) -> None:
    claim = applied(text, "medication", "metformin", "ended", time=time)
    assert (isinstance(claim, Claim) and claim.ended) == ends


@pytest.mark.parametrize(
    ("text", "status", "time", "instead_of"),
    [
        ("They moved my dentist to 20 June.", "planned", "20 June", ("plans",)),
        ("My dentist was put off until 20 June.", "ended", "20 June", ("plans",)),
        ("It's the new date for the dentist, 20 June.", "planned", "20 June", ("plans",)),
        ("I'm seeing the dentist on 20 June.", "planned", "20 June", ()),
        ("We moved house. The dentist is on 20 June.", "planned", "20 June", ()),
    ],
)
def test_what_is_moved_takes_the_place_of_the_older_plan(
    text: str, status: Status, time: str, instead_of: tuple[str, ...]
) -> None:
    claim = kept(text, "event", "dentist", status, time=time)
    assert (claim.predicate, claim.object) == ("plans", "dentist (20 June 2026)")
    assert claim.instead_of == instead_of


@pytest.mark.parametrize("text", ["The dentist on 20 June was moved.", "The dentist on 20 June is off."])
def test_what_has_no_new_date_has_ended(text: str) -> None:
    assert kept(text, "event", "dentist", "ended", time="20 June").ended


def implied(text: str, relation: str, object: str, status: Status = "current", **more: str) -> list[Claim]:
    return list(implied_endings(stated(text, relation, object, status, **more), text, "ann", DAY))


@pytest.mark.parametrize(
    ("text", "relation", "object", "who"),
    [
        ("Dad passed away in June.", "parent", "Dad", "ann's dad"),
        ("My uncle Reg has sadly died.", "relative", "Reg", "Reg"),
        ("We buried my grandmother last week.", "relative", "grandmother", "ann's grandmother"),
        ("Since Rex's death it is quiet.", "pet", "Rex", "Rex"),
        ("We had to have Rex, he was put down.", "pet", "Rex", None),
        ("My wife left when her dad died.", "partner", "wife", None),
        ("My wife is gone, and my phone died.", "partner", "wife", None),
        ("My wife left.", "partner", "wife", None),
    ],
)
def test_of_whoever_has_died_nothing_holds_that_takes_a_life(
    text: str, relation: str, object: str, who: str | None
) -> None:
    over = [claim for claim in implied(text, relation, object, "ended") if claim.predicate == OF_THE_LIVING[0]]
    assert [claim.subject for claim in over] == ([] if who is None else [who])
    for claim in over:
        assert not claim.object
        assert {"works at", "takes", "member of", "age"} <= set(claim.also)


@pytest.mark.parametrize("words", ["retired", "retired after 38 years of driving", "has retired from Arup"])
def test_whoever_has_retired_has_no_work(words: str) -> None:
    claims = implied(f"Uncle Reg {words}.", "event", words, "past", subject="Uncle Reg")
    assert [(claim.subject, claim.predicate, claim.ended) for claim in claims] == [
        ("Reg", "works at", True),
        ("Reg", "works as", True),
    ]


@pytest.mark.parametrize(
    ("text", "object", "ends"),
    [
        ("My girlfriend Noemi swims.", "Noemi", True),
        ("My girlfriend is here.", "girlfriend", True),
        ("My ex-wife Ana swims.", "Ana", False),
        ("My ex-wife is here.", "wife", False),
    ],
)
def test_a_partner_ends_that_somebody_is_single(text: str, object: str, ends: bool) -> None:
    assert ("relationship" in kept(text, "partner", object).instead_of) is ends
