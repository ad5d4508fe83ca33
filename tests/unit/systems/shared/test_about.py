"""What a statement is about: a person, the world, or how to do something. When in doubt, a person."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longmind.systems.shared.about import about_of, judge
from longmind.systems.shared.models import ClaimParts, KnowledgeCandidate

FOLDER = Path(__file__).parents[4] / "benchmarks" / "sharing_data"
LABELLED = {name: json.loads((FOLDER / f"{name}.json").read_text()) for name in ("labelled", "labelled_later")}
"""Invented statements by what they are about. The second list was written after the first rules, and corrected them."""


def personal(text: str, names: tuple[str, ...] = (), allowed: tuple[str, ...] = ()) -> str | None:
    return judge(KnowledgeCandidate(text=text, names=names), allowed).personal


@pytest.mark.parametrize("name", LABELLED)
def test_nothing_of_a_person_passes(name: str) -> None:
    texts = LABELLED[name]["personal"]
    assert len(texts) > 80
    assert [text for text in texts if about_of(text) != "person"] == []


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("label", ["world", "how-to"])
def test_nearly_all_of_the_world_and_how_to_do_something_passes(name: str, label: str) -> None:
    texts = LABELLED[name][label]
    assert len([text for text in texts if about_of(text) == label]) >= 0.95 * len(texts)


@pytest.mark.parametrize(
    "text",
    [
        "Write to ana@example.org for help.",
        "Follow @ana on the network.",
        "See https://example.org/ana for more.",
        "The server is at 192.168.1.20 today.",
        "Pay to DE89 3704 0044 0532 0130 00.",
        "Call 555 123 4567 for help.",
        "Call +351 912-345-678.",
        "The code is 48213.",
        "Born on 12/03/1984.",
        "The office is at 12 Baker Street.",
        "They said I'm late.",
        "mr smith likes tea.",
        "The plan was made by Alice.",
        "Tea is what John Smith drinks.",
        "People such as McDonald drink tea.",
        "the user alice drinks tea",
    ],
)
def test_addresses_identifiers_and_names_are_personal(text: str) -> None:
    assert personal(text, names=("alice",)) is not None


def test_what_it_says_does_not_repeat_the_text() -> None:
    reason = personal("Write to ana@example.org")
    assert reason is not None
    assert "ana" not in reason.replace("an ", "")


def test_names_that_are_not_of_people_can_be_allowed() -> None:
    assert personal("Backups go to Bluefin at night.") == "a word that looks like a name"
    assert personal("Backups go to Bluefin at night.", allowed=("bluefin",)) is None
    assert personal("Backups go to Bluefin at night.", names=("Bluefin",), allowed=("bluefin",)) is not None


@pytest.mark.parametrize(
    ("claim", "about"),
    [
        (("deploy", "needs", "a green build"), "world"),
        (("Ghana", "capital", "Accra"), "world"),
        (("Tuvalu", "capital", "Funafuti"), "world"),
        (("Zubrowka", "capital", "Lutz"), "world"),
        (("SQLite", "stores data in", "one file"), "world"),
        (("Bob", "likes", "green tea"), "person"),
        (("user", "owns", "a boat"), "person"),
        (("wambui", "lives in", "Nairobi"), "person"),
        (("Wambui", "needs", "a wheelchair"), "person"),
        (("Imogen", "height", "two metres"), "person"),
        (("Imogen", "has sister", "Greta"), "person"),
        (("Bluefin", "founded by", "Marta Silva"), "person"),
        (("the customer", "needs", "a refund"), "person"),
        (("it", "needs", "water"), "person"),
    ],
)
def test_facts_are_judged_by_subject_and_predicate(claim: tuple[str, str, str], about: str) -> None:
    subject, predicate, object = claim
    parts = ClaimParts(subject=subject, predicate=predicate, object=object)
    assert judge(KnowledgeCandidate(text=" ".join(claim), claim=parts)).about == about


@pytest.mark.parametrize(
    "text", ["", ".", "...", "?!", "’s", "'s 's", "I", "—", "the", "a a a", "x" * 1_999, "to,,,,", "If"]
)
def test_any_text_is_judged(text: str) -> None:
    assert about_of(text or "-") in ("person", "world", "how-to")
