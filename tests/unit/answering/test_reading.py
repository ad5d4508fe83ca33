"""From what was read in passages to an answer."""

from datetime import UTC, datetime

from longmind.answering.candidates import find_candidates
from longmind.answering.passages import Passage, SpokenText, is_evidence
from longmind.answering.reading import Draft, draft_answer
from longmind.models.span_reader import Reading, ReadSpan
from longmind.text.questions import read_question
from longmind.types import Memory, Source

SAID = datetime(2023, 7, 12, tzinfo=UTC)


def memory(content: str, speaker: str, number: int = 1) -> Memory:
    return Memory(
        id=f"00000000-0000-7000-8000-{number:012x}",
        version=1,
        tenant="t",
        agent="a",
        kind="message",
        content=content,
        source=Source(role="user", name=speaker),
        occurred_at=SAID,
        recorded_at=SAID,
    )


def answer(question: str, *read: tuple[str, str, str, float]) -> Draft:
    """Answer from turns: speaker, text, the words that were read in it, and their score above none."""
    passages, readings = [], []
    for number, (speaker, text, words, score) in enumerate(read, 1):
        spoken = SpokenText(memory(text, speaker, number), speaker)
        start = len(spoken.prefix) + text.index(words)
        passages.append(Passage((spoken,), 0, number - 1, 0.5))
        readings.append(Reading((ReadSpan(0, start, start + len(words), score),), 0.0))
    form = read_question(question)
    candidates = find_candidates(question, form, passages, readings, None)
    draft = draft_answer(question, form, candidates)
    assert draft is not None
    return draft


def test_the_best_words_with_their_place() -> None:
    draft = answer(
        "Where does Tim live?", ("Tim", "I live in Porto now.", "Porto", 8.0), ("Tim", "I like tea.", "tea", -4.0)
    )
    assert draft.text == "Porto"
    ((_, candidate),) = draft.items
    assert candidate.source.content[candidate.start : candidate.end] == "Porto"


def test_a_pronoun_gets_its_name() -> None:
    assert answer("Where did Tim go?", ("Tim", "I went to my hometown.", "my hometown", 6.0)).text == "Tim's hometown"


def test_what_another_says_of_themselves_is_worse() -> None:
    mine = ("Tim", "I live in Porto now.", "Porto", 5.0)
    yours = ("Ana", "I live in Rome now.", "Rome", 5.5)
    assert answer("Where does Tim live?", mine, yours).text == "Porto"
    assert answer("Where does Ana live?", mine, yours).text == "Rome"


def test_a_time_is_resolved_and_the_words_for_it_are_the_evidence() -> None:
    draft = answer("When did Tim meet Zoe?", ("Tim", "Zoe and I met two days ago.", "two days ago", 6.0))
    assert draft.text == "10 July 2023"
    ((_, candidate),) = draft.items
    assert candidate.words == "two days ago"


def test_without_a_time_the_day_it_was_told_answers() -> None:
    assert answer("When did Tim win?", ("Tim", "I just won the race!", "won the race", 6.0)).text == "12 July 2023"


def test_a_list_is_gathered_without_saying_a_thing_twice() -> None:
    draft = answer(
        "Which cities has Tim visited?",
        ("Tim", "I was in Rome in spring.", "Rome", 8.0),
        ("Tim", "Oslo was cold.", "Oslo", 7.0),
        ("Tim", "Rome again, lovely.", "Rome", 6.0),
        ("Tim", "I had soup.", "soup", -9.0),
    )
    assert draft.text == "Rome, Oslo"
    assert [item for item, _ in draft.items] == ["Rome", "Oslo"]


def test_numbers_and_lengths_of_time() -> None:
    assert answer("How many cats has Tim?", ("Tim", "I have three cats.", "three cats", 6.0)).text == "three"
    assert answer("How long has Tim run?", ("Tim", "I have run for two years now.", "for two years", 6.0)).text == (
        "two years"
    )


def test_yes_and_no() -> None:
    assert answer("Does Tim have a dog?", ("Tim", "I have a dog called Rex.", "a dog", 6.0)).text == "Yes"
    assert answer("Does Tim have a dog?", ("Tim", "I don't have a dog.", "a dog", 6.0)).text == "No"


def test_one_of_two_alternatives() -> None:
    question = "Would Tim rather go to a national park or a theme park?"
    assert answer(question, ("Tim", "I love hiking in every national park.", "hiking", 3.0)).text == "a national park"
    assert answer("Does Tim drink tea or coffee?", ("Tim", "I never drink tea.", "tea", 3.0)).text == "coffee"
    assert answer("Does Tim drink tea or not?", ("Tim", "I drink tea.", "tea", 3.0)).text == "Yes"


def test_the_number_of_what_is_asked_for() -> None:
    question = "How many races has Tim won?"
    third = ("Tim", "I won my third race at two o'clock.", "two", 7.0)
    fourth = ("Tim", "That makes it my fourth race.", "my fourth race", 5.0)
    draft = answer(question, third, fourth)
    assert draft.text == "four"
    assert [candidate.words for _, candidate in draft.items] == ["fourth"]
    some = ("Tim", "One of these races was two hours long, and I have won five races.", "two hours", 7.0)
    assert answer(question, some).text == "five"


def test_a_name_that_is_called_is_no_answer() -> None:
    called = ("Tim", "Ana, the publisher refused my play.", "Ana", 9.0)
    draft = answer("Who refused what Tim wrote?", called, ("Ana", "Oh no, the publisher?", "the publisher", 1.0))
    assert draft.text != "Ana"
    named = ("Tim", "It was Ana who refused it.", "Ana", 9.0)
    assert answer("Who refused what Tim wrote?", named, ("Ana", "Yes.", "Yes", -5.0)).text == "Ana"


def test_nothing_read_is_no_answer() -> None:
    assert draft_answer("Where?", read_question("Where?"), []) is None


def test_questions_and_replies_of_the_agent_are_no_evidence() -> None:
    assert is_evidence(memory("I live in Porto.", "Tim"))
    assert not is_evidence(memory("Where do I live?", "Tim"))
    reply = memory("You live in Porto.", "Tim").model_copy(update={"source": Source(role="assistant")})
    assert not is_evidence(reply)
