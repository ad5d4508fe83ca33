"""What a question asks for."""

import pytest

from longmind.text.questions import names_in, read_question


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did Ana move?", "time"),
        ("In which month did the shop open?", "time"),
        ("What day is the dentist?", "time"),
        ("How long ago was the wedding?", "time"),
        ("How long has Ana had the dog?", "duration"),
        ("How many years did it take?", "duration"),
        ("How many children does Ana have?", "count"),
        ("How often does she swim?", "count"),
        ("Does Ana have a dog?", "yes or no"),
        ("Has she ever been to Rome?", "yes or no"),
        ("Which cities has Ana visited?", "list"),
        ("What are Ana's hobbies?", "list"),
        ("What has Ana painted?", "list"),
        ("What kinds of tea does she drink?", "list"),
        ("What is Ana's job?", "one"),
        ("Where does Ana live?", "one"),
        ("What is the bus called?", "one"),
        ("Who is Ana's boss?", "one"),
        ("Why did she leave?", "one"),
        ("", "one"),
    ],
)
def test_the_kind_of_a_question(question: str, kind: str) -> None:
    assert read_question(question).kind == kind


def test_names_and_who_asks() -> None:
    form = read_question("Where did Ana Silva and Tom's brother meet?")
    assert form.names == ("Ana Silva", "Tom")
    assert not form.of_asker
    assert read_question("Where do I live?").of_asker
    assert names_in("Where do I live?") == ()
