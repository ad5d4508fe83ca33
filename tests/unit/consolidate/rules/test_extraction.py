"""What the rules find in a text, and what they leave alone."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from longmind.config import FactOrigin
from longmind.consolidate.rules.claims import Claim, Refused
from longmind.consolidate.rules.extraction import extract, extract_memories, is_source, speaker_of
from longmind.consolidate.rules.world_statements import world_statements
from longmind.testing import memory
from longmind.text.sentences import MAX_SENTENCE, Sentence
from longmind.types import MAX_FACTS, Source

SAID = datetime(2023, 5, 8, 14, tzinfo=UTC)  # a Monday


def found(text: str, speaker: str | None = "Mel") -> list[tuple[str, str, str]]:
    return [(c.subject, c.predicate, c.object) for c in extract(text, speaker, SAID).claims]


@pytest.mark.parametrize(
    ("text", "predicate", "object"),
    [
        ("I love pottery, it calms me.", "likes", "pottery"),
        ("I really enjoy hiking in the mountains and exploring forests.", "likes", "hiking in the mountains"),
        ("I've always loved playing strategy games like Civilization.", "likes", "playing strategy games"),
        ("I'm a huge fan of Lord of the Rings!", "likes", "Lord of the Rings"),
        ("I love stories that tackle important issues.", "likes", "stories that tackle important issues"),
        ("My dream is to create a safe and loving home.", "wants to", "create a safe and loving home"),
        ("I can't stand loud music.", "dislikes", "loud music"),
        ("I live in Lisbon now.", "lives in", "Lisbon"),
        ("Last year we moved to New York City!", "lives in", "New York City"),
        ("I'm originally from Sweden.", "comes from", "Sweden"),
        ("I was born in Porto.", "born in", "Porto"),
        ("I work as a nurse in a hospital.", "works as", "nurse"),
        ("Now I'm an assistant manager.", "works as", "assistant manager"),
        ("I work at Acme Corp.", "works at", "Acme Corp"),
        ("I'm studying marine biology.", "studies", "marine biology"),
        ("I speak fluent Spanish.", "speaks", "Spanish"),
        ("I play clarinet!", "plays", "clarinet"),
        ("I'm allergic to peanuts.", "allergic to", "peanuts"),
        ("I have two kids.", "has", "two kids"),
        ("I've got a small dog and a kitty.", "has", "a small dog"),
        ("I'm 34 years old.", "age", "34"),
        ("My name is Ines.", "name", "Ines"),
        ("My phone is a Nokia G22 and it is slow.", "owns", "Nokia G22"),
        ("our car is an Opel", "owns", "Opel"),
        ("My new phone is a Nokia G22.", "owns", "Nokia G22"),
        ("Our new address is in Lisbon.", "lives in", "Lisbon"),
        ("I'm diabetic, type 2.", "has condition", "diabetic"),
        ("My phone is a Nokia G22, how do I block a number?", "owns", "Nokia G22"),
        ("I live in Lisbon and have a dog, do you know a good vet?", "lives in", "Lisbon"),
        ("My sister Ines visits me.", "has sister", "Ines"),
        ("My favorite color is deep blue.", "favorite color", "deep blue"),
        ("I'm planning to visit Rome next month.", "plans to", "visit Rome"),
        ("I'm going to a conference this month.", "plans to", "go to a conference"),
        ("We're thinking about adopting a rescue dog.", "considers", "adopting a rescue dog"),
        ("I went to a support group yesterday.", "went to", "a support group (7 May 2023)"),
        ("I adopted a puppy last week.", "adopted", "a puppy (the week of 1 May 2023)"),
        ("Just joined a gym!", "joined", "a gym"),
        ("I started surfing five years ago.", "started", "surfing (2018)"),
        ("Last Friday I won my first tournament!", "won", "Mel's first tournament (5 May 2023)"),
        ("I've been teaching my siblings coding.", "has been", "teaching Mel's siblings coding"),
    ],
)
def test_what_speakers_say_of_themselves(text: str, predicate: str, object: str) -> None:
    assert ("Mel", predicate, object) in found(text)


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("The capital of Ghana is Accra.", ("Ghana", "capital", "Accra")),
        ("12. The director of Apple Inc. is Tim Cook.", ("Apple Inc.", "director", "Tim Cook")),
        ("QuickTime was developed by Apple Inc..", ("QuickTime", "developed by", "Apple Inc.")),
        ("Thomas Kyd was born in the city of London.", ("Thomas Kyd", "born in", "London")),
        ("Hines Ward plays the position of wide receiver.", ("Hines Ward", "plays position", "wide receiver")),
        ("The headquarters of Channel 4 is located in the city of Toronto.", ("Channel 4", "headquarters", "Toronto")),
        ("The company that produced Fiesta is Ford.", ("Fiesta", "company (produced)", "Ford")),
        ("Jules Verne's child is Sam Robards.", ("Jules Verne", "child", "Sam Robards")),
        ("Ines is Alice's sister.", ("Alice", "sister", "Ines")),
        ("Alice likes coffee without sugar.", ("Alice", "likes", "coffee without sugar")),
        ("My dogs love meeting new people.", ("Mel's dogs", "likes", "meeting new people")),
    ],
)  # fmt: skip
def test_what_is_stated_of_others(text: str, triple: tuple[str, str, str]) -> None:
    assert found(text) == [triple]


@pytest.mark.parametrize(
    "text",
    [
        "Do I love pottery?",
        "Is the capital of Ghana Accra?",
        "If I love pottery, I should buy a wheel.",
        "I wish I lived in Lisbon.",
        "She said I love pottery too much.",
        "I don't live in Lisbon.",
        "I never went to Rome.",
        "Maybe I like jazz.",
        "I love it!",
        "I love that painting.",
        "I love the colors.",
        "I love your dress.",
        "Doing something I love is awesome.",
        "I'm gonna keep going.",
        "I'm a bit tired.",
        "The best part of this is you.",
        "It was founded by him.",
        "My girlfriend, Toby and I are going camping.",
        "[I love pottery]",
        "",
    ],
)
def test_what_states_nothing_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_what_is_refused_is_counted_with_its_reason() -> None:
    refused = extract("Do I love tea? If only I lived in Rome. I love it.", "Mel", SAID).refused
    assert [r.reason for r in refused] == ["question", "unclear"]
    assert [r.reason for r in extract("If I love tea, fine.", "Mel", SAID).refused] == ["hypothetical"]
    assert [r.reason for r in extract("He told me I love tea.", "Mel", SAID).refused] == ["reported"]


def test_the_evidence_is_literally_in_the_text() -> None:
    text = "Hello there!\n\n1. I moved to Lisbon in May, really.  The capital of Ghana is Accra. Bye [I love tea]."
    for claim in extract(text, "Mel", SAID).claims:
        quote = text[claim.span[0] : claim.span[1]]
        assert claim.object in quote
        assert quote.strip()


def test_an_event_begins_when_it_happened() -> None:
    (claim,) = extract("I went to Rome yesterday.", "Mel", SAID).claims
    assert claim.start == datetime(2023, 5, 7, tzinfo=UTC)


def test_the_speaker_is_named_or_is_the_user() -> None:
    assert speaker_of(memory("x", source=Source(name="Ann"))) == "Ann"
    assert speaker_of(memory("x", user="alice")) == "alice"
    assert speaker_of(memory("x")) == "user"
    assert speaker_of(memory("x", source=Source(role="document"))) is None
    assert found("I love tea.", None) == []


def test_only_what_was_said_is_a_source() -> None:
    assert is_source(memory("I love tea."))
    assert is_source(memory("x", kind="document", source=Source(role="document")))
    assert not is_source(memory("I love tea.", metadata={"recalled": True}))
    assert not is_source(memory("I love tea.", kind="summary"))
    assert not is_source(memory("You love tea.", source=Source(role="assistant")))
    assert extract_memories([memory("I love tea.", kind="fact")])[0].claims == []


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        (Source(), "people"),
        (Source(role="assistant", name="Ben"), "people"),
        (Source(role="assistant"), "assistant"),
        (Source(role="tool", name="crm"), "tools"),
        (Source(role="system", name="goals"), "system"),
        (Source(role="document"), "documents"),
    ],
)
def test_whose_words_are_evidence_is_a_setting(source: Source, origin: FactOrigin) -> None:
    told = memory("Paris is the capital of France. I love tea.", source=source)
    assert is_source(told) is (origin in ("people", "documents"))
    assert is_source(told, (origin,))
    assert ("likes" in {c.predicate for c in extract_memories([told], (origin,))[0].claims}) is (origin == "people")


def test_of_a_page_only_the_turns_of_people_are_evidence() -> None:
    texts = {"user": "I love tea.", "tool": "I love coal.", "system": "I love rules.", "assistant": "I love talk."}
    turns = [{"role": role, "text": text} for role, text in texts.items()]
    page = memory("\n".join(texts.values()), kind="page", user="ann", body={"turns": turns})
    assert [(c.subject, c.object) for c in extract_memories([page])[0].claims] == [("ann", "tea")]


def test_of_a_page_each_turn_is_its_speakers() -> None:
    turns = [{"role": "user", "text": "I love tea."}, {"role": "assistant", "text": "I love tea. I love coal."}]
    page = memory("I love tea.\nI love tea. I love coal.", kind="page", user="ann", body={"turns": turns})
    assert [(c.subject, c.object, c.span) for c in extract_memories([page])[0].claims] == [("ann", "tea", (0, 10))]


def test_the_same_claim_twice_in_a_text_is_one() -> None:
    assert found("I love tea. Yes, I love tea!") == [("Mel", "likes", "tea")]


def test_twice_the_text_is_twice_the_work_whatever_its_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is counted, not timed: the sentences that are read, and the characters that each of them may have."""
    read: list[int] = []

    def counted(sentence: Sentence, *_: object) -> Iterator[Claim | Refused]:
        read.append(len(sentence.text))
        return world_statements(sentence)

    monkeypatch.setattr("longmind.consolidate.rules.extraction.world_statements", counted)
    for shape in ("I love ", "a, ", "x of the ", "I ", "((((", "One. ", "Who? ", "1. all\n", "[a] bee. ", "Mr. A. "):
        lengths = []
        for size in (1_000, 2_000):
            read.clear()
            extract(shape * size, "Mel", SAID)
            lengths.append(sum(read))
            assert max(read) <= MAX_SENTENCE
        assert lengths[1] <= 2 * lengths[0] + MAX_SENTENCE, shape


