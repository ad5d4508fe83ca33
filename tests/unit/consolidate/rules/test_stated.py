"""What each status of a claim does, as the table in ``docs/concepts/semantic.md`` says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from longmind.consolidate.rules.claims import Claim, Refused
from longmind.consolidate.rules.extraction import ExtractedClaims, extract, merge_claims
from longmind.consolidate.rules.relations import RELATIONS
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
        ("I don't eat pork.", "diet", "pork", "negated", {}, ("does not eat", "pork")),
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
    [("negated", "negated"), ("hypothetical", "hypothetical"), ("reported", "reported"), ("asked", "question")],
)
def test_what_is_denied_imagined_reported_or_asked_is_not_kept(status: Status, reason: str) -> None:
    claim = applied("I live in Porto.", "lives_in", "Porto", status)
    assert isinstance(claim, Refused)
    assert claim.reason == reason


def test_a_stay_has_an_end_and_is_no_home() -> None:
    claim = kept("I'm in Berlin for two weeks.", "lives_in", "Berlin", "temporary", time="for two weeks")
    assert (claim.predicate, claim.until) == ("stays in", datetime(2026, 6, 17, 15, tzinfo=UTC))


def test_a_stay_whose_end_no_date_tells_is_not_kept() -> None:
    claim = applied("I'm in Berlin until it is done.", "lives_in", "Berlin", "temporary", time="until it is done")
    assert isinstance(claim, Refused)


@pytest.mark.parametrize(
    ("text", "object", "time", "predicate"),
    [
        ("In 2015 I moved to Brno.", "Brno", "In 2015", "lived in"),
        ("I moved to Brno three years ago.", "Brno", "three years ago", "lived in"),
        ("I moved to Brno last month.", "Brno", "last month", "lives in"),
        ("I live in Brno since 2015.", "Brno", "since 2015", "lives in"),
        ("I moved to Germany for two weeks.", "Germany", "for two weeks", "stays in"),
    ],
)
def test_a_date_corrects_the_status_of_a_move(text: str, object: str, time: str, predicate: str) -> None:
    assert kept(text, "lives_in", object, time=time).predicate == predicate


@pytest.mark.parametrize(
    ("text", "relation", "object", "subject", "expected"),
    [
        ("We use Slack.", "uses", "Slack", "We", "ann"),
        ("My sister works at Arup.", "works_at", "Arup", "My sister", "ann's sister"),
        ("Tom works at Arup.", "works_at", "Arup", "Tom", "Tom"),
        ("The staging server is in Oslo.", "located_in", "Oslo", "staging server", "staging server"),
    ],
)
def test_whom_a_claim_is_about(text: str, relation: str, object: str, subject: str, expected: str) -> None:
    assert kept(text, relation, object, subject=subject).subject == expected


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
    return merge_claims(extract(text, "ann", DAY), [apply_claim(claim, text, "ann", DAY) for claim in read])


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
