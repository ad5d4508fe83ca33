"""The questions about our own chats: every one names turns that are there, and answers are copied from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.chats import ASKED, HELD_CHATS, all_chats, chat_groups, faults, read_asked, read_chat
from training.claims.labels import DATA, TEST, read_turns


def test_nothing_is_wrong_with_the_questions_about_chats() -> None:
    chats = list(all_chats())
    assert {chat.name for chat in chats} >= {path.stem for path in ASKED.glob("*.txt")} | HELD_CHATS
    assert [fault for chat in chats for fault in faults(chat)] == []
    asked = [question for chat in chats for question in chat.questions]
    assert sum(question.answerable for question in asked) > 10_000
    assert sum(not question.answerable for question in asked) > 3_500
    assert sum(bool(question.answers) for question in asked) > 9_000


def test_the_reranker_learns_only_from_questions_with_an_answer() -> None:
    learnt = [chat for chat in all_chats() if chat.name not in HELD_CHATS]
    for group, chat in zip(chat_groups(), learnt, strict=True):
        assert len(group.questions) == sum(question.answerable for question in chat.questions)
        assert all(place < len(group.texts) for question in group.questions for place in question.gold)


def test_a_question_about_a_labelled_turn_names_that_turn() -> None:
    group = next(iter(chat_groups()))
    turns = [turn.text for turn in read_turns(DATA / f"{group.source.partition('/')[2]}.jsonl")]
    for question in group.questions:
        for place in question.gold:
            assert group.texts[place].partition(": ")[2] in turns


def test_what_was_said_before_a_turn_is_a_text_of_its_own_in_its_session() -> None:
    group = next(iter(chat_groups()))
    assert len(group.texts) == len(group.sessions) > 500
    assert list(group.sessions) == sorted(group.sessions)


def test_no_writer_that_statements_are_measured_on_is_asked_about() -> None:
    assert not {path.stem for path in ASKED.glob("*.txt")} & set(TEST)


@pytest.mark.parametrize("line", ["What does she do?", "3|", "a|Who is it?"])
def test_a_wrong_line_is_told(tmp_path: Path, line: str) -> None:
    path = tmp_path / "w99.txt"
    path.write_text(f"3,4|Where does she live?\n{line}\n")
    with pytest.raises(ValueError, match=r"w99\.txt, line 2"):
        list(read_asked(path))


def test_a_question_says_which_turns_answer_it_and_with_which_words(tmp_path: Path) -> None:
    path = tmp_path / "w99.txt"
    path.write_text("3,4|Where does she live?|Porto; Lisbon\n!5|When did she leave?\n7|Why?\n")
    assert [(asked.turns, asked.answers, asked.answerable) for asked in read_asked(path)] == [
        ((3, 4), ("Porto", "Lisbon"), True),
        ((5,), (), False),
        ((7,), (), True),
    ]


def test_a_chat_with_an_assistant_is_read_by_sessions_and_messages(tmp_path: Path) -> None:
    path = tmp_path / "c99.txt"
    path.write_text(
        "# 2026-03-02 a move\n[0] user: I moved.\n[1] assistant: Well:\n\n- boxes\n"
        "# 2026-04-01 later\n[2] user: Done.\n"
    )
    path.with_suffix(".asked.txt").write_text("0|Who moved?\n!9|Where to?\n1|What with?|crates\n")
    chat = read_chat(path)
    assert chat.texts == ("I moved.", "Well:\n\n- boxes", "Done.")
    assert chat.speakers == ("user", "assistant", "user")
    assert chat.sessions == (0, 0, 1)
    assert [fault.partition(":")[0] for fault in faults(chat)] == ["no such turn", "not in turn (1,)"]


@pytest.mark.parametrize("text", ["[0] user: no session\n", "# 2026-03-02 a\n[1] user: not the first\n", "words\n"])
def test_a_wrong_chat_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c99.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"c99\.txt, line"):
        read_chat(path)
