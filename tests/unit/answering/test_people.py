"""Names for pronouns, and whom words are about."""

import pytest

from longmind.answering.people import asked_person, is_about, of_person, same_person, with_names
from longmind.text.questions import read_question


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("my hometown", "Tim's hometown"),
        ("a friend of mine", "a friend of Tim's"),
        ("your sister", "Ana's sister"),
        ("Lisbon", "Lisbon"),
        ("my own garden", "Tim's own garden"),
        ("they gave me a book", "they gave Tim a book"),
        ("I'm fond of tea", "Tim is fond of tea"),
        ("I've lost my job", "Tim has lost Tim's job"),
    ],
)
def test_names_stand_for_pronouns(words: str, named: str) -> None:
    assert with_names(words, "Tim", "Ana") == named


def test_without_a_name_the_words_stay() -> None:
    assert with_names("my hometown, your sister", None, None) == "my hometown, your sister"


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Where do I live?", "Where does Ana live?"),
        ("What is my job?", "What is Ana's job?"),
        ("Am I allergic to nuts?", "is Ana allergic to nuts?"),
        ("What have I told you about me?", "What has Ana told you about Ana?"),
        ("Where does Tim live?", "Where does Tim live?"),
    ],
)
def test_a_question_about_oneself_becomes_one_about_a_person(question: str, about: str) -> None:
    assert of_person(question, "Ana") == about


def test_a_first_name_and_a_whole_name_are_one_person() -> None:
    assert same_person("Ana", "Ana Silva")
    assert not same_person("Ana Silva", "Ana Costa")
    assert not same_person("Ana", None)


def test_who_is_asked_about() -> None:
    speakers = frozenset({"Ana Silva", "Tim"})
    assert asked_person(read_question("Where does Ana live?"), speakers, None) == "Ana Silva"
    assert asked_person(read_question("Where do I live?"), speakers, "Tim") == "Tim"
    assert asked_person(read_question("Where does Zoe live?"), speakers, "Tim") is None


def test_what_somebody_says_of_themselves_is_not_about_another() -> None:
    assert is_about("Ana", "Ana", "I live in Porto.") > 0
    assert is_about("Ana", "Tim", "Ana, you live in Porto.") > 0
    assert is_about("Ana", "Tim", "I live in Porto.") < 0
    assert is_about("Ana", "Ana", "My brother lives in Berlin.") < is_about("Ana", "Ana", "I live in Porto.")


def test_a_short_form_of_a_name_is_known_if_it_can_be_of_one_speaker_only() -> None:
    question = read_question("How long has Mel been married?")
    assert asked_person(question, frozenset({"Melanie", "Caro"}), None) == "Melanie"
    assert asked_person(question, frozenset({"Melanie", "Melvin"}), None) is None
    assert asked_person(question, frozenset({"Melanie", "Mel"}), None) == "Mel"


def test_what_somebody_says_of_who_listens_is_not_about_themselves() -> None:
    assert is_about("Ana", "Ana", "Your shop looks great.") < is_about("Ana", "Ana", "My shop looks great.")
    assert is_about("Ana", "Ana", "Your shop looks great.", of_both=True) == 1.0
    assert is_about("Ana", "Ana", "I like your shop.") == 1.0


def test_somebody_close_and_the_speaker_are_both_meant() -> None:
    assert is_about("Ana", "Ana", "My mother and I made dinner.") == 1.0
    assert is_about("Ana", "Ana", "My mother made dinner.") < 0