def test_one_text_gives_a_bounded_number_of_claims() -> None:
    said = " ".join(f"I like thing{n}x." for n in range(MAX_FACTS + 20))
    extracted = extract(said, "Mel", SAID)
    assert len(extracted.claims) == MAX_FACTS
    assert [refused.reason for refused in extracted.refused] == ["limit"]
    at_the_limit = extract(said[: said.index(f"I like thing{MAX_FACTS}x")], "Mel", SAID)
    assert (len(at_the_limit.claims), at_the_limit.refused) == (MAX_FACTS, [])


def test_the_turns_of_a_page_share_the_bound() -> None:
    texts = [" ".join(f"I like thing{n}x." for n in range(start, start + 400)) for start in (0, 400)]
    turns = [{"role": "user", "text": text, "name": "Mel"} for text in texts]
    page = memory("\n".join(texts), kind="page", body={"turns": turns})
    (extracted,) = extract_memories([page])
    assert len(extracted.claims) == MAX_FACTS
    assert extracted.claims[-1].object == f"thing{MAX_FACTS - 1}x"
    assert [refused.reason for refused in extracted.refused] == ["limit"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My neighbour Mr Oras has a weather station.", ("has neighbour", "Mr Oras")),
        ("My boss Dr. Anna Kuhn is strict.", ("has boss", "Dr. Anna Kuhn")),
        ("My sister called Marta lives by the sea.", ("has sister", "Marta")),
        ("I have a sister called Marta.", ("has", "a sister called Marta")),
        ("I have two cats.", ("has", "two cats")),
    ],
)
def test_relatives_and_animals_keep_their_names_and_titles(text: str, expected: tuple[str, str]) -> None:
    assert ("Mel", *expected) in found(text)


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ("I have two cats and a dog.", ["two cats", "a dog"]),
        ("I have two cats, a dog and a parrot.", ["two cats", "a dog", "a parrot"]),
        ("I have a dog and a cat called Tom.", ["a dog", "a cat called Tom"]),
        ("I've got a brother and two sisters in Rome.", ["a brother", "two sisters"]),
        ("I have a cat and a small garden, and I love both.", ["a cat", "a small garden"]),
        ("I own a car and a boat.", ["a car", "a boat"]),
        ("I have a dog and a headache.", ["a dog"]),
        ("I have a dog and a cat flap.", ["a dog"]),
        ("I have a sister and she has a dog.", ["a sister"]),
        ("I have two sons, Tim and Tom.", ["two sons, Tim and Tom"]),
    ],
)
def test_a_list_of_what_one_has_is_kept_whole(text: str, objects: list[str]) -> None:
    assert found(text) == [("Mel", "has", object) for object in objects]


@pytest.mark.parametrize(
    "text",
    [
        "I have an old bird table.",
        "I have a dog house in the garden.",
        "I have a family dinner on Sunday.",
        "My sister called Marta yesterday.",
    ],
)
def test_a_thing_named_after_an_animal_and_a_phone_call_name_nobody(text: str) -> None:
    assert found(text) == []


def test_the_word_called_is_no_part_of_a_name() -> None:
    assert found("The landlady in Anjos is called Marta.") == [("Anjos", "landlady", "Marta")]
