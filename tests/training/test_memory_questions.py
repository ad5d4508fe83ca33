"""Questions about our own chats, as the reader of answers learns from them."""

from __future__ import annotations

from training.chats import Chat, ChatQuestion
from training.memories import chat_memory, chosen
from training.memory_questions import chat_questions, spans_of, wrong_speakers

CHAT = Chat(
    "w99",
    ("Hi Ana!", "I have two cats, Mia and Tom, and a dog.", "Nice. I live in Porto.", "Since when?", "A new day."),
    ("Ben", "Ana", "Ben", "Ana", "Ben"),
    (0, 0, 0, 0, 1),
    (
        ChatQuestion("What are Ana's cats called?", (1,), ("Mia", "Tom")),
        ChatQuestion("Which animals does Ana keep?", (1,), ("two cats", "a dog")),
        ChatQuestion("Where does Ben live?", (2,), ("Porto",)),
        ChatQuestion("Does Ben live in Porto?", (2,), ("yes",)),
        ChatQuestion("When did Ben move to Porto?", (2,), (), answerable=False),
    ),
)


def test_items_of_a_list_side_by_side_are_one_answer() -> None:
    text = CHAT.texts[1]
    first, second, third, closed, _ = (spans_of(CHAT, asked) for asked in CHAT.questions)
    assert [text[start:end] for _, start, end in first] == ["Mia and Tom"]
    assert [text[start:end] for _, start, end in second] == ["two cats", "a dog"]
    assert third == [(2, 16, 21)]
    assert closed == []


def test_an_answer_stands_where_its_turn_says_it_with_the_session_around_it() -> None:
    entries = list(chat_questions([CHAT]))
    assert [entry["answerable"] for entry in entries] == [True, True, True, True, False]
    for entry in entries:
        assert not any("A new day" in text for text in entry["context"])
        for answer in entry["answers"]:
            assert entry["context"][answer["doc"]][answer["start"] : answer["end"]] == answer["text"]
    assert entries[-1]["context"][entries[-1]["near"]] == "Ben: Nice. I live in Porto."


def test_what_is_asked_of_the_other_speaker_has_no_answer() -> None:
    wrong = list(wrong_speakers(list(chat_questions([CHAT])), share=1.0))
    assert "Where does Ana live?" in {entry["question"] for entry in wrong}
    assert not any(entry["answerable"] or entry["answers"] for entry in wrong)


def test_a_memory_is_asked_what_its_words_answer_and_what_they_do_not() -> None:
    memory = chat_memory(CHAT)
    assert [bool(asked.answers) for asked in memory.questions] == [True, True, True, False]
    assert [bool(asked.answers) for asked in chosen(memory, 2)] == [True, False]
